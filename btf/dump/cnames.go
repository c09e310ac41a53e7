package dump

import (
	"bytes"
	"hash/maphash"
	"math/bits"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/internal/message"
)

// Names in C. Tags of structs, unions and enums are one name space, typedefs and
// enumerators another. A name that is taken in its space gets a number at the end: the
// second one is NAME___2.

// printable is the name at a string offset without what a terminal would obey.
func printable(b *btf.Blob, off uint32) string { return message.OneLine(string(b.NameBytes(off))) }

// nameSpace counts how often each name has been taken: a hash table of string
// offsets, where equal strings are one.
type nameSpace struct {
	b     *btf.Blob
	seed  maphash.Seed
	slots []takenName // a power of two
	used  int
	none  uint32 // how often no name has been taken
}

type takenName struct {
	off   uint32 // 0: free
	count uint32
}

// newNameSpace has room for about n names, and grows.
func newNameSpace(b *btf.Blob, n uint32) *nameSpace {
	return &nameSpace{b: b, seed: maphash.MakeSeed(), slots: arena.Make[takenName](1 << max(10, bits.Len32(n)))}
}

// take takes a name and returns how many have taken it now.
func (s *nameSpace) take(off uint32) uint32 {
	if off == 0 { // it has no slot: 0 marks the free ones
		s.none++
		return s.none
	}
	if 4*s.used >= 3*len(s.slots) {
		s.grow()
	}
	t := s.find(off)
	if t.off == 0 {
		t.off = off
		s.used++
	}
	t.count++
	return t.count
}

// find is the slot of a name, or the free one that it would get.
func (s *nameSpace) find(off uint32) *takenName {
	name := s.b.NameBytes(off)
	mask := uint64(len(s.slots) - 1)
	for i := maphash.Bytes(s.seed, name) & mask; ; i = (i + 1) & mask {
		t := &s.slots[i]
		if t.off == 0 || t.off == off || bytes.Equal(s.b.NameBytes(t.off), name) {
			return t
		}
	}
}

func (s *nameSpace) grow() {
	before := s.slots
	s.slots = make([]takenName, 2*len(before))
	for _, t := range before {
		if t.off != 0 {
			*s.find(t.off) = t
		}
	}
}
