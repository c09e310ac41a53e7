package elfwrite

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/internal/message"
)

// image holds the tables of an ELF file in their stored form. Changes are made
// to these bytes, so that fields this package does not know stay as they are.
type image struct {
	class64 bool
	order   binary.ByteOrder
	size    int64 // of the file

	ehdr     []byte
	shoff    uint64
	shdrs    []byte // the section table, count entries of shdrSize bytes
	count    int
	strIndex int // section that holds the section names
	names    []byte

	phdrs    span   // the program header table
	segments []span // file ranges of all segments
	loads    []load // program headers of type PT_LOAD
}

// load is a segment that is loaded.
type load struct {
	span
	addr uint64 // where its first byte goes
}

// span is a range of the file.
type span struct{ off, size uint64 }

// overlaps reports whether a and b share a byte. Sums that leave 64 bits do
// not matter: the sizes are compared with distances.
func (a span) overlaps(b span) bool {
	if a.size == 0 || b.size == 0 {
		return false
	}
	if a.off < b.off {
		return b.off-a.off < a.size
	}
	return a.off-b.off < b.size
}

// contains reports whether b lies in a.
func (a span) contains(b span) bool {
	return b.off >= a.off && b.off-a.off <= a.size && b.size <= a.size-(b.off-a.off)
}

// Numbers of the ELF specification (gABI).
const (
	ptLoad  = 1
	pnXnum  = 0xffff
	nameEnd = "\x00"
)

// header sizes of the two classes, in bytes.
func (m *image) ehdrSize() int { return pick(m.class64, 64, 52) }
func (m *image) shdrSize() int { return pick(m.class64, 64, 40) }
func (m *image) phdrSize() int { return pick(m.class64, 56, 32) }

func pick(class64 bool, of64, of32 int) int {
	if class64 {
		return of64
	}
	return of32
}

// word reads an address-sized field.
func (m *image) word(b []byte) uint64 {
	if m.class64 {
		return m.order.Uint64(b)
	}
	return uint64(m.order.Uint32(b))
}

// putWord writes an address-sized field; the value was checked to fit.
func (m *image) putWord(b []byte, v uint64) {
	if m.class64 {
		m.order.PutUint64(b, v)
		return
	}
	m.order.PutUint32(b, uint32(v))
}

// readImage reads the tables of the ELF file r of size bytes.
func readImage(r io.ReaderAt, size int64) (*image, error) {
	m := &image{size: size}
	var ident [16]byte
	if size < int64(len(ident)) {
		return nil, errors.New("not an ELF file")
	}
	if _, err := r.ReadAt(ident[:], 0); err != nil {
		return nil, err
	}
	if string(ident[:4]) != elfabi.Magic {
		return nil, errors.New("not an ELF file")
	}
	switch ident[4] {
	case 1:
	case 2:
		m.class64 = true
	default:
		return nil, fmt.Errorf("ELF header+0x4: unknown class %d", ident[4])
	}
	if ident[5] != 1 && ident[5] != 2 {
		return nil, fmt.Errorf("ELF header+0x5: unknown byte order %d", ident[5])
	}
	m.order = elfabi.Order(ident[5] == 2)
	var err error
	if m.ehdr, err = m.read(r, "ELF header", span{0, uint64(m.ehdrSize())}); err != nil {
		return nil, err
	}
	if err := m.readSections(r); err != nil {
		return nil, err
	}
	return m, m.readSegments(r)
}

// maxTable bounds a table of headers or names, in bytes. A file with holes can have any size. A million
// sections have 64 MiB of headers.
const maxTable = 512 << 20

// read returns the bytes of at, after checking that the file has them.
func (m *image) read(r io.ReaderAt, what string, at span) ([]byte, error) {
	if !(span{0, uint64(m.size)}).contains(at) {
		return nil, fmt.Errorf("%s: %#x bytes at %#x leave the file of %#x bytes", what, at.size, at.off, m.size)
	}
	if at.size > maxTable {
		return nil, fmt.Errorf("%s: it has %s, more than %s", what, message.ByteSize(at.size), message.ByteSize(maxTable))
	}
	b := make([]byte, at.size)
	if _, err := r.ReadAt(b, int64(at.off)); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return b, nil
}

// counts gives the fields from e_phentsize on.
func (m *image) counts() []byte { return m.ehdr[pick(m.class64, 54, 42):] }

