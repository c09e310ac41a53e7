package btffile

import (
	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
)

// shapes compares structs and unions without names down to the next names, for Unit.Shapes.
// The Set's own hash of them looks at one name only. That is enough for what compilers write,
// and does not tell thousands of them apart that hold each other.
//
// Types that may be equivalent have one shape: a name counts without what it names, since a
// forward declaration stands for any definition. Each type is hashed once, so this takes
// linear time. Types that lead to a loop without a name have no end that could be hashed;
// what refers to them counts all of them as one.
type shapes struct {
	in    *btf.Blob
	token func(off uint32) (dedup.Name, error)
	hash  arena.Vec[uint64] // by id: bits of the hash, and one of the states below; 0 if not known
	todo  []uint32
	copy  btf.Record // of a type, to be changed
}

// States of a type in shapes.hash.
const (
	shapeBusy  = 1 << 62 // it is on the way to the type that is looked at
	shapeKnown = 2 << 62
	shapeLoops = 3 << 62 // known, and leads to a loop without a name
)

// numberShapes puts the number of its shape into numbers, by type id, for each struct and union
// without a name; token is as for NewReader.
func numberShapes(in *btf.Blob, token func(off uint32) (dedup.Name, error), numbers []uint32) error {
	s := shapes{in: in, token: token}
	defer s.hash.Free()
	s.hash.Resize(int(in.TypeCount()))
	known := map[uint64]uint32{}
	for id := uint32(1); id < in.TypeCount(); id++ {
		if k := in.Kind(id); k != btf.KindStruct && k != btf.KindUnion || in.Record(id).Name() != 0 {
			continue
		}
		if err := s.settle(id); err != nil {
			return err
		}
		n, ok := known[s.hash.S[id]]
		if !ok {
			n = uint32(len(known))
			known[s.hash.S[id]] = n
		}
		numbers[id] = n
	}
	return nil
}

// settle hashes type id and what it leads to. Each type comes twice: first it asks for what
// it refers to, then all of that is known, or lies on a loop with it.
func (s *shapes) settle(id uint32) error {
	s.todo = append(s.todo[:0], id)
	for len(s.todo) > 0 {
		id := s.todo[len(s.todo)-1]
		switch s.hash.S[id] & shapeLoops {
		case shapeKnown, shapeLoops:
			s.todo = s.todo[:len(s.todo)-1]
		case shapeBusy:
			if err := s.settled(id); err != nil {
				return err
			}
		default:
			s.hash.S[id] = shapeBusy
			if s.isNamed(id) {
				break
			}
			btf.EachRef(s.in.Record(id), func(to *uint32) {
				if *to != 0 && s.hash.S[*to] == 0 {
					s.todo = append(s.todo, *to)
				}
			})
		}
	}
	return nil
}

// isNamed says whether only the name of a type counts.
func (s *shapes) isNamed(id uint32) bool {
	switch r := s.in.Record(id); r.Kind() {
	case btf.KindStruct, btf.KindUnion, btf.KindEnum, btf.KindEnum64:
		return r.Name() != 0
	case btf.KindFwd, btf.KindTypedef:
		return true
	}
	return false
}

// settled hashes type id; what it refers to is known, or lies on a loop with it.
func (s *shapes) settled(id uint32) (err error) {
	r := s.in.Record(id)
	if s.isNamed(id) {
		name, err := s.token(r.Name())
		s.hash.S[id] = arena.Mix(0, name)>>2 | shapeKnown
		return err
	}
	r = append(s.copy[:0], r[:r.Len()]...)
	s.copy = r
	btf.EachName(r, func(off *uint32) {
		if err == nil {
			*off, err = s.token(*off)
		}
	})
	h, state := uint64(0), uint64(shapeKnown)
	btf.EachRef(r, func(to *uint32) {
		of := s.hash.S[*to] // void has 0
		if *to != 0 && of&shapeLoops != shapeKnown {
			of, state = shapeLoops, shapeLoops
		}
		h, *to = arena.Mix(h, of), 0
	})
	for _, w := range r {
		h = arena.Mix(h, w)
	}
	s.hash.S[id] = h>>2 | state
	return err
}
