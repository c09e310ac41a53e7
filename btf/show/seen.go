package show

import (
	"bytes"
	"hash/maphash"

	"github.com/btflite/btflite/btf/view"
)

// seen finds repeated types: same name and size, and members at the same offsets with
// the same names (a nameless member matches any). The types of members do not count,
// because pahole shows only the first struct of such a set.
type seen struct {
	seed  maphash.Seed
	names firsts
	types map[uint64][]uint32 // by name and form, once there are two of the name
	hash  maphash.Hash
	old   uint32 // the type that the last one is like, if it was not new
}

// maxAlike is how many types of one name, size and form are compared with a new
// one: BTF made to waste time may have very many.
const maxAlike = 64

func newSeen() *seen {
	s := &seen{seed: maphash.MakeSeed(), types: map[uint64][]uint32{}}
	s.hash.SetSeed(s.seed)
	return s
}

// add reports whether t is new.
func (s *seen) add(t view.Type) bool {
	first, ok := s.names.add(uint32(maphash.Bytes(s.seed, t.Name())), t.ID)
	if !ok {
		return true
	}
	if first != 0 { // few names come twice: most types are never looked at
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

// firsts finds the first type of each name, by a hash of the name. A slot of the table
// has the id below the hash, which is not 0; a quarter of the slots or more have 0.
type firsts struct {
	slots []uint64
	used  int
}

// leastFirsts is how many slots there are at first: a power of two, as ever.
const leastFirsts = 1 << 10

// add adds a type by the hash of its name. If there is one of the hash, ok is true, and
// old is that type once, then 0.
func (f *firsts) add(hash, id uint32) (old uint32, ok bool) {
	if f.used >= len(f.slots)/4*3 {
		f.grow()
	}
	hash |= 1
	s := f.find(hash)
	if *s == 0 {
		*s = uint64(hash)<<32 | uint64(id)
		f.used++
		return 0, false
	}
	old = uint32(*s)
	*s = uint64(hash) << 32
	return old, true
}

// find is the slot of the hash, or the one that it may have.
func (f *firsts) find(hash uint32) *uint64 {
	for i := hash >> 1; ; i++ {
		if s := &f.slots[i&uint32(len(f.slots)-1)]; *s == 0 || uint32(*s>>32) == hash {
			return s
		}
	}
}

func (f *firsts) grow() {
	old := f.slots
	f.slots = make([]uint64, max(2*len(old), leastFirsts))
	for _, s := range old {
		if s != 0 {
			*f.find(uint32(s >> 32)) = s
		}
	}
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

// alike reports whether a and b count as one.
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
