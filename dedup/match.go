package dedup

import "github.com/btflite/btflite/btf"

// Comparing nodes of a unit with records of the Set.

// sameDefinition compares struct or union i with record id, member by member:
// equal names and offsets, and types that have the same id or are equal in
// structure (matchRef). This is the certificate: every node that is given an
// id has had its content compared word for word with that id's.
func (s *lookup) sameDefinition(u *Unit, i, id uint32) bool {
	n := &u.Nodes.S[i]
	w := s.record(id)
	if w.Info() != n.Info || w.Name() != n.Name || w.Third() != n.Third {
		return false
	}
	m := u.members(n)
	ids := u.ID.S
	pairs, inBase := len(u.pairs.S), u.inBase
	u.inBase = id <= s.baseIDs
	for j := range m {
		x := &m[j]
		name, typ, offset := w.Member(j)
		if x.Name != name || x.Val != offset {
			u.disown(pairs, i)
			u.inBase = inBase
			return false
		}
		if t := x.Type - 1; uint(t) < uint(len(ids)) {
			id := ids[t]
			if id == 0 {
				// A nested look-up may meet forwards of its own.
				u.own(pairs, i)
				id = s.find(u, t, 0, typ)
			}
			if id == typ || u.matched.S[x.Type-1] == typ && typ != 0 {
				continue
			}
		} else if x.Type&^Extern == typ {
			continue
		}
		before := len(u.pairs.S)
		if !s.matchRef(u, x.Type, typ, 0) {
			u.disown(pairs, i)
			u.inBase = inBase
			return false
		}
		if x.Type != 0 && x.Type&Extern == 0 && len(u.pairs.S) == before {
			u.matched.S[x.Type-1] = typ
		}
	}
	u.own(pairs, i)
	u.inBase = inBase
	return true
}

// noOwner is the owner of a pair that has just been met.
const noOwner = 0xffffffff

// own marks the new pairs from index k on as met while node i was compared.
func (u *Unit) own(k int, i uint32) {
	for ; k < len(u.pairs.S); k++ {
		if p := &u.pairs.S[k]; p.owner == noOwner {
			p.owner = i
		}
	}
}

// disown forgets the pairs from index k on that were met while node i was
// compared: it was found to be different.
func (u *Unit) disown(k int, i uint32) {
	keep := u.pairs.S[:k]
	for _, p := range u.pairs.S[k:] {
		if p.owner != noOwner && p.owner != i {
			keep = append(keep, p)
		}
	}
	u.pairs.S = keep
}

// choose picks the definition that named struct or union i must be compared
// with: d, the newest one of its name, if there are no others. Otherwise the
// reference deduplication would try them in turn, newest first, so it is the
// newest one that is not out of the question: one that differs in shape, or
// somewhere above the next named types, is no match whatever those are. What
// is chosen is still to be proved, by sameDefinition like any other.
//
// A type that may be equal to several (it refers to nothing but forward
// declarations) goes where the first walk that reaches it takes it, mostly
// from a type around it. What the last such walk decided on is therefore tried
// first, on its size and number of members alone: if it is wrong here, a proof
// fails. Not so over a base: there a type and the copy of it that the module
// needed may both be proved, and the newest is right.
func (s *lookup) choose(u *Unit, i, d uint32) uint32 {
	n := &u.Nodes.S[i]
	if l := s.entity(n.Name).likely[aggregate(n.Info)]; l != 0 && s.base == nil {
		if w := s.record(l); w.Info() == n.Info && w.Third() == n.Third {
			return l
		}
	}
	for s.keys.S[d].next != 0 && !s.alike(u, i, d) {
		d = s.keys.S[d].next
		u.tried++
	}
	return d
}

// alike says whether struct or union i may be equal to id, named types
// counting as equal when their names are.
func (s *lookup) alike(u *Unit, i, id uint32) bool {
	n := &u.Nodes.S[i]
	w := s.record(id)
	if w.Info() != n.Info || w.Name() != n.Name || w.Third() != n.Third {
		return false
	}
	m := u.members(n)
	for j := range m {
		if name, _, offset := w.Member(j); m[j].Name != name || m[j].Val != offset {
			return false
		}
	}
	pairs, byName, inBase := len(u.pairs.S), u.byName, u.inBase
	u.byName, u.inBase = true, id <= s.baseIDs
	same := true
	for j := range m {
		if _, typ, _ := w.Member(j); !s.matchRef(u, m[j].Type, typ, 0) {
			same = false
			break
		}
	}
	u.byName, u.inBase = byName, inBase
	u.disown(pairs, noOwner) // those of nested look-ups stay
	return same
}

