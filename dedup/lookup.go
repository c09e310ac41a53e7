package dedup

import (
	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
)

// finder looks up the nodes of a unit in the Set.
type finder struct{ index *index }

// find looks up node i and stores its id, or idNew, in u.ID.
//
// guess is an id that the node may have, or any other number. Units bring the
// types of a header in the same order, so the id after the last one found is
// mostly right, or the id in the same place of a record that fits. find takes a
// guess only if the look-up would give the same id. So a guess decides nothing,
// but saves the look-up, which mostly misses the cache.
//
// depth is how deeply find calls itself.
func (f finder) find(u *Unit, i uint32, depth int, guess uint32) uint32 {
	if depth > maxChain && (u.shapes == nil || depth > maxShaped) {
		u.err = ErrChain
		return idNew
	}
	n := &u.Nodes.S[i]
	id := uint32(idNew)
	k := btf.InfoKind(n.Info)
	if k == btf.KindPtr || k == btf.KindConst {
		u.ID.S[i] = idBusy
		var c uint32
		if t := n.Third - 1; uint(t) < uint(len(u.ID.S)) && u.ID.S[t] == 0 {
			w, _ := f.guessed(guess, n)
			c = f.find(u, t, depth+1, w.Third())
		} else {
			c = f.ref(u, n.Third, depth, 0)
		}
		if c < MaxIDs {
			to := &f.index.types.keys.S[c]
			id = to.ptrTo
			if k == btf.KindConst {
				id = to.constTo
			}
			if id == 0 {
				id = idNew
			}
		}
		u.ID.S[i] = id
		return id
	}
	w, guess := f.guessed(guess, n)
	fits := w.Name() == n.Name && f.index.types.keys.S[guess].hash&unique != 0
	switch k {
	case btf.KindStruct, btf.KindUnion:
		if n.Name == 0 {
			u.ID.S[i] = idBusy
			id = f.findAnonymous(u, i, depth, guess, fits)
			break
		}
		if fits {
			id = guess
			break
		}
		if w.Name() == n.Name && w.Third() == n.Third && f.index.types.keys.S[guess].hash&likely != 0 {
			u.ambiguous.Append(i)
			id = guess // as choose would
			break
		}
		if e := f.index.entity(n.Name); e != nil {
			if d := e.defs[aggregate(n.Info)]; d != 0 {
				if id = d; f.index.types.keys.S[d].next != 0 {
					u.ambiguous.Append(i)
					u.ID.S[i] = idBusy
					id = f.choose(u, i, d)
				}
			}
		}
	case btf.KindFwd:
		if w.Name() == n.Name && f.index.base == nil {
			// guess is the FWD of this name. If it leads to the only
			// definition, that is the answer.
			if d := f.index.types.Final(guess); d != guess && f.index.types.keys.S[d].hash&unique != 0 {
				id = d
				break
			}
		}
		if e := f.index.entity(n.Name); e != nil {
			k := fwdAggregate(n.Info)
			if d := e.defs[k]; d != 0 && f.index.types.keys.S[d].next != 0 {
				u.ambiguous.Append(i)
			}
			if fwd := e.fwds[k]; fwd != 0 {
				id = f.index.types.Final(fwd)
			} else if fwd := f.index.baseForward(n.Name, k); fwd != 0 && f.index.types.ids.S[fwd].fwd != fwd {
				id = f.index.types.Final(fwd)
			}
		}
	case btf.KindTypedef:
		u.ID.S[i] = idBusy
		id = f.findTypedef(u, i, depth, guess, fits)
	case btf.KindInt:
		w := [4]uint32{n.Name, n.Info, n.Third, n.Aux}
		id = f.index.findRecord(w[:], contentHash(w[:]))
	case btf.KindFloat:
		w := [3]uint32{n.Name, n.Info, n.Third}
		id = f.index.findRecord(w[:], contentHash(w[:]))
	case btf.KindEnum, btf.KindEnum64:
		if fits && btf.InfoVlen(n.Info) != 0 && equalEnum(w, n, u.members(n)) {
			id = guess
			break
		}
		id = f.findEnum(u, i)
	case btf.KindVar, btf.KindDatasec:
		// Never merged with another.
	default:
		u.ID.S[i] = idBusy
		if guess == 0 {
			w = nil
		}
		if !f.findRefs(u, n, depth, w) {
			break
		}
		c := u.content(u.scratch[:0], n)
		u.scratch = c
		if fits && equalWords(w, c) {
			id = f.index.types.Final(guess)
			break
		}
		id = f.index.findRecord(c, contentHash(c))
	}
	u.ID.S[i] = id
	return id
}

