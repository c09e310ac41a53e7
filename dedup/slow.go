package dedup

import (
	"github.com/btflite/btflite/btf"
)

// Units with conflicting names.
//
// If a struct or union name has several definitions, Resolve picks one (see
// choose) and tries to prove it. If the proof fails, the unit's comparisons prove
// nothing for nodes that can reach the name: these are tainted. They are placed
// as libbpf would: in raw order, each is compared with the known types of its
// shape, newest first, by walking both graphs side by side. All other nodes of
// the unit keep the ids that Resolve found.
//
// One type of the Set stands for many equal nodes. So the walk remembers all
// pairs that it has met, not one partner for each known type: otherwise two equal
// nodes of a unit could not match the same type.

// addSeeds makes the definitions that differ from the known one new nodes again,
// so that internNew adds their names. Other nodes that taint resets later are
// equal to a known type, so their names are known.
func (wk *walker) addSeeds(u *Unit) {
	for _, i := range u.slow.seeds.S {
		u.ID.S[i] = idNew
	}
	u.collectNewNodes()
}

// collectNewNodes makes u.newNodes anew, after more nodes have become new.
func (u *Unit) collectNewNodes() {
	u.newNodes.Reset()
	u.names.hashed = false // there are more names
	for _, i := range u.Order.S {
		if u.ID.S[i] == idNew {
			u.newNodes.Append(i)
		}
	}
}

// taint marks the nodes of u that can reach a conflicting name, and resets their
// ids and pairs. u.newNodes then lists all nodes without an id of the Set.
func (wk *walker) taint(u *Unit) {
	w := &u.slow
	w.tainted.Reset()
	w.tainted.Resize((len(u.Nodes.S) + 63) / 64)
	u.markConflicts()
	wk.spreadTaint(u)

	keep := u.pairs.S[:0]
	for _, p := range u.pairs.S {
		if !w.isTainted(p.owner) {
			keep = append(keep, p)
		}
	}
	u.pairs.S = keep
	u.newNodes.Reset()
	for _, i := range u.Order.S {
		n := &u.Nodes.S[i]
		if w.isTainted(i) {
			u.ID.S[i] = idNew
			if btf.InfoKind(n.Info) == btf.KindFwd {
				// The id of the FWD itself, not of a definition that it leads to.
				if e := wk.find.index.entity(n.Name); e != nil && e.fwds[fwdAggregate(n.Info)] != 0 {
					u.ID.S[i] = e.fwds[fwdAggregate(n.Info)]
				}
			}
		}
		if id := u.ID.S[i]; id >= MaxIDs {
			u.ID.S[i] = idNew
			u.newNodes.Append(i)
		}
	}
}

