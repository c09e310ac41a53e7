package dedup

import (
	"encoding/binary"
	"math/bits"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/internal/workers"
)

// AddRef returns the id of a reference type with the given record (with name
// tokens, and ids of the Set as references), adding it if it is new. The names must have been interned. It is for
// types that come without a unit: functions and their prototypes.
func (s *Set) AddRef(w btf.Record) (uint32, error) {
	s.gate.lock()
	defer s.gate.unlock()
	return s.addRef(w)
}

// AddFunc adds a FUNC of the prototype with the record proto, and returns its id:
// AddRef for both, or if no other FUNC has the name, AddOwn for the FUNC.
func (s *Set) AddFunc(name Name, proto btf.Record, alone bool) (uint32, error) {
	s.gate.lock()
	defer s.gate.unlock()
	id, err := s.addRef(proto)
	if err != nil {
		return 0, err
	}
	w := [...]uint32{name, btf.Info(btf.KindFunc, 0, false), id}
	if alone {
		return s.index.types.addRecord(w[:])
	}
	return s.addRef(w[:])
}

func (s *Set) addRef(w btf.Record) (uint32, error) {
	if s.Raw {
		return s.index.types.addRecord(w)
	}
	var h uint32
	switch w.Kind() {
	case btf.KindPtr:
		if id := s.index.types.keys.S[w.Third()].ptrTo; id != 0 {
			return id, nil
		}
	case btf.KindConst:
		if id := s.index.types.keys.S[w.Third()].constTo; id != 0 {
			return id, nil
		}
	default:
		h = contentHash(w)
		if id := s.index.findRecord(w, h); id != idNew {
			return id, nil
		}
	}
	id, err := s.index.types.addRecord(w)
	if err != nil {
		return 0, err
	}
	switch w.Kind() {
	case btf.KindPtr:
		s.index.setPtrTo(w.Third(), id)
	case btf.KindConst:
		s.index.setConstTo(w.Third(), id)
	default:
		s.index.insert(id, h)
	}
	s.visited.Append(id)
	return id, nil
}

// AddOwn adds a type that is never merged with another: VAR, DATASEC, and FUNC
// where names are unique. For a DATASEC the entries are {VAR id, offset, size}.
func (s *Set) AddOwn(w btf.Record) (uint32, error) {
	s.gate.lock()
	defer s.gate.unlock()
	return s.index.types.addRecord(w)
}

