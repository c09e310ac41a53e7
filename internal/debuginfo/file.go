package debuginfo

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/internal/elfreloc"
	"github.com/btflite/btflite/internal/names"
	"github.com/btflite/btflite/mmapelf"
)

// File is the debug information of one input. After Load it is read-only, except for two
// things that its units share and any worker may use: the cache of abbreviation tables
// and the index of type units.
type File struct {
	Path  string
	ELF   *mmapelf.File // the input itself
	Dwarf *mmapelf.File // the file with the debug sections: ELF, or a separate debug file
	Alt   *File         // the alternate file, once OpenAlt has found one

	BigEndian bool
	AddrSize  int // bytes
	Machine   uint16

	Info, Loc, Loclists []byte
	Names               names.Text // .debug_str
	// Survey has the findings of Look in the abbreviations. Damaged says that they could
	// not all be read, so that units may be of any kind.
	Survey  dwarf.Survey
	Damaged bool

	settings Settings
	inMemory bool // the input is in memory, so there are no files next to it
	naming
	other   others
	inOrder inOrder
	rel     *relocs // of an ET_REL file, else nil
	shared  sharedAbbrevs
	types   TypeIndex
	dwo     *pack // of a .dwo or .dwp, else nil
	unfound error // from DebugFiles.Find
}

// Settings are a run's settings for opening inputs.
type Settings struct {
	Names *names.Table // of all inputs
	// ByText makes names stand for their text, whatever the file: names.Text.
	ByText bool
	Limit  *arena.Limit
	// Expanding limits the memory for compressed sections that are expanded as a whole.
	Expanding  *arena.Limit
	DebugFiles DebugFiles
	// Scarce reports that memory has no room for twice this many bytes of a file.
	Scarce func(size uint64) bool
	// Workers is how many goroutines read the units; <= 1 is one.
	Workers int
	// Declared has abbreviations of earlier files; nil for none.
	Declared *Declared
}

// DebugFiles says where separate debug files are looked for, beside the places that every
// file has: see findDebugFile.
type DebugFiles struct {
	// Dir is a folder that is searched before /usr/lib/debug; "" is none.
	Dir string
	// Find finds the debug file of a build-id if it is in no folder, as on a server. file is
	// the input, for messages. What it finds is checked like any other debug file, and why
	// it finds nothing is part of the error about the file. It may be nil.
	Find func(file string, buildID []byte) (path string, err error)
}

// naming says how the file names its debug sections.
type naming struct {
	prefix string // ltoPrefix, else ""
	suffix string // .dwo, else ""
}

// others are sections that only this package reads.
type others struct{ abbrev, lineStr, strOffsets, addr []byte }

// inOrder are the sections that are released as they are read.
type inOrder struct{ info, abbrev, loc, loclists section }

func (o *inOrder) all() [4]*section { return [4]*section{&o.info, &o.abbrev, &o.loc, &o.loclists} }

// newFile returns a file whose sections are not loaded yet.
func newFile(path string, e *mmapelf.File, s Settings) *File {
	f := &File{
		Path: path, ELF: e, Dwarf: e, BigEndian: e.BigEndian, AddrSize: e.AddrSize, Machine: e.Machine,
		settings: s, Names: names.Text{Table: s.Names, ByText: s.ByText},
	}
	arena.Bind(s.Limit, &f.types.copies)
	e.Limit = s.Expanding
	return f
}

// Load loads the debug sections, the relocations of a relocatable file, and the names.
// With whole, compressed sections are expanded as a whole, because units will be read
// more than once.
func (f *File) Load(whole bool) error {
	o := &f.inOrder
	for _, s := range []struct {
		name string
		data *[]byte
		sec  *section
	}{
		{".debug_info", &f.Info, &o.info}, {".debug_abbrev", &f.other.abbrev, &o.abbrev},
		{".debug_str", &f.Names.Data, nil}, {".debug_line_str", &f.other.lineStr, nil},
		{".debug_str_offsets", &f.other.strOffsets, nil}, {".debug_addr", &f.other.addr, nil},
		{".debug_loc", &f.Loc, &o.loc}, {".debug_loclists", &f.Loclists, &o.loclists},
	} {
		sec := f.section(s.name)
		if sec == nil {
			continue
		}
		var err error
		if *s.data, err = f.load(sec, s.sec, whole); err != nil {
			return err
		}
	}
	o.loc.sec = nil // in some files, lists of this older kind are not in order
	if len(f.Info) == 0 {
		return nil
	}
	if f.Relocatable() {
		if err := f.loadRelocs(); err != nil {
			return err
		}
	}
	return f.placeNames()
}

