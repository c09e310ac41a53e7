package dedup

import (
	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
)

// shapeHash is a hash of what a walk compares first, and where a difference is
// final, of y, a node of the walk that is a struct, union or typedef: its name
// and size, the names and offsets of its members, and what leads from them, or
// from the typedef, to the next names. Rust has hundreds of types called Some in
// one unit.
func (s *walker) shapeHash(u *Unit, y uint32) uint32 {
	var k typ
	k.read(s.find, u, y)
	name, _ := s.find.head(u, y)
	if name == 0 && y >= idLocal && u.shapes != nil {
		return u.shapes[y&^idLocal]<<1 | 1 // only typedefs and what has a name is compared with types of the Set
	}
	h := arena.Mix(arena.Mix(0, k.info), name)
	if btf.InfoKind(k.info) == btf.KindTypedef {
		h = s.nextNames(u, h, k.third, shapeSteps)
	} else {
		h = arena.Mix(h, k.third)
		for j := range int(btf.InfoVlen(k.info)) {
			name, typ, val := k.member(j, 3)
			h = s.nextNames(u, arena.Mix(arena.Mix(h, name), val), typ, shapeSteps)
		}
	}
	return uint32(h>>32) | 1
}

// shapeSteps is how many types deep shapeHash looks behind a member, and
// shapeParams at how many parameters of a prototype.
const (
	shapeSteps  = 3
	shapeParams = 4
)

// nextNames adds the name of y, or of what it leads to by a few pointers and
// modifiers, to a hash. A forward declaration has the name of its definition,
// so whatever a walk finds equal to y has the same.
func (s *walker) nextNames(u *Unit, h uint64, y uint32, steps int) uint64 {
	for ; steps > 0 && y != 0; steps-- {
		var k typ
		k.read(s.find, u, y)
		switch btf.InfoKind(k.info) {
		case btf.KindPtr, btf.KindConst, btf.KindVolatile, btf.KindRestrict:
			y = k.third
		case btf.KindFuncProto:
			h = s.nextNames(u, arena.Mix(h, k.info), k.third, steps-1)
			for j := range min(int(btf.InfoVlen(k.info)), shapeParams) {
				name, typ, _ := k.member(j, 2)
				h = s.nextNames(u, arena.Mix(h, name), typ, steps-1)
			}
			return h
		default:
			name, _ := s.find.head(u, y)
			return arena.Mix(h, name)
		}
	}
	return h
}

// knownShape is shapeHash of a type of the Set, which is remembered: names and
// sizes of types do not change.
func (s *walker) knownShape(u *Unit, id uint32) uint32 {
	if int(id) >= len(s.shapes.S) {
		s.shapes.Resize(len(s.find.index.types.ids.S))
	}
	if s.shapes.S[id] == 0 {
		s.shapes.S[id] = s.shapeHash(u, id)
	}
	return s.shapes.S[id]
}
