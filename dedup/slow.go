package dedup

import (
	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
)

// Units with conflicting names.
//
// When a struct or union name has more than one definition, Resolve picks one
// (see choose) and tries to prove it. Where that fails, the comparisons of
// resolve.go prove nothing for what can reach the name. Those nodes (the tainted ones) are placed as the
// reference deduplication does it: in raw order, each is tried against the
// known types of its shape, newest first, by walking both graphs side by side.
// All other nodes of the unit keep what resolve found.
//
// The known side is the Set, in which one type stands for many, so the walk
// remembers all pairs of nodes that it has met, not one partner for each known
// type; otherwise a unit with two equal nodes could not match one type.

// slowState is the memory of slowPlace; it is empty for almost all units.
type slowState struct {
	seeds   arena.Vec[uint32]  // definitions that differ from the known one
	tainted arena.Vec[uint64]  // bit per node
	first   pairTable          // known node -> first node of the unit met with it
	more    pairTable          // all further pairs
	order   arena.Vec[fwdPair] // entries of first in the order made: {known, node}
	fwdTo   map[uint32]uint32  // forwards settled by this unit
	start   arena.Vec[uint32]  // spreadTaint: edges into each node
	from    arena.Vec[uint32]
	todo    arena.Vec[uint32]
	steps   uint64
}

func (w *slowState) reset(keep int) {
	w.seeds.Trim(keep)
	w.tainted.Trim(keep)
	w.order.Trim(keep)
	w.start.Trim(keep)
	w.from.Trim(keep)
	w.todo.Trim(keep)
	w.fwdTo = nil
}

func (w *slowState) free() {
	w.seeds.Free()
	w.tainted.Free()
	w.order.Free()
	w.start.Free()
	w.from.Free()
	w.todo.Free()
	w.first.free()
	w.more.free()
}

func (w *slowState) isTainted(i uint32) bool { return w.tainted.S[i>>6]>>(i&63)&1 != 0 }

// maxWalk bounds the recursion of the walk.
const maxWalk = 1 << 15

// addSeeds puts the definitions that differ from the known one among the new
// nodes: they may have names that are new. All other nodes that taint will
// take back were found equal to a known type and have none.
func (s *Set) addSeeds(u *Unit) {
	for _, i := range u.slow.seeds.S {
		u.ID.S[i] = idNew
	}
	u.news.Reset()
	for _, i := range u.Order.S {
		if u.ID.S[i] == idNew {
			u.news.Append(i)
		}
	}
}

// taint marks the nodes of u that can reach a conflicting name, forgets what
// was found for them, and lists all nodes that have no id of the Set.
func (s *Set) taint(u *Unit) {
	w := &u.slow
	w.tainted.Reset()
	w.tainted.Resize((len(u.Nodes.S) + 63) / 64)
	bits := w.tainted.S
	mark := func(i uint32) { bits[i>>6] |= 1 << (i & 63) }

	// Nodes whose name has several known definitions are marked at once; those
	// with the name of a seed, or of a new definition that the unit has twice,
	// when all such names are known.
	type key struct {
		name Name
		kind int
	}
	bad := map[key]bool{}
	for _, i := range w.seeds.S {
		n := &u.Nodes.S[i]
		bad[key{n.Name, aggregate(n.Info)}] = true
	}
	for _, i := range u.several.S {
		mark(i)
	}
	fresh := map[key]bool{}
	for _, i := range u.news.S {
		n := &u.Nodes.S[i]
		if k := anchorKind(n); k >= 0 && btf.InfoKind(n.Info) != btf.KindFwd {
			if fresh[key{n.Name, k}] {
				bad[key{n.Name, k}] = true
			}
			fresh[key{n.Name, k}] = true
		}
	}
	if len(bad) > 0 {
		for i := range u.Nodes.S {
			n := &u.Nodes.S[i]
			if k := anchorKind(n); k >= 0 && bad[key{n.Name, k}] {
				mark(uint32(i))
			}
		}
	}
	s.spreadTaint(u)

	keep := u.pairs.S[:0]
	for _, p := range u.pairs.S {
		if !w.isTainted(p.owner) {
			keep = append(keep, p)
		}
	}
	u.pairs.S = keep
	u.news.Reset()
	for _, i := range u.Order.S {
		n := &u.Nodes.S[i]
		if w.isTainted(i) {
			switch btf.InfoKind(n.Info) {
			case btf.KindFwd:
				// Its own forward, not the definition it may lead to.
				u.ID.S[i] = idNew
				if e := s.entity(n.Name); e != nil && e.fwds[fwdAggregate(n.Info)] != 0 {
					u.ID.S[i] = e.fwds[fwdAggregate(n.Info)]
				}
			default:
				u.ID.S[i] = idNew
			}
		}
		if id := u.ID.S[i]; id >= MaxIDs {
			u.ID.S[i] = idNew
			u.news.Append(i)
		}
	}
}

