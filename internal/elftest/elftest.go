// Package elftest builds ELF files for tests, byte by byte and in all four forms:
// two classes, two byte orders. It knows no reader of the program, so that a field
// which one side has in the wrong place is in another place here.
package elftest

import "encoding/binary"

// Types of sections.
const (
	Progbits    = 1
	Symtab      = 2
	Strtab      = 3
	Nobits      = 8
	SymtabShndx = 18
)

// Flags of sections.
const (
	Write      = 1
	Alloc      = 2
	Exec       = 4
	Compressed = 0x800
)

// Types of files.
const (
	Relocatable = 1
	Executable  = 2
)

const (
	extendedCount = 0xff00 // from here on, a number of sections does not fit
	extendedIndex = 0xffff
	segmentLoad   = 1
	segmentStack  = 0x6474e551
)

// Order has the methods of both byte orders of encoding/binary.
type Order interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// Layout is one of the four forms that an ELF file can have.
type Layout struct {
	Class64 bool
	Order   Order
}

// The four layouts.
var (
	Little32 = Layout{false, binary.LittleEndian}
	Big32    = Layout{false, binary.BigEndian}
	Little64 = Layout{true, binary.LittleEndian}
	Big64    = Layout{true, binary.BigEndian}
)

// Layouts has all of them.
var Layouts = []Layout{Little32, Big32, Little64, Big64}

// Of is the layout of a class and a byte order.
func Of(class64, bigEndian bool) Layout {
	if bigEndian {
		return Layout{class64, binary.BigEndian}
	}
	return Layout{class64, binary.LittleEndian}
}

// BigEndian tells the byte order.
func (l Layout) BigEndian() bool { return l.Order.Uint16([]byte{0, 1}) == 1 }

// String is "64LittleEndian" or the like.
func (l Layout) String() string {
	if l.Class64 {
		return "64" + l.Order.String()
	}
	return "32" + l.Order.String()
}

// Pick is the first of two numbers for 64 bits, and the second for 32.
func (l Layout) Pick(of64, of32 int) int {
	if l.Class64 {
		return of64
	}
	return of32
}

// Sizes of what a file consists of, in bytes.

// HeaderSize is the size of the ELF header.
func (l Layout) HeaderSize() int { return l.Pick(64, 52) }

// SegmentSize is the size of a program header.
func (l Layout) SegmentSize() int { return l.Pick(56, 32) }

// SectionSize is the size of a section header.
func (l Layout) SectionSize() int { return l.Pick(64, 40) }

// SymbolSize is the size of a symbol.
func (l Layout) SymbolSize() int { return l.Pick(24, 16) }

// WordSize is the size of an address.
func (l Layout) WordSize() int { return l.Pick(8, 4) }

// Counts is where the header has e_phentsize, the first of five numbers of two
// bytes: then e_phnum, e_shentsize, e_shnum, e_shstrndx.
func (l Layout) Counts() int { return l.Pick(54, 42) }

// SectionTable is where the header of b says that the section table begins.
func (l Layout) SectionTable(b []byte) int {
	if l.Class64 {
		return int(l.Order.Uint64(b[40:]))
	}
	return int(l.Order.Uint32(b[32:]))
}

// Word appends a number as wide as an address.
func (l Layout) Word(b []byte, v uint64) []byte {
	if l.Class64 {
		return l.Order.AppendUint64(b, v)
	}
	return l.Order.AppendUint32(b, uint32(v))
}

// Put writes a number of n bytes, 2, 4 or 8, over b at off.
func (l Layout) Put(b []byte, off, n int, v uint64) {
	switch n {
	case 2:
		l.Order.PutUint16(b[off:], uint16(v))
	case 4:
		l.Order.PutUint32(b[off:], uint32(v))
	default:
		l.Order.PutUint64(b[off:], v)
	}
}

// Symbol is an entry of a symbol table.
type Symbol struct {
	Name        uint32
	Info, Other byte
	Section     uint16
	Value, Size uint64
}

// Symbol appends a symbol.
func (l Layout) Symbol(b []byte, s Symbol) []byte {
	b = l.Order.AppendUint32(b, s.Name)
	if l.Class64 {
		b = l.Order.AppendUint16(append(b, s.Info, s.Other), s.Section)
		return l.Word(l.Word(b, s.Value), s.Size)
	}
	b = l.Word(l.Word(b, s.Value), s.Size)
	return l.Order.AppendUint16(append(b, s.Info, s.Other), s.Section)
}

// CompressedAs returns a compressed stream after its header: the kind (1 is zlib, 2 zstd)
// and the size of the expanded data.
func (l Layout) CompressedAs(kind uint32, size uint64, stream []byte) []byte {
	b := l.Order.AppendUint32(nil, kind)
	if l.Class64 {
		b = l.Order.AppendUint32(b, 0)
	}
	b = l.Word(l.Word(b, size), 1)
	return append(b, stream...)
}
