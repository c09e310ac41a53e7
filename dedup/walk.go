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

// known is a node of the known side in one form, be it of the Set or new in
// this unit.
type known struct {
	info, name, third, first, aux uint32
	record                        btf.Record // of the Set, or nil
	members                       []Member   // of the unit
}

func (s *walker) known(u *Unit, y uint32) known {
	if y < idLocal {
		w := s.record(y)
		k := known{info: w.Info(), name: w.Name(), third: w.Third(), record: w}
		switch w.Kind() {
		case btf.KindInt, btf.KindVar, btf.KindDeclTag:
			k.aux = w.Data()
		case btf.KindArray:
			k.third, k.first, k.aux = w.Array()
		}
		return k
	}
	n := &u.Nodes.S[y&^idLocal]
	k := known{info: n.Info, name: n.Name, third: n.Third, first: n.First, aux: n.Aux, members: u.membersOf(n)}
	switch btf.InfoKind(n.Info) {
	case btf.KindInt, btf.KindFloat, btf.KindStruct, btf.KindUnion, btf.KindEnum, btf.KindEnum64, btf.KindFwd:
	default:
		k.third = local(n.Third)
		k.first = local(n.First)
	}
	return k
}

// local turns a Ref of the unit into a node of the walk.
func local(r Ref) uint32 {
	switch {
	case r == 0:
		return 0
	case r&Extern != 0:
		return r &^ Extern
	}
	return idLocal | (r - 1)
}

// member is the name, type and offset of struct member or parameter j.
func (k *known) member(j int, stride int) (name, typ, val uint32) {
	if k.record != nil && stride == 3 {
		return k.record.Member(j)
	} else if k.record != nil {
		name, typ = k.record.Param(j)
		return name, typ, 0
	}
	m := &k.members[j]
	return m.Name, local(m.Type), m.Val
}

// likeMembers says whether the members have the names and offsets of m, or the
// parameters the names.
func (k *known) likeMembers(m []Member, stride int) bool {
	for j := range m {
		if name, _, val := k.member(j, stride); m[j].Name != name || stride == 3 && m[j].Val != val {
			return false
		}
	}
	return true
}

// walk says whether what x refers to in the unit and the known node y are
// equal as graphs. inBase says that y is part of the base's own graph.
func (s *walker) walk(u *Unit, x Ref, y uint32, depth int, inBase bool) bool {
	w := &u.slow
	w.steps++
	if x == 0 || y == 0 {
		return x == 0 && y == 0
	}
	if x&Extern != 0 {
		return s.Final(x&^Extern) == s.finalNode(u, y)
	}
	i := x - 1
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
	if s.sameNodes(u, i, y, depth, inBase) {
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

// sameNodes compares node i with the known node y, and walks on from them.
func (s *walker) sameNodes(u *Unit, i, y uint32, depth int, inBase bool) bool {
	w := &u.slow
	n := &u.Nodes.S[i]
	k := s.known(u, y)
	if n.Name != k.name {
		return false
	}
	xk, yk := btf.InfoKind(n.Info), btf.InfoKind(k.info)
	if (xk == btf.KindFwd) != (yk == btf.KindFwd) {
		if xk == btf.KindFwd {
			return (yk == btf.KindStruct || yk == btf.KindUnion) && fwdAggregate(n.Info) == aggregate(k.info)
		}
		ok := (xk == btf.KindStruct || xk == btf.KindUnion) && fwdAggregate(k.info) == aggregate(n.Info)
		w.raised = w.raised || ok && inBase && y <= s.baseIDs
		return ok
	}
	if xk == btf.KindEnum || xk == btf.KindEnum64 {
		if yk != btf.KindEnum && yk != btf.KindEnum64 {
			return false
		}
		if btf.InfoVlen(n.Info) == 0 || btf.InfoVlen(k.info) == 0 {
			return true
		}
		return s.equalEnums(u, i, y)
	}
	if n.Info != k.info {
		return false
	}
	switch xk {
	case btf.KindInt:
		return n.Third == k.third && n.Aux == k.aux
	case btf.KindFloat:
		return n.Third == k.third
	case btf.KindFwd:
		return true
	case btf.KindArray:
		return n.Aux == k.aux && s.walk(u, n.First, k.first, depth+1, inBase) && s.walk(u, n.Third, k.third, depth+1, inBase)
	case btf.KindStruct, btf.KindUnion:
		m := u.members(n)
		return n.Third == k.third && k.likeMembers(m, 3) && s.walkMembers(u, m, &k, 3, depth+1, inBase)
	case btf.KindFuncProto:
		m := u.members(n)
		return k.likeMembers(m, 2) && s.walk(u, n.Third, k.third, depth+1, inBase) && s.walkMembers(u, m, &k, 2, depth+1, inBase)
	case btf.KindPtr, btf.KindConst, btf.KindVolatile, btf.KindRestrict, btf.KindTypedef, btf.KindTypeTag, btf.KindFunc:
		return s.walk(u, n.Third, k.third, depth+1, inBase)
	}
	return false
}

// walkMembers walks on from the types of members or parameters.
func (s *walker) walkMembers(u *Unit, m []Member, k *known, stride, depth int, inBase bool) bool {
	for j := range m {
		if _, typ, _ := k.member(j, stride); !s.walk(u, m[j].Type, typ, depth, inBase) {
			return false
		}
	}
	return true
}

// equalEnums compares two enumerations with values.
func (s *walker) equalEnums(u *Unit, i, y uint32) bool {
	n := &u.Nodes.S[i]
	if y < idLocal {
		return sameEnum(s.record(y), n, u.members(n))
	}
	return sameNode(u, n, &u.Nodes.S[y&^idLocal])
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
