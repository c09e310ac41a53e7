package dedup

import (
	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
)

// finder finds out which types of the Set the nodes of a unit are.
type finder struct{ index *index }

// find looks node i up and stores what it found in u.ID.
//
// Guess is an id that it may turn out to be, or any other number. Units bring
// the types of a header in the same order, so what is found is mostly the id
// behind the one that was found last, or what stands in the same place of a
// record that fits. A guess is taken only if it is what the look-up would give:
// it saves the look-up, whose memory is mostly not in the cache, and decides
// nothing.
func (s finder) find(u *Unit, i uint32, depth int, guess uint32) uint32 {
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
			w, _ := s.guessed(guess, n)
			c = s.find(u, t, depth+1, w.Third())
		} else {
			c = s.ref(u, n.Third, depth, 0)
		}
		if c < MaxIDs {
			to := &s.index.types.keys.S[c]
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
	w, guess := s.guessed(guess, n)
	fits := w.Name() == n.Name && s.index.types.keys.S[guess].hash&unique != 0
	switch k {
	case btf.KindStruct, btf.KindUnion:
		if n.Name == 0 {
			u.ID.S[i] = idBusy
			id = s.findAnonymous(u, i, depth, guess, fits)
			break
		}
		if fits {
			id = guess
			break
		}
		if w.Name() == n.Name && w.Third() == n.Third && s.index.types.keys.S[guess].hash&likely != 0 {
			u.ambiguous.Append(i)
			id = guess // as choose would
			break
		}
		if e := s.index.entity(n.Name); e != nil {
			if d := e.defs[aggregate(n.Info)]; d != 0 {
				if id = d; s.index.types.keys.S[d].next != 0 {
					u.ambiguous.Append(i)
					u.ID.S[i] = idBusy
					id = s.choose(u, i, d)
				}
			}
		}
	case btf.KindFwd:
		if w.Name() == n.Name && s.index.base == nil {
			// The forward declaration of the name. If it leads to the only
			// definition, there is nothing else to know.
			if d := s.index.types.Final(guess); d != guess && s.index.types.keys.S[d].hash&unique != 0 {
				id = d
				break
			}
		}
		if e := s.index.entity(n.Name); e != nil {
			k := fwdAggregate(n.Info)
			if d := e.defs[k]; d != 0 && s.index.types.keys.S[d].next != 0 {
				u.ambiguous.Append(i)
			}
			if f := e.fwds[k]; f != 0 {
				id = s.index.types.Final(f)
			} else if f := s.index.baseForward(n.Name, k); f != 0 && s.index.types.ids.S[f].fwd != f {
				id = s.index.types.Final(f)
			}
		}
	case btf.KindTypedef:
		u.ID.S[i] = idBusy
		id = s.findTypedef(u, i, depth, guess, fits)
	case btf.KindInt:
		w := [4]uint32{n.Name, n.Info, n.Third, n.Aux}
		id = s.index.findRecord(w[:], contentHash(w[:]))
	case btf.KindFloat:
		w := [3]uint32{n.Name, n.Info, n.Third}
		id = s.index.findRecord(w[:], contentHash(w[:]))
	case btf.KindEnum, btf.KindEnum64:
		if fits && btf.InfoVlen(n.Info) != 0 && equalEnum(w, n, u.members(n)) {
			id = guess
			break
		}
		id = s.findEnum(u, n)
	case btf.KindVar, btf.KindDatasec:
		// Never merged with another.
	default:
		u.ID.S[i] = idBusy
		if guess == 0 {
			w = nil
		}
		if !s.findRefs(u, n, depth, w) {
			break
		}
		if c := u.content(n); c != nil {
			if fits && equalWords(w, c) {
				id = s.index.types.Final(guess)
				break
			}
			id = s.index.findRecord(c, contentHash(c))
		}
	}
	u.ID.S[i] = id
	return id
}

// guessed is the record of guess and guess itself, if that is an id of a type
// with the same kind, kind_flag and vlen as n, and else the record of void and 0.
func (s finder) guessed(guess uint32, n *Node) (btf.Record, uint32) {
	if uint(guess) < uint(len(s.index.types.ids.S)) {
		if w := s.index.types.record(guess); w.Info() == n.Info {
			return w, guess
		}
	}
	return s.index.types.record(0), 0
}

// ref is the id of what r refers to, or idNew; guess as for find.
func (s finder) ref(u *Unit, r Ref, depth int, guess uint32) uint32 {
	if r == 0 {
		return 0
	}
	if r&Extern != 0 {
		return r &^ Extern
	}
	id := u.ID.S[r-1]
	if id == 0 {
		return s.find(u, r-1, depth+1, guess)
	}
	if id == idBusy {
		u.loops = true
		return idNew // a recursive typedef, or an endless chain: placeRef tells
	}
	return id
}

