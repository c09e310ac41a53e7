package dedup

import (
	"github.com/btflite/btflite/btf"
)

// Units with conflicting names.
//
// When a struct or union name has more than one definition, Resolve picks one
// (see choose) and tries to prove it. Where that fails, the comparisons prove
// nothing for what can reach the name. Those nodes (the tainted ones) are placed
// as libbpf does it: in raw order, each is tried against the known types of its
// shape, newest first, by walking both graphs side by side. All other nodes of
// the unit keep what Resolve found.
//
// The known side is the Set, in which one type stands for many, so the walk
// remembers all pairs of nodes that it has met, not one partner for each known
// type; otherwise a unit with two equal nodes could not match one type.

// addSeeds puts the definitions that differ from the known one among the new
// nodes: they may have names that are new. All other nodes that taint will
// take back were found equal to a known type and have none.
func (s *walker) addSeeds(u *Unit) {
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
func (s *walker) taint(u *Unit) {
	w := &u.slow
	w.tainted.Reset()
	w.tainted.Resize((len(u.Nodes.S) + 63) / 64)
	u.markConflicts()
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
			u.ID.S[i] = idNew
			if btf.InfoKind(n.Info) == btf.KindFwd {
				// Its own forward, not the definition it may lead to.
				if e := s.find.index.entity(n.Name); e != nil && e.fwds[fwdAggregate(n.Info)] != 0 {
					u.ID.S[i] = e.fwds[fwdAggregate(n.Info)]
				}
			}
		}
		if id := u.ID.S[i]; id >= MaxIDs {
			u.ID.S[i] = idNew
			u.news.Append(i)
		}
	}
}

// markConflicts taints the nodes that have a conflicting name themselves.
func (u *Unit) markConflicts() {
	w := &u.slow
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
	for _, i := range u.ambiguous.S {
		w.taint(i)
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
				w.taint(uint32(i))
			}
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
func (s *walker) spreadTaint(u *Unit) {
	w := &u.slow
	n := len(u.Nodes.S)
	// Edges into each node, by counting: start[i] to start[i+1] in from.
	w.start.Reset()
	w.start.Resize(n + 2)
	start := w.start.S
	edges := 0
	local := func(r Ref) bool { return r != 0 && r&Extern == 0 }
	for i := range u.Nodes.S {
		first, second, elements := u.refs(&u.Nodes.S[i])
		if local(first) {
			start[first+1]++
			edges++
		}
		if local(second) {
			start[second+1]++
			edges++
		}
		for j := range elements {
			if r := elements[j].Type; local(r) {
				start[r+1]++
				edges++
			}
		}
	}
	for i := 2; i < len(start); i++ {
		start[i] += start[i-1]
	}
	w.from.Reset()
	w.from.Resize(edges)
	from := w.from.S
	for i := range u.Nodes.S {
		first, second, elements := u.refs(&u.Nodes.S[i])
		if local(first) {
			from[start[first]] = uint32(i)
			start[first]++
		}
		if local(second) {
			from[start[second]] = uint32(i)
			start[second]++
		}
		for j := range elements {
			if r := elements[j].Type; local(r) {
				from[start[r]] = uint32(i)
				start[r]++
			}
		}
	}
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
			if !w.isTainted(i) {
				w.taint(i)
				todo.Append(i)
			}
		}
	}
	w.todo = todo
}

