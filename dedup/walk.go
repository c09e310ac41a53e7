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
	placer
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
		x = s.Final(x)
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
			d = s.Final(d)
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
		return x != 0 && s.record(x).Kind() == btf.KindFwd
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
		return s.Final(x) == s.finalNode(u, y)
	}
	i := x &^ idLocal
	if !inBase && y <= s.baseIDs && len(s.base.copies) > 0 {
		y = s.copyOf(y, w.rootEnd)
	}
	fy := s.finalNode(u, y)
	if s.finalNode(u, idLocal|i) == fy {
		return true
	}
	if s.isFwd(u, y) && !s.isFwd(u, fy) {
		y = fy
		inBase = y <= s.baseIDs
	} else if y >= idLocal && fy < idLocal && s.base == nil {
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
	v, k := s.typ(u, x), s.typ(u, y)
	if v.name != k.name {
		return false
	}
	switch relate(v.name, v.info, k.info) {
	case different:
		return false
	case equivalent, forwardOf:
		return true
	case defines:
		w.raised = w.raised || inBase && y <= s.baseIDs
		return true
	case enums:
		return btf.InfoVlen(v.info) == 0 || btf.InfoVlen(k.info) == 0 || s.equalEnums(u, x, y)
	}
	return v.info == k.info && inside(&v, &k, func(x, y uint32) bool { return s.walk(u, x, y, depth+1, inBase) })
}

// pairTable is an open-addressing hash table that is cheap to clear.
type pairTable struct {
	keys arena.Vec[uint64] // 0 empty
	vals arena.Vec[uint32]
	used arena.Vec[uint32] // slots in use
}

func (t *pairTable) clear() {
	if t.keys.S == nil {
		t.keys.Resize(1 << 10)
		t.vals.Resize(1 << 10)
	}
	if len(t.used.S)*4 > len(t.keys.S) {
		clear(t.keys.S)
	} else {
		for _, i := range t.used.S {
			t.keys.S[i] = 0
		}
	}
	t.used.Reset()
}

func (t *pairTable) free() {
	t.keys.Free()
	t.vals.Free()
	t.used.Free()
}

func (t *pairTable) slot(k uint64) uint32 {
	mask := uint32(len(t.keys.S) - 1)
	i := uint32(arena.Mix(0, k)>>32) & mask
	for t.keys.S[i] != 0 && t.keys.S[i] != k {
		i = (i + 1) & mask
	}
	return i
}

// Keys are never 0: the known side of a pair is not void.
func (t *pairTable) get(k uint64) (uint32, bool) {
	i := t.slot(k)
	return t.vals.S[i], t.keys.S[i] != 0
}

func (t *pairTable) has(k uint64) bool { return t.keys.S[t.slot(k)] != 0 }

func (t *pairTable) put(k uint64, v uint32) {
	if len(t.used.S)*2 >= len(t.keys.S) {
		old := append([]uint64(nil), t.keys.S...)
		oldVals := append([]uint32(nil), t.vals.S...)
		n := len(old) * 2
		t.keys.Free()
		t.vals.Free()
		t.keys.Resize(n)
		t.vals.Resize(n)
		t.used.Reset()
		for j, x := range old {
			if x != 0 {
				i := t.slot(x)
				t.keys.S[i], t.vals.S[i] = x, oldVals[j]
				t.used.Append(i)
			}
		}
	}
	i := t.slot(k)
	t.keys.S[i], t.vals.S[i] = k, v
	t.used.Append(i)
}