// anchorKind is which of an entity's definitions a named struct, union or
// forward declaration is about; -1 for all other nodes.
func anchorKind(n *Node) int {
	switch btf.InfoKind(n.Info) {
	case btf.KindStruct, btf.KindUnion:
		if n.Name != 0 {
			return aggregate(n.Info)
		}
	case btf.KindFwd:
		return fwdAggregate(n.Info)
	}
	return -1
}

// spreadTaint marks all nodes that reach a marked one: a walk over the edges
// turned round, each node once.
func (s *Set) spreadTaint(u *Unit) {
	w := &u.slow
	bits := w.tainted.S
	n := len(u.Nodes.S)
	// Edges into each node, by counting: start[i] to start[i+1] in from.
	w.start.Reset()
	w.start.Resize(n + 2)
	start := w.start.S
	edges := 0
	each := func(fn func(from, to uint32)) {
		for i := range u.Nodes.S {
			x := &u.Nodes.S[i]
			to := func(r Ref) {
				if r != 0 && r&Extern == 0 {
					fn(uint32(i), r-1)
				}
			}
			switch btf.InfoKind(x.Info) {
			case btf.KindInt, btf.KindFloat, btf.KindFwd, btf.KindEnum, btf.KindEnum64, btf.KindDatasec:
			case btf.KindStruct, btf.KindUnion:
				for _, m := range u.members(x) {
					to(m.Type)
				}
			case btf.KindFuncProto:
				to(x.Third)
				for _, m := range u.members(x) {
					to(m.Type)
				}
			case btf.KindArray:
				to(x.Third)
				to(x.First)
			default:
				to(x.Third)
			}
		}
	}
	each(func(_, to uint32) {
		start[to+2]++
		edges++
	})
	for i := 2; i < len(start); i++ {
		start[i] += start[i-1]
	}
	w.from.Reset()
	w.from.Resize(edges)
	each(func(from, to uint32) {
		w.from.S[start[to+1]] = from
		start[to+1]++
	})
	todo := w.todo
	todo.Reset()
	for i := range uint32(n) {
		if w.isTainted(i) {
			todo.Append(i)
		}
	}
	for len(todo.S) > 0 {
		k := todo.S[len(todo.S)-1]
		todo.S = todo.S[:len(todo.S)-1]
		for _, i := range w.from.S[start[k]:start[k+1]] {
			if bits[i>>6]>>(i&63)&1 == 0 {
				bits[i>>6] |= 1 << (i & 63)
				todo.Append(i)
			}
		}
	}
	w.todo = todo
}

// slowPlace is placeTypes for a unit with conflicting names; taint has run.
func (s *Set) slowPlace(u *Unit) error {
	w := &u.slow
	s.local.reset(len(u.news.S))
	w.fwdTo = nil
	for _, i := range u.news.S {
		switch btf.InfoKind(u.Nodes.S[i].Info) {
		case btf.KindInt, btf.KindFloat, btf.KindFwd, btf.KindEnum, btf.KindEnum64:
			s.placePrimitive(u, i)
		case btf.KindVar, btf.KindDatasec:
			u.ID.S[i] = idLocal | i
		}
	}
	for _, i := range u.news.S {
		n := &u.Nodes.S[i]
		k := btf.InfoKind(n.Info)
		if k != btf.KindStruct && k != btf.KindUnion && k != btf.KindTypedef {
			continue
		}
		if u.ID.S[i] != idNew {
			continue // a walk from another type has placed it
		}
		h := anonHash(n, u.membersOf(n))
		if n.Name != 0 {
			h = mix32(n.Name) | 1
		}
		found := s.tryLocal(u, i, h)
		if !found && u.err == nil {
			found = s.tryKnown(u, i)
		}
		if u.err != nil {
			return u.err
		}
		if !found {
			u.ID.S[i] = idLocal | i
			s.local.add(h, i)
		}
	}
	for f, d := range w.fwdTo {
		u.pairs.Append(fwdPair{fwd: f, def: d})
	}
	s.Walks += w.steps
	w.steps = 0
	return nil
}

