package btffile

import (
	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
)

// shapes hashes structs and unions without names down to the next names, for Unit.Shapes.
// The Set's own hash covers one name only. That suffices for the output of compilers, but
// not for thousands of such structs that are nested in each other.
//
// Types that may be equivalent have one shape. So a hash covers only the name of a named
// type, because a FWD stands for any definition. Each type is hashed once, so this takes
// linear time. A type that leads to a loop without a name has no hash of its own: types
// that refer to such types treat all of them as equal.
type shapes struct {
	in    *btf.Blob
	token func(off uint32) (dedup.Name, error)
	hash  arena.Vec[uint64] // by id: bits of the hash, and one of the states below; 0 if unknown
	todo  []uint32
	copy  btf.Record // scratch: a copy of a type, which settled changes
}

// States of a type in shapes.hash.
const (
	shapeBusy  = 1 << 62 // its targets have been pushed
	shapeKnown = 2 << 62
	shapeLoops = 3 << 62 // known, and leads to a loop without a name
)

// numberShapes sets numbers[id] to the number of its shape for each struct and union without a
// name. For token, see NewReader.
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

// settle hashes type id and the types that it leads to. It visits each type twice: the first
// visit pushes its targets. At the second, each target is known or lies on a loop with it.
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

// isNamed reports whether the hash of a type covers its name only.
func (s *shapes) isNamed(id uint32) bool {
	switch r := s.in.Record(id); r.Kind() {
	case btf.KindStruct, btf.KindUnion, btf.KindEnum, btf.KindEnum64:
		return r.Name() != 0
	case btf.KindFwd, btf.KindTypedef:
		return true
	}
	return false
}

// settled hashes type id. Each of its targets is known or lies on a loop with it.
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
