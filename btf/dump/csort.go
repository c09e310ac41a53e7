package dump

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/btflite/btflite/btf"
)

// A sorted header has its types by rank, then by the name of what they are made of,
// then by their own name, then by a hash. Types without a name come last: they only
// say what else is needed.

// Ranks of types.
const (
	rankAnonymousEnum = iota
	rankEnum
	rankNumber
	rankComposite
	rankFunction
	rankOther
)

// sortKey is where a type stands.
type sortKey struct {
	hash   uint64 // see sorter.hashOf
	of     uint32 // string offset of the name of what it is made of; 0: none
	own    uint32 // of its own name
	rank   uint8
	hashed bool
}

// sorter has the keys of all types, that of id 1 first.
type sorter struct {
	b    *btf.Blob
	keys []sortKey
}

// sortItem is a type to be sorted: its rank and the beginning of the name of what it
// is made of, which most comparisons need no more than, and its id.
type sortItem struct {
	first uint64
	id    uint32
}

// rankBits is how many bits of sortItem.first are the rank.
const rankBits = 3

// sortTypes puts the ids of all types of b, which are given in ascending order, into
// the order of a sorted header.
func sortTypes(b *btf.Blob, ids []uint32) {
	s := sorter{b, make([]sortKey, len(ids))}
	items := make([]sortItem, len(ids))
	for i, id := range ids {
		s.keys[i] = keyOf(b, id)
		k := &s.keys[i]
		var begin [8]byte
		copy(begin[:], b.NameBytes(k.of))
		items[i] = sortItem{uint64(k.rank)<<(64-rankBits) | binary.BigEndian.Uint64(begin[:])>>rankBits, id}
	}
	slices.SortFunc(items, func(x, y sortItem) int {
		switch {
		case x.first < y.first:
			return -1
		case x.first > y.first:
			return 1
		}
		return s.compare(x.id, y.id)
	})
	for i := range items {
		ids[i] = items[i].id
	}
}

// compare compares two types of one rank. It is never 0 for different ones.
func (s *sorter) compare(id1, id2 uint32) int {
	x, y := &s.keys[id1-1], &s.keys[id2-1]
	if c := s.names(x.of, y.of); c != 0 {
		return c
	}
	if c := s.names(x.own, y.own); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(s.hashOf(id1, true, 0), s.hashOf(id2, true, 0)), cmp.Compare(id1, id2))
}

// names compares the names at two string offsets.
func (s *sorter) names(x, y uint32) int {
	if x == y {
		return 0
	}
	return bytes.Compare(s.b.NameBytes(x), s.b.NameBytes(y))
}

// maxLinks bounds what of a chain of types a key looks at.
const maxLinks = 200

// keyOf is the key of a type without its hash.
func keyOf(b *btf.Blob, id uint32) sortKey {
	rec := b.Record(id)
	key := sortKey{own: rec.Name(), rank: rankOther}
	named := rec.Name() != 0
	for of := id; rec != nil; rec = b.Record(of) {
		k := rec.Kind()
		switch {
		case k == btf.KindTypedef || k == btf.KindPtr || isModifier(k):
			of = rec.Third()
		case k == btf.KindArray:
			of, _, _ = rec.Array()
		case !named && of == id && (k == btf.KindEnum || k == btf.KindEnum64):
			key.rank = rankAnonymousEnum
			if rec.Vlen() > 0 {
				key.of = rec.Extra()[0]
			}
			return key
		default:
			if key.of = rec.Name(); named {
				key.rank = rankOf(k)
			}
			return key
		}
		if key.hash++; key.hash > maxLinks { // a chain that bites its tail
			break
		}
	}
	key.hash = 0
	return key
}

// rankOf is the rank of a type with a name that is made of one of the kind.
func rankOf(k btf.Kind) uint8 {
	switch k {
	case btf.KindEnum, btf.KindEnum64:
		return rankEnum
	case btf.KindInt, btf.KindFloat:
		return rankNumber
	case btf.KindStruct, btf.KindUnion:
		return rankComposite
	case btf.KindFuncProto:
		return rankFunction
	}
	return rankOther
}

// hashFactor is that of the polynomials of a hash.
const hashFactor = 31

// hashOf tells types of the same names apart: a polynomial over the name of the type
// and those of its parts, and for structs over the hashes of their members' types.
// members says whether those of a struct count. Hashes with them are kept.
func (s *sorter) hashOf(id uint32, members bool, depth int) (h uint64) {
	if id == 0 || depth > maxDepth {
		return 0
	}
	key := &s.keys[id-1]
	if members && key.hashed {
		return key.hash
	}
	rec := s.b.Record(id)
	h = s.addName(0, rec.Name())
	switch k := rec.Kind(); k {
	case btf.KindEnum, btf.KindEnum64:
		stride, n := btf.NameWords(k, rec.Vlen())
		for i := range n {
			h = s.addName(h, rec.Extra()[i*stride])
		}
	case btf.KindStruct, btf.KindUnion:
		for i := range int(rec.Vlen()) {
			if !members {
				break
			}
			name, typ, _ := rec.Member(i)
			h = hashFactor*s.addName(h, name) + s.hashOf(typ, false, depth+1)
		}
	case btf.KindTypeTag, btf.KindConst, btf.KindPtr, btf.KindVolatile, btf.KindRestrict, btf.KindTypedef, btf.KindDeclTag:
		h = hashFactor*h + s.hashOf(rec.Third(), members, depth+1)
	case btf.KindArray:
		elem, _, n := rec.Array()
		h = hashFactor*(hashFactor*h+uint64(n)) + s.hashOf(elem, members, depth+1)
	}
	if members {
		key.hash, key.hashed = h, true
	}
	return h
}

// addName adds a name to a hash.
func (s *sorter) addName(h uint64, off uint32) uint64 {
	if off == 0 {
		return h
	}
	n := uint64(0)
	for _, c := range s.b.NameBytes(off) {
		n = hashFactor*n + uint64(int8(c)) // a char of C, with a sign
	}
	return hashFactor*h + n
}