// slowPlace is placeTypes for a unit with conflicting names; taint has run.
func (s *walker) slowPlace(u *Unit) error {
	w := &u.slow
	s.place.local.reset(len(u.news.S))
	w.fwdTo, w.copies = nil, w.copies[:0]
	w.unequal.clear()
	w.most = freeSteps + stepsPerNode*uint64(len(u.Nodes.S))
	for _, i := range u.news.S {
		switch btf.InfoKind(u.Nodes.S[i].Info) {
		case btf.KindInt, btf.KindFloat, btf.KindFwd, btf.KindEnum, btf.KindEnum64:
			s.place.placePrimitive(u, i)
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
		h := s.shapeHash(u, idLocal|i)
		found := s.tryLocal(u, i, h)
		if !found && u.err == nil {
			found = s.tryKnown(u, i, h)
		}
		if u.err != nil {
			return u.err
		}
		if !found {
			u.ID.S[i] = idLocal | i
			s.place.local.add(h, i)
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
func (s *walker) remember(u *Unit) {
	for _, i := range u.ambiguous.S {
		n := &u.Nodes.S[i]
		id := u.ID.S[i]
		if k := btf.InfoKind(n.Info); id >= MaxIDs || k != btf.KindStruct && k != btf.KindUnion {
			continue
		}
		if l := &s.find.index.entity(n.Name).likely[aggregate(n.Info)]; *l != id {
			s.find.index.types.keys.S[*l].hash &^= likely
			s.find.index.types.keys.S[id].hash |= likely
			*l = id
			s.find.index.conflicts++
		}
	}
}

// tryLocal tries the types that this unit has added, newest first.
func (s *walker) tryLocal(u *Unit, i, h uint32) bool {
	n := &u.Nodes.S[i]
	for j := s.place.local.first(h); j != 0; j = s.place.local.next.S[j-1] {
		o := s.place.local.node.S[j-1]
		on := &u.Nodes.S[o]
		if s.place.local.key.S[j-1] != h || on.Info != n.Info || on.Name != n.Name {
			continue
		}
		if s.try(u, i, idLocal|o) {
			return true
		}
	}
	return false
}

// tryKnown tries the types of the Set, newest first; h is the shapeHash of
// node i.
func (s *walker) tryKnown(u *Unit, i, h uint32) bool {
	n := &u.Nodes.S[i]
	var id uint32
	switch {
	case btf.InfoKind(n.Info) == btf.KindTypedef:
		e := s.find.index.entity(n.Name)
		if e == nil {
			return false
		}
		for id := s.find.index.typedef(e.typedefs); id != 0; id = s.find.index.typedef(s.find.index.types.keys.S[id].next) {
			if s.tryShape(u, i, id, h) {
				return true
			}
		}
		return false
	case n.Name != 0:
		e := s.find.index.entity(n.Name)
		if e == nil {
			return false
		}
		id = e.defs[aggregate(n.Info)]
	default:
		h := s.find.anonHash(u, i, u.members(n))
		for id := s.find.index.table.S[h&uint32(len(s.find.index.table.S)-1)]; id != 0; id = s.find.index.types.keys.S[id].next {
			if s.find.index.types.keys.S[id].hash&^unique == h && s.try(u, i, id) {
				return true
			}
		}
		return false
	}
	for ; id != 0; id = s.find.index.types.keys.S[id].next {
		if s.tryShape(u, i, id, h) {
			return true
		}
	}
	return false
}

// tryShape is try for a type that can be told apart by its shape; h is the
// shapeHash of node i.
func (s *walker) tryShape(u *Unit, i, id, h uint32) bool {
	if s.knownShape(u, id) != h {
		u.tried++
		return false
	}
	return s.try(u, i, id)
}

// try walks from node i and the known type y and, if they are equal, settles
// all that the walk has met.
func (s *walker) try(u *Unit, i, y uint32) bool {
	w := &u.slow
	u.tried++
	w.first.clear()
	w.more.clear()
	w.order.Reset()
	w.raised, w.once = false, false
	if y > s.find.index.baseIDs && y < idLocal && s.find.index.base != nil {
		w.rootEnd = s.find.index.base.unitEnd(y)
	}
	if !s.walk(u, idLocal|i, y, 0, y <= s.find.index.baseIDs) || u.err != nil {
		return false
	}
	for _, p := range w.order.S {
		x, y := s.finalNode(u, idLocal|p.def), s.finalNode(u, p.fwd)
		xf, yf := s.isFwd(u, x), s.isFwd(u, y)
		switch {
		case yf && !xf:
			s.settle(u, y, x)
		case w.raised:
		case xf && !yf:
			s.settle(u, x, y)
		case !yf && u.ID.S[p.def] == idNew:
			if k := btf.InfoKind(u.Nodes.S[p.def].Info); (k == btf.KindStruct || k == btf.KindUnion) && s.isPlaced(u, y) {
				u.ID.S[p.def] = y
			}
		}
	}
	if w.raised {
		w.copies = append(w.copies, fwdPair{fwd: y, def: i})
		return false // the base's type would have changed: see base.go
	}
	if u.ID.S[i] == idNew {
		u.ID.S[i] = s.finalNode(u, y)
	}
	return true
}

// settle makes forward f lead to d, for this unit; a forward of the base and
// its proxy go together.
func (s *walker) settle(u *Unit, f, d uint32) {
	w := &u.slow
	w.setFwd(f, d)
	if s.find.index.base == nil {
		return
	}
	var key forwardKey
	if f < idLocal {
		r := s.find.index.types.record(f)
		key = forwardKey{r.Name(), fwdAggregate(r.Info())}
	} else {
		n := &u.Nodes.S[f&^idLocal]
		key = forwardKey{n.Name, fwdAggregate(n.Info)}
	}
	base := s.find.index.base.forward[key]
	if base == 0 {
		return
	}
	w.setFwd(base, d)
	if e := s.find.index.entity(key.name); e.fwds[key.kind] != 0 {
		w.setFwd(e.fwds[key.kind], d)
	}
}
