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
