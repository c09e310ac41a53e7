package dedup

import (
	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
)

// The graph walk of slow.go. Like match, it works on operands (compare.go).

// walker compares nodes of a unit with known types as graphs, where a name has
// several definitions.
type walker struct {
	find   finder
	place  *placer
	shapes arena.Vec[uint32] // by id: knownShape, 0 if not yet computed
	// Walks counts steps of the graph walk.
	Walks uint64
}

// finalNode follows operand x to the id or node that it has been placed as.
func (wk *walker) finalNode(u *Unit, x uint32) uint32 {
	if x >= idLocal {
		if id := u.ID.S[x&^idLocal]; id < idBusy && id != 0 {
			x = id
		}
	}
	if x < idLocal {
		x = wk.find.index.types.Final(x)
	}
	if len(u.slow.fwdTo) == 0 {
		return x
	}
	// A FWD may lead to a node that has been placed since.
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
			d = wk.find.index.types.Final(d)
		}
		x = d
	}
	return x
}

// isPlaced reports whether operand x is a type of the Set or a node that has been placed.
func (wk *walker) isPlaced(u *Unit, x uint32) bool {
	return x < idLocal || u.ID.S[x&^idLocal] != idNew
}

func (wk *walker) isFwd(u *Unit, x uint32) bool {
	if x < idLocal {
		return x != 0 && wk.find.index.types.record(x).Kind() == btf.KindFwd
	}
	return btf.InfoKind(u.Nodes.S[x&^idLocal].Info) == btf.KindFwd
}

// walk reports whether operand x, of the unit, is equivalent to y, of the known side: a type of
// the Set, or a new node that x is tried against. inBase says that y was reached from a type of
// the base, so it is in the base's own graph.
func (wk *walker) walk(u *Unit, x, y uint32, depth int, inBase bool) bool {
	w := &u.slow
	w.steps++
	if x == 0 || y == 0 {
		return x == y
	}
	if x < idLocal {
		return wk.find.index.types.Final(x) == wk.finalNode(u, y)
	}
	i := x &^ idLocal
	if !inBase && y <= wk.find.index.baseIDs && len(wk.find.index.base.copies) > 0 {
		y = wk.find.index.base.copyOf(y, w.rootEnd)
	}
	fy := wk.finalNode(u, y)
	if wk.finalNode(u, idLocal|i) == fy {
		return true
	}
	if wk.isFwd(u, y) && !wk.isFwd(u, fy) {
		y = fy
		inBase = y <= wk.find.index.baseIDs
	} else if y >= idLocal && fy < idLocal && wk.find.index.base == nil {
		y = fy
	}
	if depth > maxWalk {
		u.err = ErrChain
		return false
	}
	if w.steps > w.maxSteps {
		u.err = errTried
		return false
	}
	// Compare each pair only once. Plain references are not remembered: every
	// cycle goes through a struct, union, typedef or prototype, and try settles
	// no plain references.
	key := uint64(y)
	if inBase {
		key |= 1 << 31 // operands are smaller
	}
	plain := false
	pair := uint64(y)<<32 | uint64(i)
	if k := btf.InfoKind(u.Nodes.S[i].Info); k == btf.KindPtr || k == btf.KindConst || k == btf.KindVolatile ||
		k == btf.KindInt || k == btf.KindArray {
		plain = true
	} else if _, differ := w.unequal[pair]; differ {
		return false
	} else if o, met := w.first[key]; met {
		if o == i {
			return true
		}
		if _, met := w.others[key<<32|uint64(i)]; met {
			return true
		}
		if wk.isFwd(u, y) && btf.InfoKind(u.Nodes.S[i].Info) != btf.KindFwd &&
			btf.InfoKind(u.Nodes.S[o].Info) != btf.KindFwd {
			w.transient = true
			return false // a forward declaration stands for one definition
		}
		w.others[key<<32|uint64(i)] = struct{}{}
	} else {
		w.first[key] = i
		w.order.Append(fwdPair{fwd: y, def: i})
	}
	if wk.walkInside(u, x, y, depth, inBase) {
		return true
	}
	if !plain && !w.transient {
		// The pair differs, whichever walk meets it again.
		if len(w.unequal) >= maxUnequal {
			w.unequal.clear() // then walks compare the pairs again
		}
		w.unequal[pair] = struct{}{}
	}
	return false
}

// walkInside compares node x with y, of the known side, and walks on to their references.
func (wk *walker) walkInside(u *Unit, x, y uint32, depth int, inBase bool) bool {
	w := &u.slow
	name, info := wk.find.head(u, x)
	other, otherInfo := wk.find.head(u, y)
	if name != other {
		return false
	}
	if info == otherInfo && links.Has(btf.InfoKind(info)) {
		return wk.walk(u, wk.find.target(u, x), wk.find.target(u, y), depth+1, inBase)
	}
	switch relate(name, info, otherInfo) {
	case different:
		return false
	case equivalent, forwardOf:
		return true
	case defines:
		w.definesBaseFwd = w.definesBaseFwd || inBase && y <= wk.find.index.baseIDs
		return true
	case enums:
		return btf.InfoVlen(info) == 0 || btf.InfoVlen(otherInfo) == 0 || wk.find.equalEnums(u, x, y)
	}
	if info != otherInfo {
		return false
	}
	var v, k typ
	v.read(wk.find, u, x)
	k.read(wk.find, u, y)
	return inside(&v, &k, func(x, y uint32) bool { return wk.walk(u, x, y, depth+1, inBase) })
}
