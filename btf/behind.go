package btf

import "math/bits"

// Kinds is a set of kinds.
type Kinds uint64

// Kinds of types whose values have, in memory, the layout of the type that they refer to.
// An array counts as its elements.
const (
	Modifiers = Kinds(1<<KindConst | 1<<KindVolatile | 1<<KindRestrict | 1<<KindTypeTag)
	Typedefs  = Kinds(1 << KindTypedef)
	Arrays    = Kinds(1 << KindArray)
	Pointers  = Kinds(1 << KindPtr)
)

// Enums are the kinds of enumerations.
const Enums = Kinds(1<<KindEnum | 1<<KindEnum64)

// Has reports whether k is in the set.
func (s Kinds) Has(k Kind) bool { return k < 64 && s>>k&1 != 0 }

// MaxDepth is how many references a walk along types follows. Real types need less than 20.
// Parse takes types that refer to themselves, so every walk needs such a bound.
const MaxDepth = 256

// Behind follows the references of types that are of the kinds through, and of an array that to
// its elements. It returns the first type of another kind, which is id itself if that is one.
// Types that lead back to themselves, or on for more than MaxDepth references, lead to void: 0.
func (b *Blob) Behind(id uint32, through Kinds) uint32 {
	for range MaxDepth {
		r := b.Head(id)
		if r == nil {
			return 0
		}
		switch k := r.Kind(); {
		case !through.Has(k):
			return id
		case k == KindArray:
			id, _, _ = r.Array()
		default:
			id = r.Third()
		}
	}
	return 0
}

// Size returns the size of a type in bytes, where a pointer takes pointer bytes; of a variable,
// the size of its type. It is 0 for void, forward declarations, functions, and types that refer
// to themselves. A size beyond 64 bits is the highest number.
func (b *Blob) Size(id uint32, pointer uint64) uint64 {
	n := uint64(1)
	for range MaxDepth {
		r := b.Head(id)
		if r == nil {
			return 0
		}
		switch r.Kind() {
		case KindInt, KindStruct, KindUnion, KindEnum, KindEnum64, KindFloat, KindDatasec:
			return Product(n, uint64(r.Third()))
		case KindPtr:
			return Product(n, pointer)
		case KindArray:
			elem, _, count := r.Array()
			id, n = elem, Product(n, uint64(count))
		case KindTypedef, KindVar, KindConst, KindVolatile, KindRestrict, KindTypeTag:
			id = r.Third()
		default:
			return 0
		}
	}
	return 0
}

// Product returns a*b, or the highest number if the product has more than 64 bits.
func Product(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	if hi != 0 {
		return ^uint64(0)
	}
	return lo
}