// load returns the contents of a debug section. If to is set, the section is released as
// it is read.
func (f *File) load(sec *mmapelf.Section, to *section, whole bool) ([]byte, error) {
	if to == nil {
		return f.Dwarf.Data(sec)
	}
	st, err := f.Dwarf.Stream(sec)
	if err != nil {
		return nil, err
	}
	if st != nil && whole {
		st.Close()
		return f.Dwarf.Data(sec)
	}
	to.file = f.Dwarf
	if st != nil {
		to.stream = st
		return st.Bytes(), nil
	}
	to.sec = sec
	return f.Dwarf.Data(sec)
}

// Relocatable reports whether the input is an ET_REL file (.o, .ko).
func (f *File) Relocatable() bool { return f.ELF.Type == elfabi.ETRel }

// placeNames gives the file's .debug_str its range of tokens. Names of unit records stand
// for their text instead. It is an error if there is no room.
func (f *File) placeNames() error {
	f.Names.ByText = f.Names.ByText || f.rel != nil || f.Survey.Records || f.Damaged
	if !f.Names.Place() {
		return fmt.Errorf("%s: .debug_str: %d bytes do not fit next to the other inputs (2 GiB in all)", f.Path, len(f.Names.Data))
	}
	f.shared.declared = f.settings.Declared.of(f.Names.Base + 1)
	return nil
}

// Declared keeps the abbreviations of one file for the next one: modules of a kernel declare the same
// ones. The zero value is ready. Use it for one file at a time.
type Declared struct{ cache *dwarf.AbbrevCache }

// of returns the abbreviations that were compiled for a base of names. d may be nil.
func (d *Declared) of(nameBase uint32) *dwarf.AbbrevCache {
	if d != nil && d.cache != nil && d.cache.NameBase() == nameBase {
		return d.cache
	}
	c := dwarf.NewAbbrevCache(dwarf.Types, nameBase)
	if d != nil {
		d.cache = c
	}
	return c
}

// ltoPrefix is the prefix of debug sections in GCC's objects with intermediate code.
// Objects without machine code (slim ones) have only these sections. They describe types
// and inline functions before optimization.
const ltoPrefix = ".gnu.debuglto_"

// section returns the debug section of that name, or of its old name for compressed
// contents; nil if there is none. It skips sections that have only type units
// (typeindex.go). These are in section groups in an object. In a .dwo, which has only the
// sections of an object that are not linked, they were in one.
func (f *File) section(name string) *mmapelf.Section {
	name = f.prefix + name + f.suffix
	s := f.Dwarf.Section(name)
	if s == nil && f.prefix == "" {
		s = f.Dwarf.Section(".z" + name[1:])
	}
	if s == nil {
		return nil
	}
	want := uint64(0)
	if f.suffix != "" {
		want = elfabi.SHFExclude
	}
	for i := s.Index; i < len(f.Dwarf.Sections); i++ {
		if o := &f.Dwarf.Sections[i]; o.Flags&(elfabi.SHFGroup|want) == want && o.Name == s.Name {
			return o
		}
	}
	return s
}

// kind returns a section's name without prefix and suffix, and as it is without
// compression; "" if it lacks them.
func (nm *naming) kind(section string) string {
	section, begins := strings.CutPrefix(section, nm.prefix)
	section, ends := strings.CutSuffix(section, nm.suffix)
	if !begins || !ends {
		return ""
	}
	if tail, ok := strings.CutPrefix(section, ".z"); ok {
		return "." + tail
	}
	return section
}

// Split reports whether the file is a .dwo or .dwp.
func (f *File) Split() bool { return f.dwo != nil }

