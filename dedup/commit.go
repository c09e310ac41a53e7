package dedup

import "github.com/btflite/btflite/btf"

// Commit places the nodes of u that Resolve did not find, and adds their
// strings. Units must be committed one at a time, in unit order. Afterwards
// u.ID holds an id of the Set for every node.
func (s *Set) Commit(u *Unit) error {
	// conflicts changes in commits only, and this is the only one.
	if u.resolved && u.view == s.conflicts && u.err == nil && !u.dirty && !u.loops &&
		len(u.news.S) == 0 && len(u.pairs.S) == 0 {
		return nil // all was known: no need to keep Resolves waiting
	}
	if s.Raw {
		return s.commitRaw(u)
	}
	// The Set changes in commits only, so this one may read it without the
	// lock; it takes it, and stops the Resolves, just to add what is new.
	if !u.resolved || u.view != s.conflicts || u.err != nil || u.loops {
		s.resolve(u)
	} else {
		s.again(u)
	}
	if u.err != nil {
		return u.err
	}
	slow := u.dirty
	if slow {
		s.addSeeds(u)
	}
	if err := s.internNew(u); err != nil {
		return err
	}
	if slow {
		s.taint(u)
	}
	if !slow {
		s.placeTypes(u)
	}
	if u.dirty {
		if !slow {
			s.taint(u)
		}
		s.Slow++
		if err := s.slowPlace(u); err != nil {
			return err
		}
	}
	if u.err == nil {
		s.placeRefs(u)
	}
	if u.err != nil {
		return u.err
	}
	if err := s.checkTried(u); err != nil {
		return err
	}
	s.gate.lock()
	defer s.gate.unlock()
	if err := s.store(u); err != nil {
		return err
	}
	s.forwardPairs(u)
	switch {
	case s.base != nil:
		s.noteCopies(u)
	case u.dirty:
		s.remember(u)
	}
	return nil
}

// commitRaw adds all nodes of a unit as they are.
func (s *Set) commitRaw(u *Unit) error {
	u.ID.Reset()
	u.ID.Resize(len(u.Nodes.S))
	u.news.Reset()
	u.visits.Reset()
	for _, i := range u.Order.S {
		u.ID.S[i] = idLocal | i
		u.news.Append(i)
	}
	if err := s.internNew(u); err != nil {
		return err
	}
	return s.store(u)
}

// again looks up once more what was unknown when Resolve ran: units that were
// committed since may have brought it.
func (s *Set) again(u *Unit) {
	if len(u.news.S) == 0 {
		return
	}
	for _, i := range u.news.S {
		u.ID.S[i] = 0
	}
	u.budget = 64 * (len(u.Nodes.S) + len(u.Members.S) + 64)
	news := u.news.S
	keep := news[:0]
	for _, i := range news {
		id := u.ID.S[i]
		if id == 0 {
			id = s.find(u, i, 0, 0)
		}
		if id == idNew {
			keep = append(keep, i)
			continue
		}
		switch n := &u.Nodes.S[i]; btf.InfoKind(n.Info) {
		case btf.KindStruct, btf.KindUnion:
			if n.Name != 0 && !s.sameDefinition(u, i, id) {
				u.dirty = true
				u.slow.seeds.Append(i)
			}
		}
	}
	u.news.S = keep
}

// internNew adds the strings of the new nodes in raw order. A name that turns
// out to be an alias stops the commit once all are seen (ErrAlias).
func (s *Set) internNew(u *Unit) error {
	alias := false
	add := func(tok Name) error {
		if tok == 0 {
			return nil
		}
		c, err := s.strings.intern(tok, s.names)
		if err != nil {
			return err
		}
		if c != tok {
			s.names.Alias(tok, c)
			alias = true
		}
		return nil
	}
	names := u.names
	names.Reset()
	for _, i := range u.news.S {
		n := &u.Nodes.S[i]
		names.Append(n.Name)
		for _, m := range u.membersOf(n) {
			names.Append(m.Name)
		}
	}
	u.names = names
	s.Ahead(names.S)
	for _, tok := range names.S {
		if err := add(tok); err != nil {
			return err
		}
	}
	if alias {
		return ErrAlias
	}
	return nil
}

