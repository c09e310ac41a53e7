package view

import (
	"slices"

	"github.com/btflite/btflite/btf"
)

// Layout is where the members of a struct or union lie, with the holes between
// them as pahole counts them. A bit-field occupies a unit of the size of its type,
// at a multiple of that size. What is unused before the end of the unit is a hole
// of bits, what is unused behind it a hole of bytes. A union has rows only.
type Layout struct {
	Type   Type
	Size   uint64 // bytes
	Rows   []Row
	Packed bool // members are not where they belong, and there is no padding
	// Misplaced says that a member's type belongs elsewhere; see Row.
	Misplaced bool
	Align     uint64 // what __aligned__ must have said; 0: nothing
	Summary
	SumMembers  uint64 // bytes of members that are not bit-fields
	SumBits     uint64 // bits of bit-fields
	SumHoles    uint64 // bytes
	SumBitHoles uint64 // bits

	Forced         int    // members whose place says that they were aligned by attribute
	ForcedHoles    int    // forced members with a hole before them
	SumForcedHoles uint64 // bytes of such holes

	// What is unused in members that are structs.
	InHoles, InBitHoles, InPadding, InBitPadding Tally
	// Members that are structs with a flexible array, at their end or before.
	InEnd, InMiddle int

	free uint64 // bits: unused at the end, members without a size included
}

// Summary is the part of a layout that structs around it need.
type Summary struct {
	Holes, BitHoles     int    // holes of bytes and of bits, without the padding
	Padding, BitPadding uint64 // bytes and bits unused at the end
	Flexible            bool   // the last member is an array of one dimension without elements
	Embedded            bool   // a member has such an array, one with a typedef included
}

// Tally counts members, and sums a number of each.
type Tally struct {
	Members int
	Sum     uint64
}

func (t *Tally) add(n uint64) {
	if n > 0 {
		t.Members++
		t.Sum += n
	}
}

// Row is a member with its place.
type Row struct {
	Member
	Slot      uint32 // of its type; see Layouts.Slot
	Byte      uint64 // offset of its bytes, or of the unit of a bit-field
	Size      uint64 // bytes, of a bit-field of its unit
	Bit       uint32 // of a bit-field: offset in its unit
	Hole      uint64 // unused bytes before it
	BitHole   uint64 // unused bits before it
	Align     uint64 // what __aligned__ must have said; 0: nothing
	Misplaced bool   // its type belongs to other offsets or, in a union, to one of another size
	UnitEnd   uint64 // bytes: behind the units of the bit-fields up to it, or behind it
	free      uint64 // bits: unused before it and before members without a size
	fact
}

// Kind is the kind of the member's type.
func (r *Row) Kind() btf.Kind { return r.kind }

// Odd reports whether the member is a struct that may have a member of its own where the type of
// that would not be: its layout tells.
func (r *Row) Odd() bool { return r.odd }

// end is the first bit behind the member.
func (r *Row) end() uint64 {
	if r.Bits != 0 {
		return uint64(r.Offset) + uint64(r.Bits)
	}
	return 8 * (r.Byte + r.Size)
}

// Layouts computes the layouts of one View and keeps their summaries. It must not
// be used by several goroutines at a time.
type Layouts struct {
	CacheLine uint64 // bytes; members may be aligned to it
	v         *View
	free      []*Layout
	sums      sums
	facts     facts
	depth     int
}

// NewLayouts returns Layouts of v.
func NewLayouts(v *View) *Layouts {
	return &Layouts{CacheLine: defaultLine, v: v}
}

// Of is the layout of a struct or union; of others it is empty. Done takes it
// back, to use it again.
func (s *Layouts) Of(t Type) *Layout {
	var l *Layout
	if n := len(s.free); n > 0 {
		l, s.free = s.free[n-1], s.free[:n-1]
	} else {
		l = new(Layout)
	}
	*l = Layout{Type: t, Rows: l.Rows[:0]}
	if !t.IsComposite() {
		return l
	}
	l.Size = uint64(t.rec.Third())
	s.rows(l)
	if t.Kind() == btf.KindStruct {
		s.members(l)
		l.holes()
		l.padding()
		l.attributes(s.CacheLine)
		if f := s.fact(t.ID); f.sum == 0 {
			f.sum = s.sums.keep(l.Summary)
		}
	} else {
		l.unaligned()
	}
	return l
}

// Done says that l is no longer in use.
func (s *Layouts) Done(l *Layout) { s.free = append(s.free, l) }

