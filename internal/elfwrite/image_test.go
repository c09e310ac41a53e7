package elfwrite

import (
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
	return fmt.Sprintf("%d%v", pick(l.class64, 64, 32), l.order)
}

func (l layout) word(b []byte, v uint64) []byte {
	if l.class64 {
		return l.order.AppendUint64(b, v)
	}
	return l.order.AppendUint32(b, uint32(v))
}

// part is a section of a test image.
type part struct {
	name  string
	typ   uint32
	flags uint64
	addr  uint64 // not where the linked image loads it
	data  string
	size  uint64 // when not len(data)
}

// form varies a test image.
type form struct {
	linked   bool // ET_EXEC with a PT_LOAD over all sections with SHF_ALLOC
	extended bool // count and name table index in section 0
	names    string
	tail     string // bytes behind the section table
}

// loadAddr is the address of byte 0 of a linked test image.
const loadAddr = 0x1000

// image builds an ELF file: header, program headers, contents, .shstrtab,
// section table. names is put at the end of the section name table.
func (l layout) image(fm form, parts ...part) []byte {
	m := &image{class64: l.class64, order: l.order}
	const shtStrtab = 3
	names := []byte{0}
	var nameOff []uint32
	parts = append(parts, part{name: ".shstrtab", typ: shtStrtab})
	for _, p := range parts {
		nameOff = append(nameOff, uint32(len(names)))
		names = append(names, p.name+"\x00"...)
	}
	parts[len(parts)-1].data = string(names) + fm.names

	start := m.ehdrSize()
	if fm.linked {
		start += 2 * m.phdrSize()
	}
	var body []byte
	var load span
	m.shdrs = make([]byte, m.shdrSize()*(len(parts)+1))
	for i, p := range parts {
		for (start+len(body))%4 != 0 {
			body = append(body, 0xcc)
		}
		size := p.size
		if size == 0 {
			size = uint64(len(p.data))
		}
		at := span{uint64(start + len(body)), size}
		if p.flags&shfAlloc != 0 && p.typ != shtNobits {
			if load.off == 0 {
				load.off = at.off
			}
			load.size = at.off + at.size - load.off
			if fm.linked {
				p.addr = loadAddr + at.off
			}
		}
		m.setSection(i+1, shdr{name: nameOff[i], typ: p.typ, flags: p.flags, addr: p.addr, align: 1, span: at})
		body = append(body, p.data...)
	}
	for (start+len(body))%8 != 0 {
		body = append(body, 0xcc)
	}
	count, strIndex := len(parts)+1, len(parts)
	if fm.extended {
		m.setSection(0, shdr{link: uint32(strIndex), span: span{0, uint64(count)}})
		count, strIndex = 0, shnXindex
	}

	order := byte(1)
	if l.order.Uint16([]byte{0, 1}) == 1 {
		order = 2
	}
	typ, phoff, phnum := uint16(etRel), uint64(0), uint16(0)
	if fm.linked {
		typ, phoff, phnum = 2, uint64(m.ehdrSize()), 2
	}
	b := append([]byte(elfMag), byte(pick(l.class64, 2, 1)), order, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	b = l.order.AppendUint16(b, typ)
	b = l.order.AppendUint16(b, 62)
	b = l.order.AppendUint32(b, 1)
	b = l.word(b, 0)
	b = l.word(b, phoff)
	b = l.word(b, uint64(start+len(body)))
	b = l.order.AppendUint32(b, 0)
	for _, v := range []uint16{uint16(m.ehdrSize()), uint16(m.phdrSize()), phnum, uint16(m.shdrSize()), uint16(count), uint16(strIndex)} {
		b = l.order.AppendUint16(b, v)
	}
	if fm.linked {
		b = l.segment(b, 0x6474e551, span{}) // PT_GNU_STACK
		b = l.segment(b, ptLoad, load)
	}
	b = append(b, body...)
	b = append(b, m.shdrs...)
	return append(b, fm.tail...)
}

// segment appends a program header.
func (l layout) segment(b []byte, typ uint32, at span) []byte {
	const readable = 4
	b = l.order.AppendUint32(b, typ)
	if l.class64 {
		b = l.order.AppendUint32(b, readable)
	}
	b = l.word(b, at.off)
	b = l.word(b, loadAddr+at.off)
	b = l.word(b, loadAddr+at.off)
	b = l.word(b, at.size)
	b = l.word(b, at.size)
	if !l.class64 {
		b = l.order.AppendUint32(b, readable)
	}
	return l.word(b, 1)
}