// isRefKind says whether a kind is placed in the reference pass.
func isRefKind(k btf.Kind) bool {
	switch k {
	case btf.KindPtr, btf.KindConst, btf.KindVolatile, btf.KindRestrict, btf.KindTypeTag, btf.KindFunc,
		btf.KindArray, btf.KindFuncProto, btf.KindDeclTag:
		return true
	}
	return false
}

// placeTypes finds, among the new nodes that are no references, those that
// repeat an earlier one of the unit, in raw order: primitives first, then
// structs, unions and typedefs. It sets u.dirty if a name is defined twice.
func (s *Set) placeTypes(u *Unit) {
	s.local.reset(len(u.news.S))
	for _, i := range u.news.S {
		n := &u.Nodes.S[i]
		switch k := btf.InfoKind(n.Info); k {
		case btf.KindInt, btf.KindFloat, btf.KindFwd, btf.KindEnum, btf.KindEnum64:
			s.placePrimitive(u, i)
		case btf.KindVar, btf.KindDatasec:
			u.ID.S[i] = idLocal | i
		}
	}
	for _, i := range u.news.S {
		n := &u.Nodes.S[i]
		switch btf.InfoKind(n.Info) {
		case btf.KindStruct, btf.KindUnion, btf.KindTypedef:
		default:
			continue
		}
		h := mix32(n.Name) | 1
		if n.Name == 0 {
			h = s.anonHash(u, n, u.membersOf(n))
		}
		rep := idLocal | i
		for j := s.local.first(h); j != 0; j = s.local.next.S[j-1] {
			o := s.local.node.S[j-1]
			on := &u.Nodes.S[o]
			if on.Info>>24&0x1f != n.Info>>24&0x1f || on.Name != n.Name {
				continue
			}
			if n.Name != 0 && btf.InfoKind(n.Info) != btf.KindTypedef {
				u.dirty = true
				return
			}
			if s.matchLocal(u, i, o, 0) {
				rep = idLocal | o
				break
			}
		}
		if u.dirty {
			return
		}
		u.ID.S[i] = rep
		if rep == idLocal|i {
			s.local.add(h, i)
		}
	}
}

// membersOf is members for kinds that have any, nil for others.
func (u *Unit) membersOf(n *Node) []Member {
	switch btf.InfoKind(n.Info) {
	case btf.KindStruct, btf.KindUnion, btf.KindEnum, btf.KindEnum64, btf.KindFuncProto:
		return u.members(n)
	}
	return nil
}

// placePrimitive merges a new INT, FLOAT, FWD or enumeration with an equal one
// that came earlier in the unit.
func (s *Set) placePrimitive(u *Unit, i uint32) {
	n := &u.Nodes.S[i]
	m := u.membersOf(n)
	h := mix(uint64(enumHash(n, m)), n.Aux)
	h32 := uint32(h>>32) | 1
	u.ID.S[i] = idLocal | i
	for j := s.local.first(h32); j != 0; j = s.local.next.S[j-1] {
		o := s.local.node.S[j-1]
		if on := &u.Nodes.S[o]; sameNode(u, n, on) {
			u.ID.S[i] = idLocal | o
			return
		}
	}
	if k := btf.InfoKind(n.Info); (k == btf.KindEnum || k == btf.KindEnum64) && n.Name != 0 {
		// Names of enumerations have an index of their own, newest first.
		hn := mix32(n.Name) &^ 1
		if len(m) == 0 {
			// A forward declaration stands for any one of its name.
			for j := s.local.first(hn); j != 0; j = s.local.next.S[j-1] {
				o := s.local.node.S[j-1]
				on := &u.Nodes.S[o]
				if s.local.key.S[j-1] != hn || on.Name != n.Name {
					continue
				}
				if k := btf.InfoKind(on.Info); k == btf.KindEnum || k == btf.KindEnum64 {
					u.ID.S[i] = u.ID.S[o]
					return
				}
			}
		}
		s.local.add(hn, i)
	}
	s.local.add(h32, i)
}