// findRefs looks up what a reference node refers to; false if one of them is
// not in the Set. w is a record like n, or nil: its references are guesses.
func (s finder) findRefs(u *Unit, n *Node, depth int, w btf.Record) bool {
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
		ok := s.ref(u, n.Third, depth, elem) < MaxIDs
		return s.ref(u, n.First, depth, 0) < MaxIDs && ok
	case btf.KindFuncProto:
		ok := s.ref(u, n.Third, depth, third) < MaxIDs
		m := u.members(n)
		for j := range m {
			var guess uint32
			if w != nil {
				_, guess = w.Param(j)
			}
			ok = s.ref(u, m[j].Type, depth, guess) < MaxIDs && ok
		}
		return ok
	}
	return s.ref(u, n.Third, depth, third) < MaxIDs
}

// findEnum looks an enumeration up: one with values by its values, one
// without (a forward declaration) by its name.
func (s finder) findEnum(u *Unit, n *Node) uint32 {
	m := u.members(n)
	if n.Name == 0 {
		h := enumHash(n, m)
		for id := s.index.table.S[h&uint32(len(s.index.table.S)-1)]; id != 0; id = s.index.types.keys.S[id].next {
			if s.index.types.keys.S[id].hash&^unique == h && equalEnum(s.index.types.record(id), n, m) {
				return id
			}
		}
		return idNew
	}
	e := s.index.entity(n.Name)
	if e == nil {
		return idNew
	}
	if len(m) == 0 {
		// A forward declaration of whatever size: the one that is known,
		// which leads to the definition, or else the definition.
		if f := e.fwds[entEnum]; f != 0 {
			return f
		}
		if d := e.defs[entEnum]; d != 0 {
			return d
		}
		return idNew
	}
	for id := e.defs[entEnum]; id != 0 && s.mayTry(u); id = s.index.types.keys.S[id].next {
		if equalEnum(s.index.types.record(id), n, m) {
			return id
		}
	}
	return idNew
}

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
func (s finder) findTypedef(u *Unit, i uint32, depth int, guess uint32, fits bool) uint32 {
	n := &u.Nodes.S[i]
	w := s.index.types.record(guess)
	c := s.ref(u, n.Third, depth, w.Third())
	if fits && w.Third() == c && s.index.typedef(guess) != 0 {
		return guess
	}
	e := s.index.entity(n.Name)
	if e == nil {
		return idNew
	}
	for id := s.index.typedef(e.typedefs); id != 0 && s.mayTry(u); id = s.index.typedef(s.index.types.keys.S[id].next) {
		w := s.index.types.record(id)
		if w.Third() == c && w.Info() == n.Info {
			return id
		}
	}
	pairs, inBase := len(u.pairs.S), u.inBase
	found := uint32(idNew)
	for id := s.index.typedef(e.typedefs); id != 0; id = s.index.typedef(s.index.types.keys.S[id].next) {
		w := s.index.types.record(id)
		u.inBase = id <= s.index.baseIDs
		if w.Info() == n.Info && s.match(u, local(n.Third), w.Third(), 0) {
			u.own(pairs, i)
			found = id
			break
		}
		u.disown(pairs, i)
	}
	u.inBase = inBase
	return found
}

// Anonymous structs and unions are looked up by their shape.

// anonHash is the hash of anonymous struct or union i of the unit. What its
// members refer to does not count, but for the name that the last one's type has,
// because equal types have equal names: kernels have a thousand unions, of
// tracepoints, that differ in nothing else.
func (s finder) anonHash(u *Unit, i uint32, m []Member) uint32 {
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
			w := s.index.types.record(t &^ Extern)
			h = arena.Mix(h, cutName(w.Info(), w.Name()))
		default:
			o := &u.Nodes.S[t-1]
			h = arena.Mix(h, cutName(o.Info, o.Name))
		}
	}
	return uint32(h>>32)&^unique | inTable
}

// equalShape compares anonymous struct or union n with a record as anonHash does,
// but for names of types.
func equalShape(w btf.Record, n *Node, m []Member) bool {
	if w.Third() != n.Third {
		return false
	}
	for j := range m {
		if name, _, offset := w.Member(j); m[j].Name != name || m[j].Val != offset {
			return false
		}
	}
	return true
}

// findAnonymous tries the known structs of the same shape, newest first.
func (s finder) findAnonymous(u *Unit, i uint32, depth int, guess uint32, fits bool) uint32 {
	n := &u.Nodes.S[i]
	m := u.members(n)
	var w btf.Record
	if fits {
		w = s.index.types.record(guess)
	}
	for j := range m {
		if m[j].Type&Extern != 0 {
			continue
		}
		var typ uint32
		if fits {
			_, typ, _ = w.Member(j)
		}
		s.ref(u, m[j].Type, depth, typ)
	}
	if fits && equalShape(w, n, m) && s.proves(u, i, guess) {
		return guess
	}
	h := s.anonHash(u, i, m)
	if fits && s.index.types.keys.S[guess].hash&^unique == h {
		return idNew // there is no other one
	}
	for id := s.index.table.S[h&uint32(len(s.index.table.S)-1)]; id != 0; id = s.index.types.keys.S[id].next {
		if s.index.types.keys.S[id].hash&^unique == h && s.mayTry(u) && s.proves(u, i, id) {
			return id
		}
	}
	return idNew
}