// readSections reads the section table and the section names.
func (m *image) readSections(r io.ReaderAt) error {
	m.shoff = m.word(m.ehdr[pick(m.class64, 40, 32):])
	tail := m.counts()
	entSize := int(m.order.Uint16(tail[4:]))
	count := uint64(m.order.Uint16(tail[6:]))
	strIndex := uint64(m.order.Uint16(tail[8:]))
	if m.shoff == 0 {
		return errors.New("ELF file has no section header table")
	}
	if entSize != m.shdrSize() {
		return fmt.Errorf("ELF header: section table entries of %d bytes, want %d", entSize, m.shdrSize())
	}
	// Section 0 holds numbers that the header has no room for.
	first, err := m.read(r, "section table", span{m.shoff, uint64(entSize)})
	if err != nil {
		return err
	}
	m.shdrs = first
	if count == 0 {
		count = m.section(0).size
	}
	if strIndex == elfabi.SHNXindex {
		strIndex = uint64(m.section(0).link)
	}
	if count == 0 {
		return errors.New("ELF file has no section header table")
	}
	if count > uint64(m.size)/uint64(entSize) {
		return fmt.Errorf("section table: %d entries at %#x leave the file of %#x bytes", count, m.shoff, m.size)
	}
	if m.shdrs, err = m.read(r, "section table", span{m.shoff, count * uint64(entSize)}); err != nil {
		return err
	}
	m.count = int(count)
	if strIndex == 0 {
		return errors.New("ELF file has no section name table")
	}
	if strIndex >= count {
		return fmt.Errorf("ELF header: section name table is section %d of %d", strIndex, count)
	}
	m.strIndex = int(strIndex)
	names := m.section(m.strIndex)
	if names.typ == elfabi.SHTNobits {
		return errors.New("section name table has no contents")
	}
	if names.flags&elfabi.SHFCompressed != 0 {
		return errors.New("section names are compressed, so none can be added; eu-elfcompress -t none -n .shstrtab expands them")
	}
	if names.typ == elfabi.SHTNull { // nobody's bytes, so that others could lie over them
		return errors.New("section name table is a section without a type")
	}
	if m.names, err = m.read(r, "section name table", names.span); err != nil {
		return err
	}
	return m.checkNames()
}

// checkNames refuses names outside the name table, because such a name could become the
// new section's when the table grows.
func (m *image) checkNames() error {
	last := bytes.LastIndexByte(m.names, 0)
	for i := range m.count {
		off := m.section(i).name
		if int64(off) > int64(last) && (off != 0 || len(m.names) != 0) {
			return fmt.Errorf("section table: name of section %d at %#x is outside the name table of %#x bytes", i, off, len(m.names))
		}
	}
	return nil
}

// readSegments reads the file ranges of the program headers.
func (m *image) readSegments(r io.ReaderAt) error {
	off := m.word(m.ehdr[pick(m.class64, 32, 28):])
	tail := m.counts()
	entSize := uint64(m.order.Uint16(tail))
	count := uint64(m.order.Uint16(tail[2:]))
	if count == pnXnum {
		count = uint64(m.section(0).info)
	}
	if count == 0 || off == 0 {
		return nil
	}
	if entSize != uint64(m.phdrSize()) {
		return fmt.Errorf("ELF header: program headers of %d bytes, want %d", entSize, m.phdrSize())
	}
	m.phdrs = span{off, count * entSize}
	table, err := m.read(r, "program header table", m.phdrs)
	if err != nil {
		return err
	}
	for ; len(table) > 0; table = table[entSize:] {
		// 32-bit: p_type, p_offset, p_vaddr, p_paddr, p_filesz, ...
		// 64-bit: p_type, p_flags, p_offset, p_vaddr, p_paddr, p_filesz, ...
		at := span{m.word(table[pick(m.class64, 8, 4):]), m.word(table[pick(m.class64, 32, 16):])}
		m.segments = append(m.segments, at)
		if m.order.Uint32(table) == ptLoad {
			m.loads = append(m.loads, load{at, m.word(table[pick(m.class64, 16, 8):])})
		}
	}
	return nil
}

// shdr is a section header.
type shdr struct {
	name, typ, link, info uint32
	flags, addr, align    uint64
	entSize               uint64
	span
}