// sameNode compares two nodes of a unit that refer to nothing.
func sameNode(u *Unit, a, b *Node) bool {
	if a.Info != b.Info || a.Name != b.Name || a.Third != b.Third || a.Aux != b.Aux {
		return false
	}
	x, y := u.membersOf(a), u.membersOf(b)
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if x[i] != y[i] {
			return false
		}
	}
	return true
}

// matchLocal is matchRef for two nodes of the unit.
func (s *Set) matchLocal(u *Unit, a, b uint32, depth int) bool {
	if a == b {
		return true
	}
	x, y := u.ID.S[a], u.ID.S[b]
	if x == y && x != idNew && x != idBusy && x != 0 {
		return true
	}
	if u.budget--; depth > maxMatch || u.budget < 0 {
		u.dirty = true
		return false
	}
	n, o := &u.Nodes.S[a], &u.Nodes.S[b]
	if n.Name != o.Name {
		return false
	}
	nk, ok := btf.InfoKind(n.Info), btf.InfoKind(o.Info)
	if nk != ok {
		// A forward declaration beside its definition: the name is in the
		// unit twice over, let the walk see to it.
		if nk == btf.KindFwd || ok == btf.KindFwd {
			u.dirty = true
		}
		return false
	}
	if nk == btf.KindEnum || nk == btf.KindEnum64 || nk == btf.KindInt || nk == btf.KindFloat || nk == btf.KindFwd {
		return sameNode(u, n, o)
	}
	if n.Info != o.Info {
		return false
	}
	ref := func(p, q Ref) bool {
		if p == 0 || q == 0 || p&Extern != 0 || q&Extern != 0 {
			return p == q || p != 0 && q != 0 && u.id(p) == u.id(q)
		}
		return s.matchLocal(u, p-1, q-1, depth+1)
	}
	switch nk {
	case btf.KindStruct, btf.KindUnion:
		if n.Name != 0 && depth > 0 {
			// Anchors: one definition of a name in a unit, else the unit is
			// dirty already.
			if n.Third != o.Third {
				u.dirty = true
			}
			return n.Third == o.Third
		}
		if n.Third != o.Third {
			return false
		}
		p, q := u.members(n), u.members(o)
		for j := range p {
			if p[j].Name != q[j].Name || p[j].Val != q[j].Val {
				return false
			}
		}
		for j := range p {
			if !ref(p[j].Type, q[j].Type) {
				return false
			}
		}
		return true
	case btf.KindArray:
		return n.Aux == o.Aux && ref(n.First, o.First) && ref(n.Third, o.Third)
	case btf.KindFuncProto:
		p, q := u.members(n), u.members(o)
		for j := range p {
			if p[j].Name != q[j].Name {
				return false
			}
		}
		if !ref(n.Third, o.Third) {
			return false
		}
		for j := range p {
			if !ref(p[j].Type, q[j].Type) {
				return false
			}
		}
		return true
	case btf.KindDeclTag, btf.KindVar:
		return n.Aux == o.Aux && ref(n.Third, o.Third)
	}
	return ref(n.Third, o.Third)
}

// placeRefs places the references among the new nodes, depth first in raw
// order: the first one completed in this order survives.
func (s *Set) placeRefs(u *Unit) {
	s.local.reset(len(u.news.S))
	u.visits.Reset()
	for _, i := range u.news.S {
		if isRefKind(btf.InfoKind(u.Nodes.S[i].Info)) && u.ID.S[i] == idNew {
			s.placeRef(u, i, 0)
		}
	}
}

func (s *Set) placeRef(u *Unit, i uint32, depth int) {
	if depth > maxChain {
		u.err = ErrChain
		return
	}
	n := &u.Nodes.S[i]
	u.ID.S[i] = idBusy
	down := func(r Ref) {
		if r == 0 || r&Extern != 0 || u.err != nil {
			return
		}
		switch u.ID.S[r-1] {
		case idNew:
			s.placeRef(u, r-1, depth+1)
		case idBusy:
			u.err = ErrChain
		}
	}
	switch btf.InfoKind(n.Info) {
	case btf.KindFuncProto:
		down(n.Third)
		for _, m := range u.members(n) {
			down(m.Type)
		}
	case btf.KindArray:
		down(n.First)
		down(n.Third)
	default:
		down(n.Third)
	}
	if u.err != nil {
		return
	}
	w := u.content(n)
	h := contentHash(w)
	// All references in the Set: after the graph walk the node may be there.
	if s.inSet(u, n) {
		if id := s.findRef(n, w, h); id != idNew {
			u.ID.S[i] = id
			return
		}
	}
	for j := s.local.first(h); j != 0; j = s.local.next.S[j-1] {
		o := s.local.node.S[j-1]
		if s.sameRef(u, n, &u.Nodes.S[o]) {
			u.ID.S[i] = idLocal | o
			return
		}
	}
	u.ID.S[i] = idLocal | i
	s.local.add(h, i)
	u.visits.Append(i)
}

