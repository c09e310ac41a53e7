package dedup

import (
	"encoding/binary"
	"math/bits"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/internal/workers"
)

// AddRef returns the id of a reference type with the given record (info, name
// token, third word and the kind's extra words; references are ids of the
// Set), adding it if it is new. The names must have been interned. It is for
// types that come without a unit: functions and their prototypes.
func (s *Set) AddRef(w []uint32) (uint32, error) {
	s.gate.lock()
	defer s.gate.unlock()
	return s.addRef(w)
}

// AddFunc adds a FUNC of the prototype with the record proto, and returns its id:
// AddRef for both, or if no other FUNC has the name, AddOwn for the FUNC.
func (s *Set) AddFunc(name Name, proto []uint32, alone bool) (uint32, error) {
	s.gate.lock()
	defer s.gate.unlock()
	id, err := s.addRef(proto)
	if err != nil {
		return 0, err
	}
	w := [...]uint32{btf.Info(btf.KindFunc, 0, false), name, id}
	if alone {
		return s.addRecord(w[:])
	}
	return s.addRef(w[:])
}

func (s *Set) addRef(w []uint32) (uint32, error) {
	if s.Raw {
		return s.addRecord(w)
	}
	var h uint32
	switch btf.InfoKind(w[0]) {
	case btf.KindPtr:
		if id := s.keys.S[w[2]].ptrTo; id != 0 {
			return id, nil
		}
	case btf.KindConst:
		if id := s.keys.S[w[2]].constTo; id != 0 {
			return id, nil
		}
	default:
		h = contentHash(w)
		if id := s.findRecord(w, h); id != idNew {
			return id, nil
		}
	}
	id, err := s.addRecord(w)
	if err != nil {
		return 0, err
	}
	switch btf.InfoKind(w[0]) {
	case btf.KindPtr:
		s.setPtrTo(w[2], id)
	case btf.KindConst:
		s.setConstTo(w[2], id)
	default:
		s.insert(id, h)
	}
	s.visited.Append(id)
	return id, nil
}

// AddOwn adds a type that is never merged with another: VAR, DATASEC, and FUNC
// where names are unique. For a DATASEC the entries are {VAR id, offset, size}.
func (s *Set) AddOwn(w []uint32) (uint32, error) {
	s.gate.lock()
	defer s.gate.unlock()
	return s.addRecord(w)
}

// Numbering is the outcome of Finish: which types stay and what their type
// ids in the output are.
type Numbering struct {
	set       *Set
	newID     arena.Vec[uint32] // by id, from the first own one: type id in the output
	first     uint32            // first own id
	Types     int               // type records in the output
	TypeBytes int
}

// Finish settles forward declarations and the merges that follow, and numbers
// the types that stay; those of a base keep their type ids. Nothing may be
// added to the Set afterwards, but see Restart.
func (s *Set) Finish() *Numbering {
	if !s.Raw {
		s.uniqueForwards()
		s.mergeRefs()
	}
	n := &Numbering{set: s, newID: s.words.Another(), first: s.baseIDs + 1}
	n.newID.Resize(len(s.ids.S) - int(n.first))
	for id := n.first; id < uint32(len(s.ids.S)); id++ {
		if s.ids.S[id].fwd == id {
			n.newID.S[id-n.first] = n.first + uint32(n.Types)
			n.Types++
			info := s.record(id)[0]
			n.TypeBytes += 4 * (3 + btf.ExtraWords(btf.InfoKind(info), btf.InfoVlen(info)))
		}
	}
	for id := n.first; id < uint32(len(s.ids.S)); id++ {
		if s.ids.S[id].fwd != id {
			n.newID.S[id-n.first] = n.ID(s.Final(id))
		}
	}
	return n
}

// End is the first type id behind those of the output.
func (n *Numbering) End() uint32 { return n.first + uint32(n.Types) }

// Free gives the numbering's memory back.
func (n *Numbering) Free() { n.newID.Free() }

// uniqueForwards resolves each forward declaration left whose name has exactly
// one struct or union, and one of the right kind.
func (s *Set) uniqueForwards() {
	for _, f := range s.forwards.S {
		if s.ids.S[f].fwd != f {
			continue
		}
		w := s.record(f)
		e := s.entity(w[1])
		k := entEnum
		if btf.InfoKind(w[0]) == btf.KindFwd {
			k = fwdAggregate(w[0])
		}
		if b := s.baseForward(w[1], k); b != 0 {
			s.ids.S[f].fwd = s.Final(b) // mostly the base's, not resolved either
			continue
		}
		d, other := e.defs[k], e.defs[entStruct+entUnion-k]
		if d != 0 && s.keys.S[d].next == 0 && other == 0 {
			s.ids.S[f].fwd = d
		}
	}
}