// mayBe says whether named struct or union i may turn out to be y. It may not
// if what was picked for it is older than y: then y was out of the question.
func (s *lookup) mayBe(u *Unit, i, y uint32) bool {
	id := u.ID.S[i]
	if id == 0 && u.nested < maxNested {
		u.nested++
		id = s.find(u, i, 0, y)
		u.nested--
	}
	return id == 0 || id >= MaxIDs || id >= y
}

// maxNested bounds how deep one pick may look into others.
const maxNested = 64

// maxMatch bounds the depth of matchRef, which goes through anonymous types
// and chains of references only.
const maxMatch = 128

// matchRef says whether what x refers to in u is equal to y in structure, a
// named struct, union or enumeration counting by its name and a forward
// declaration as good as its definition.
func (s *lookup) matchRef(u *Unit, x Ref, y uint32, depth int) bool {
	if x == 0 || y == 0 {
		return x == 0 && y == 0
	}
	y = s.Final(y)
	if x&Extern != 0 {
		return s.Final(x&^Extern) == y || u.chunks.left > 0 && s.matchKnown(u, x&^Extern, y, depth)
	}
	if u.budget--; depth > maxMatch || u.budget < 0 {
		u.dirty = true // the walk remembers what it compared
		return false
	}
	i := x - 1
	id := u.ID.S[i]
	if id < MaxIDs && id != 0 && s.Final(id) == y {
		return true
	}
	n := &u.Nodes.S[i]
	w := s.record(y)
	xk, yk := btf.InfoKind(n.Info), w.Kind()
	if n.Name != w.Name() {
		return false
	}
	switch v := judge(n.Name, n.Info, w.Info()); v {
	case differ, agree:
		return v == agree
	case ahead, behind:
		if v == behind && u.inBase && y <= s.baseIDs {
			// The base's type cannot take in the unit's: see base.go.
			u.dirty = true
			u.slow.seed(i)
			return false
		}
		if id >= MaxIDs || id == 0 {
			id = idLocal | i
		}
		u.pairs.Append(v.pair(id, y))
		return true
	case byName:
		return u.byName && xk == yk && s.mayBe(u, i, y)
	case values:
		return u.byName && xk == yk && sameEnum(w, n, u.members(n))
	}
	if u.byName && (xk == btf.KindInt || xk == btf.KindFloat) {
		return n.Third == w.Third() && (xk == btf.KindFloat || n.Aux == w.Data())
	}
	switch xk {
	case btf.KindStruct, btf.KindUnion:
		if n.Third != w.Third() {
			return false
		}
		m := u.members(n)
		for j := range m {
			name, typ, offset := w.Member(j)
			if m[j].Name != name || m[j].Val != offset || !s.matchRef(u, m[j].Type, typ, depth+1) {
				return false
			}
		}
		return true
	case btf.KindPtr, btf.KindConst, btf.KindVolatile, btf.KindRestrict, btf.KindTypedef, btf.KindTypeTag, btf.KindFunc:
		return s.matchRef(u, n.Third, w.Third(), depth+1)
	case btf.KindArray:
		elem, index, nelems := w.Array()
		return n.Aux == nelems && s.matchRef(u, n.First, index, depth+1) && s.matchRef(u, n.Third, elem, depth+1)
	case btf.KindFuncProto:
		m := u.members(n)
		for j := range m {
			if name, _ := w.Param(j); m[j].Name != name {
				return false
			}
		}
		if !s.matchRef(u, n.Third, w.Third(), depth+1) {
			return false
		}
		for j := range m {
			if _, typ := w.Param(j); !s.matchRef(u, m[j].Type, typ, depth+1) {
				return false
			}
		}
		return true
	}
	return false
}