// remember keeps what the walks of this unit decided on where a name has
// several definitions, for choose: the next unit most likely has the same.
func (s *Set) remember(u *Unit) {
	for _, i := range u.several.S {
		n := &u.Nodes.S[i]
		id := u.ID.S[i]
		if k := btf.InfoKind(n.Info); id >= MaxIDs || k != btf.KindStruct && k != btf.KindUnion {
			continue
		}
		if l := &s.entity(n.Name).likely[aggregate(n.Info)]; *l != id {
			*l = id
			s.conflicts++
		}
	}
}

// tryLocal tries the types that this unit has added, newest first.
func (s *Set) tryLocal(u *Unit, i, h uint32) bool {
	n := &u.Nodes.S[i]
	for j := s.local.first(h); j != 0; j = s.local.next.S[j-1] {
		o := s.local.node.S[j-1]
		on := &u.Nodes.S[o]
		if on.Info != n.Info || on.Name != n.Name {
			continue
		}
		if s.try(u, i, idLocal|o) {
			return true
		}
	}
	return false
}

// tryKnown tries the types of the Set, newest first.
func (s *Set) tryKnown(u *Unit, i uint32) bool {
	n := &u.Nodes.S[i]
	var id uint32
	switch {
	case btf.InfoKind(n.Info) == btf.KindTypedef:
		e := s.entity(n.Name)
		if e == nil {
			return false
		}
		id = e.typedefs
	case n.Name != 0:
		e := s.entity(n.Name)
		if e == nil {
			return false
		}
		id = e.defs[aggregate(n.Info)]
	default:
		h := anonHash(n, u.members(n))
		for id := s.table.S[h&uint32(len(s.table.S)-1)]; id != 0; id = s.next.S[id] {
			if s.hash.S[id] == h && s.try(u, i, id) {
				return true
			}
		}
		return false
	}
	for ; id != 0; id = s.next.S[id] {
		if s.try(u, i, id) {
			return true
		}
	}
	return false
}

// try walks from node i and the known type y and, if they are equal, settles
// all that the walk has met.
func (s *Set) try(u *Unit, i, y uint32) bool {
	w := &u.slow
	w.first.clear()
	w.more.clear()
	w.order.Reset()
	if !s.walk(u, i+1, y, 0) || u.err != nil {
		return false
	}
	for _, p := range w.order.S {
		x, y := s.finalNode(u, idLocal|p.def), s.finalNode(u, p.fwd)
		xf, yf := s.isFwd(u, x), s.isFwd(u, y)
		switch {
		case yf && !xf:
			w.setFwd(y, x)
		case xf && !yf:
			w.setFwd(x, y)
		case !yf && u.ID.S[p.def] == idNew:
			if k := btf.InfoKind(u.Nodes.S[p.def].Info); (k == btf.KindStruct || k == btf.KindUnion) && s.isPlaced(u, y) {
				u.ID.S[p.def] = y
			}
		}
	}
	if u.ID.S[i] == idNew {
		u.ID.S[i] = s.finalNode(u, y)
	}
	return true
}

func (w *slowState) setFwd(f, d uint32) {
	if w.fwdTo == nil {
		w.fwdTo = make(map[uint32]uint32)
	}
	if _, done := w.fwdTo[f]; !done {
		w.fwdTo[f] = d
	}
}

// Nodes of the walk are ids of the Set, or idLocal with a node index.

