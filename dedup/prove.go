package dedup

import "github.com/btflite/btflite/btf"

// proves reports whether struct or union i is equivalent to the type id of the Set. It compares
// member by member: names and offsets must be equal, and types must have the same id or match.
// This is the certificate of doc.go: no node gets an id whose content was not compared.
func (f finder) proves(u *Unit, i, id uint32) bool {
	n := &u.Nodes.S[i]
	w := f.index.types.record(id)
	if w.Info() != n.Info || w.Name() != n.Name || w.Third() != n.Third {
		return false
	}
	m := u.members(n)
	ids := u.ID.S
	pairs, inBase, unsure := len(u.pairs.S), u.rules.inBase, u.rules.unsure
	u.rules.inBase, u.rules.unsure = id <= f.index.baseIDs, false
	for j := range m {
		x := &m[j]
		name, typ, offset := w.Member(j)
		if x.Name != name || x.Val != offset {
			u.disown(pairs, i)
			u.rules.inBase, u.rules.unsure = inBase, unsure
			return false
		}
		if t := x.Type - 1; uint(t) < uint(len(ids)) {
			id := ids[t]
			if id == 0 {
				// The nested look-up may add pairs, too: own these first.
				u.own(pairs, i)
				id = f.find(u, t, 0, typ)
			}
			if id == typ || u.matched.S[x.Type-1] == typ && typ != 0 {
				continue
			}
		} else if x.Type&^Extern == typ {
			continue
		}
		before := len(u.pairs.S)
		if !f.match(u, local(x.Type), typ, 0) {
			u.disown(pairs, i)
			u.rules.inBase, u.rules.unsure = inBase, unsure
			return false
		}
		if x.Type != 0 && x.Type&Extern == 0 && len(u.pairs.S) == before && !u.rules.unsure {
			u.matched.S[x.Type-1] = typ
		}
	}
	u.own(pairs, i)
	u.needsWalk = u.needsWalk || u.rules.unsure
	u.rules.inBase, u.rules.unsure = inBase, unsure
	return true
}

// choose picks the definition that named struct or union i is compared with. d is
// the newest one of its name. libbpf would try all definitions, newest first. So
// choose returns the newest one that may be equivalent; one that differs above the
// next names cannot be. The caller still has to prove the choice.
//
// A node may be equivalent to several definitions, because FWDs match any of them.
// The first walk that reaches such a node, mostly from a struct around it, decides.
// So choose takes the definition that the last walk decided on (entity.likely) if
// only size and vlen agree: a wrong choice makes the proof fail. Over a base it does
// not: there both a type of the base and the module's copy of it may be proved, and
// the newest is right.
func (f finder) choose(u *Unit, i, d uint32) uint32 {
	n := &u.Nodes.S[i]
	if l := f.index.entity(n.Name).likely[aggregate(n.Info)]; l != 0 && f.index.base == nil {
		if w := f.index.types.record(l); w.Info() == n.Info && w.Third() == n.Third {
			return l
		}
	}
	key := famKey(aggregate(n.Info), n.Name)
	for s := (search{id: d, node: i, key: key}); s.id != 0; f.next(u, &s) {
		if f.index.types.keys.S[s.id].next == 0 || !f.mayTry(u) || f.mayBeEquivalent(u, idLocal|i, s.id, guess) {
			return s.id
		}
	}
	return f.oldest(key, d)
}

// mayBeEquivalent reports whether operand x may be equivalent to the type id of the Set: it
// compares down to the next names, in the mode guess or doubt. If it cannot know, it sets
// needsWalk.
func (f finder) mayBeEquivalent(u *Unit, x, id uint32, how mode) bool {
	unsure := u.rules.unsure
	u.rules.unsure = false
	may := f.mayBe(u, x, id, how)
	u.needsWalk = u.needsWalk || may && u.rules.unsure
	u.rules.unsure = unsure
	return may
}

// mayBe is mayBeEquivalent, but if it cannot know, it says so in u.rules.unsure.
func (f finder) mayBe(u *Unit, x, id uint32, how mode) bool {
	pairs, mode, inBase := len(u.pairs.S), u.rules.mode, u.rules.inBase
	u.rules.mode, u.rules.inBase = how, id <= f.index.baseIDs
	may := f.mayMatch(u, x, id)
	u.rules.mode, u.rules.inBase = mode, inBase
	u.disown(pairs, noOwner) // the pairs of nested look-ups stay
	return may
}

// mayMatch is mayBe in the mode of the unit. It compares two structs or unions by their members,
// because match would stop at their names.
func (f finder) mayMatch(u *Unit, x, id uint32) bool {
	var v, w typ
	v.read(f, u, x)
	w.read(f, u, id)
	switch k := btf.InfoKind(v.info); {
	case k != btf.KindStruct && k != btf.KindUnion:
		return f.match(u, x, id, 0)
	case v.info != w.info || v.third != w.third || !equalElements(&v, &w, 3):
		return false
	}
	return elementsInside(&v, &w, 3, func(x, y uint32) bool { return f.match(u, x, y, 0) })
}

// mayBecome reports whether x, a named struct or union, may get the id y. It may not if choose
// picked an older definition for x: then it has already rejected y.
//
// If x is a type of the Set, a type that u left out refers to it. The reader may only have assumed
// that reference, and choose is about to check it. The assumption must not prove itself, so mayBecome
// sets unsure if y would fit as well.
func (f finder) mayBecome(u *Unit, x, y uint32) bool {
	if x < idLocal {
		if x < y && f.mayBe(u, x, y, doubt) {
			u.rules.unsure = true
			return true
		}
		return x >= y
	}
	i := x &^ idLocal
	if u.isNewDef(i) {
		return false
	}
	id := u.ID.S[i]
	if id == 0 && u.rules.nested < maxNested {
		u.rules.nested++
		id = f.find(u, i, 0, y)
		u.rules.nested--
	}
	return id == 0 || id >= MaxIDs || id >= y
}

// maxNested bounds the depth of choose inside choose.
const maxNested = 64

// maxCuts is how many names match passes in the mode doubt, one behind another.
const maxCuts = 1
