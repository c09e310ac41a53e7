package dump

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
)

// A sorted header has its types by rank, then by the name of the type that they are made
// of, then by their own name, then by a hash. Types without a name come last, because
// they are never read for themselves.

// Ranks of types.
const (
	rankAnonymousEnum = iota
	rankEnum
	rankNumber
	rankComposite
	rankFunction
	rankOther
)

// sortItem is a type to be sorted.
type sortItem struct {
	first uint64 // its rank and the beginning of the name at of, which most comparisons need no more than
	of    uint32 // string offset of the name of the type that it is made of; 0: none
	own   uint32 // of its own name
	id    uint32
}

// sorter sorts types.
type sorter struct {
	b      *btf.Blob
	items  []sortItem
	hashes map[uint32]uint64 // results of hashOf by id, with members
}

// rankBits is how many bits of sortItem.first are the rank.
const rankBits = 3

// placeSorted puts all types in the order of a sorted header. loseFirst leaves out the
// first one; see COptions.
//
// Two of three types have no place of their own: functions and variables are no
// types of C, and what is made of types that have their places, as pointers and
// prototypes are, has nothing placed any more when its turn comes. They are not
// sorted.
func (o *orderer) placeSorted(loseFirst bool) error {
	n := o.b.TypeCount()
	s := sorter{b: o.b, hashes: map[uint32]uint64{}, items: arena.Make[sortItem](int(n)/sortedShare + 1)[:0]}
	late := make([]bool, n) // a list would take five times as much, and twice that while it grows
	for id := uint32(1); id < n; id++ {
		rec := o.b.Record(id)
		if isNoType(rec.Kind()) && !loseFirst {
			continue
		}
		if it := itemOf(o.b, id, rec); it.rank() < rankOther {
			s.items = append(arena.Room(s.items, 1), it)
		} else {
			late[id] = true
		}
	}
	s.sort()
	if loseFirst && len(s.items) > 0 {
		s.items, loseFirst = s.items[1:], false
	}
	if err := o.placeItems(s.items); err != nil {
		return err
	}
	s.items = s.items[:0]
	settled := settler{o: o, known: make([]uint8, n)}
	for id := uint32(1); id < n; id++ {
		if late[id] && (loseFirst || !settled.is(id, 0)) {
			s.items = append(s.items, itemOf(o.b, id, o.b.Record(id)))
		}
	}
	s.sort()
	if loseFirst && len(s.items) > 0 {
		s.items = s.items[1:]
	}
	return o.placeItems(s.items)
}

// sortedShare is how many types there are, at the least, for each one that is sorted:
// in kernels five or more. Room that is not used is never touched.
const sortedShare = 4

func (o *orderer) placeItems(items []sortItem) error {
	for i := range items {
		if _, err := o.place(items[i].id, false); err != nil {
			return err
		}
	}
	return nil
}

// isNoType reports whether a kind is not one of C's types.
func isNoType(k btf.Kind) bool {
	switch k {
	case btf.KindFunc, btf.KindVar, btf.KindDatasec, btf.KindDeclTag, btf.KindVoid:
		return true
	}
	return false
}

// settler finds the types that lead to no type that is still to be placed.
type settler struct {
	o     *orderer
	known []uint8 // by id
}

// Entries of settler.known.
const (
	notKnown = iota
	isSettled
	isNotSettled // or it is being looked for: a type that contains itself is an error
)

func (s *settler) is(id uint32, depth int) bool {
	if id == 0 || s.o.state[id] == placed || s.known[id] == isSettled {
		return true
	}
	if s.known[id] == isNotSettled || depth > maxDepth {
		return false
	}
	s.known[id] = isNotSettled
	rec := s.o.b.Record(id)
	switch k := rec.Kind(); {
	case k == btf.KindPtr || isModifier(k):
		if !s.is(rec.Third(), depth+1) {
			return false
		}
	case k == btf.KindArray:
		if elem, _, _ := rec.Array(); !s.is(elem, depth+1) {
			return false
		}
	case k == btf.KindFuncProto:
		if !s.is(rec.Third(), depth+1) {
			return false
		}
		for j := range int(rec.Vlen()) {
			if _, typ := rec.Param(j); !s.is(typ, depth+1) {
				return false
			}
		}
	case isComposite(k) && rec.Name() == 0:
		for j := range int(rec.Vlen()) {
			if _, typ, _ := rec.Member(j); !s.is(typ, depth+1) {
				return false
			}
		}
	default:
		return false
	}
	s.known[id] = isSettled
	return true
}

func (it *sortItem) rank() uint8 { return uint8(it.first >> (64 - rankBits)) }

func (s *sorter) sort() {
	slices.SortFunc(s.items, func(x, y sortItem) int {
		switch {
		case x.first < y.first:
			return -1
		case x.first > y.first:
			return 1
		}
		return s.compare(&x, &y)
	})
}

// compare compares two types of one rank. It is never 0 for different ones.
func (s *sorter) compare(x, y *sortItem) int {
	if c := s.names(x.of, y.of); c != 0 {
		return c
	}
	if c := s.names(x.own, y.own); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(s.hashOf(x.id, true, 0), s.hashOf(y.id, true, 0)), cmp.Compare(x.id, y.id))
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

// itemOf is where a type stands.
func itemOf(b *btf.Blob, id uint32, rec btf.Record) sortItem {
	it := sortItem{id: id, own: rec.Name()}
	rank := uint8(rankOther)
	named, of := rec.Name() != 0, id
	for range maxLinks { // a chain may bite its tail
		k := rec.Kind()
		if k == btf.KindTypedef || k == btf.KindPtr || isModifier(k) {
			of = rec.Third()
		} else if k == btf.KindArray {
			of, _, _ = rec.Array()
		} else {
			switch {
			case named:
				it.of, rank = rec.Name(), rankOf(k)
			case of != id || k != btf.KindEnum && k != btf.KindEnum64:
				it.of = rec.Name()
			default:
				rank = rankAnonymousEnum
				if rec.Vlen() > 0 {
					it.of = rec.Extra()[0]
				}
			}
			break
		}
		if rec = b.Record(of); rec == nil {
			break
		}
	}
	var begin [8]byte
	copy(begin[:], b.NameBytes(it.of))
	it.first = uint64(rank)<<(64-rankBits) | binary.BigEndian.Uint64(begin[:])>>rankBits
	return it
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

// hashFactor is the factor of the polynomial that hashes names.
const hashFactor = 31

// hashOf tells types of the same name apart. The hash is a polynomial over the names of
// the type and its parts, and with members, for structs, over the hashes of their
// members' types. Only hashes with members are cached.
func (s *sorter) hashOf(id uint32, members bool, depth int) (h uint64) {
	if id == 0 || depth > maxDepth {
		return 0
	}
	if members {
		if h, ok := s.hashes[id]; ok {
			return h
		}
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
		s.hashes[id] = h
	}
	return h
}

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