// guessed returns the record of guess, and guess, if that is the id of a type with
// the kind, kind_flag and vlen of n. Otherwise it returns the record of void, and 0.
func (f finder) guessed(guess uint32, n *Node) (btf.Record, uint32) {
	if uint(guess) < uint(len(f.index.types.ids.S)) {
		if w := f.index.types.record(guess); w.Info() == n.Info {
			return w, guess
		}
	}
	return f.index.types.record(0), 0
}

// ref returns the id of the type that r refers to, or idNew. For guess, see find.
func (f finder) ref(u *Unit, r Ref, depth int, guess uint32) uint32 {
	if r == 0 {
		return 0
	}
	if r&Extern != 0 {
		return r &^ Extern
	}
	id := u.ID.S[r-1]
	if id == 0 {
		return f.find(u, r-1, depth+1, guess)
	}
	if id == idBusy {
		u.loops = true
		return idNew // a recursive typedef, or an endless chain: placeRef finds out
	}
	return id
}

// findRefs looks up the types that node n refers to. It reports false if one of them
// is not in the Set. w is a record like n, whose references are guesses, or nil.
func (f finder) findRefs(u *Unit, n *Node, depth int, w btf.Record) bool {
	var third, elem uint32
	k := btf.InfoKind(n.Info)
	if w != nil {
		third = w.Third()
	}
	if w != nil && k == btf.KindArray {
		elem, _, _ = w.Array()
	}
	switch k {
	case btf.KindArray:
		ok := f.ref(u, n.Third, depth, elem) < MaxIDs
		return f.ref(u, n.First, depth, 0) < MaxIDs && ok
	case btf.KindFuncProto:
		ok := f.ref(u, n.Third, depth, third) < MaxIDs
		m := u.members(n)
		for j := range m {
			var guess uint32
			if w != nil {
				_, guess = w.Param(j)
			}
			ok = f.ref(u, m[j].Type, depth, guess) < MaxIDs && ok
		}
		return ok
	}
	return f.ref(u, n.Third, depth, third) < MaxIDs
}

// findEnum looks up an enumeration: with values by name and values, without (a
// forward declaration) by name.
func (f finder) findEnum(u *Unit, i uint32) uint32 {
	n := &u.Nodes.S[i]
	m := u.members(n)
	if n.Name == 0 {
		h := enumHash(n, m)
		for id := f.index.table.S[h&uint32(len(f.index.table.S)-1)]; id != 0; id = f.index.types.keys.S[id].next {
			if f.index.types.keys.S[id].hash&^unique == h && equalEnum(f.index.types.record(id), n, m) {
				return id
			}
		}
		return idNew
	}
	e := f.index.entity(n.Name)
	if e == nil {
		return idNew
	}
	if len(m) == 0 {
		// A forward declaration, of any size. A known one leads to the
		// definition; without it, take the definition itself.
		if fwd := e.fwds[entEnum]; fwd != 0 {
			return fwd
		}
		if d := e.defs[entEnum]; d != 0 {
			return d
		}
		return idNew
	}
	for s := (search{id: e.defs[entEnum], node: i, key: famKey(entEnum, n.Name)}); s.id != 0 && f.mayTry(u); f.next(u, &s) {
		if equalEnum(f.index.types.record(s.id), n, m) {
			return s.id
		}
	}
	return idNew
}

// enumHash hashes enumeration n, whose values are m: it is contentHash of its record.
func enumHash(n *Node, m []Member) uint32 {
	h := arena.Mix(arena.Mix(arena.Mix(0, n.Info), n.Name), n.Third)
	wide := btf.InfoKind(n.Info) == btf.KindEnum64
	for i := range m {
		h = arena.Mix(arena.Mix(h, m[i].Name), m[i].Type)
		if wide {
			h = arena.Mix(h, m[i].Val)
		}
	}
	return uint32(h>>32)&^unique | inTable
}

