package view

import (
	"math/bits"

	"github.com/btflite/btflite/btf"
)

// Behind is t, or if it is of the kinds through what it leads to by them: see btf.Blob.Behind.
// Void for types that refer to themselves.
func (t Type) Behind(through btf.Kinds) Type { return t.v.Type(t.v.blob.Behind(t.ID, through)) }

// Resolved is t without modifiers and typedefs around it: what it is in memory.
func (t Type) Resolved() Type { return t.Behind(btf.Modifiers | btf.Typedefs) }

// Innermost is Resolved, but it also goes from arrays to their elements, through any
// number of dimensions.
func (t Type) Innermost() Type { return t.Behind(btf.Modifiers | btf.Typedefs | btf.Arrays) }

// Size is the size of t in bytes; for a variable, of its type. It is 0 for void, forward
// declarations, functions, and types that refer to themselves, which have no size. A
// size beyond 64 bits is the highest number.
func (t Type) Size() uint64 { return t.v.blob.Size(t.ID, uint64(t.v.pointer)) }

// noAlign marks a struct whose alignment is being computed: it contains itself.
const noAlign = 0xff

// Align is the alignment in bytes that a compiler gives to t without attributes, which
// BTF does not have: the greatest alignment of the members of a struct or union or of
// an array's element, otherwise the size, and 1 for types without a size. The view
// caches the result, so several goroutines must not call this at the same time.
func (t Type) Align() uint64 { return t.v.align(t, 0) }

func (v *View) align(t Type, depth int) uint64 {
	t = t.Innermost()
	switch t.Kind() {
	case btf.KindPtr:
		return uint64(v.pointer)
	case btf.KindInt, btf.KindEnum, btf.KindEnum64:
		return v.scalarAlign(t.rec.Third())
	case btf.KindFloat:
		return v.floatAlign(t.rec)
	case btf.KindStruct, btf.KindUnion:
	default:
		return 1
	}
	if v.aligns == nil {
		v.aligns = make([]uint8, v.Count())
	}
	switch a := v.aligns[t.ID]; {
	case a == noAlign || depth == MaxDepth:
		return 1
	case a != 0:
		return 1 << (a - 1)
	}
	v.aligns[t.ID] = noAlign
	most := uint64(1)
	for i := range t.Vlen() {
		_, id, _ := t.rec.Member(i)
		most = max(most, v.align(v.Type(id), depth+1))
	}
	v.aligns[t.ID] = uint8(bits.Len64(most))
	return most
}

// scalarAlign is the alignment of a number: its size, where that is a power of
// two. A long double of 12 bytes is aligned as a word is.
func (v *View) scalarAlign(size uint32) uint64 {
	switch {
	case size == 0:
		return 1
	case bits.OnesCount32(size) == 1:
		return uint64(min(size, 16))
	}
	return min(uint64(v.pointer), 1<<bits.TrailingZeros32(size))
}

// floatAlign is the alignment of a FLOAT.
func (v *View) floatAlign(r btf.Record) uint64 {
	if v.blob.Marked {
		if a := btf.FloatAlign(r); a != 0 {
			return uint64(a)
		}
	}
	return v.scalarAlign(r.Third())
}
