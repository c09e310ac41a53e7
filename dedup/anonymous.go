package dedup

import (
	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
)

// Anonymous structs and unions are looked up by their shape.

// anonHash is the hash of an anonymous struct or union of the unit. What its
// members refer to does not count, but for the name that the last one's type has,
// because equal types have equal names: kernels have a thousand unions, of
// tracepoints, that differ in nothing else.
func (s *lookup) anonHash(u *Unit, n *Node, m []Member) uint32 {
	h := arena.Mix(arena.Mix(0, n.Info), n.Third)
	for i := range m {
		h = arena.Mix(arena.Mix(h, m[i].Name), m[i].Val)
	}
	if len(m) > 0 {
		switch t := m[len(m)-1].Type; {
		case t == 0:
		case t&Extern != 0:
			w := s.record(t &^ Extern)
			h = arena.Mix(h, cutName(w.Info(), w.Name()))
		default:
			o := &u.Nodes.S[t-1]
			h = arena.Mix(h, cutName(o.Info, o.Name))
		}
	}
	return uint32(h>>32)&^unique | inTable
}

// cutName is the name of a type of kinds that anonHash knows to have one.
func cutName(info uint32, name Name) Name {
	switch btf.InfoKind(info) {
	case btf.KindStruct, btf.KindUnion, btf.KindFwd, btf.KindTypedef:
		return name
	}
	return 0
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
func (s *lookup) findAnonymous(u *Unit, i uint32, depth int, guess uint32, fits bool) uint32 {
	n := &u.Nodes.S[i]
	m := u.members(n)
	var w btf.Record
	if fits {
		w = s.record(guess)
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
	h := s.anonHash(u, n, m)
	if fits && s.keys.S[guess].hash&^unique == h {
		return idNew // there is no other one
	}
	for id := s.table.S[h&uint32(len(s.table.S)-1)]; id != 0; id = s.keys.S[id].next {
		if s.keys.S[id].hash&^unique == h && s.proves(u, i, id) {
			return id
		}
	}
	return idNew
}