// live returns the bytes of the file that s holds.
func (s *shdr) live() span {
	if s.typ == elfabi.SHTNobits || s.typ == elfabi.SHTNull {
		return span{}
	}
	return s.span
}

// section decodes entry i of the section table.
//
// Both classes have sh_name u32, sh_type u32, sh_flags, sh_addr, sh_offset,
// sh_size words, sh_link u32, sh_info u32, sh_addralign, sh_entsize words.
func (m *image) section(i int) shdr {
	n := m.shdrSize()
	b := m.shdrs[i*n : (i+1)*n]
	w := pick(m.class64, 8, 4)
	s := shdr{name: m.order.Uint32(b), typ: m.order.Uint32(b[4:])}
	s.flags = m.word(b[8:])
	s.addr = m.word(b[8+w:])
	s.off = m.word(b[8+2*w:])
	s.size = m.word(b[8+3*w:])
	s.link = m.order.Uint32(b[8+4*w:])
	s.info = m.order.Uint32(b[12+4*w:])
	s.align = m.word(b[16+4*w:])
	s.entSize = m.word(b[16+5*w:])
	return s
}

// checkContents refuses an image with a section outside the file, except for sections in
// skip. If the file was cut short, appended bytes would become the section's contents.
func (m *image) checkContents(skip []int) error {
	for i := range m.count {
		s := m.section(i)
		if at := s.live(); at.size > 0 && !slices.Contains(skip, i) && !(span{0, uint64(m.size)}).contains(at) {
			return fmt.Errorf("section table: %#x bytes at %#x of section %d leave the file of %#x bytes", at.size, at.off, i, m.size)
		}
	}
	return nil
}

// setSection encodes s as entry i of the section table.
func (m *image) setSection(i int, s shdr) {
	n := m.shdrSize()
	b := m.shdrs[i*n : (i+1)*n]
	w := pick(m.class64, 8, 4)
	m.order.PutUint32(b, s.name)
	m.order.PutUint32(b[4:], s.typ)
	m.putWord(b[8:], s.flags)
	m.putWord(b[8+w:], s.addr)
	m.putWord(b[8+2*w:], s.off)
	m.putWord(b[8+3*w:], s.size)
	m.order.PutUint32(b[8+4*w:], s.link)
	m.order.PutUint32(b[12+4*w:], s.info)
	m.putWord(b[16+4*w:], s.align)
	m.putWord(b[16+5*w:], s.entSize)
}

// find returns the index of the first section called name, or -1.
func (m *image) find(name string) int {
	want := []byte(name + nameEnd)
	for i := 1; i < m.count; i++ {
		off := m.order.Uint32(m.shdrs[i*m.shdrSize():])
		if bytes.HasPrefix(m.names[off:], want) {
			return i
		}
	}
	return -1
}

// addName returns the offset of name in the section name table, which grows
// unless it has the string already, be it as the end of another one.
func (m *image) addName(name string) (off uint32, grown bool) {
	if i := bytes.Index(m.names, []byte(name+nameEnd)); i >= 0 {
		return uint32(i), false
	}
	if n := len(m.names); n == 0 || m.names[n-1] != 0 {
		m.names = append(m.names, 0)
	}
	off = uint32(len(m.names))
	m.names = append(m.names, name+nameEnd...)
	return off, true
}

// addSection appends an empty entry to the section table and counts it.
//
// A file with 0xff00 sections or more, and one that does so without need,
// has its count in sh_size of section 0 and 0 in the header.
func (m *image) addSection() (index int) {
	index = m.count
	m.count++
	m.shdrs = append(m.shdrs, make([]byte, m.shdrSize())...)
	field := m.counts()[6:]
	if m.order.Uint16(field) != 0 && m.count < elfabi.SHNLoReserve {
		m.order.PutUint16(field, uint16(m.count))
		return index
	}
	m.order.PutUint16(field, 0)
	first := m.section(0)
	first.size = uint64(m.count)
	m.setSection(0, first)
	return index
}

// setShoff moves the section table.
func (m *image) setShoff(off uint64) {
	m.shoff = off
	m.putWord(m.ehdr[pick(m.class64, 40, 32):], off)
}

func (m *image) fileType() uint16 { return m.order.Uint16(m.ehdr[16:]) }