// finalNode follows a node to what it has been placed as.
func (s *Set) finalNode(u *Unit, x uint32) uint32 {
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

func (s *Set) isPlaced(u *Unit, x uint32) bool {
	return x < idLocal || u.ID.S[x&^idLocal] != idNew
}

func (s *Set) isFwd(u *Unit, x uint32) bool {
	if x < idLocal {
		return x != 0 && btf.InfoKind(s.record(x)[0]) == btf.KindFwd
	}
	return btf.InfoKind(u.Nodes.S[x&^idLocal].Info) == btf.KindFwd
}

// known is a node of the known side in one form, be it of the Set or new in
// this unit.
type known struct {
	info, name, third, first, aux uint32
	words                         []uint32 // of the Set
	members                       []Member // of the unit
}

func (s *Set) known(u *Unit, y uint32) known {
	if y < idLocal {
		w := s.record(y)
		k := known{info: w[0], name: w[1], third: w[2], words: w[3:]}
		switch btf.InfoKind(w[0]) {
		case btf.KindInt, btf.KindVar, btf.KindDeclTag:
			k.aux = w[3]
		case btf.KindArray:
			k.third, k.first, k.aux = w[3], w[4], w[5]
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
	if k.words != nil {
		w := k.words[stride*j : stride*j+stride]
		if stride == 3 {
			return w[0], w[1], w[2]
		}
		return w[0], w[1], 0
	}
	m := &k.members[j]
	return m.Name, local(m.Type), m.Val
}

// walk says whether what x refers to in the unit and the known node y are
// equal as graphs.
func (s *Set) walk(u *Unit, x Ref, y uint32, depth int) bool {
	w := &u.slow
	w.steps++
	if x == 0 || y == 0 {
		return x == 0 && y == 0
	}
	if x&Extern != 0 {
		return s.Final(x&^Extern) == s.finalNode(u, y)
	}
	i := x - 1
	fy := s.finalNode(u, y)
	if s.finalNode(u, idLocal|i) == fy {
		return true
	}
	if s.isFwd(u, y) && !s.isFwd(u, fy) {
		y = fy
	} else if y >= idLocal && fy < idLocal {
		y = fy
	}
	if depth > maxWalk {
		u.err = errChain
		return false
	}
	// Meet a pair only once. Plain references need no memory: every cycle
	// goes through a struct, union, typedef or prototype, and nothing that is
	// settled afterwards is a plain reference.
	if k := btf.InfoKind(u.Nodes.S[i].Info); k == btf.KindPtr || k == btf.KindConst || k == btf.KindVolatile ||
		k == btf.KindInt || k == btf.KindArray {
	} else if o, ok := w.first.get(uint64(y)); ok {
		if o == i {
			return true
		}
		if w.more.has(uint64(y)<<32 | uint64(i)) {
			return true
		}
		if s.isFwd(u, y) && btf.InfoKind(u.Nodes.S[i].Info) != btf.KindFwd &&
			btf.InfoKind(u.Nodes.S[o].Info) != btf.KindFwd {
			return false // a forward declaration stands for one definition
		}
		w.more.put(uint64(y)<<32|uint64(i), 1)
	} else {
		w.first.put(uint64(y), i)
		w.order.Append(fwdPair{fwd: y, def: i})
	}

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
		return (xk == btf.KindStruct || xk == btf.KindUnion) && fwdAggregate(k.info) == aggregate(n.Info)
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
		return n.Aux == k.aux && s.walk(u, n.First, k.first, depth+1) && s.walk(u, n.Third, k.third, depth+1)
	case btf.KindStruct, btf.KindUnion:
		if n.Third != k.third {
			return false
		}
		m := u.members(n)
		for j := range m {
			name, _, val := k.member(j, 3)
			if m[j].Name != name || m[j].Val != val {
				return false
			}
		}
		for j := range m {
			if _, typ, _ := k.member(j, 3); !s.walk(u, m[j].Type, typ, depth+1) {
				return false
			}
		}
		return true
	case btf.KindFuncProto:
		m := u.members(n)
		for j := range m {
			if name, _, _ := k.member(j, 2); m[j].Name != name {
				return false
			}
		}
		if !s.walk(u, n.Third, k.third, depth+1) {
			return false
		}
		for j := range m {
			if _, typ, _ := k.member(j, 2); !s.walk(u, m[j].Type, typ, depth+1) {
				return false
			}
		}
		return true
	case btf.KindPtr, btf.KindConst, btf.KindVolatile, btf.KindRestrict, btf.KindTypedef, btf.KindTypeTag, btf.KindFunc:
		return s.walk(u, n.Third, k.third, depth+1)
	}
	return false
}

// equalEnums compares two enumerations with values.
func (s *Set) equalEnums(u *Unit, i, y uint32) bool {
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
	h := k * 0x9e3779b97f4a7c15
	i := uint32(h>>32) & mask
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
