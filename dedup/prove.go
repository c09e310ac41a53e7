package dedup

// Which type of the Set a named struct or union is, and the proof of it.

// proves says whether struct or union i is equivalent to the type id of the Set, member by
// member: equal names and offsets, and types that have the same id or match. This is the
// certificate: every node that is given an id has had its content compared word for word
// with that id's.
func (s finder) proves(u *Unit, i, id uint32) bool {
	n := &u.Nodes.S[i]
	w := s.index.types.record(id)
	if w.Info() != n.Info || w.Name() != n.Name || w.Third() != n.Third {
		return false
	}
	m := u.members(n)
	ids := u.ID.S
	pairs, inBase := len(u.pairs.S), u.inBase
	u.inBase = id <= s.index.baseIDs
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
		if !s.match(u, local(x.Type), typ, 0) {
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

// choose picks the definition that named struct or union i must be compared
// with: d, the newest one of its name, if there are no others. Otherwise the
// reference deduplication would try them in turn, newest first, so it is the
// newest one that is not out of the question: one that differs in shape, or
// somewhere above the next named types, is no match whatever those are. What
// is chosen is still to be proved like any other.
//
// A type that is equivalent to several (it refers to nothing but forward
// declarations) goes where the first walk that reaches it takes it, mostly
// from a type around it. What the last such walk decided on is therefore tried
// first, on its size and number of members alone: if it is wrong here, a proof
// fails. Not so over a base: there a type and the copy of it that the module
// needed may both be proved, and the newest is right.
func (s finder) choose(u *Unit, i, d uint32) uint32 {
	n := &u.Nodes.S[i]
	if l := s.index.entity(n.Name).likely[aggregate(n.Info)]; l != 0 && s.index.base == nil {
		if w := s.index.types.record(l); w.Info() == n.Info && w.Third() == n.Third {
			return l
		}
	}
	for s.index.types.keys.S[d].next != 0 && s.mayTry(u) && !s.mayBeEquivalent(u, i, d) {
		d = s.index.types.keys.S[d].next
	}
	return d
}

// mayBeEquivalent says whether struct or union i may be equivalent to the type id of the
// Set: named types count as equivalent where their names are equal.
func (s finder) mayBeEquivalent(u *Unit, i, id uint32) bool {
	n := &u.Nodes.S[i]
	w := s.index.types.record(id)
	if w.Info() != n.Info || w.Name() != n.Name || w.Third() != n.Third {
		return false
	}
	m := u.members(n)
	for j := range m {
		if name, _, offset := w.Member(j); m[j].Name != name || m[j].Val != offset {
			return false
		}
	}
	pairs, mode, inBase := len(u.pairs.S), u.mode, u.inBase
	u.mode, u.inBase = guess, id <= s.index.baseIDs
	may := true
	for j := range m {
		if _, typ, _ := w.Member(j); !s.match(u, local(m[j].Type), typ, 0) {
			may = false
			break
		}
	}
	u.mode, u.inBase = mode, inBase
	u.disown(pairs, noOwner) // those of nested look-ups stay
	return may
}

// mayBecome says whether x, a named struct or union, may get the id y. It may not if what was
// picked for it is older than y: then y was out of the question.
func (s finder) mayBecome(u *Unit, x, y uint32) bool {
	if x < idLocal {
		return x >= y
	}
	i := x &^ idLocal
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