// markConflicts taints the nodes that have a conflicting name themselves.
func (u *Unit) markConflicts() {
	w := &u.slow
	// A node is marked if its name has several known definitions, is the name of
	// a seed, or is a new name that the unit defines twice.
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
	for _, i := range u.newNodes.S {
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

// anchorKind returns the index in entity.defs of a named struct or union, or of
// the definitions of a FWD; -1 for all other nodes.
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

// spreadTaint marks all nodes that can reach a marked one. It follows the
// reversed edges and visits each node once.
func (wk *walker) spreadTaint(u *Unit) {
	w := &u.slow
	n := len(u.Nodes.S)
	// A counting sort: the sources of the edges into node i are
	// from[start[i]:start[i+1]].
	w.start.Reset()
	w.start.Resize(n + 2)
	start := w.start.S
	each := func(edge func(from uint32, to Ref)) {
		for i := range u.Nodes.S {
			first, second, elements := u.refs(&u.Nodes.S[i])
			edge(uint32(i), first)
			edge(uint32(i), second)
			for j := range elements {
				edge(uint32(i), elements[j].Type)
			}
		}
	}
	each(func(_ uint32, to Ref) {
		if to != 0 && to&Extern == 0 {
			start[to+1]++
		}
	})
	for i := 2; i < len(start); i++ {
		start[i] += start[i-1]
	}
	w.from.Reset()
	w.from.Resize(int(start[n+1]))
	each(func(from uint32, to Ref) {
		if to != 0 && to&Extern == 0 {
			w.from.S[start[to]] = from
			start[to]++
		}
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
			if !w.isTainted(i) {
				w.taint(i)
				todo.Append(i)
			}
		}
	}
	w.todo = todo
}

// slowPlace is placeTypes for a unit with conflicting names; taint has run.
func (wk *walker) slowPlace(u *Unit) error {
	w := &u.slow
	wk.place.local.reset(len(u.newNodes.S))
	w.fwdTo, w.copies = nil, w.copies[:0]
	w.unequal.clear()
	w.maxSteps = freeSteps + stepsPerNode*uint64(len(u.Nodes.S))
	for _, i := range u.newNodes.S {
		switch btf.InfoKind(u.Nodes.S[i].Info) {
		case btf.KindInt, btf.KindFloat, btf.KindFwd, btf.KindEnum, btf.KindEnum64:
			wk.place.placePrimitive(u, i)
		case btf.KindVar, btf.KindDatasec:
			u.ID.S[i] = idLocal | i
		}
	}
	for _, i := range u.newNodes.S {
		n := &u.Nodes.S[i]
		k := btf.InfoKind(n.Info)
		if k != btf.KindStruct && k != btf.KindUnion && k != btf.KindTypedef {
			continue
		}
		if u.ID.S[i] != idNew {
			continue // a walk from another type has placed it
		}
		h := wk.shapeHash(u, idLocal|i)
		found := wk.tryLocal(u, i, h)
		if !found && u.err == nil {
			found = wk.tryKnown(u, i, h)
		}
		if u.err != nil {
			return u.err
		}
		if !found {
			u.ID.S[i] = idLocal | i
			wk.place.enter(u, h, i)
		}
	}
	for f, d := range w.fwdTo {
		u.pairs.Append(fwdPair{fwd: f, def: d})
	}
	wk.Walks += w.steps
	w.steps = 0
	return nil
}

// remember stores in entity.likely the definitions that the walks of this unit
// decided on. choose tries them first: the next unit mostly has the same ones.
func (wk *walker) remember(u *Unit) {
	for _, i := range u.ambiguous.S {
		n := &u.Nodes.S[i]
		id := u.ID.S[i]
		if k := btf.InfoKind(n.Info); id >= MaxIDs || k != btf.KindStruct && k != btf.KindUnion {
			continue
		}
		wk.setLikely(id)
	}
}

// setLikely makes the definition id the likely one of its name.
func (wk *walker) setLikely(id uint32) {
	ix := wk.find.index
	w := ix.types.record(id)
	if l := &ix.entity(w.Name()).likely[aggregate(w.Info())]; *l != id {
		ix.types.keys.S[*l].hash &^= likely
		ix.types.keys.S[id].hash |= likely
		*l = id
		ix.conflicts++
	}
}

// tryLocal tries node i against the unit's own new types, newest first.
func (wk *walker) tryLocal(u *Unit, i, h uint32) bool {
	n := &u.Nodes.S[i]
	for s := wk.place.local.search(i, h); s.id != 0; wk.find.next(u, &s) {
		o := wk.place.local.node.S[s.id-1]
		on := &u.Nodes.S[o]
		if wk.place.local.key.S[s.id-1] != h || on.Info != n.Info || on.Name != n.Name {
			continue
		}
		if wk.try(u, i, idLocal|o) {
			return true
		}
	}
	return false
}

// tryKnown tries node i against types of the Set, newest first. h is the shapeHash
// of node i.
func (wk *walker) tryKnown(u *Unit, i, h uint32) bool {
	f, isTypedef := wk.find, btf.InfoKind(u.Nodes.S[i].Info) == btf.KindTypedef
	s, hash := f.beginSearch(u, i)
	for ; s.id != 0; f.next(u, &s) {
		switch {
		case hash != 0:
			if f.index.types.keys.S[s.id].hash&^unique == hash && wk.try(u, i, s.id) {
				return true
			}
		case isTypedef && f.index.typedef(s.id) == 0:
			return false
		case wk.tryShape(u, i, s.id, h):
			return true
		}
	}
	return false
}

// beginSearch begins a search for the types of the Set that could be node i, which is a struct, union or
// typedef. The search goes from the newest type to the oldest. If the node has a name, it finds the types
// with that name, and hash is 0. If not, it goes along a hash chain, which may also hold types with another
// hash. The caller must skip them.
func (f finder) beginSearch(u *Unit, i uint32) (s search, hash uint32) {
	n := &u.Nodes.S[i]
	if n.Name == 0 {
		hash = f.anonHash(u, i, u.members(n))
		return f.index.anonymous(i, hash), hash
	}
	s.node = i
	e := f.index.entity(n.Name)
	switch {
	case e == nil:
	case btf.InfoKind(n.Info) == btf.KindTypedef:
		s.id, s.key = e.typedefs, famKey(famTypedef, n.Name)
	default:
		s.id, s.key = e.defs[aggregate(n.Info)], famKey(aggregate(n.Info), n.Name)
	}
	return s, 0
}

// tryShape is try, but rejects id at once if its shapeHash is not h, the one of
// node i.
func (wk *walker) tryShape(u *Unit, i, id, h uint32) bool {
	if wk.knownShape(u, id) != h {
		u.tried++
		return false
	}
	return wk.try(u, i, id)
}

// try walks from node i and operand y, a known type or another new node. If they are equivalent,
// all pairs that the walk has met are, too: try gives their nodes ids and settles their FWDs.
func (wk *walker) try(u *Unit, i, y uint32) bool {
	w := &u.slow
	u.tried++
	w.first.clear()
	w.others.clear()
	w.order.Reset()
	w.definesBaseFwd, w.transient = false, false
	if y > wk.find.index.baseIDs && y < idLocal && wk.find.index.base != nil {
		w.rootEnd = wk.find.index.base.unitEnd(y)
	}
	if !wk.walk(u, idLocal|i, y, 0, y <= wk.find.index.baseIDs) || u.err != nil {
		return false
	}
	for _, p := range w.order.S {
		x, y := wk.finalNode(u, idLocal|p.def), wk.finalNode(u, p.fwd)
		xf, yf := wk.isFwd(u, x), wk.isFwd(u, y)
		switch {
		case yf && !xf:
			wk.settle(u, y, x)
		case w.definesBaseFwd:
		case xf && !yf:
			wk.settle(u, x, y)
		case !yf && u.ID.S[p.def] == idNew:
			if k := btf.InfoKind(u.Nodes.S[p.def].Info); (k == btf.KindStruct || k == btf.KindUnion) && wk.isPlaced(u, y) {
				u.ID.S[p.def] = y
			}
		}
	}
	if w.definesBaseFwd {
		w.copies = append(w.copies, fwdPair{fwd: y, def: i})
		return false // the base's type would have changed: see base.go
	}
	if u.ID.S[i] == idNew {
		u.ID.S[i] = wk.finalNode(u, y)
	}
	return true
}

// settle makes FWD f lead to d in this unit. A FWD of the base and its proxy go
// together.
func (wk *walker) settle(u *Unit, f, d uint32) {
	w := &u.slow
	w.setFwd(f, d)
	if wk.find.index.base == nil {
		return
	}
	var key forwardKey
	if f < idLocal {
		r := wk.find.index.types.record(f)
		key = forwardKey{r.Name(), fwdAggregate(r.Info())}
	} else {
		n := &u.Nodes.S[f&^idLocal]
		key = forwardKey{n.Name, fwdAggregate(n.Info)}
	}
	base := wk.find.index.base.forward[key]
	if base == 0 {
		return
	}
	w.setFwd(base, d)
	if e := wk.find.index.entity(key.name); e.fwds[key.kind] != 0 {
		w.setFwd(e.fwds[key.kind], d)
	}
}
