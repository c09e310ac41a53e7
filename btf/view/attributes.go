package view

import (
	"math/bits"

	"github.com/btflite/btflite/btf"
)

// defaultLine is the size of a cache line in bytes if nothing is said.
const defaultLine = 64

// forced is the alignment that explains n unused bytes before the offset, which
// no type explains: the lowest power of two above n, or a cache line, by which
// kernels align. An odd offset has none.
func forced(n, offset, cacheLine uint64) uint64 {
	if offset%2 != 0 {
		return 0
	}
	a := uint64(1) << bits.Len64(n)
	if a < cacheLine && offset%cacheLine == 0 {
		a = cacheLine
	}
	return a
}

// attributes infers __aligned__ and __packed__.
func (l *Layout) attributes(cacheLine uint64) {
	natural := uint64(1)
	for i := range l.Rows {
		r := &l.Rows[i]
		a := uint64(r.align)
		natural = max(natural, a)
		if r.Bits == 0 {
			r.Misplaced = r.Byte%a != 0
			l.Misplaced = l.Misplaced || r.Misplaced
		}
		if n := r.free / 8; n >= a {
			r.Align = forced(n, r.Byte, cacheLine)
		}
		l.countForced(r)
	}
	if n := l.free / 8; n >= natural {
		l.Align = forced(n, l.Size, cacheLine)
	}
	l.Packed = l.Padding == 0 && l.Holes == 0 && (l.Misplaced || l.Size%natural != 0)
}

// Unexplained reports whether the struct has a gap that no alignment of a member, or of
// the struct, explains. An alignment leaves less than itself unused, and the size of a
// struct is a multiple of it. Bit-fields without a name leave gaps, too: those before
// bit-fields do not count.
func (l *Layout) Unexplained() bool {
	if l.Type.Kind() != btf.KindStruct || len(l.Rows) == 0 && l.Size <= 1 {
		return false
	}
	for i := range l.Rows {
		r := &l.Rows[i]
		if all := l.Size | r.Byte; r.Bits == 0 && r.Hole > 0 && r.Hole >= all&-all {
			return true
		}
	}
	return l.Padding >= l.Size&-l.Size && l.Padding > 0
}

// countForced counts a member that was aligned by attribute.
func (l *Layout) countForced(r *Row) {
	if r.Align == 0 {
		return
	}
	l.Forced++
	if r.Hole > 0 {
		l.ForcedHoles++
		l.SumForcedHoles += r.Hole
	}
}

// unaligned finds the members of a union whose types belong to unions of other sizes.
func (l *Layout) unaligned() {
	for i := range l.Rows {
		r := &l.Rows[i]
		r.Misplaced = l.Size%uint64(r.align) != 0
		l.Misplaced = l.Misplaced || r.Misplaced
	}
}
