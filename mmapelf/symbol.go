package mmapelf

import (
	"encoding/binary"

	"github.com/btflite/btflite/internal/elfabi"
)

// Symbol is one entry of a symbol table.
type Symbol struct {
	Name  uint32 // offset in the linked string table, see SymbolStrings
	Info  byte   // binding in the upper, type in the lower four bits
	Other byte   // visibility in the lower two bits
	Shndx uint32 // section index, also where the file has SHN_XINDEX; 0xffff0000 is added to other numbers from SHN_LORESERVE on
	Value uint64 // st_value: an address or, in a relocatable file, an offset in its section
	Size  uint64 // in bytes
}

// Entry sizes by class, in bytes.
//
//	32-bit: st_name u32, st_value u32, st_size u32, st_info, st_other u8, st_shndx u16
//	64-bit: st_name u32, st_info, st_other u8, st_shndx u16, st_value, st_size u64
const (
	symSize32 = 16
	symSize64 = 24
)

// Symbols calls fn for every entry of symtab in table order, the null symbol
// at index 0 included, until fn returns false. The Symbol is reused for the
// next call: copy what you keep. An entry size of 0 is read as the one of the
// class; any other than that is an error, as is a last entry that is cut.
func (f *File) Symbols(symtab *Section, fn func(i int, s *Symbol) bool) error {
	data, err := f.Data(symtab)
	if err != nil {
		return err
	}
	size := symSize32
	if f.Class64 {
		size = symSize64
	}
	if symtab.EntSize != 0 && symtab.EntSize != uint64(size) {
		return f.errorf(symtab.label(), symtab.Offset, "symbols of %d bytes, want %d", symtab.EntSize, size)
	}
	if len(data)%size != 0 {
		return f.errorf(symtab.label(), symtab.Offset, "%d bytes are not a whole number of symbols of %d bytes", len(data), size)
	}
	extended, err := f.ExtendedIndexes(symtab)
	if err != nil {
		return err
	}
	var sym Symbol
	for i := 0; len(data) >= size; i++ {
		f.decodeSymbol(&sym, data[:size:size])
		data = data[size:]
		switch {
		case sym.Shndx < elfabi.SHNLoReserve:
		case sym.Shndx != elfabi.SHNXindex:
			sym.Shndx |= 0xffff0000 // a file with more than 65,280 sections may have one of this number
		case i >= len(extended)/4:
			return f.errorf(symtab.label(), symtab.Offset+uint64(i*size), "symbol %d has no extended section index", i)
		default:
			sym.Shndx = f.u32(extended[i*4:])
		}
		if !fn(i, &sym) {
			return nil
		}
	}
	return nil
}

// decodeSymbol reads one entry. b has the size of an entry.
func (f *File) decodeSymbol(s *Symbol, b []byte) {
	if f.Class64 {
		b = b[:symSize64]
		s.Info, s.Other = b[4], b[5]
		if f.BigEndian {
			s.Name = binary.BigEndian.Uint32(b)
			s.Shndx = uint32(binary.BigEndian.Uint16(b[6:]))
			s.Value = binary.BigEndian.Uint64(b[8:])
			s.Size = binary.BigEndian.Uint64(b[16:])
			return
		}
		s.Name = binary.LittleEndian.Uint32(b)
		s.Shndx = uint32(binary.LittleEndian.Uint16(b[6:]))
		s.Value = binary.LittleEndian.Uint64(b[8:])
		s.Size = binary.LittleEndian.Uint64(b[16:])
		return
	}
	b = b[:symSize32]
	s.Name = f.u32(b)
	s.Value = uint64(f.u32(b[4:]))
	s.Size = uint64(f.u32(b[8:]))
	s.Info, s.Other = b[12], b[13]
	s.Shndx = uint32(f.u16(b[14:]))
}

// ExtendedIndexes returns the contents of the SHT_SYMTAB_SHNDX section of
// symtab, an array of u32 in parallel with it, or nil. It is valid until Close.
func (f *File) ExtendedIndexes(symtab *Section) ([]byte, error) {
	for i := range f.Sections {
		s := &f.Sections[i]
		if s.Type == elfabi.SHTSymtabShndx && s.Link == uint32(symtab.Index) {
			return f.Data(s)
		}
	}
	return nil, nil
}

// SymbolStrings returns the string table linked to symtab, for StringAt.
func (f *File) SymbolStrings(symtab *Section) ([]byte, error) {
	if symtab.Link == 0 || uint64(symtab.Link) >= uint64(len(f.Sections)) {
		return nil, f.errorf(symtab.label(), symtab.Offset, "linked string table is section %d of %d", symtab.Link, len(f.Sections))
	}
	strtab := &f.Sections[symtab.Link]
	if strtab.Type != elfabi.SHTStrtab {
		return nil, f.errorf(symtab.label(), symtab.Offset, "linked section %d has type %d, want a string table", symtab.Link, strtab.Type)
	}
	return f.Data(strtab)
}
