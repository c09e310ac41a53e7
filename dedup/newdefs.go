package dedup

import (
	"slices"

	"github.com/btflite/btflite/btf"
)

// A unit that left out types may bring another definition of a name, so that the proof of a node fails.
// In general only walk can tell what that means for other types, and it needs the whole unit. But mostly
// the node differs from each known definition before the next name. Then it is a new type. So is each
// node that leads to it and whose known type leads to a known definition, because its proof fails, too.
//
// All other types keep their ids if walk would find the same ones. Walk tries more types than a look-up
// does: mayBeKnown and mayBeNewer check that it would find none of them. If a type that was left out
// leads to a new one, Commit notices that (unproved).

// Types become new in rounds: each round adds the nodes that lead to the new types of the round before.
// maxRounds bounds the rounds, and maxNewDefs the types.
const (
	maxRounds  = 8
	maxNewDefs = 256
)

// definitions looks for new definitions of known names in a unit.
type definitions struct {
	find finder
	walk *walker
	u    *Unit
}

// findNewDefs fills u.newDefs: first with the nodes whose proofs have failed (seeds), then with those that
// lead to one of them and whose proofs fail therefore. It reports false if only walk can decide.
func (d definitions) findNewDefs() bool {
	u, w := d.u, &d.u.slow
	if u.chunks.proved.Types == 0 || d.find.index.base != nil {
		return false
	}
	for range maxRounds {
		if len(u.newDefs.S)+len(w.seeds.S) > maxNewDefs || slices.ContainsFunc(w.seeds.S, d.mayBeKnown) {
			return false
		}
		u.newDefs.AppendSlice(w.seeds.S)
		d.lookUpTainted()
		if u.needsWalk || u.err != nil {
			return false
		}
		if len(w.seeds.S) == 0 {
			break
		}
	}
	u.collectNewNodes()
	u.chunks.proved.Moved = true // u has pairs in another order than the one of its nodes
	return len(w.seeds.S) == 0 && !d.newNodesMayBeKnown() && !d.mayBeNewer() && !u.needsWalk && u.err == nil
}

// newNodesMayBeKnown reports whether walk could find that a new node is equivalent to a type of the Set.
func (d definitions) newNodesMayBeKnown() bool {
	return slices.ContainsFunc(d.u.newNodes.S, func(i uint32) bool { return !d.u.isNewDef(i) && d.mayBeKnown(i) })
}

// mayBeKnown reports whether walk could find that node i, a struct, union or typedef, is equivalent to
// a type of the Set.
func (d definitions) mayBeKnown(i uint32) bool {
	f, u := d.find, d.u
	n := &u.Nodes.S[i]
	switch k := btf.InfoKind(n.Info); {
	case k != btf.KindStruct && k != btf.KindUnion && k != btf.KindTypedef:
		return false
	case k != btf.KindTypedef && n.Name != 0 && f.index.entity(n.Name) != nil && f.hasForward(u, n.Name, aggregate(n.Info)):
		return true // the FWD may lead to another definition
	}
	s, hash := f.beginSearch(u, i)
	for ; s.id != 0; f.next(u, &s) {
		if hash != 0 && f.index.types.keys.S[s.id].hash&^unique != hash {
			continue
		}
		if !f.mayTry(u) || f.mayBeEquivalent(u, idLocal|i, s.id, doubt) {
			return true
		}
	}
	return false
}

// mayBeNewer reports whether walk could find that a type of the unit, whether a node or left out, is
// equivalent to a newer type than the one that the look-up has found. Walk does not try the likely
// definition first, and it also compares typedefs that a look-up finds by content.
//
// Walk begins at one type after another. If two types are equivalent, so is everything that they lead to,
// and walk skips it later. So a type is decided if a decided type before it leads to it.
func (d definitions) mayBeNewer() bool {
	f, u := d.find, d.u
	w := &u.slow
	w.marks.Reset()
	w.marks.Resize(len(f.index.types.ids.S))
	for _, id := range u.chunks.proved.Forwards {
		w.marks.S[id] = isForward
	}
	for _, i := range u.fwds.S {
		if id := u.ID.S[i]; id < MaxIDs {
			w.marks.S[id] = isForward
		}
	}
	for _, r := range u.chunks.proved.Refs {
		id := u.id(r)
		if id >= MaxIDs {
			continue // walk finds none
		}
		switch f.index.types.record(id).Kind() {
		case btf.KindStruct, btf.KindUnion, btf.KindTypedef:
			if w.marks.S[id] != isDecided && f.index.types.keys.S[id].hash&unique == 0 && !f.newest(u, local(r), id) {
				return true
			}
			d.spreadDecided(id)
		}
	}
	return false
}

