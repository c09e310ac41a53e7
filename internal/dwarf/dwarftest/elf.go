package dwarftest

import "github.com/btflite/btflite/internal/elftest"

// Machines (e_machine).
const (
	MachineX86_64  = 62
	MachineI386    = 3
	MachineARM     = 40
	MachineAARCH64 = 183
	MachineS390    = 22
)

// TextAddr is where the section .text of every file starts; it is 64 KiB long.
const TextAddr = 0x10000

// PercpuAddr is where Percpu starts.
const PercpuAddr = 0x40000

// File is an ELF file: ET_EXEC for x86-64, 64-bit, little endian, unless it
// says otherwise.
type File struct {
	Type      int // e_type; 0 is ET_EXEC
	Machine   int // e_machine; 0 is EM_X86_64
	Class32   bool
	BigEndian bool
	Units     []*Unit
	// Sections come after .text and before the debug sections.
	Sections []Section
	Symbols  []Symbol
	// NoDebug leaves out the debug sections, except those in Sections.
	NoDebug bool
	// NoSymtab leaves .symtab out.
	NoSymtab bool
	// RepeatStrings gives each use of a string an offset of its own.
	RepeatStrings bool
	// Filler is a number of bytes that .debug_str starts with.
	Filler int
}

// Section is an ELF section.
type Section = elftest.Section

// Symbol is an entry of .symtab. Section is the name of its section; "" is .text
// for functions and SHN_UNDEF otherwise, a name that no section has SHN_ABS.
type Symbol struct {
	Name    string
	Type    int // STT_
	Value   uint64
	Size    uint64
	Section string
}

// Func is an STT_FUNC symbol in .text.
func Func(name string, value uint64) Symbol {
	return Symbol{Name: name, Type: 2, Value: value, Size: 16}
}

// Object is an STT_OBJECT symbol.
func Object(name, section string, value uint64) Symbol {
	return Symbol{Name: name, Type: 1, Value: value, Size: 4, Section: section}
}

// Percpu is a section .data..percpu of 4 KiB at PercpuAddr.
func Percpu() Section {
	return Section{Name: ".data..percpu", Flags: 3, Addr: PercpuAddr, Data: make([]byte, 0x1000)}
}

func (f *File) layout() elftest.Layout { return elftest.Of(!f.Class32, f.BigEndian) }

// Bytes is the whole file.
func (f *File) Bytes() []byte {
	if f.NoDebug {
		return f.Image(nil)
	}
	return f.Image(f.DebugSections())
}

// Image is the file with other debug sections than its own. One segment is over all
// addresses, with nothing of the file in it.
func (f *File) Image(debug []Section) []byte {
	sections := []Section{{Name: ".text", Type: elftest.Nobits, Flags: 6, Addr: TextAddr, Size: 0x10000}}
	sections = append(append(sections, f.Sections...), debug...)
	if !f.NoSymtab {
		sections = f.withSymtab(sections)
	}
	linked(f.layout(), sections)
	typ := f.Type
	if typ == 0 {
		typ = elftest.Executable
	}
	const load, rwx, span = 1, 7, 0x100000
	return elftest.Image{
		Layout: f.layout(), Type: typ, Machine: f.Machine, Entry: TextAddr, Sections: sections,
		Segments: []elftest.Segment{{Type: load, Flags: rwx, Addr: TextAddr, MemSize: span, Align: 1}},
	}.Bytes()
}

// withSymtab is sections and the symbol table with its strings.
func (f *File) withSymtab(sections []Section) []Section {
	const undefined, reserved, absolute, inTable = 0, 0xff00, 0xfff1, 0xffff
	index := func(s Symbol) int {
		if s.Section == "" {
			if s.Type == 2 {
				return 1
			}
			return undefined
		}
		for i := range sections {
			if sections[i].Name == s.Section {
				return i + 1
			}
		}
		return absolute
	}
	l := f.layout()
	// With so many sections, indexes go where 32 bits are (SHN_XINDEX).
	extended := len(sections)+4 >= reserved
	syms, strs, indexes := l.Symbol(nil, elftest.Symbol{}), []byte{0}, make([]byte, 4)
	for _, s := range f.Symbols {
		at, wide := index(s), 0
		if extended && at < absolute || at > inTable {
			at, wide = inTable, at
		}
		indexes = l.Order.AppendUint32(indexes, uint32(wide))
		syms = l.Symbol(syms, elftest.Symbol{Name: uint32(len(strs)), Info: byte(0x10 | s.Type), Section: uint16(at), Value: s.Value, Size: s.Size})
		strs = append(append(strs, s.Name...), 0)
	}
	sections = append(sections, Section{Name: ".symtab", Type: elftest.Symtab, Data: syms}, Section{Name: ".strtab", Type: elftest.Strtab, Data: strs})
	if extended {
		sections = append(sections, Section{Name: ".symtab_shndx", Type: elftest.SymtabShndx, Data: indexes})
	}
	return sections
}

// linked makes every symbol table refer to its strings, which come after it, and the
// table of wide indexes after them to the symbols.
func linked(l elftest.Layout, sections []Section) {
	for i := range sections {
		s, n := &sections[i], uint32(i+1)
		switch s.Type {
		case elftest.Symtab:
			s.Link, s.Info, s.EntSize = n+1, 1, uint64(l.SymbolSize())
		case elftest.SymtabShndx:
			s.Link, s.EntSize = n-2, 4
		}
	}
}