// inSet says whether all that a reference node refers to has an id.
func (s *Set) inSet(u *Unit, n *Node) bool {
	if u.id(n.Third) >= MaxIDs {
		return false
	}
	switch btf.InfoKind(n.Info) {
	case btf.KindArray:
		return u.id(n.First) < MaxIDs
	case btf.KindFuncProto:
		for _, m := range u.members(n) {
			if u.id(m.Type) >= MaxIDs {
				return false
			}
		}
	}
	return true
}

// findRef looks a complete reference record up.
func (s *Set) findRef(n *Node, w []uint32, h uint32) uint32 {
	id := uint32(0)
	switch btf.InfoKind(n.Info) {
	case btf.KindPtr:
		id = s.keys.S[w[2]].ptrTo
	case btf.KindConst:
		id = s.keys.S[w[2]].constTo
	default:
		return s.findRecord(w, h)
	}
	if id == 0 {
		return idNew
	}
	return id
}

// sameRef compares two reference nodes of a unit whose references are placed.
func (s *Set) sameRef(u *Unit, a, b *Node) bool {
	if a.Info != b.Info || a.Name != b.Name || u.id(a.Third) != u.id(b.Third) {
		return false
	}
	switch btf.InfoKind(a.Info) {
	case btf.KindArray:
		return a.Aux == b.Aux && u.id(a.First) == u.id(b.First)
	case btf.KindDeclTag:
		return a.Aux == b.Aux
	case btf.KindFuncProto:
		x, y := u.members(a), u.members(b)
		for j := range x {
			if x[j].Name != y[j].Name || u.id(x[j].Type) != u.id(y[j].Type) {
				return false
			}
		}
	}
	return true
}

// store gives the new types of u their ids, in raw order, and adds their
// records to the Set.
func (s *Set) store(u *Unit) error {
	if len(u.news.S) == 0 {
		return nil
	}
	// First the ids, because records refer forward as well.
	n := 0
	for _, i := range u.news.S {
		if u.ID.S[i] == idLocal|i {
			n++
		}
	}
	base, err := s.newIDs(n)
	if err != nil {
		return err
	}
	next := base
	for _, i := range u.news.S {
		if u.ID.S[i] == idLocal|i {
			u.ID.S[i] = next
			next++
		}
	}
	for _, i := range u.news.S {
		if id := u.ID.S[i]; id >= idLocal && id < idBusy {
			u.ID.S[i] = u.ID.S[id&^idLocal]
		}
	}
	want := base
	for _, i := range u.news.S {
		if u.ID.S[i] != want {
			continue
		}
		want++
		if err := s.storeNode(u, i, u.ID.S[i]); err != nil {
			return err
		}
	}
	for _, i := range u.visits.S {
		s.visited.Append(u.ID.S[i])
	}
	return nil
}

