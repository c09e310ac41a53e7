package show

import (
	"bytes"
	"hash/maphash"

	"github.com/btflite/btflite/btf/view"
)

// seen finds types that were there before: those of the same name and size, whose
// members have the same places and, where both have names, the same names. What
// types the members have makes no difference: pahole shows one struct of each such
// set, the first.
type seen struct {
	seed  maphash.Seed
	names map[uint64]uint32 // the first type of a name, 0 once it is in types
	types map[uint64][]uint32
	hash  maphash.Hash
	old   uint32 // the type that the last one is like, if it was not new
}

// maxAlike is how many types of one name, size and form are compared with a new
// one: BTF made to waste time may have very many.
const maxAlike = 64

func newSeen() *seen {
	s := &seen{seed: maphash.MakeSeed(), names: map[uint64]uint32{}, types: map[uint64][]uint32{}}
	s.hash.SetSeed(s.seed)
	return s
}

// add tells whether t is new.
func (s *seen) add(t view.Type) bool {
	name := maphash.Bytes(s.seed, t.Name())
	first, ok := s.names[name]
	if !ok {
		s.names[name] = t.ID
		return true
	}
	if first != 0 { // few names come twice: most types are never looked at
		s.names[name] = 0
		key := s.key(t.View().Type(first))
		s.types[key] = append(s.types[key], first)
	}
	key := s.key(t)
	old := s.types[key]
	for _, id := range old {
		if alike(t, t.View().Type(id)) {
			s.old = id
			return false
		}
	}
	if len(old) < maxAlike {
		s.types[key] = append(old, t.ID)
	}
	return true
}

// key is a hash of the name and form of t.
func (s *seen) key(t view.Type) uint64 {
	s.hash.Reset()
	s.hash.Write(t.Name())
	number := func(n uint32) {
		var b [4]byte
		for i := range b {
			b[i] = byte(n >> (8 * i))
		}
		s.hash.Write(b[:])
	}
	number(uint32(t.Size()))
	number(uint32(t.Vlen()))
	for _, m := range t.Members() {
		number(m.Offset)
		number(m.Bits)
	}
	return s.hash.Sum64()
}

// alike tells whether a and b count as one.
func alike(a, b view.Type) bool {
	if a.Size() != b.Size() || a.Vlen() != b.Vlen() || !bytes.Equal(a.Name(), b.Name()) {
		return false
	}
	for i, m := range a.Members() {
		n := b.Member(i)
		if m.Offset != n.Offset || m.Bits != n.Bits || m.NameOff != 0 && n.NameOff != 0 && !bytes.Equal(m.Name(), n.Name()) {
			return false
		}
	}
	return true
}