// States of a type in slowState.marks.
const (
	isForward = 1 + iota // u has only a FWD in its place, so walk ends there
	isDecided
)

// spreadDecided marks type id and what it leads to as decided.
func (d definitions) spreadDecided(id uint32) {
	w := &d.u.slow
	todo := w.todo
	todo.Reset()
	mark := func(id *uint32) {
		if *id != 0 && w.marks.S[*id] == 0 {
			w.marks.S[*id] = isDecided
			todo.Append(*id)
		}
	}
	mark(&id)
	for len(todo.S) > 0 {
		id := todo.S[len(todo.S)-1]
		todo.S = todo.S[:len(todo.S)-1]
		btf.EachRef(d.find.index.types.record(id), mark)
	}
	w.todo = todo
}

// forwardedSince reports whether the unit has new definitions and, since it was looked up, a Commit has made
// a FWD of its pairs lead to another definition.
func (d definitions) forwardedSince() bool {
	return len(d.u.newDefs.S) > 0 && slices.ContainsFunc(d.u.pairs.S, func(p fwdPair) bool {
		fwd, def, ok := d.find.index.forwarding(d.u, p)
		return !ok && d.find.index.types.Final(fwd) != def
	})
}

// ambiguousLeftOut returns, for a unit with new definitions, the structs and unions that it left out and
// whose name has several definitions. If the unit were read as a whole, remember would note them.
func (d definitions) ambiguousLeftOut() (ids []uint32) {
	f := d.find
	if len(d.u.newDefs.S) == 0 {
		return nil
	}
	for _, r := range d.u.chunks.proved.Refs {
		if id := r &^ Extern; r&Extern != 0 && f.index.types.keys.S[id].hash&unique == 0 {
			if w := f.index.types.record(id); w.Name() != 0 && (w.Kind() == btf.KindStruct || w.Kind() == btf.KindUnion) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// lookUpTainted looks up again the nodes that can reach a seed, and makes those whose proofs fail the
// new seeds.
func (d definitions) lookUpTainted() {
	f, u, w := d.find, d.u, &d.u.slow
	w.tainted.Reset()
	w.tainted.Resize((len(u.Nodes.S) + 63) / 64)
	for _, i := range w.seeds.S {
		w.taint(i)
	}
	d.walk.spreadTaint(u)
	for _, i := range w.seeds.S {
		u.ID.S[i] = idNew
	}
	w.seeds.Reset()
	u.pairs.S = slices.DeleteFunc(u.pairs.S, func(p fwdPair) bool { return w.isTainted(p.owner) })
	for i := range u.Nodes.S {
		if w.isTainted(uint32(i)) && !u.isNewDef(uint32(i)) {
			u.ID.S[i] = 0
		}
	}
	clear(u.matched.S)
	for _, i := range u.Order.S {
		if !w.isTainted(i) || u.isNewDef(i) {
			continue
		}
		id := u.ID.S[i]
		if id == 0 {
			id = f.find(u, i, 0, 0)
		}
		if id != idNew && !f.provesNamed(u, i, id) {
			w.seeds.Append(i)
		}
	}
}

func definitionsOf(s *Set, u *Unit) definitions { return definitions{s.find, &s.walk, u} }

// provesNamed reports whether node i, of any kind, may keep id. Only a struct or union with a name needs a
// proof, because look-ups find the other kinds by what is in them.
func (f finder) provesNamed(u *Unit, i, id uint32) bool {
	n := &u.Nodes.S[i]
	k := btf.InfoKind(n.Info)
	return k != btf.KindStruct && k != btf.KindUnion || n.Name == 0 || f.proves(u, i, id)
}

// isNewDef reports whether findNewDefs has found that node i is new.
func (u *Unit) isNewDef(i uint32) bool { return slices.Contains(u.newDefs.S, i) }

// hasForward reports whether u may have a FWD of this name and kind, as a node or left out. It counts as
// any definition of its name.
func (f finder) hasForward(u *Unit, name Name, kind int) bool {
	for _, i := range u.fwds.S {
		if n := &u.Nodes.S[i]; n.Name == name && fwdAggregate(n.Info) == kind {
			return true
		}
	}
	if f.index.entity(name).fwds[kind] == 0 && f.index.baseForward(name, kind) == 0 {
		return false
	}
	return slices.ContainsFunc(u.chunks.proved.Forwards, func(fwd uint32) bool {
		w := f.index.types.record(fwd)
		switch w.Kind() {
		case btf.KindFwd:
			return w.Name() == name && fwdAggregate(w.Info()) == kind
		case btf.KindStruct, btf.KindUnion:
			return w.Name() == name && aggregate(w.Info()) == kind
		}
		return false
	})
}