// findTypedef tries the known typedefs of the name, newest first.
func (f finder) findTypedef(u *Unit, i uint32, depth int, guess uint32, fits bool) uint32 {
	n := &u.Nodes.S[i]
	w := f.index.types.record(guess)
	c := f.ref(u, n.Third, depth, w.Third())
	if fits && w.Third() == c && f.index.typedef(guess) != 0 {
		return guess
	}
	e := f.index.entity(n.Name)
	if e == nil {
		return idNew
	}
	first := search{id: e.typedefs, node: i, key: famKey(famTypedef, n.Name)}
	for s := first; f.index.typedef(s.id) != 0 && f.mayTry(u); f.next(u, &s) {
		w := f.index.types.record(s.id)
		if w.Third() == c && w.Info() == n.Info {
			return s.id
		}
	}
	pairs, inBase, unsure := len(u.pairs.S), u.rules.inBase, u.rules.unsure
	found := uint32(idNew)
	for s := first; f.index.typedef(s.id) != 0; f.next(u, &s) {
		w := f.index.types.record(s.id)
		u.rules.inBase, u.rules.unsure = s.id <= f.index.baseIDs, false
		if w.Info() == n.Info && f.match(u, local(n.Third), w.Third(), 0) {
			u.own(pairs, i)
			u.needsWalk = u.needsWalk || u.rules.unsure
			found = s.id
			break
		}
		u.disown(pairs, i)
	}
	u.rules.inBase, u.rules.unsure = inBase, unsure
	return found
}

// Anonymous structs and unions are looked up by their shape.

// anonHash hashes the struct or union i of the unit, which has no name: its size, and the
// names and offsets of its members m. Of the members' types it covers only the name of the
// last one (cutName), because the thousand unions of a kernel's tracepoints differ in nothing
// else.
func (f finder) anonHash(u *Unit, i uint32, m []Member) uint32 {
	if u.shapes != nil {
		return u.shapes[i] | inTable
	}
	n := &u.Nodes.S[i]
	h := arena.Mix(arena.Mix(0, n.Info), n.Third)
	for i := range m {
		h = arena.Mix(arena.Mix(h, m[i].Name), m[i].Val)
	}
	if len(m) > 0 {
		switch t := m[len(m)-1].Type; {
		case t == 0:
		case t&Extern != 0:
			w := f.index.types.record(t &^ Extern)
			h = arena.Mix(h, cutName(w.Info(), w.Name()))
		default:
			o := &u.Nodes.S[t-1]
			h = arena.Mix(h, cutName(o.Info, o.Name))
		}
	}
	return uint32(h>>32)&^unique | inTable
}

// findAnonymous tries the known structs of the same shape, newest first.
func (f finder) findAnonymous(u *Unit, i uint32, depth int, guess uint32, fits bool) uint32 {
	n := &u.Nodes.S[i]
	m := u.members(n)
	var w btf.Record
	if fits {
		w = f.index.types.record(guess)
	}
	for j := range m {
		if m[j].Type&Extern != 0 {
			continue
		}
		var typ uint32
		if fits {
			_, typ, _ = w.Member(j)
		}
		f.ref(u, m[j].Type, depth, typ)
	}
	if fits && f.proves(u, i, guess) {
		return guess
	}
	h := f.anonHash(u, i, m)
	if fits && f.index.types.keys.S[guess].hash&^unique == h {
		return idNew // guess is unique: no other type has this hash
	}
	for s := f.index.anonymous(i, h); s.id != 0; f.next(u, &s) {
		if f.index.types.keys.S[s.id].hash&^unique == h && f.mayTry(u) && f.proves(u, i, s.id) {
			return s.id
		}
	}
	return idNew
}

// anonymous begins a search for the struct or union i, without a name, whose anonHash is h.
func (ix *index) anonymous(i, h uint32) search {
	return search{id: ix.table.S[h&uint32(len(ix.table.S)-1)], node: i, key: famKey(famAnonymous, h)}
}
