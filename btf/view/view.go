// Package view reads BTF by what it means: types with names, sizes, alignment,
// members, values and parameters, looked up by id or by name over a whole chain
// of bases. Readers that print types are built on it. It copies nothing: a Type
// is a few words that refer to the words of its blob.
//
// A View takes every blob that btf.Parse has taken, which checks ids and offsets
// of names but not what they lead to. Types may refer to themselves and chains
// may be long: whatever follows references ends after MaxDepth of them.
//
//	view.go        View, Type, what there is
//	types.go       what a Type is made of
//	size.go        references followed, sizes, alignment
//	find.go        look-up by name
//	layout.go      Layout: where members lie, holes and padding
//	attributes.go  __aligned__ and __packed__, inferred from a Layout
//	fact.go        what Layouts remembers about the types of members
//	reorganize.go  an order of the members with fewer holes
//
// The stable API is package btflite. What it does not use of this package may change.
package view

import (
	"iter"
	"sync"
	"sync/atomic"

	"github.com/btflite/btflite/btf"
)

// MaxDepth is how many references are followed from one type: modifiers,
// typedefs, elements of arrays. What lies deeper has no size. Real types need less than 20.
const MaxDepth = btf.MaxDepth

// View is the types of a blob and of the bases below it. It may be used by
// several goroutines, as far as nothing is said to the contrary.
type View struct {
	blob    *btf.Blob
	pointer uint8
	renamed map[uint32][]byte

	asked  atomic.Uint32 // how many names Named was asked for
	once   sync.Once
	places places // if these were many
}

// Rename gives a type another name, for whoever prints two types of one name. It must
// not be called while other goroutines use v.
func (v *View) Rename(id uint32, name []byte) {
	if v.renamed == nil {
		v.renamed = map[uint32][]byte{}
	}
	v.renamed[id] = name
}

// New returns the types of b. b must not change as long as they are in use.
func New(b *btf.Blob) *View {
	return &View{blob: b, pointer: uint8(b.PointerSize())}
}

// Blob is the blob that v reads.
func (v *View) Blob() *btf.Blob { return v.blob }

// Count is the number of ids, including void and the bases: each id from 0 to
// Count()-1 is a type.
func (v *View) Count() uint32 { return v.blob.TypeCount() }

// FirstOwn is the lowest id that is not of a base.
func (v *View) FirstOwn() uint32 { return v.blob.FirstID }

// Type is one type of a View. Its names are slices of the blob.
type Type struct {
	ID  uint32
	rec btf.Record // and what is behind it; nil: void
	v   *View
}

// Type is the type with the id; void for 0 and for ids that do not exist.
func (v *View) Type(id uint32) Type {
	r := v.blob.Head(id)
	if r == nil {
		id = 0
	}
	return Type{id, r, v}
}

// All gives every type except void in the order of ids, so types of the bases come first.
func (v *View) All() iter.Seq[Type] { return v.from(1) }

// Own gives the types that are not of a base, in the order of ids.
func (v *View) Own() iter.Seq[Type] { return v.from(v.blob.FirstID) }

// Composites gives the structs and unions. If withBases is set, the bases' come first.
func (v *View) Composites(withBases bool) iter.Seq[Type] {
	return v.OfKinds(withBases, btf.KindStruct, btf.KindUnion)
}

// OfKinds gives the types of the kinds. If withBases is set, the bases' come first. It is
// much faster than filtering All or Own.
func (v *View) OfKinds(withBases bool, kinds ...btf.Kind) iter.Seq[Type] {
	chain := v.chain()
	if !withBases {
		chain = chain[len(chain)-1:]
	}
	wanted := maskOf(kinds)
	return func(yield func(Type) bool) {
		for _, b := range chain {
			for i, w := range b.Off {
				if wanted>>(btf.InfoKind(b.Words[w+1])&63)&1 == 0 { // kinds are below 64
					continue
				}
				if !yield(v.Type(b.FirstID + uint32(i))) {
					return
				}
			}
		}
	}
}

// maskOf has a bit for each of the kinds.
func maskOf(kinds []btf.Kind) (mask uint64) {
	for _, k := range kinds {
		mask |= 1 << k
	}
	return mask
}

func (v *View) from(first uint32) iter.Seq[Type] {
	return func(yield func(Type) bool) {
		for id := first; id < v.Count(); id++ {
			if !yield(v.Type(id)) {
				return
			}
		}
	}
}

// Name is the string at an offset; see btf.Blob.NameBytes.
func (v *View) Name(off uint32) []byte { return v.blob.NameBytes(off) }

// PointerSize is the size of a pointer in bytes: 8, or 4. See btf.Blob.
func (v *View) PointerSize() int { return int(v.pointer) }

// SetPointerSize sets the size of a pointer, for whoever knows it from an ELF
// header. It must come before all questions for sizes.
func (v *View) SetPointerSize(bytes int) { v.pointer = uint8(bytes) }
