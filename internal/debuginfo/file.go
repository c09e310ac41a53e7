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

// File is the debug information of one input: where it is, and its sections.
// After Load it is read-only, but for what its units share: the cache of
// abbreviation tables and the index of type units, which any worker may use.
type File struct {
	Path  string
	ELF   *mmapelf.File // the input itself
	Dwarf *mmapelf.File // where the debug sections are: ELF, or a separate debug file
	Alt   *File         // the alternate file, once OpenAlt has found one

	BigEndian bool
	AddrSize  int // bytes
	Machine   uint16

	Info, Loc, Loclists []byte
	Names               names.Text // .debug_str
	// Survey is what the abbreviations say of the units, once Look has read them. Damaged
	// says that they could not be read to the end: units may be of any kind.
	Survey  dwarf.Survey
	Damaged bool

	settings Settings
	inMemory bool // the input is bytes in memory, and no file lies beside it
	naming
	other   others
	inOrder inOrder
	rel     *relocs // of an ET_REL file, else nil
	shared  sharedAbbrevs
	types   TypeIndex
	dwo     *pack // of a .dwo or .dwp, else nil
}

// Settings is what a run says of how its inputs are opened.
type Settings struct {
	Names *names.Table // of all inputs
	// ByText has names stand for their text whatever the file: names.Text.
	ByText bool
	Limit  *arena.Limit
	// Expanding is the limit of compressed sections that are expanded as a whole.
	Expanding *arena.Limit
	// DebugDir is a folder of separate debug files, asked before
	// /usr/lib/debug; "" for none.
	DebugDir string
	// Scarce says that there is no room for twice so many bytes of a file.
	Scarce func(size uint64) bool
	// Workers is how many goroutines read the units; <= 1 is one.
	Workers int
}

// naming is how the file calls its debug sections.
type naming struct {
	prefix string // ltoPrefix, else ""
	suffix string // .dwo, else ""
}

// others are sections that only this package reads.
type others struct{ abbrev, lineStr, strOffsets, addr []byte }

// inOrder are the sections that are given back as they are read.
type inOrder struct{ info, abbrev, loc, loclists section }

func (o *inOrder) all() [4]*section { return [4]*section{&o.info, &o.abbrev, &o.loc, &o.loclists} }

// newFile is a file whose sections have not been loaded.
func newFile(path string, e *mmapelf.File, s Settings) *File {
	f := &File{
		Path: path, ELF: e, Dwarf: e, BigEndian: e.BigEndian, AddrSize: e.AddrSize, Machine: e.Machine,
		settings: s, Names: names.Text{Table: s.Names, ByText: s.ByText},
	}
	arena.Bind(s.Limit, &f.types.copies)
	e.Limit = s.Expanding
	return f
}

// Load loads the debug sections, their relocations in a relocatable file, and names. With whole,
// compressed sections are expanded as a whole, for units that are read more than once.
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
	o.loc.sec = nil // lists of the older kind are not in order in every file
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

// load gives the contents of a debug section. With to, it is one that is given
// back as it is read.
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

// placeNames gives the file's .debug_str its place among the tokens. The names of unit
// records stand for their text. Error: no room for it.
func (f *File) placeNames() error {
	f.Names.ByText = f.Names.ByText || f.rel != nil || f.Survey.Records || f.Damaged
	if !f.Names.Place() {
		return fmt.Errorf("%s: .debug_str: %d bytes are more than fit beside the other inputs (2 GiB in all)", f.Path, len(f.Names.Data))
	}
	return nil
}

// ltoPrefix is what names of debug sections begin with in objects of GCC that
// hold intermediate code. Those that hold no machine code as well (slim ones) have
// no other: types and inline functions, described before optimization.
const ltoPrefix = ".gnu.debuglto_"

// section is the debug section of that name, or the one with the name that
// compressed contents had at first; nil if there is none. Of several the one
// counts that does not have type units only (typeindex.go): those are in section
// groups, or were before a .dwo was made of them, which has only what is not in
// one marked as not to be linked.
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

