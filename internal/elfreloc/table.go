package elfreloc

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Table is the relocations of one section. Its methods, but for Sort, may be
// called from several goroutines at once.
type Table struct {
	o       *Object
	section string // name of the relocated section, for errors
	limit   uint64 // bytes of that section
	data    []byte // of the relocation section
	size    int    // of an entry
	rela    bool
	n       int      // entries
	order   []uint32 // entries by offset, nil if they lie in that order
}

// ErrOrder says that entries do not lie in the order of their offsets, so that
// ranges of them cannot be found without Sort.
var ErrOrder = errors.New("relocations are not in the order of their offsets")

// Error is a relocation that cannot be applied.
type Error struct {
	Section string // the section that is relocated
	Offset  uint64 // in it
	Type    uint32 // relocation type, by the numbers of the machine
	What    string
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("%s+%#x: relocation of type %d: %s", e.Section, e.Offset, e.Type, e.What)
}

// NewTable returns the relocations in data, the contents of a section of type
// SHT_RELA if rela is set and else SHT_REL, for the section of that name with
// size bytes. data is kept, not copied.
func (o *Object) NewTable(section string, size uint64, data []byte, rela bool) (*Table, error) {
	t := &Table{o: o, section: section, limit: size, data: data, rela: rela}
	t.size = 8
	if o.class64 {
		t.size = 16
	}
	if rela {
		t.size += t.size / 2
	}
	if len(data)%t.size != 0 {
		return nil, fmt.Errorf("relocations of %s: %d bytes are not a whole number of entries of %d bytes", section, len(data), t.size)
	}
	t.n = len(data) / t.size
	if uint64(t.n) > 1<<32-1 {
		return nil, fmt.Errorf("relocations of %s: %d entries are too many", section, t.n)
	}
	return t, nil
}

// Len is the number of entries.
func (t *Table) Len() int { return t.n }

// EntrySize is the size of an entry in bytes.
func (t *Table) EntrySize() int { return t.size }

// entry is one relocation: for SHT_REL, addend is 0.
type entry struct {
	off    uint64
	sym    uint32
	typ    uint32 // for MIPS64 three types, one in each byte
	addend uint64
}

// offsetAt is the offset of entry i in the table's order.
func (t *Table) offsetAt(i int) uint64 {
	if t.order != nil {
		i = int(t.order[i])
	}
	if t.o.class64 {
		return t.o.order.Uint64(t.data[i*t.size:])
	}
	return uint64(t.o.order.Uint32(t.data[i*t.size:]))
}

// at decodes entry i in the table's order.
//
//	32-bit: r_offset u32, r_info u32 = symbol << 8 | type,  RELA: r_addend i32
//	64-bit: r_offset u64, r_info u64 = symbol << 32 | type, RELA: r_addend i64
//	64-bit MIPS has instead of r_info r_sym u32, r_ssym, r_type3, r_type2,
//	r_type u8 in this order, which differs in little-endian files.
func (t *Table) at(i int) (e entry) {
	if t.order != nil {
		i = int(t.order[i])
	}
	b := t.data[i*t.size:][:t.size]
	o := t.o
	if !o.class64 {
		info := o.order.Uint32(b[4:])
		e.off, e.sym, e.typ = uint64(o.order.Uint32(b)), info>>8, info&0xff
		if t.rela {
			e.addend = uint64(int64(int32(o.order.Uint32(b[8:]))))
		}
		return e
	}
	e.off = o.order.Uint64(b)
	if o.mips64el {
		e.sym = o.order.Uint32(b[8:])
		e.typ = uint32(b[12])<<24 | uint32(b[13])<<16 | uint32(b[14])<<8 | uint32(b[15])
	} else {
		info := o.order.Uint64(b[8:])
		e.sym, e.typ = uint32(info>>32), uint32(info)
	}
	if t.rela {
		e.addend = o.order.Uint64(b[16:])
	}
	return e
}

// Sort makes sure that ranges can be found: if the entries do not lie in the order of
// their offsets, it makes an index of 4 bytes an entry. Entries with one offset keep
// their order, which matters to those that build on each other.
func (t *Table) Sort() {
	if t.order != nil || t.Ordered(0, t.n) {
		return
	}
	order := make([]uint32, t.n)
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(t.offsetAt(int(a)), t.offsetAt(int(b))) })
	t.order = order
}

// Ordered reports whether the entries from first up to last lie in the order of their
// offsets, also with the one before. If all do, ranges can be found.
func (t *Table) Ordered(first, last int) bool {
	before := uint64(0)
	if first > 0 {
		before = t.offsetAt(first - 1)
	}
	if t.order == nil && t.o.class64 && !t.o.bigEndian && t.rela {
		// Nearly all files. A module has millions of entries: eight at a time, and one bit says
		// that an offset is below the one before, or so far above that it is not in any file.
		data, le, sign := t.data[first*relaSize:last*relaSize], binary.LittleEndian, uint64(0)
		for ; len(data) >= 8*relaSize; data = data[8*relaSize:] {
			a, b, c, d := le.Uint64(data), le.Uint64(data[relaSize:]), le.Uint64(data[2*relaSize:]), le.Uint64(data[3*relaSize:])
			sign |= (a - before) | (b - a) | (c - b) | (d - c)
			a, b, c, before = le.Uint64(data[4*relaSize:]), le.Uint64(data[5*relaSize:]), le.Uint64(data[6*relaSize:]), le.Uint64(data[7*relaSize:])
			sign |= (a - d) | (b - a) | (c - b) | (before - c)
		}
		if sign>>63 != 0 {
			return false
		}
		first = last - len(data)/relaSize
	}
	for i := first; i < last; i++ {
		off := t.offsetAt(i)
		if off < before {
			return false
		}
		before = off
	}
	return true
}

// Search returns the index of the first entry, from entry from on, whose offset is at
// least off. It looks near from first: a reader that goes through the section passes the
// last result.
func (t *Table) Search(from int, off uint64) int {
	// t.offsetAt(lo-1) < off
	lo, step := max(from, 0), 8
	for lo < t.n && t.offsetAt(lo) < off {
		hi := min(lo+step, t.n)
		if hi == t.n || t.offsetAt(hi) >= off {
			// The answer lies in (lo, hi].
			for lo++; lo < hi; {
				if mid := int(uint(lo+hi) >> 1); t.offsetAt(mid) < off {
					lo = mid + 1
				} else {
					hi = mid
				}
			}
			return lo
		}
		lo, step = hi, step*2
	}
	return min(lo, t.n)
}
