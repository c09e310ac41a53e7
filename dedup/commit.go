package dedup

import "github.com/btflite/btflite/btf"

// Commit places the nodes of u that Resolve did not find, and adds their
// strings. Commit units one at a time, in unit order. Afterwards u.ID has an id
// of the Set for every node.
func (s *Set) Commit(u *Unit) error {
	// Only commits change conflicts, and no other one runs.
	s.renewView(u)
	if u.resolved && u.view == s.index.conflicts && u.err == nil && !u.needsWalk && !u.loops &&
		len(u.newNodes.S) == 0 && len(u.pairs.S) == 0 && !s.chunks.incomplete(u) && !u.bringsChunks() {
		return nil // all was known: do not stop the Resolves
	}
	if s.Raw {
		return s.commitRaw(u)
	}
	// Only commits change the Set, so this one reads it without the lock. It
	// takes the lock, which stops the Resolves, only to add new types.
	if !u.resolved || u.view != s.index.conflicts || u.err != nil || u.loops || definitionsOf(s, u).forwardedSince() {
		s.resolve(u)
	} else {
		s.retryUnknown(u)
		u.needsWalk = u.needsWalk || len(u.slow.seeds.S) > 0 || len(u.newDefs.S) > 0 && definitionsOf(s, u).newNodesMayBeKnown()
	}
	if s.chunks.incomplete(u) {
		return ErrIncomplete
	}
	if u.err != nil {
		return u.err
	}
	if err := s.placeNew(u); err != nil {
		return err
	}
	if err := s.checkTried(u); err != nil {
		return err
	}
	leftOut := definitionsOf(s, u).ambiguousLeftOut()
	s.gate.lock()
	defer s.gate.unlock()
	if err := s.store(u); err != nil {
		return err
	}
	s.index.forwardPairs(u)
	if u.bringsChunks() {
		s.chunks.keepChunks(u)
	}
	switch {
	case s.index.base != nil:
		s.index.base.noteCopies(u, uint32(len(s.index.types.ids.S))-1)
	case u.needsWalk || len(u.newDefs.S) > 0:
		s.walk.remember(u)
		for _, id := range leftOut {
			s.walk.setLikely(id)
		}
	}
	return nil
}

// placeNew finds new nodes that are equivalent to each other, and adds the strings
// of all.
func (s *Set) placeNew(u *Unit) error {
	seeds := u.needsWalk
	if seeds {
		s.walk.addSeeds(u)
	}
	if err := s.internNew(u); err != nil {
		return err
	}
	if !seeds {
		s.place.placeTypes(u)
	}
	if s.chunks.incomplete(u) {
		return ErrIncomplete
	}
	if u.needsWalk {
		s.walk.taint(u)
		s.Slow++
		if err := s.walk.slowPlace(u); err != nil {
			return err
		}
	}
	if u.err == nil {
		s.place.placeRefs(u)
	}
	return u.err
}

// commitRaw adds all nodes of a unit as they are.
func (s *Set) commitRaw(u *Unit) error {
	u.ID.Reset()
	u.ID.Resize(len(u.Nodes.S))
	u.newNodes.Reset()
	u.names.hashed = false
	u.placedRefs.Reset()
	for _, i := range u.Order.S {
		u.ID.S[i] = idLocal | i
		u.newNodes.Append(i)
	}
	if err := s.internNew(u); err != nil {
		return err
	}
	return s.store(u)
}

// store gives the new types of u their ids, in raw order, and adds their
// records to the Set.
func (s *Set) store(u *Unit) error {
	if len(u.newNodes.S) == 0 {
		return nil
	}
	// Ids come first: a record may refer to one that follows.
	n := 0
	for _, i := range u.newNodes.S {
		if u.ID.S[i] == idLocal|i {
			n++
		}
	}
	base, err := s.index.types.newIDs(n)
	if err != nil {
		return err
	}
	next := base
	for _, i := range u.newNodes.S {
		if u.ID.S[i] == idLocal|i {
			u.ID.S[i] = next
			next++
		}
	}
	for _, i := range u.newNodes.S {
		if id := u.ID.S[i]; id >= idLocal && id < idBusy {
			u.ID.S[i] = u.ID.S[id&^idLocal]
		}
	}
	want := base
	for _, i := range u.newNodes.S {
		if u.ID.S[i] != want {
			continue
		}
		want++
		if err := s.storeNode(u, i, u.ID.S[i]); err != nil {
			return err
		}
	}
	for _, i := range u.placedRefs.S {
		s.placedRefs.Append(u.ID.S[i])
	}
	if len(s.index.newcomers) > 0 {
		s.find.enterFamilies(u)
	}
	return nil
}

// storeNode adds the record of node i under its id.
func (s *Set) storeNode(u *Unit, i, id uint32) error {
	n := &u.Nodes.S[i]
	k := btf.InfoKind(n.Info)
	m := u.membersOf(n)
	if k == btf.KindDatasec {
		m = u.members(n)
	}
	w, err := s.index.types.add(id, 3+btf.ExtraWords(k, btf.InfoVlen(n.Info)))
	if err != nil {
		return err
	}
	third := n.Third
	if btf.ThirdIsRef(k) {
		third = u.id(third)
	}
	w.SetHead(n.Name, n.Info, third)
	switch k {
	case btf.KindInt, btf.KindVar, btf.KindDeclTag:
		w.SetData(n.Aux)
	case btf.KindArray:
		w.SetHead(0, n.Info, 0)
		w.SetArray(u.id(n.Third), u.id(n.First), n.Aux)
	case btf.KindStruct, btf.KindUnion:
		for j := range m {
			w.SetTriple(j, m[j].Name, u.id(m[j].Type), m[j].Val)
		}
	case btf.KindEnum:
		for j := range m {
			w.SetPair(j, m[j].Name, m[j].Type)
		}
	case btf.KindEnum64:
		for j := range m {
			w.SetTriple(j, m[j].Name, m[j].Type, m[j].Val)
		}
	case btf.KindFuncProto:
		w.SetHead(0, n.Info, third)
		for j := range m {
			w.SetPair(j, m[j].Name, u.id(m[j].Type))
		}
	case btf.KindDatasec:
		for j := range m {
			w.SetTriple(j, u.id(m[j].Type), m[j].Name, m[j].Val)
		}
	}
	if s.Raw {
		return nil
	}
	if n.Name == 0 && (k == btf.KindStruct || k == btf.KindUnion) {
		s.index.enterAnonymous(id, s.find.anonHash(u, i, m))
	} else {
		s.index.enterType(id)
	}
	return nil
}

// forwardPairs forwards each FWD of u.pairs to the definition that was met in its
// place. The first definition wins.
func (ix *index) forwardPairs(u *Unit) {
	for _, p := range u.pairs.S {
		if f, d, ok := ix.forwarding(u, p); ok {
			ix.setForward(f, d)
			if ix.types.keys.S[d].next != 0 || ix.entity(ix.types.record(f).Name()).defs[fwdAggregate(ix.types.record(f).Info())] != d {
				ix.conflicts++ // the FWD no longer stands for the other definitions
			}
		}
	}
}
