package dedup

import (
	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
)

// shapeHash hashes operand y, a struct, union or typedef: its name and size, the
// names and offsets of its members, and the next names that its members, or the
// typedef, lead to. Types with different hashes are not equivalent, so most of
// them need no walk: in Rust, one unit has hundreds of types called Some.
func (wk *walker) shapeHash(u *Unit, y uint32) uint32 {
	var k typ
	k.read(wk.find, u, y)
	name, _ := wk.find.head(u, y)
	if name == 0 && y >= idLocal && u.shapes != nil {
		return u.shapes[y&^idLocal]<<1 | 1 // never compared with a hash of a type of the Set: see tryKnown
	}
	h := arena.Mix(arena.Mix(0, k.info), name)
	if btf.InfoKind(k.info) == btf.KindTypedef {
		h = wk.nextNames(u, h, k.third, shapeSteps)
	} else {
		h = arena.Mix(h, k.third)
		for j := range int(btf.InfoVlen(k.info)) {
			name, typ, val := k.member(j, 3)
			h = wk.nextNames(u, arena.Mix(arena.Mix(h, name), val), typ, shapeSteps)
		}
	}
	return uint32(h>>32) | 1
}

// shapeSteps is how many references deep shapeHash follows a member, and
// shapeParams how many parameters of a prototype it covers.
const (
	shapeSteps  = 3
	shapeParams = 4
)

// nextNames adds to a hash the name of y, or of the type that y leads to by a few
// pointers and modifiers. Equivalent types give the same hash, because a FWD has
// the name of its definition.
func (wk *walker) nextNames(u *Unit, h uint64, y uint32, steps int) uint64 {
	for ; steps > 0 && y != 0; steps-- {
		var k typ
		k.read(wk.find, u, y)
		switch btf.InfoKind(k.info) {
		case btf.KindPtr, btf.KindConst, btf.KindVolatile, btf.KindRestrict:
			y = k.third
		case btf.KindFuncProto:
			h = wk.nextNames(u, arena.Mix(h, k.info), k.third, steps-1)
			for j := range min(int(btf.InfoVlen(k.info)), shapeParams) {
				name, typ, _ := k.member(j, 2)
				h = wk.nextNames(u, arena.Mix(h, name), typ, steps-1)
			}
			return h
		default:
			name, _ := wk.find.head(u, y)
			return arena.Mix(h, name)
		}
	}
	return h
}

// knownShape returns shapeHash of a type of the Set. It computes each hash once:
// names and sizes of types do not change.
func (wk *walker) knownShape(u *Unit, id uint32) uint32 {
	if int(id) >= len(wk.shapes.S) {
		wk.shapes.Resize(len(wk.find.index.types.ids.S))
	}
	if wk.shapes.S[id] == 0 {
		wk.shapes.S[id] = wk.shapeHash(u, id)
	}
	return wk.shapes.S[id]
}
