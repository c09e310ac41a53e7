package mmapelf

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// layout is one of the four forms an ELF file can have.
type layout struct {
	class64 bool
	order   byteOrder
}

// byteOrder is what encoding/binary's two orders can do.
type byteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

var layouts = []layout{
	{false, binary.LittleEndian},
	{false, binary.BigEndian},
	{true, binary.LittleEndian},
	{true, binary.BigEndian},
}

func (l layout) String() string {
	bits := 32
	if l.class64 {
		bits = 64
	}
	return fmt.Sprintf("%d%v", bits, l.order)
}

func (l layout) u16(b []byte, v uint16) []byte { return l.order.AppendUint16(b, v) }
func (l layout) u32(b []byte, v uint32) []byte { return l.order.AppendUint32(b, v) }
func (l layout) u64(b []byte, v uint64) []byte { return l.order.AppendUint64(b, v) }

// word appends an address-sized value.
func (l layout) word(b []byte, v uint64) []byte {
	if l.class64 {
		return l.u64(b, v)
	}
	return l.u32(b, uint32(v))
}

// part is a section of a test image.
type part struct {
	name    string
	typ     uint32
	flags   uint64
	data    []byte
	link    uint32
	info    uint32
	entSize uint64
	size    uint64 // when not len(data)
}

// image builds an ELF file of header, contents, name table and section table.
// The null section comes first and .shstrtab last. With extended, the count
// and the name table index are stored in section 0.
func (l layout) image(extended bool, parts ...part) []byte {
	names := []byte{0}
	var nameOff []uint32
	parts = append(parts, part{name: ".shstrtab", typ: shtStrtab})
	for _, p := range parts {
		nameOff = append(nameOff, uint32(len(names)))
		names = append(append(names, p.name...), 0)
	}
	parts[len(parts)-1].data = names

	ehdrSize, shdrSize, class := ehdrSize32, shdrSize32, byte(1)
	if l.class64 {
		ehdrSize, shdrSize, class = ehdrSize64, shdrSize64, 2
	}
	var body []byte
	var offsets []uint64
	for _, p := range parts {
		for len(body)%8 != 0 {
			body = append(body, 0xcc)
		}
		offsets = append(offsets, uint64(ehdrSize+len(body)))
		body = append(body, p.data...)
	}
	for len(body)%8 != 0 {
		body = append(body, 0xcc)
	}
	count, strIndex := len(parts)+1, len(parts)
	var first part
	if extended {
		first.size, first.link = uint64(count), uint32(strIndex)
		count, strIndex = 0, shnXindex
	}

	order := byte(1)
	if l.order.Uint16([]byte{0, 1}) == 1 {
		order = 2
	}
	b := append([]byte(elfMagic), class, order, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	b = l.u16(b, 1)  // e_type ET_REL
	b = l.u16(b, 62) // e_machine
	b = l.u32(b, 1)
	b = l.word(b, 0)
	b = l.word(b, 0)
	b = l.word(b, uint64(ehdrSize+len(body)))
	b = l.u32(b, 0)
	for _, v := range []int{ehdrSize, 0, 0, shdrSize, count, strIndex} {
		b = l.u16(b, uint16(v))
	}
	b = append(b, body...)
	b = l.header(b, 0, 0, first)
	for i, p := range parts {
		b = l.header(b, nameOff[i], offsets[i], p)
	}
	return b
}

// header appends a section header.
func (l layout) header(b []byte, name uint32, off uint64, p part) []byte {
	size := p.size
	if size == 0 {
		size = uint64(len(p.data))
	}
	b = l.u32(b, name)
	b = l.u32(b, p.typ)
	b = l.word(b, p.flags)
	b = l.word(b, 0)
	b = l.word(b, off)
	b = l.word(b, size)
	b = l.u32(b, p.link)
	b = l.u32(b, p.info)
	b = l.word(b, 1)
	return l.word(b, p.entSize)
}

// symbol appends a symbol table entry.
func (l layout) symbol(b []byte, s Symbol, shndx uint16) []byte {
	b = l.u32(b, s.Name)
	if l.class64 {
		b = append(b, s.Info, s.Other)
		b = l.u16(b, shndx)
		b = l.u64(b, s.Value)
		return l.u64(b, s.Size)
	}
	b = l.u32(b, uint32(s.Value))
	b = l.u32(b, uint32(s.Size))
	b = append(b, s.Info, s.Other)
	return l.u16(b, shndx)
}

// compressed returns stream behind an Elf_Chdr.
func (l layout) compressed(kind uint32, size uint64, stream []byte) []byte {
	b := l.u32(nil, kind)
	if l.class64 {
		b = l.u32(b, 0)
	}
	b = l.word(b, size)
	b = l.word(b, 1)
	return append(b, stream...)
}

// sample is an image that uses all that the package reads.
func (l layout) sample() []byte {
	syms := l.symbol(nil, Symbol{}, 0)
	syms = l.symbol(syms, Symbol{Name: 1, Info: 0x12, Other: 2, Value: 0x1122334455667788 & l.mask(), Size: 0x99}, 5)
	syms = l.symbol(syms, Symbol{Name: 4, Info: 0x11, Value: 8, Size: 4}, shnXindex)
	symSize := uint64(symSize32)
	if l.class64 {
		symSize = symSize64
	}
	text := bytes.Repeat([]byte("debug text "), 300)
	return l.image(true,
		part{name: ".text", typ: 1, data: []byte("\x90\x90\xc3")},
		part{name: ".bss", typ: shtNobits, size: 1 << 30},
		part{name: ".symtab", typ: 2, data: syms, link: 4, entSize: symSize},
		part{name: ".strtab", typ: shtStrtab, data: []byte("\x00fn\x00var\x00")},
		part{name: ".symtab_shndx", typ: shtSymtabShndx, link: 3, data: l.u32(l.u32(l.u32(nil, 0), 0), 0x12345), entSize: 4},
		part{name: ".debug_str", typ: 1, flags: shfCompressed, data: l.compressed(elfCompressZlib, uint64(len(text)), deflate(text))},
		part{name: ".debug_line_str", typ: 1, flags: shfCompressed, data: l.compressed(elfCompressZstd, uint64(len(text)), zstdOf(text))},
		part{name: ".zdebug_info", typ: 1, data: gnuOf(text)},
	)
}

// mask is the largest address.
func (l layout) mask() uint64 {
	if l.class64 {
		return 1<<64 - 1
	}
	return 1<<32 - 1
}