// Order returns the file's byte order.
func (f *File) Order() binary.ByteOrder { return elfabi.Order(f.BigEndian) }

// Close closes the file and releases the memory.
func (f *File) Close() {
	f.shared.close()
	f.EndStreams()
	f.types.copies.Free()
	if f.Alt != nil {
		f.Alt.Close()
	}
	if f.Dwarf != f.ELF {
		f.Dwarf.Close()
	}
	f.ELF.Close()
}

// EndStreams ends the expansion of compressed sections. They cannot be read afterwards.
func (f *File) EndStreams() {
	for _, s := range f.inOrder.all() {
		if s.stream != nil {
			s.stream.Close()
			s.stream = nil
		}
	}
}

// Symbols returns the symbol table, its strings, and the file that has it: the input
// itself or a separate debug file.
func (f *File) Symbols() (e *mmapelf.File, symtab *mmapelf.Section, strtab []byte, err error) {
	e = f.ELF
	if e.Section(".symtab") == nil {
		e = f.Dwarf
	}
	symtab = e.Section(".symtab")
	if symtab == nil || symtab.Type != elfabi.SHTSymtab {
		return nil, nil, nil, fmt.Errorf("%s: no .symtab section, so no function can be placed (stripped file?)", f.Path)
	}
	strtab, err = e.SymbolStrings(symtab)
	return e, symtab, strtab, err
}

// ReleaseNames releases the mapped pages of .debug_str.
func (f *File) ReleaseNames() {
	if s := f.Dwarf.Section(".debug_str"); s != nil {
		f.Dwarf.ReleaseRange(s.Offset, s.Size)
	}
}

// pack is the additional state of a .dwo or .dwp.
type pack struct {
	combined bool              // a .dwp: it combines the units of .dwo files
	whole    map[string][]byte // the sections
	parts    map[string]span64 // of a .dwp: the unit's part of each section
	abbrevAt uint64            // of a .dwp: where offsets of the unit in .debug_abbrev start
}

func (f *File) packed() bool { return f.dwo != nil && f.dwo.combined }

// relocs is the additional state of a relocatable file.
type relocs struct {
	addrs []uint64 // the assumed address of each section, by index

	object *elfreloc.Object
	info   *elfreloc.Table // of .debug_info, nil if it has none
	random [relKinds]*elfreloc.Table

	inInfo, inStr section // the section of info, and .debug_str: released as they are read
	str           uint32  // section index of .debug_str
}

// Sections from which only single numbers or lists are read.
const (
	relAddr = iota
	relStrOffsets
	relLoclists
	relLoc
	relKinds
)

// TypeIndex is the index of a file's type units. After it is made, only the notes of
// Reached change, and only the committer uses them.
type TypeIndex struct {
	f        *File
	units    []typeUnit // by signature
	sections []typeSection
	copies   arena.Vec[byte]
	reached  []bool         // by unit: a committed unit has referred to it
	packed   map[uint64]int // of a .dwp: units by signature, which units is not sorted by

	once sync.Once
	err  error
	saw  atomic.Bool // .debug_info has a type unit
}

// typeUnit is one type unit.
type typeUnit struct {
	sig     uint64
	off     uint64 // of the header, from the section's base
	die     uint64 // of the type, from off
	copy    uint64 // 1 + offset in copies; 0 if the section itself can be read
	section uint32 // index in sections
}

// typeSection is a section with type units. The first one is .debug_info.
type typeSection struct {
	base  uint64 // where its offsets start in the range of all sections
	data  []byte
	types bool            // .debug_types
	rel   *elfreloc.Table // in order; nil if it has none

	// For the type unit alone, in a .dwp:
	abbrevAt   uint64 // where offsets in .debug_abbrev start
	linesAt    uint64 // where offsets in .debug_line start
	strOffsets []byte
}

// InFile makes err begin with the name of the file, as errors of package mmapelf do. nil
// stays nil.
func (f *File) InFile(err error) error {
	if e := (*mmapelf.FormatError)(nil); err == nil || errors.As(err, &e) {
		return err
	}
	return fmt.Errorf("%s: %w", f.Path, err)
}