// Forward leaves the type id out, which AddOwn has added: what refers to it refers to another type
// that AddOwn has added.
func (s *Set) Forward(id, to uint32) {
	s.gate.lock()
	defer s.gate.unlock()
	s.index.types.ids.S[id].fwd = to
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
		s.index.uniqueForwards()
		s.index.mergeRefs(s.visited.S)
	}
	n := &Numbering{set: s, newID: s.index.types.words.Another(), first: s.index.baseIDs + 1}
	n.newID.Resize(len(s.index.types.ids.S) - int(n.first))
	for id := n.first; id < uint32(len(s.index.types.ids.S)); id++ {
		if s.index.types.ids.S[id].fwd == id {
			n.newID.S[id-n.first] = n.first + uint32(n.Types)
			n.Types++
			n.TypeBytes += 4 * s.index.types.record(id).Len()
		}
	}
	for id := n.first; id < uint32(len(s.index.types.ids.S)); id++ {
		if s.index.types.ids.S[id].fwd != id {
			n.newID.S[id-n.first] = n.ID(s.index.types.Final(id))
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
func (s *index) uniqueForwards() {
	for _, f := range s.forwards.S {
		if s.types.ids.S[f].fwd != f {
			continue
		}
		w := s.types.record(f)
		e := s.entity(w.Name())
		k := entEnum
		if w.Kind() == btf.KindFwd {
			k = fwdAggregate(w.Info())
		}
		if b := s.baseForward(w.Name(), k); b != 0 {
			s.types.ids.S[f].fwd = s.types.Final(b) // mostly the base's, not resolved either
			continue
		}
		d, other := e.defs[k], e.defs[entStruct+entUnion-k]
		if d != 0 && s.types.keys.S[d].next == 0 && other == 0 {
			s.types.ids.S[f].fwd = d
		}
	}
}

// mergeRefs goes over the references, visited, in the order in which they were placed
// and merges those that have become equal because what they refer to has been
// forwarded. Referents come before referrers in that order.
func (s *index) mergeRefs(visited []uint32) {
	at := s.types.words.Another()
	defer at.Free()
	first := s.baseIDs + 1
	at.Resize(len(s.types.ids.S) - int(first)) // by id, from the first own one
	for i, id := range visited {
		at.S[id-first] = uint32(i)
	}
	for _, id := range visited {
		if s.types.ids.S[id].fwd != id {
			continue
		}
		w := s.types.record(id)
		w = w[:w.Len()]
		changed := false
		update := func(p *uint32) {
			if *p != 0 {
				if f := s.types.Final(*p); f != *p {
					*p = f
					changed = true
				}
			}
		}
		btf.EachRef(w, update)
		if !changed {
			continue
		}
		h, other := s.equalRef(id, w)
		if other != 0 && (other < first || at.S[other-first] < at.S[id-first]) {
			s.types.ids.S[id].fwd = other
			continue
		}
		if other != 0 {
			s.types.ids.S[other].fwd = id
		}
		switch w.Kind() {
		case btf.KindPtr:
			s.setPtrTo(w.Third(), id)
		case btf.KindConst:
			s.setConstTo(w.Third(), id)
		default:
			s.rehash(id, h)
		}
	}
}

// equalRef finds another reference with the record w, that of id as it has become;
// 0 if there is none. h is the hash of w, for the kinds that are found by theirs.
func (s *index) equalRef(id uint32, w btf.Record) (h, other uint32) {
	switch w.Kind() {
	case btf.KindPtr:
		other = s.types.keys.S[w.Third()].ptrTo
	case btf.KindConst:
		other = s.types.keys.S[w.Third()].constTo
	default:
		h = contentHash(w)
		for o := s.table.S[h&uint32(len(s.table.S)-1)]; o != 0; o = s.types.keys.S[o].next {
			if o != id && s.types.keys.S[o].hash&^unique == h && s.types.ids.S[o].fwd == o && equalWords(s.types.record(o), w) {
				return h, o
			}
		}
		other = s.baseFunc(w)
	}
	if other == id {
		other = 0
	}
	return h, other
}

// ID is the type id in the output of an id of the Set.
func (n *Numbering) ID(id uint32) uint32 {
	if id < n.first {
		if f := n.set.index.types.ids.S[id].fwd; f >= n.first {
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
	from, last := n.first, uint32(len(n.set.index.types.ids.S))
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

// cut returns the id at which the types from from on have taken want bytes, and
// how many bytes those before it take.
func (n *Numbering) cut(from uint32, want int) (to uint32, size int) {
	s := n.set
	for to = from; to < uint32(len(s.index.types.ids.S)) && size < want; to++ {
		if s.index.types.ids.S[to].fwd == to {
			size += 4 * s.index.types.record(to).Len()
		}
	}
	return to, size
}

// put fills dst with the types from id from to before id to. It does without
// btf.EachName and btf.EachRef: a call for each word would take longer.
func (n *Numbering) put(dst []byte, from, to uint32, bigEndian bool) {
	s := n.set
	var out btf.Record
	for id := from; id < to; id++ {
		if s.index.types.ids.S[id].fwd != id {
			continue
		}
		r := s.index.types.record(id)
		out = append(out[:0], r[:r.Len()]...)
		k, vlen, third := r.Kind(), r.Vlen(), r.Third()
		if btf.ThirdIsRef(k) {
			third = n.ID(third)
		}
		name, _ := s.strings.offset(r.Name())
		out.SetHead(name, r.Info(), third)
		stride, m := btf.NameWords(k, vlen)
		for e := out.Extra(); m > 0; m, e = m-1, e[stride:] {
			e[0], _ = s.strings.offset(e[0])
		}
		start, stride, m := btf.RefWords(k, vlen)
		for j := range m {
			w := &out[start+j*stride]
			*w = n.ID(*w)
		}
		for _, w := range out {
			if bigEndian {
				w = bits.ReverseBytes32(w)
			}
			binary.LittleEndian.PutUint32(dst, w)
			dst = dst[4:]
		}
	}
}
