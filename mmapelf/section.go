package mmapelf

import (
	"bytes"
	"encoding/binary"

	"github.com/btflite/btflite/internal/elfabi"
)

// Section is one entry of the section table.
type Section struct {
	Name    string // at most 255 bytes, longer names are cut
	Index   int    // place in the section table
	Type    uint32 // SHT_*
	Flags   uint64 // SHF_*
	Addr    uint64 // address in memory
	Offset  uint64 // file offset of the contents
	Size    uint64 // bytes in the file as stored, so before decompression
	Link    uint32 // sh_link: mostly the index of another section
	Info    uint32 // sh_info: depends on Type
	Align   uint64 // sh_addralign
	EntSize uint64 // bytes of an entry, for sections that are tables
}

// identSize is the size of e_ident in bytes.
const identSize = 16

// Names of headers in errors.
const (
	elfHeader    = "ELF header"
	sectionTable = "section table"
)

// maxSectionName bounds the bytes kept of a section name, so that many
// headers that point into one long name cannot multiply memory.
const maxSectionName = 255

// Sizes of the headers by class, in bytes.
const (
	ehdrSize32 = 52
	ehdrSize64 = 64
	shdrSize32 = 40
	shdrSize64 = 64
)

// Order returns the byte order of the file.
func (f *File) Order() binary.ByteOrder { return elfabi.Order(f.BigEndian) }

func (f *File) u16(b []byte) uint16 { return f.Order().Uint16(b) }
func (f *File) u32(b []byte) uint32 { return f.Order().Uint32(b) }
func (f *File) u64(b []byte) uint64 { return f.Order().Uint64(b) }

// IsCode reports whether s has bytes that are loaded and executed.
func (s *Section) IsCode() bool {
	const code = elfabi.SHFAlloc | elfabi.SHFExecInstr
	return s.Flags&code == code && s.Size > 0
}

// parse reads the headers of the ELF image data. The result keeps data.
func parse(path string, data []byte) (*File, error) {
	f := &File{Path: path, data: data}
	if len(data) < identSize || string(data[:4]) != elfabi.Magic {
		return nil, f.errorf(elfHeader, 0, "not an ELF file")
	}
	switch data[4] {
	case 1:
		f.AddrSize = 4
	case 2:
		f.AddrSize = 8
		f.Class64 = true
	default:
		return nil, f.errorf(elfHeader, 4, "unknown ELF class %d", data[4])
	}
	switch data[5] {
	case 1:
	case 2:
		f.BigEndian = true
	default:
		return nil, f.errorf(elfHeader, 5, "unknown byte order %d", data[5])
	}
	ehdrSize := ehdrSize32
	if f.Class64 {
		ehdrSize = ehdrSize64
	}
	if len(data) < ehdrSize {
		return nil, f.errorf(elfHeader, 0, "file ends inside the header (%d of %d bytes)", len(data), ehdrSize)
	}
	f.Type = f.u16(data[16:])
	f.Machine = f.u16(data[18:])
	if err := f.readSections(); err != nil {
		return nil, err
	}
	return f, nil
}

// readSections reads the section table and the names.
//
// Extended numbering (gABI, "ELF header"): a count of 0xff00 or more is
// written as e_shnum 0 and found in sh_size of section 0; a name table index
// of 0xff00 or more is written as SHN_XINDEX and found in sh_link of section 0.
func (f *File) readSections() error {
	var shoff, shdrSize uint64
	var tail []byte // from e_shentsize
	var shoffField uint64
	if f.Class64 {
		shoffField = 40
		shoff = f.u64(f.data[40:])
		tail = f.data[58:64]
		shdrSize = shdrSize64
	} else {
		shoffField = 32
		shoff = uint64(f.u32(f.data[32:]))
		tail = f.data[46:52]
		shdrSize = shdrSize32
	}
	entSize := uint64(f.u16(tail))
	count := uint64(f.u16(tail[2:]))
	strIndex := uint64(f.u16(tail[4:]))
	if shoff == 0 {
		return nil
	}
	size := uint64(len(f.data))
	if shoff > size || size-shoff < shdrSize {
		return f.errorf(elfHeader, shoffField, "section table at %#x is outside the file of %#x bytes", shoff, size)
	}
	if entSize < shdrSize {
		return f.errorf(elfHeader, shoffField+6, "section table entries of %d bytes, want %d", entSize, shdrSize)
	}
	first := f.section(shoff)
	if count == 0 {
		count = first.Size
	}
	if strIndex == elfabi.SHNXindex {
		strIndex = uint64(first.Link)
	}
	// The last entry need not be padded to entSize.
	if count > (size-shoff-shdrSize)/entSize+1 {
		return f.errorf(sectionTable, shoff, "file ends inside the table (%d entries of %d bytes)", count, entSize)
	}
	if count == 0 {
		return nil
	}
	f.Sections = make([]Section, count)
	for i := range f.Sections {
		f.Sections[i] = f.section(shoff + uint64(i)*entSize)
		f.Sections[i].Index = i
	}
	return f.nameSections(strIndex, shoff, entSize)
}

