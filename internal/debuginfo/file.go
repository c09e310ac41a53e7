package debuginfo

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/btflite/btflite/arena"
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

	settings Settings
	alone    bool // the input is bytes in memory, and no file lies beside it
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

const (
	shtSymtab   = 2
	shtRela     = 4
	shtNote     = 7
	shtRel      = 9
	shfAlloc    = 2
	etRel       = 1
	shfGroup    = 0x200
	shfCompress = 0x800
	shfExclude  = 0x80000000
)

// Open maps an input and finds the file with its debug sections. Errors: a file
// that cannot be mapped or is no ELF file, and a separate debug file that is named
// and cannot be used.
func Open(in *mmapelf.Source, s Settings) (*File, error) {
	e, err := in.Open()
	if err != nil {
		return nil, err
	}
	f := newFile(in.Path, e, s)
	f.alone = in.InMemory()
	f.adviseOn(f.ELF)
	f.prefix = slimPrefix(f.ELF)
	if f.section(".debug_info") == nil && f.section(".debug_abbrev") == nil {
		if err := f.findDebugFile(); err != nil {
			f.Close()
			return nil, err
		}
		if f.Dwarf != f.ELF {
			f.adviseOn(f.Dwarf)
		}
	}
	return f, nil
}

// newFile is a file whose sections have not been loaded.
func newFile(path string, e *mmapelf.File, s Settings) *File {
	f := &File{
		Path: path, ELF: e, Dwarf: e, BigEndian: e.BigEndian, AddrSize: e.AddrSize, Machine: e.Machine,
		settings: s, Names: names.Text{Table: s.Names, ByText: s.ByText},
	}
	arena.Bind(s.Limit, &f.types.copies)
	return f
}

// adviseOn says how a file will be read. The system's own read-ahead around each
// page touched can be megabytes; what is read in order is asked for in windows
// instead. Below a limit that has no room for all of it, pages that are done with
// are to be the first to go.
func (f *File) adviseOn(e *mmapelf.File) {
	size := uint64(len(e.Bytes()))
	e.RandomRange(0, size)
	e.Scarce = f.settings.Scarce(size)
}

// Load loads the debug sections. With whole, compressed ones are expanded as a
// whole, for units that are read more than once.
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
	return nil
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
func (f *File) Relocatable() bool { return f.ELF.Type == etRel }

// PlaceNames gives the file's .debug_str its place among the tokens. It comes
// after LoadRelocs. Error: no room for it.
func (f *File) PlaceNames() error {
	f.Names.ByText = f.Names.ByText || f.rel != nil
	if !f.Names.Place() {
		return fmt.Errorf("%s: .debug_str: %d bytes are more than fit beside the other inputs (2 GiB in all)", f.Path, len(f.Names.Data))
	}
	return nil
}

// ltoPrefix is what names of debug sections begin with in objects of GCC that
// hold intermediate code. Those that hold no machine code as well (slim ones) have
// no other: types and inline functions, described before optimization.
const ltoPrefix = ".gnu.debuglto_"

// slimPrefix is ltoPrefix for a slim object of GCC, else "".
func slimPrefix(e *mmapelf.File) (prefix string) {
	for i := range e.Sections {
		switch name := e.Sections[i].Name; {
		case strings.HasPrefix(name, ".debug_"), strings.HasPrefix(name, ".zdebug_"):
			return ""
		case name == ltoPrefix+".debug_info":
			prefix = ltoPrefix
		}
	}
	return prefix
}

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
		want = shfExclude
	}
	for i := s.Index; i < len(f.Dwarf.Sections); i++ {
		if o := &f.Dwarf.Sections[i]; o.Flags&(shfGroup|want) == want && o.Name == s.Name {
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
func (f *File) Order() binary.ByteOrder {
	if f.BigEndian {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

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
	if symtab == nil || symtab.Type != shtSymtab {
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
