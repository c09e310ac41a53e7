package btf

import "math/bits"

// Kinds is a set of kinds.
type Kinds uint64

// Kinds that Behind can see through.
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

// MaxDepth is the most references that a walk along types follows. Real types need fewer than
// 20. Parse accepts types that refer to themselves, so every walk needs such a bound.
const MaxDepth = 256

// Behind starts at the type id. As long as the type is of one of the kinds in through, it goes on
// to the type that this one refers to; from an array, to the type of its elements. It returns the
// first type of another kind, which may be id. It returns 0, void, if that takes more than
// MaxDepth references, as it does for types that refer to themselves.
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

// Size returns the size of a type in bytes. A pointer has pointer bytes, and a variable has the
// size of its type. Void, forward declarations, functions, and types that refer to themselves have
// the size 0. A size that does not fit into 64 bits is given as the highest number that does.
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

// Product returns a*b, or the highest number if the product does not fit into 64 bits.
func Product(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	if hi != 0 {
		return ^uint64(0)
	}
	return lo
}