// section decodes the section header at file offset off, which the caller has
// checked, without its name.
func (f *File) section(off uint64) Section {
	b := f.data[off:]
	s := Section{Type: f.u32(b[4:])}
	if f.Class64 {
		b = b[:shdrSize64]
		s.Flags = f.u64(b[8:])
		s.Addr = f.u64(b[16:])
		s.Offset = f.u64(b[24:])
		s.Size = f.u64(b[32:])
		s.Link = f.u32(b[40:])
		s.Info = f.u32(b[44:])
		s.Align = f.u64(b[48:])
		s.EntSize = f.u64(b[56:])
		return s
	}
	b = b[:shdrSize32]
	s.Flags = uint64(f.u32(b[8:]))
	s.Addr = uint64(f.u32(b[12:]))
	s.Offset = uint64(f.u32(b[16:]))
	s.Size = uint64(f.u32(b[20:]))
	s.Link = f.u32(b[24:])
	s.Info = f.u32(b[28:])
	s.Align = uint64(f.u32(b[32:]))
	s.EntSize = uint64(f.u32(b[36:]))
	return s
}

// nameSections sets the section names from the table at index strIndex. Index
// 0 means that the file has no names. shoff and entSize are the place of the
// section table and the size of its entries.
func (f *File) nameSections(strIndex, shoff, entSize uint64) error {
	if strIndex == 0 {
		return nil
	}
	if strIndex >= uint64(len(f.Sections)) {
		return f.errorf(elfHeader, 0, "section name table is section %d of %d", strIndex, len(f.Sections))
	}
	names := &f.Sections[strIndex]
	if names.Type == elfabi.SHTNobits {
		return f.errorf(sectionTable, shoff, "section name table %d has no contents", strIndex)
	}
	table, err := f.Data(names) // eu-elfcompress compresses this table, too, if it is asked for all sections
	defer f.freeExpanded()
	if err != nil {
		return err
	}
	for i := range f.Sections {
		field := shoff + uint64(i)*entSize
		off := f.u32(f.data[field:])
		name, ok := nameAt(table, off)
		if !ok {
			return f.errorf(sectionTable, field, "name of section %d at %#x is outside the name table of %#x bytes", i, off, len(table))
		}
		f.Sections[i].Name = name
	}
	return nil
}

// nameAt returns the name at offset off of a section name table, cut at
// maxSectionName bytes. An empty table gives an empty name at offset 0.
func nameAt(table []byte, off uint32) (string, bool) {
	if off == 0 && len(table) == 0 {
		return "", true
	}
	if uint64(off) >= uint64(len(table)) {
		return "", false
	}
	b := table[off:]
	cut := len(b) > maxSectionName
	if cut {
		b = b[:maxSectionName]
	}
	if end := bytes.IndexByte(b, 0); end >= 0 {
		return string(b[:end]), true
	}
	return string(b), cut
}

// stored returns the bytes of s as they lie in the file.
func (f *File) stored(s *Section) ([]byte, error) {
	size := uint64(len(f.data))
	if s.Offset > size || s.Size > size-s.Offset {
		return nil, f.errorf(s.label(), s.Offset, "%#x bytes of section %d leave the file of %#x bytes", s.Size, s.Index, size)
	}
	end := s.Offset + s.Size
	return f.data[s.Offset:end:end], nil
}

// label names s in errors.
func (s *Section) label() string {
	if s.Name == "" {
		return "unnamed section"
	}
	return s.Name
}
