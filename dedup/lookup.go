package dedup

import (
	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
)

// lookup finds the nodes of units in the tables.
type lookup struct{ tables }

// find looks node i up and stores what it found in u.ID.
//
// Guess is an id that it may turn out to be, or any other number. Units bring
// the types of a header in the same order, so what is found is mostly the id
// behind the one that was found last, or what stands in the same place of a
// record that fits. A guess is taken only if it is what the look-up would give:
// it saves the look-up, whose memory is mostly not in the cache, and decides
// nothing.
func (s *lookup) find(u *Unit, i uint32, depth int, guess uint32) uint32 {
	if depth > maxChain {
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
			to := &s.keys.S[c]
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
	fits := w.Name() == n.Name && s.keys.S[guess].hash&unique != 0
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
		if w.Name() == n.Name && w.Third() == n.Third && s.keys.S[guess].hash&likely != 0 {
			u.ambiguous.Append(i)
			id = guess // as choose would
			break
		}
		if e := s.entity(n.Name); e != nil {
			if d := e.defs[aggregate(n.Info)]; d != 0 {
				if id = d; s.keys.S[d].next != 0 {
					u.ambiguous.Append(i)
					u.ID.S[i] = idBusy
					id = s.choose(u, i, d)
				}
			}
		}
	case btf.KindFwd:
		if w.Name() == n.Name && s.base == nil {
			// The forward declaration of the name. If it leads to the only
			// definition, there is nothing else to know.
			if d := s.Final(guess); d != guess && s.keys.S[d].hash&unique != 0 {
				id = d
				break
			}
		}
		if e := s.entity(n.Name); e != nil {
			k := fwdAggregate(n.Info)
			if d := e.defs[k]; d != 0 && s.keys.S[d].next != 0 {
				u.ambiguous.Append(i)
			}
			if f := e.fwds[k]; f != 0 {
				id = s.Final(f)
			} else if f := s.baseForward(n.Name, k); f != 0 && s.ids.S[f].fwd != f {
				id = s.Final(f)
			}
		}
	case btf.KindTypedef:
		u.ID.S[i] = idBusy
		id = s.findTypedef(u, i, depth, guess, fits)
	case btf.KindInt:
		w := [4]uint32{n.Name, n.Info, n.Third, n.Aux}
		id = s.findRecord(w[:], contentHash(w[:]))
	case btf.KindFloat:
		w := [3]uint32{n.Name, n.Info, n.Third}
		id = s.findRecord(w[:], contentHash(w[:]))
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
				id = s.Final(guess)
				break
			}
			id = s.findRecord(c, contentHash(c))
		}
	}
	u.ID.S[i] = id
	return id
}

// guessed is the record of guess and guess itself, if that is an id of a type
// with the same kind, kind_flag and vlen as n, and else the record of void and 0.
func (s *lookup) guessed(guess uint32, n *Node) (btf.Record, uint32) {
	if uint(guess) < uint(len(s.ids.S)) {
		if w := s.record(guess); w.Info() == n.Info {
			return w, guess
		}
	}
	return s.record(0), 0
}

// ref is the id of what r refers to, or idNew; guess as for find.
func (s *lookup) ref(u *Unit, r Ref, depth int, guess uint32) uint32 {
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
func (s *lookup) findRefs(u *Unit, n *Node, depth int, w btf.Record) bool {
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
func (s *lookup) findEnum(u *Unit, n *Node) uint32 {
	m := u.members(n)
	if n.Name == 0 {
		h := enumHash(n, m)
		for id := s.table.S[h&uint32(len(s.table.S)-1)]; id != 0; id = s.keys.S[id].next {
			if s.keys.S[id].hash&^unique == h && equalEnum(s.record(id), n, m) {
				return id
			}
		}
		return idNew
	}
	e := s.entity(n.Name)
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
	for id := e.defs[entEnum]; id != 0; id = s.keys.S[id].next {
		if equalEnum(s.record(id), n, m) {
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
func (s *lookup) findTypedef(u *Unit, i uint32, depth int, guess uint32, fits bool) uint32 {
	n := &u.Nodes.S[i]
	w := s.record(guess)
	c := s.ref(u, n.Third, depth, w.Third())
	if fits && w.Third() == c && s.typedef(guess) != 0 {
		return guess
	}
	e := s.entity(n.Name)
	if e == nil {
		return idNew
	}
	for id := s.typedef(e.typedefs); id != 0; id = s.typedef(s.keys.S[id].next) {
		w := s.record(id)
		if w.Third() == c && w.Info() == n.Info {
			return id
		}
	}
	pairs, inBase := len(u.pairs.S), u.inBase
	found := uint32(idNew)
	for id := s.typedef(e.typedefs); id != 0; id = s.typedef(s.keys.S[id].next) {
		w := s.record(id)
		u.inBase = id <= s.baseIDs
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