// storeNode adds the record of node i, which has been given the id.
func (s *Set) storeNode(u *Unit, i, id uint32) error {
	n := &u.Nodes.S[i]
	k := btf.InfoKind(n.Info)
	m := u.membersOf(n)
	if k == btf.KindDatasec {
		m = u.members(n)
	}
	w, err := s.add(id, 3+btf.ExtraWords(k, btf.InfoVlen(n.Info)))
	if err != nil {
		return err
	}
	w[0], w[1], w[2] = n.Info, n.Name, n.Third
	switch k {
	case btf.KindInt:
		w[3] = n.Aux
	case btf.KindArray:
		w[2], w[3], w[4], w[5] = 0, u.id(n.Third), u.id(n.First), n.Aux
	case btf.KindStruct, btf.KindUnion:
		for j := range m {
			w[3+3*j], w[4+3*j], w[5+3*j] = m[j].Name, u.id(m[j].Type), m[j].Val
		}
	case btf.KindEnum:
		for j := range m {
			w[3+2*j], w[4+2*j] = m[j].Name, m[j].Type
		}
	case btf.KindEnum64:
		for j := range m {
			w[3+3*j], w[4+3*j], w[5+3*j] = m[j].Name, m[j].Type, m[j].Val
		}
	case btf.KindFuncProto:
		w[1], w[2] = 0, u.id(n.Third)
		for j := range m {
			w[3+2*j], w[4+2*j] = m[j].Name, u.id(m[j].Type)
		}
	case btf.KindDatasec:
		for j := range m {
			w[3+3*j], w[4+3*j], w[5+3*j] = u.id(m[j].Type), m[j].Name, m[j].Val
		}
	case btf.KindVar, btf.KindDeclTag:
		w[2], w[3] = u.id(n.Third), n.Aux
	case btf.KindFwd, btf.KindFloat:
	default:
		w[2] = u.id(n.Third)
	}
	if n.Name == 0 && (k == btf.KindStruct || k == btf.KindUnion) {
		s.indexAnonymous(id, s.anonHash(u, n, m))
	} else {
		s.index(id)
	}
	return nil
}

// index enters a stored record into the look-up tables.
func (s *Set) index(id uint32) {
	if s.Raw {
		return
	}
	w := s.record(id)
	info, name := w[0], w[1]
	k := btf.InfoKind(info)
	switch k {
	case btf.KindVar, btf.KindDatasec:
	case btf.KindPtr:
		s.setPtrTo(w[2], id)
	case btf.KindConst:
		s.setConstTo(w[2], id)
	case btf.KindStruct, btf.KindUnion:
		d := &s.addEntity(name).defs[aggregate(info)]
		if *d != 0 {
			s.conflicts++
		}
		s.enter(d, id)
	case btf.KindTypedef:
		e := s.addEntity(name)
		if e.typedefs != 0 {
			s.conflicts++
		}
		s.enter(&e.typedefs, id)
	case btf.KindFwd:
		k := fwdAggregate(info)
		s.addEntity(name).fwds[k] = id
		s.forwards.Append(id)
		if f := s.baseForward(name, k); f != 0 && s.ids.S[f].fwd != f {
			s.ids.S[id].fwd = s.Final(f)
		}
	case btf.KindEnum, btf.KindEnum64:
		if name == 0 {
			s.insert(id, contentHash(w))
			break
		}
		e := s.addEntity(name)
		if btf.InfoVlen(info) == 0 {
			e.fwds[entEnum] = id
			if s.baseForward(name, entEnum) != 0 {
				s.forwards.Append(id)
			}
			break
		}
		other := e.defs[entEnum] != 0
		s.enter(&e.defs[entEnum], id)
		for _, f := range [...]uint32{e.fwds[entEnum], s.baseForward(name, entEnum)} {
			if f != 0 {
				s.redirect(f, id) // the last definition wins
				other = true
			}
		}
		if other {
			s.conflicts++ // a forward declaration means another one now
		}
	default:
		s.insert(id, contentHash(w))
	}
}

// forwardPairs makes forward declarations that stand where a definition was
// met lead to it. The first definition wins.
func (s *Set) forwardPairs(u *Unit) {
	id := func(x uint32) uint32 {
		if x >= idLocal {
			return u.ID.S[x&^idLocal]
		}
		return x
	}
	for _, p := range u.pairs.S {
		f, d := id(p.fwd), id(p.def)
		if s.ids.S[f].fwd == f && f != d && btf.InfoKind(s.record(f)[0]) == btf.KindFwd {
			s.setForward(f, d)
			if s.keys.S[d].next != 0 || s.entity(s.record(f)[1]).defs[fwdAggregate(s.record(f)[0])] != d {
				s.conflicts++ // it no longer stands for the other definitions
			}
		}
	}
}