// Summary is the summary of the struct or union with the id, for the structs around it.
func (s *Layouts) Summary(id uint32) Summary {
	f := s.fact(id)
	if f.sum != 0 || s.depth == MaxDepth {
		return s.sums.at(f.sum)
	}
	f.sum = s.sums.keep(Summary{}) // it may contain itself
	s.depth++
	l := s.Of(s.v.Type(id))
	sum := l.Summary
	s.Done(l)
	s.depth--
	f.sum = s.sums.keep(sum)
	return sum
}

// members adds up what members that are structs have unused, and finds flexible
// arrays.
func (s *Layouts) members(l *Layout) {
	for i := range l.Rows {
		r := &l.Rows[i]
		if r.kind == btf.KindArray && i == len(l.Rows)-1 {
			elem, n := r.Type().Elem()
			l.Flexible = n == 0 && elem.Kind() != btf.KindArray
		}
		if r.behind == 0 {
			continue
		}
		sum := s.Summary(r.behind)
		if sum == (Summary{}) {
			continue
		}
		l.Embedded = l.Embedded || sum.Flexible || sum.Embedded
		if r.kind != btf.KindStruct {
			continue // pahole counts structs that have no typedef
		}
		l.InHoles.add(uint64(sum.Holes))
		l.InBitHoles.add(uint64(sum.BitHoles))
		l.InPadding.add(sum.Padding)
		l.InBitPadding.add(sum.BitPadding)
		if sum.Flexible {
			l.InEnd++
		}
		if sum.Embedded {
			l.InMiddle++
		}
	}
}

// rows makes the rows of l, without what is before them.
func (s *Layouts) rows(l *Layout) {
	n := l.Type.Vlen()
	l.Rows = slices.Grow(l.Rows, n)[:n]
	for i := range l.Rows {
		name, id, off, bits := l.Type.rec.Field(i)
		slot := s.Slot(id)
		f := s.facts.at(slot)
		r := &l.Rows[i]
		*r = Row{Slot: slot, Size: f.size, fact: *f}
		r.NameOff, r.TypeID, r.Offset, r.Bits, r.v = name, id, off, bits, s.v
		if (f.bits != 0 || f.at != 0) && !l.Type.Flag() {
			r.Offset, r.Bits = off+uint32(f.at), uint32(f.bits)
		}
		r.Byte = uint64(r.Offset / 8)
		if r.Bits != 0 && r.Size != 0 {
			r.Byte = r.Byte / r.Size * r.Size
			r.Bit = uint32(uint64(r.Offset) - 8*r.Byte)
		}
	}
}

// holes finds what is unused before each row.
func (l *Layout) holes() {
	end, unitEnd := uint64(0), uint64(0) // bits: of what has been, of its units
	solid := uint64(0)                   // bits: of what has been and has a size
	for i := range l.Rows {
		r := &l.Rows[i]
		start := uint64(r.Offset)
		if start > end {
			r.unused(start, end, unitEnd)
		}
		if r.Hole > 0 {
			l.Holes++
			l.SumHoles += r.Hole
		}
		if r.BitHole > 0 {
			l.BitHoles++
			l.SumBitHoles += r.BitHole
		}
		own := 8 * (r.Byte + r.Size)
		if r.Bits == 0 {
			l.SumMembers += r.Size
			unitEnd = own
		} else {
			l.SumBits += uint64(r.Bits)
			unitEnd = max(unitEnd, own)
		}
		r.UnitEnd = unitEnd / 8
		r.free = 8*r.Byte - min(solid, 8*r.Byte)
		end = max(end, r.end())
		if r.Size > 0 {
			solid = end
		}
	}
	l.free = 8*l.Size - min(solid, 8*l.Size)
}

// unused finds what is unused between end, where the members before r end, and
// the start of r. unitEnd is the end of the units of bit-fields before it.
func (r *Row) unused(start, end, unitEnd uint64) {
	if unitEnd > end {
		r.BitHole = min(unitEnd, start) - end
	} else if end%8 != 0 {
		r.BitHole = min(8-end%8, start-end)
	}
	end += r.BitHole
	if r.Bits == 0 {
		r.Hole = (start - end) / 8
		return
	}
	if unit := 8 * r.Byte; unit > end {
		r.Hole = (unit - end) / 8
		end = unit
	}
	r.BitHole += start - end
}

// padding finds what is unused behind the last row.
func (l *Layout) padding() {
	if len(l.Rows) == 0 {
		l.Padding = l.Size
		return
	}
	last := &l.Rows[len(l.Rows)-1]
	end := last.UnitEnd
	if last.Bits != 0 {
		end = min(end, l.Size)
		if bits := last.end(); 8*end < bits {
			end = (bits + 7) / 8
		}
		l.BitPadding = 8*end - last.end()
	}
	if end < l.Size {
		l.Padding = l.Size - end
	}
}
