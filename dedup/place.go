package dedup

import (
	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
)

// placer finds, among the new nodes of a unit, those that are equal.
type placer struct {
	find  finder
	local localIndex // of the new nodes
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
func (s *placer) placeTypes(u *Unit) {
	s.local.reset(len(u.news.S))
	u.mode = within
	defer func() { u.mode = prove }()
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
		h := arena.Spread(n.Name) | 1
		if n.Name == 0 {
			h = s.find.anonHash(u, i, u.membersOf(n))
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
			if s.find.match(u, idLocal|i, idLocal|o, 0) {
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

// placePrimitive merges a new INT, FLOAT, FWD or enumeration with an equal one
// that came earlier in the unit.
func (s *placer) placePrimitive(u *Unit, i uint32) {
	n := &u.Nodes.S[i]
	m := u.membersOf(n)
	h := arena.Mix(uint64(enumHash(n, m)), n.Aux)
	h32 := uint32(h>>32) | 1
	u.ID.S[i] = idLocal | i
	for j := s.local.first(h32); j != 0; j = s.local.next.S[j-1] {
		o := s.local.node.S[j-1]
		if on := &u.Nodes.S[o]; equalNodes(u, n, on) {
			u.ID.S[i] = idLocal | o
			return
		}
	}
	if k := btf.InfoKind(n.Info); (k == btf.KindEnum || k == btf.KindEnum64) && n.Name != 0 {
		// Names of enumerations have an index of their own, newest first.
		hn := arena.Spread(n.Name) &^ 1
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

// equalNames compares the names of the elements of two nodes, as many of each.
func equalNames(x, y []Member) bool {
	for i := range x {
		if x[i].Name != y[i].Name {
			return false
		}
	}
	return true
}

// placeRefs places the references among the new nodes, depth first in raw
// order: the first one completed in this order survives.
func (s *placer) placeRefs(u *Unit) {
	s.local.reset(len(u.news.S))
	u.visits.Reset()
	for _, i := range u.news.S {
		if isRefKind(btf.InfoKind(u.Nodes.S[i].Info)) && u.ID.S[i] == idNew {
			s.placeRef(u, i, 0)
		}
	}
}

func (s *placer) placeRef(u *Unit, i uint32, depth int) {
	if depth > maxChain {
		u.err = ErrChain
		return
	}
	n := &u.Nodes.S[i]
	u.ID.S[i] = idBusy
	first, second, elements := u.refs(n)
	s.placeTarget(u, first, depth)
	s.placeTarget(u, second, depth)
	for k := range elements {
		s.placeTarget(u, elements[k].Type, depth)
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
		if s.equalRefs(u, n, &u.Nodes.S[o]) {
			u.ID.S[i] = idLocal | o
			return
		}
	}
	u.ID.S[i] = idLocal | i
	s.local.add(h, i)
	u.visits.Append(i)
}

// placeTarget places what a reference at a depth leads to, unless it has its place.
func (s *placer) placeTarget(u *Unit, r Ref, depth int) {
	if u.err != nil || r == 0 || r&Extern != 0 {
		return
	}
	switch u.ID.S[r-1] {
	case idNew:
		s.placeRef(u, r-1, depth+1)
	case idBusy:
		u.err = ErrChain
	}
}

// inSet says whether all that a reference node refers to has an id.
func (s *placer) inSet(u *Unit, n *Node) bool {
	first, second, elements := u.refs(n)
	if u.id(first) >= MaxIDs || u.id(second) >= MaxIDs {
		return false
	}
	for k := range elements {
		if u.id(elements[k].Type) >= MaxIDs {
			return false
		}
	}
	return true
}

// findRef looks a complete reference record up.
func (s *placer) findRef(n *Node, w btf.Record, h uint32) uint32 {
	id := uint32(0)
	switch btf.InfoKind(n.Info) {
	case btf.KindPtr:
		id = s.find.index.types.keys.S[w.Third()].ptrTo
	case btf.KindConst:
		id = s.find.index.types.keys.S[w.Third()].constTo
	default:
		return s.find.index.findRecord(w, h)
	}
	if id == 0 {
		return idNew
	}
	return id
}

// equalRefs compares two reference nodes of a unit whose references are placed.
func (s *placer) equalRefs(u *Unit, a, b *Node) bool {
	if a.Info != b.Info || a.Name != b.Name || a.hasAux() && a.Aux != b.Aux || !equalNames(u.membersOf(a), u.membersOf(b)) {
		return false
	}
	first, second, elements := u.refs(a)
	otherFirst, otherSecond, others := u.refs(b)
	if u.id(first) != u.id(otherFirst) || u.id(second) != u.id(otherSecond) {
		return false
	}
	for k := range elements {
		if u.id(elements[k].Type) != u.id(others[k].Type) {
			return false
		}
	}
	return true
}
