package dedup

import (
	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
)

// The graph walk of slow.go.
//
// Nodes of the walk are ids of the Set, or idLocal with a node index.

// walker compares a unit's types with known ones as graphs, where their names
// do not tell.
type walker struct {
	find   finder
	place  *placer
	shapes arena.Vec[uint32] // by id: see knownShape; 0 if not known
	// Walks counts steps of the graph walk.
	Walks uint64
}

// finalNode follows a node to what it has been placed as.
func (s *walker) finalNode(u *Unit, x uint32) uint32 {
	if x >= idLocal {
		if id := u.ID.S[x&^idLocal]; id < idBusy && id != 0 {
			x = id
		}
	}
	if x < idLocal {
		x = s.find.index.types.Final(x)
	}
	if len(u.slow.fwdTo) == 0 {
		return x
	}
	// A forward may lead to a node that has been placed meanwhile.
	for range 8 {
		d, ok := u.slow.fwdTo[x]
		if !ok {
			break
		}
		if d >= idLocal {
			if id := u.ID.S[d&^idLocal]; id < idBusy && id != 0 {
				d = id
			}
		}
		if d < idLocal {
			d = s.find.index.types.Final(d)
		}
		x = d
	}
	return x
}

func (s *walker) isPlaced(u *Unit, x uint32) bool {
	return x < idLocal || u.ID.S[x&^idLocal] != idNew
}

func (s *walker) isFwd(u *Unit, x uint32) bool {
	if x < idLocal {
		return x != 0 && s.find.index.types.record(x).Kind() == btf.KindFwd
	}
	return btf.InfoKind(u.Nodes.S[x&^idLocal].Info) == btf.KindFwd
}

// walk says whether x, of the unit, and y, of the known side, are equivalent. inBase says
// that y is part of the base's own graph.
func (s *walker) walk(u *Unit, x, y uint32, depth int, inBase bool) bool {
	w := &u.slow
	w.steps++
	if x == 0 || y == 0 {
		return x == y
	}
	if x < idLocal {
		return s.find.index.types.Final(x) == s.finalNode(u, y)
	}
	i := x &^ idLocal
	if !inBase && y <= s.find.index.baseIDs && len(s.find.index.base.copies) > 0 {
		y = s.find.index.base.copyOf(y, w.rootEnd)
	}
	fy := s.finalNode(u, y)
	if s.finalNode(u, idLocal|i) == fy {
		return true
	}
	if s.isFwd(u, y) && !s.isFwd(u, fy) {
		y = fy
		inBase = y <= s.find.index.baseIDs
	} else if y >= idLocal && fy < idLocal && s.find.index.base == nil {
		y = fy
	}
	if depth > maxWalk {
		u.err = ErrChain
		return false
	}
	if w.steps > w.most {
		u.err = errTried
		return false
	}
	// Meet a pair only once. Plain references need no memory: every cycle
	// goes through a struct, union, typedef or prototype, and nothing that is
	// settled afterwards is a plain reference.
	key := uint64(y)
	if inBase {
		key |= 1 << 31 // ids and nodes are below
	}
	plain := false
	if k := btf.InfoKind(u.Nodes.S[i].Info); k == btf.KindPtr || k == btf.KindConst || k == btf.KindVolatile ||
		k == btf.KindInt || k == btf.KindArray {
		plain = true
	} else if w.unequal.has(uint64(y)<<32 | uint64(i)) {
		return false
	} else if o, ok := w.first.get(key); ok {
		if o == i {
			return true
		}
		if w.more.has(key<<32 | uint64(i)) {
			return true
		}
		if s.isFwd(u, y) && btf.InfoKind(u.Nodes.S[i].Info) != btf.KindFwd &&
			btf.InfoKind(u.Nodes.S[o].Info) != btf.KindFwd {
			w.once = true
			return false // a forward declaration stands for one definition
		}
		w.more.put(key<<32|uint64(i), 1)
	} else {
		w.first.put(key, i)
		w.order.Append(fwdPair{fwd: y, def: i})
	}
	if s.walkInside(u, x, y, depth, inBase) {
		return true
	}
	if !plain && !w.once {
		// Whatever led here, it will not be equal the next time either.
		if len(w.unequal.used.S) >= maxUnequal {
			w.unequal.clear() // what is not known is walked again
		}
		w.unequal.put(uint64(y)<<32|uint64(i), 1)
	}
	return false
}

// walkInside compares node x with y, of the known side, and walks on from them.
func (s *walker) walkInside(u *Unit, x, y uint32, depth int, inBase bool) bool {
	w := &u.slow
	name, info := s.find.head(u, x)
	other, otherInfo := s.find.head(u, y)
	if name != other {
		return false
	}
	if info == otherInfo && links.Has(btf.InfoKind(info)) {
		return s.walk(u, s.find.target(u, x), s.find.target(u, y), depth+1, inBase)
	}
	switch relate(name, info, otherInfo) {
	case different:
		return false
	case equivalent, forwardOf:
		return true
	case defines:
		w.raised = w.raised || inBase && y <= s.find.index.baseIDs
		return true
	case enums:
		return btf.InfoVlen(info) == 0 || btf.InfoVlen(otherInfo) == 0 || s.find.equalEnums(u, x, y)
	}
	if info != otherInfo {
		return false
	}
	var v, k typ
	v.read(s.find, u, x)
	k.read(s.find, u, y)
	return inside(&v, &k, func(x, y uint32) bool { return s.walk(u, x, y, depth+1, inBase) })
}