// mergeRefs goes over the references in the order in which they were placed
// and merges those that have become equal because what they refer to has been
// forwarded. Referents come before referrers in that order.
func (s *Set) mergeRefs() {
	at := s.words.Another()
	defer at.Free()
	first := s.baseIDs + 1
	at.Resize(len(s.ids.S) - int(first)) // by id, from the first own one
	for i, id := range s.visited.S {
		at.S[id-first] = uint32(i)
	}
	for _, id := range s.visited.S {
		if s.ids.S[id].fwd != id {
			continue
		}
		w := s.record(id)
		k := btf.InfoKind(w[0])
		vlen := btf.InfoVlen(w[0])
		w = w[:3+btf.ExtraWords(k, vlen)]
		changed := false
		update := func(p *uint32) {
			if *p != 0 {
				if f := s.Final(*p); f != *p {
					*p = f
					changed = true
				}
			}
		}
		switch k {
		case btf.KindArray:
			update(&w[3])
			update(&w[4])
		case btf.KindFuncProto:
			update(&w[2])
			for j := range int(vlen) {
				update(&w[4+2*j])
			}
		default:
			update(&w[2])
		}
		if !changed {
			continue
		}
		var h, other uint32
		switch k {
		case btf.KindPtr:
			other = s.keys.S[w[2]].ptrTo
		case btf.KindConst:
			other = s.keys.S[w[2]].constTo
		default:
			h = contentHash(w)
			for o := s.table.S[h&uint32(len(s.table.S)-1)]; o != 0; o = s.keys.S[o].next {
				if o != id && s.keys.S[o].hash&^lone == h && s.ids.S[o].fwd == o && equalWords(s.record(o), w) {
					other = o
					break
				}
			}
			if other == 0 {
				other = s.baseFunc(w)
			}
		}
		if other == id {
			other = 0
		}
		if other != 0 && (other < first || at.S[other-first] < at.S[id-first]) {
			s.ids.S[id].fwd = other
			continue
		}
		if other != 0 {
			s.ids.S[other].fwd = id
		}
		switch k {
		case btf.KindPtr:
			s.setPtrTo(w[2], id)
		case btf.KindConst:
			s.setConstTo(w[2], id)
		default:
			s.rehash(id, h)
		}
	}
}

// ID is the type id in the output of an id of the Set.
func (n *Numbering) ID(id uint32) uint32 {
	if id < n.first {
		if f := n.set.ids.S[id].fwd; f >= n.first {
			return n.newID.S[f-n.first] // a forward of the base, for now
		}
		return id
	}
	return n.newID.S[id-n.first]
}

// PutTypes fills dst, of n.TypeBytes bytes, with the type section. It uses up
// to jobs goroutines.
func (n *Numbering) PutTypes(dst []byte, bigEndian bool, jobs int) {
	type piece struct {
		dst      []byte
		from, to uint32
	}
	var pieces []piece
	from, last := n.first, uint32(len(n.set.ids.S))
	for k := min(jobs, len(dst)/minPiece); k > 1; k-- {
		to, size := n.cut(from, len(dst)/k)
		pieces = append(pieces, piece{dst[:size], from, to})
		dst, from = dst[size:], to
	}
	if len(pieces) == 0 {
		n.put(dst, from, last, bigEndian)
		return
	}
	pieces = append(pieces, piece{dst, from, last})
	workers.Do(len(pieces), func(k int) { n.put(pieces[k].dst, pieces[k].from, pieces[k].to, bigEndian) })
}

// minPiece is for how many bytes of types a goroutine more pays.
const minPiece = 256 << 10

// recordLen is the number of words of a record, of which r is the first.
func recordLen(r []uint32) int {
	return 3 + btf.ExtraWords(btf.InfoKind(r[0]), btf.InfoVlen(r[0]))
}

// cut returns the id at which the types from from on have taken want bytes, and
// how many bytes those before it take.
func (n *Numbering) cut(from uint32, want int) (to uint32, size int) {
	s := n.set
	for to = from; to < uint32(len(s.ids.S)) && size < want; to++ {
		if s.ids.S[to].fwd == to {
			size += 4 * recordLen(s.record(to))
		}
	}
	return to, size
}

// put fills dst with the types from id from to before id to.
func (n *Numbering) put(dst []byte, from, to uint32, bigEndian bool) {
	s := n.set
	put := func(x uint32) {
		if bigEndian {
			x = bits.ReverseBytes32(x)
		}
		binary.LittleEndian.PutUint32(dst, x)
		dst = dst[4:]
	}
	for id := from; id < to; id++ {
		if s.ids.S[id].fwd != id {
			continue
		}
		r := s.record(id)
		r = r[:recordLen(r)]
		info := r[0]
		k, vlen := btf.InfoKind(info), int(btf.InfoVlen(info))
		name, _ := s.strings.offset(r[1])
		put(name)
		put(info)
		third := r[2]
		switch k {
		case btf.KindPtr, btf.KindConst, btf.KindVolatile, btf.KindRestrict, btf.KindTypedef, btf.KindTypeTag,
			btf.KindFunc, btf.KindFuncProto, btf.KindVar, btf.KindDeclTag:
			third = n.ID(third)
		}
		put(third)
		switch r = r[3:]; k {
		case btf.KindArray:
			put(n.ID(r[0]))
			put(n.ID(r[1]))
			put(r[2])
		case btf.KindStruct, btf.KindUnion:
			for ; vlen > 0; vlen-- {
				name, _ := s.strings.offset(r[0])
				put(name)
				put(n.ID(r[1]))
				put(r[2])
				r = r[3:]
			}
		case btf.KindEnum:
			for ; vlen > 0; vlen-- {
				name, _ := s.strings.offset(r[0])
				put(name)
				put(r[1])
				r = r[2:]
			}
		case btf.KindEnum64:
			for ; vlen > 0; vlen-- {
				name, _ := s.strings.offset(r[0])
				put(name)
				put(r[1])
				put(r[2])
				r = r[3:]
			}
		case btf.KindFuncProto:
			for ; vlen > 0; vlen-- {
				name, _ := s.strings.offset(r[0])
				put(name)
				put(n.ID(r[1]))
				r = r[2:]
			}
		case btf.KindDatasec:
			for ; vlen > 0; vlen-- {
				put(n.ID(r[0]))
				put(r[1])
				put(r[2])
				r = r[3:]
			}
		default:
			for _, x := range r {
				put(x)
			}
		}
	}
}
