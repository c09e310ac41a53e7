package dwarftest

import "encoding/binary"

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
	// Sections come behind .text and before the debug sections.
	Sections []Section
	Symbols  []Symbol
	// NoDebug leaves the debug sections out, but for those of Sections.
	NoDebug bool
	// NoSymtab leaves .symtab out.
	NoSymtab bool
	// RepeatStrings gives each use of a string an offset of its own.
	RepeatStrings bool
	// Filler is a number of bytes that .debug_str starts with.
	Filler int
}

// Section is an ELF section. Size is for SHT_NOBITS; 0 is len(Data).
type Section struct {
	Name  string
	Type  int // sh_type; 0 is SHT_PROGBITS
	Flags uint64
	Addr  uint64
	Data  []byte
	Size  uint64
}

// Symbol is an entry of .symtab. Section is the name of its section; "" is
// .text for functions and SHN_ABS otherwise.
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

func (f *File) order() byteOrder {
	if f.BigEndian {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

func (f *File) addrSize() int {
	if f.Class32 {
		return 4
	}
	return 8
}

// Bytes is the whole file.
func (f *File) Bytes() []byte {
	if f.NoDebug {
		return f.Image(nil)
	}
	return f.Image(f.DebugSections())
}

// Image is the file with other debug sections than its own.
func (f *File) Image(debug []Section) []byte {
	o := f.order()
	secs := []Section{{}, {Name: ".text", Type: 8, Flags: 6, Addr: TextAddr, Size: 0x10000}}
	secs = append(append(secs, f.Sections...), debug...)
	word := func(b []byte, v uint64) []byte {
		if f.Class32 {
			return o.AppendUint32(b, uint32(v))
		}
		return o.AppendUint64(b, v)
	}
	index := func(name string) int {
		for i, s := range secs {
			if s.Name == name {
				return i
			}
		}
		return 0xfff1 // SHN_ABS
	}
	ehdr, phdr, shdr, sym := 64, 56, 64, 24
	if f.Class32 {
		ehdr, phdr, shdr, sym = 52, 32, 40, 16
	}
	// With so many sections, indexes go where 32 bits are (SHN_XINDEX).
	extended := len(secs)+3 >= 0xff00
	if !f.NoSymtab {
		syms, strs, shndxs := make([]byte, sym), []byte{0}, make([]byte, 4)
		for _, s := range f.Symbols {
			shndx := index(s.Section)
			if s.Section == "" && s.Type == 2 {
				shndx = 1
			}
			syms = o.AppendUint32(syms, uint32(len(strs)))
			strs = append(append(strs, s.Name...), 0)
			if extended && shndx < 0xfff1 || shndx > 0xffff {
				shndxs = o.AppendUint32(shndxs, uint32(shndx))
				shndx = 0xffff
			} else {
				shndxs = o.AppendUint32(shndxs, 0)
			}
			info := byte(0x10 | s.Type)
			if f.Class32 {
				syms = word(word(syms, s.Value), s.Size)
				syms = o.AppendUint16(append(syms, info, 0), uint16(shndx))
			} else {
				syms = o.AppendUint16(append(syms, info, 0), uint16(shndx))
				syms = word(word(syms, s.Value), s.Size)
			}
		}
		secs = append(secs, Section{Name: ".symtab", Type: 2, Data: syms}, Section{Name: ".strtab", Type: 3, Data: strs})
		if extended {
			secs = append(secs, Section{Name: ".symtab_shndx", Type: 18, Data: shndxs})
		}
	}
	secs = append(secs, Section{Name: ".shstrtab", Type: 3})
	names := []byte{0}
	var nameOff []uint32
	for _, s := range secs {
		if s.Name == "" {
			nameOff = append(nameOff, 0)
			continue
		}
		nameOff = append(nameOff, uint32(len(names)))
		names = append(append(names, s.Name...), 0)
	}
	secs[len(secs)-1].Data = names

	// Program header: one segment over all addresses, nothing of it in the file.
	body := make([]byte, ehdr+phdr)
	var offs []int
	for _, s := range secs {
		for len(body)%8 != 0 {
			body = append(body, 0)
		}
		offs = append(offs, len(body))
		body = append(body, s.Data...)
	}
	for len(body)%8 != 0 {
		body = append(body, 0)
	}
	shoff := len(body)
	for i, s := range secs {
		typ, size, link, info, ent := s.Type, s.Size, 0, 0, 0
		if typ == 0 && i > 0 {
			typ = 1
		}
		if size == 0 {
			size = uint64(len(s.Data))
		}
		switch {
		case typ == 2:
			link, info, ent = i+1, 1, sym
		case typ == 18:
			link, ent = i-2, 4
		case i == 0 && len(secs) >= 0xff00:
			size, link = uint64(len(secs)), len(secs)-1
		}
		body = o.AppendUint32(o.AppendUint32(body, nameOff[i]), uint32(typ))
		body = word(word(word(word(body, s.Flags), s.Addr), uint64(offs[i])), size)
		body = o.AppendUint32(o.AppendUint32(body, uint32(link)), uint32(info))
		body = word(word(body, 1), uint64(ent))
	}

	h := append([]byte("\x7fELF"), 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	if f.Class32 {
		h[4] = 1
	}
	if f.BigEndian {
		h[5] = 2
	}
	pick := func(v, usual int) uint16 {
		if v == 0 {
			v = usual
		}
		return uint16(v)
	}
	h = o.AppendUint16(h, pick(f.Type, 2))
	h = o.AppendUint16(h, pick(f.Machine, MachineX86_64))
	h = o.AppendUint32(h, 1)
	h = word(word(word(h, TextAddr), uint64(ehdr)), uint64(shoff))
	h = o.AppendUint32(h, 0)
	shnum, shstrndx := len(secs), len(secs)-1
	if shnum >= 0xff00 {
		shnum, shstrndx = 0, 0xffff
	}
	for _, v := range []int{ehdr, phdr, 1, shdr, shnum, shstrndx} {
		h = o.AppendUint16(h, uint16(v))
	}
	const load, rwx, span = 1, 7, 0x100000
	h = o.AppendUint32(h, load)
	if f.Class32 {
		h = word(word(word(word(word(h, 0), TextAddr), TextAddr), 0), span)
		h = word(word(h, rwx), 1)
	} else {
		h = o.AppendUint32(h, rwx)
		h = word(word(word(word(word(word(h, 0), TextAddr), TextAddr), 0), span), 1)
	}
	copy(body, h)
	return body
}