// kind is a section's name without the prefix and the suffix and as it is without
// compression; "" if it does not have them.
func (n *naming) kind(section string) string {
	section, begins := strings.CutPrefix(section, n.prefix)
	section, ends := strings.CutSuffix(section, n.suffix)
	if !begins || !ends {
		return ""
	}
	if rest, ok := strings.CutPrefix(section, ".z"); ok {
		return "." + rest
	}
	return section
}

// Split reports whether the file is a .dwo or .dwp.
func (f *File) Split() bool { return f.dwo != nil }

// Order is the file's byte order.
func (f *File) Order() binary.ByteOrder { return order(f.BigEndian) }

// Close gives back the file and what was made of it.
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

// EndStreams ends the expansion of compressed sections. They cannot be read any
// more.
func (f *File) EndStreams() {
	for _, s := range f.inOrder.all() {
		if s.stream != nil {
			s.stream.Close()
			s.stream = nil
		}
	}
}

// Symbols is the symbol table, its strings, and the file that has it: the input
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

// ReleaseNames gives back what is mapped of .debug_str.
func (f *File) ReleaseNames() {
	if s := f.Dwarf.Section(".debug_str"); s != nil {
		f.Dwarf.ReleaseRange(s.Offset, s.Size)
	}
}

// pack is what only a .dwo or .dwp has.
type pack struct {
	combined bool              // a .dwp: it combines the units of .dwo files
	whole    map[string][]byte // the sections
	parts    map[string]span64 // of a .dwp: what of a section belongs to the unit
	abbrevAt uint64            // of a .dwp: where offsets of the unit in .debug_abbrev start
}

// packed reports whether the file is a .dwp.
func (f *File) packed() bool { return f.dwo != nil && f.dwo.combined }

// relocs is what a relocatable file has beyond a linked one.
type relocs struct {
	addrs []uint64 // where each section is assumed to lie, by index

	object *elfreloc.Object
	info   *elfreloc.Table // of .debug_info, nil if it has none
	random [relKinds]*elfreloc.Table

	inInfo, inStr section // the section of info, and .debug_str: given back as they are read
	str           uint32  // section index of .debug_str
}

// Sections of which single numbers or lists are read.
const (
	relAddr = iota
	relStrOffsets
	relLoclists
	relLoc
	relKinds
)

// TypeIndex is the index of a file's type units. It does not change once it is
// made, but for what Reached notes, which belongs to the committer.
type TypeIndex struct {
	f        *File
	units    []typeUnit // by signature
	sections []typeSection
	copies   arena.Vec[byte]
	reached  []bool         // by unit: a committed unit has led to it
	packed   map[uint64]int // of a .dwp: units by signature, which are not sorted

	once sync.Once
	err  error
	saw  atomic.Bool // a type unit went by in .debug_info
}

// typeUnit is one of them.
type typeUnit struct {
	sig     uint64
	off     uint64 // of the header, from the section's base
	die     uint64 // of the type, from off
	copy    uint64 // 1 + offset in copies; 0 if the section itself can be read
	section uint32 // index in sections
}

// typeSection is a section with type units. The first one is .debug_info.
type typeSection struct {
	base  uint64 // where its offsets start among those of all
	data  []byte
	types bool            // .debug_types
	rel   *elfreloc.Table // in order; nil if it has none

	// Of the type unit alone, in a .dwp:
	abbrevAt   uint64 // where offsets in .debug_abbrev start
	linesAt    uint64 // likewise in .debug_line
	strOffsets []byte
}

// InFile makes err begin with the name of the file, as those of package mmapelf
// do. nil stays nil.
func (f *File) InFile(err error) error {
	if e := (*mmapelf.FormatError)(nil); err == nil || errors.As(err, &e) {
		return err
	}
	return fmt.Errorf("%s: %w", f.Path, err)
}
