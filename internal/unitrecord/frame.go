package unitrecord

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/btflite/btflite/internal/dwarf"
	"github.com/klauspost/compress/s2"
)

// The frame of a record has everything that is needed before the columns can be read.
// Addresses that the linker decides are plain words in it, each with a relocation.
//
//	1       format, 7
//	1       number of the dictionary of names
//	1, n    length and text of the version of btflite that has made the record
//	8       dwarf.RecordMark
//	4       checksum of everything that leads to the record and its parts, see headSum
//	ULEB    number of bases
//	n × 4|8 bases: addresses plus 1, in the byte order of the file;
//	        0 where the linker has dropped the section
//	ULEB    where the nodes are in .debug_abbrev, from the unit's abbreviations on
//	ULEB    length of the nodes
//	ULEB    number of sizes; 0 in all but the first record of an object
//	n × 1, ULEB  sizes of the debug sections that records have replaced, see sizes.go
//	4       checksum of the columns
//	rest    columns, an S2 block
//
// The nodes are blocks, each after its checksum, see types.go. They are not in .debug_info,
// because GNU ld reads each section of its output as one piece to compute the build id: two
// sections take less of its memory than one of their size. .debug_abbrev is in every object,
// and its other readers stop at the end of a table. A third section would take more of the
// linker's memory for each object: docs/unit-records.md.
//
// Format 6 has no sizes.
//
// A checksum is a CRC-32C, little-endian. Each block has its own, because most are not read.

// Format is the version of the format that is written. oldFormat is read, too.
const (
	Format    = 7
	oldFormat = 6
)

// maxColumns is the largest size of the columns of a record, in bytes, after expanding them.
const maxColumns = 256 << 20

// frame is the parsed frame.
type frame struct {
	maker   string
	bases   []byte // of addrSize bytes each
	columns []byte // compressed
	nodes   place
	sizes   []byte    // of sections that records have replaced, see sizes.go
	head    int       // offset of the checksum of the head
	counts  [2][]byte // number of bases; where the nodes are, and sizes
}

// place is where the nodes are in .debug_abbrev: the offset from the abbreviations of the
// unit, and the size in bytes.
type place struct{ off, size uint64 }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendFrame appends a record with n bases of addrSize bytes, all zero. It returns the
// offset of the bases. Seal sets the checksum of the head later.
func appendFrame(b []byte, maker string, n, addrSize int, columns []byte, nodes place, sizes []byte) (out []byte, bases int) {
	b = append(b, Format, Dictionary, byte(len(maker)))
	b = append(b, maker...)
	b = append(append(b, dwarf.RecordMark...), make([]byte, checksumSize)...)
	b = binary.AppendUvarint(b, uint64(n))
	bases = len(b)
	b = append(b, make([]byte, n*addrSize)...)
	b = append(binary.AppendUvarint(binary.AppendUvarint(b, nodes.off), nodes.size), sizes...)
	at := len(b)
	b = append(append(b, make([]byte, checksumSize)...), compress(columns)...)
	seal(b[at:])
	return b, bases
}

// checksumSize is the size of a checksum in bytes.
const checksumSize = 4

// seal makes the first bytes of b the checksum of the others.
func seal(b []byte) {
	binary.LittleEndian.PutUint32(b, crc32.Checksum(b[checksumSize:], castagnoli))
}

// sealed returns the bytes after the checksum that b begins with; ok is false if they are
// damaged.
func sealed(b []byte) (rest []byte, ok bool) {
	if len(b) < checksumSize {
		return nil, false
	}
	rest = b[checksumSize:]
	return rest, crc32.Checksum(rest, castagnoli) == binary.LittleEndian.Uint32(b)
}

// headSum returns the checksum of everything that leads to a record and its parts: the unit
// from its header up to that checksum, the counts after it, and the abbreviations. Two
// things are not part of it, because a linker sets them: the offset of the abbreviations
// and the bases.
func headSum(unit []byte, counts [2][]byte, abbrevs []byte) uint32 {
	sum := uint32(0)
	for _, b := range [...][]byte{unit[:abbrevOffset], unit[abbrevOffset+4:], counts[0], counts[1], abbrevs} {
		sum = crc32.Update(sum, castagnoli, b)
	}
	return sum
}

// abbrevOffset is where the header of a unit in DWARF 5 has the offset of its abbreviations
// (4 bytes).
const abbrevOffset = 8

// Seal sets the checksum of the head of a record. unit is the whole new unit, record the
// offset in it at which the record begins, and abbrevs are its abbreviations.
func Seal(unit []byte, record int, abbrevs []byte, addrSize int) error {
	f, err := parseFrame(unit[record:], addrSize)
	if err != nil {
		return err
	}
	at := record + f.head
	binary.LittleEndian.PutUint32(unit[at:], headSum(unit[:at], f.counts, abbrevs))
	return nil
}

// compress compresses columns. S2's result is a tenth larger than zstd's, and expands
// five times as fast.
func compress(columns []byte) []byte { return s2.EncodeBetter(nil, columns) }

// VersionError is the error for a record in another format, or with another dictionary.
type VersionError struct {
	Maker string // the version of btflite that has made it
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("the unit record was built by btflite %q: rebuild the object or use that version", e.Maker)
}

// parseFrame reads the frame of a record.
func parseFrame(b []byte, addrSize int) (f frame, err error) {
	if len(b) < 3 || len(b)-3 < int(b[2]) {
		return f, errDamaged
	}
	format, dictionary := b[0], b[1]
	f.maker = string(b[3 : 3+int(b[2])])
	b = b[3+int(b[2]):]
	if format != Format && format != oldFormat || dictionary != Dictionary {
		return f, &VersionError{f.maker}
	}
	f.head = 3 + len(f.maker) + len(dwarf.RecordMark)
	if len(b) < len(dwarf.RecordMark)+checksumSize || string(b[:len(dwarf.RecordMark)]) != dwarf.RecordMark {
		return f, errDamaged
	}
	b = b[len(dwarf.RecordMark)+checksumSize:]
	n, k := binary.Uvarint(b)
	f.counts[0] = b[:max(k, 0)]
	if k <= 0 || n > uint64(len(b)-k)/uint64(addrSize) {
		return f, errDamaged
	}
	f.bases, b = b[k:k+int(n)*addrSize], b[k+int(n)*addrSize:]
	nodes := b
	for _, x := range []*uint64{&f.nodes.off, &f.nodes.size} {
		if *x, k = binary.Uvarint(b); k <= 0 {
			return f, errDamaged
		}
		b = b[k:]
	}
	var ok bool
	if format != oldFormat {
		if f.sizes, b, ok = cutSizes(b); !ok {
			return f, errDamaged
		}
	}
	f.counts[1] = nodes[:len(nodes)-len(b)]
	if f.columns, ok = sealed(b); !ok {
		return f, errDamaged
	}
	return f, nil
}

// cutSizes cuts the sizes off b.
func cutSizes(b []byte) (sizes, rest []byte, ok bool) {
	n, k := binary.Uvarint(b)
	rest = b[max(k, 0):]
	for ; n > 0 && len(rest) > 0 && k > 0; n-- {
		_, k = binary.Uvarint(rest[1:])
		rest = rest[1+max(k, 0):]
	}
	return b[:len(b)-len(rest)], rest, n == 0 && k > 0
}
