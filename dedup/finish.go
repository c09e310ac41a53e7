package dedup

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/internal/workers"
)

// AddRef adds a type that no unit has, a function or its prototype, unless the Set has an
// equal one. It returns the id of either. The record w has name tokens, which must have
// been interned, and ids of the Set as references.
func (s *Set) AddRef(w btf.Record) (uint32, error) {
	s.gate.lock()
	defer s.gate.unlock()
	return s.addRef(w, contentHash(w))
}

// AddFunc adds a prototype and a FUNC of it, and returns the id of the FUNC. alone says that
// no other FUNC has this name, so AddFunc need not look for an equal one.
func (s *Set) AddFunc(name Name, proto btf.Record, alone bool) (uint32, error) {
	s.gate.lock()
	defer s.gate.unlock()
	id, err := s.addRef(proto, contentHash(proto))
	if err != nil {
		return 0, err
	}
	w := [...]uint32{name, btf.Info(btf.KindFunc, 0, false), id}
	if alone {
		return s.index.types.addRecord(w[:])
	}
	return s.addRef(w[:], contentHash(w[:]))
}

// AddLoneFunc is AddFunc for a FUNC that no type refers to, and whose name no other FUNC has. It
// gets no id, so it takes a third of the memory: in kernels, nearly all FUNCs are alone. hash is
// the prototype's RecordHash.
func (s *Set) AddLoneFunc(name Name, proto btf.Record, hash uint32) error {
	if s.Raw {
		_, err := s.AddFunc(name, proto, true)
		return err
	}
	s.gate.lock()
	defer s.gate.unlock()
	id, err := s.addRef(proto, hash)
	if err == nil {
		s.lone.Append(loneFunc{name, id, uint32(len(s.index.types.ids.S))})
	}
	return err
}

// loneFunc is a FUNC that AddLoneFunc has added. proto is the id of its prototype. In the output the
// FUNC directly precedes the type with the id before.
type loneFunc struct {
	name          Name
	proto, before uint32
}

// loneSize is the size in bytes of a FUNC in the output.
const loneSize = 4 * 3

// loneFrom returns the FUNCs that precede the type from or a later one.
func loneFrom(funcs []loneFunc, from uint32) []loneFunc {
	i, _ := slices.BinarySearchFunc(funcs, from, func(f loneFunc, id uint32) int { return cmp.Compare(f.before, id) })
	return funcs[i:]
}

// loneBefore returns how many of the FUNCs directly precede the type id.
func loneBefore(funcs []loneFunc, id uint32) (n int) {
	for n < len(funcs) && funcs[n].before == id {
		n++
	}
	return n
}

// addRef is AddRef for a caller that holds the gate. h is contentHash of w.
func (s *Set) addRef(w btf.Record, h uint32) (uint32, error) {
	if !s.Raw {
		if id := s.index.findRef(w, h); id != idNew {
			return id, nil
		}
	}
	id, err := s.index.types.addRecord(w)
	if s.Raw || err != nil {
		return id, err
	}
	if s.index.types.direct(w) != nil {
		s.index.setDirect(w, id)
	} else {
		s.index.insert(id, h)
	}
	s.placedRefs.Append(id)
	return id, nil
}

// findRef is findRecord for a reference of any kind. h is its contentHash.
func (ix *index) findRef(w btf.Record, h uint32) uint32 {
	switch at := ix.types.direct(w); {
	case at == nil:
		return ix.findRecord(w, h)
	case *at != 0:
		return *at
	}
	return idNew
}

// RecordHash hashes a prototype for AheadRecords and AddLoneFunc.
func RecordHash(proto btf.Record) uint32 { return contentHash(proto) }

// AheadRecords loads into the cache what AddLoneFunc reads to find prototypes with these hashes.
// To find one misses the cache three times; here the misses of up to aheadBlock overlap.
func AheadRecords(s *Set, hashes []uint32) {
	var ids [aheadBlock]uint32
	for len(hashes) > 0 {
		n := min(len(hashes), aheadBlock)
		table, mask := s.index.table.S, uint32(len(s.index.table.S)-1)
		for i, h := range hashes[:n] {
			ids[i] = table[h&mask]
		}
		hashes = hashes[n:]
		for _, id := range ids[:n] {
			s.index.touched.Read(s.index.types.keys.S[id].next)
		}
		for _, id := range ids[:n] {
			s.index.touched.Read(s.index.types.record(id)[0])
		}
	}
}

// AddOwn adds a type that is never merged with another: a VAR, a DATASEC, or a FUNC
// whose name is unique. The entries of a DATASEC are {VAR id, offset, size}.
func (s *Set) AddOwn(w btf.Record) (uint32, error) {
	s.gate.lock()
	defer s.gate.unlock()
	return s.index.types.addRecord(w)
}

// Forward drops the type id from the output: references to it lead to type to instead. AddOwn
// has added both.
func (s *Set) Forward(id, to uint32) {
	s.gate.lock()
	defer s.gate.unlock()
	s.index.types.ids.S[id].fwd = to
}

// Numbering is the result of Finish: the types that stay, and their type ids in
// the output. It reads the Set, which must live as long.
type Numbering struct {
	set       *Set
	newID     arena.Vec[uint32] // by id - first: type id in the output
	first     uint32            // the first id that is not the base's
	Types     int               // type records in the output
	TypeBytes int               // bytes of these records
}

// Finish decides where the remaining FWDs lead, merges references that become equal by
// that, and numbers the types that stay. Types of a base keep their type ids. Add
// nothing to the Set afterwards, except after Restart.
func (s *Set) Finish() *Numbering {
	if !s.Raw {
		s.index.uniqueForwards()
		s.index.mergeRefs(s.placedRefs.S)
	}
	n := &Numbering{set: s, newID: s.index.types.words.Another(), first: s.index.baseIDs + 1}
	n.newID.Resize(len(s.index.types.ids.S) - int(n.first))
	lone := s.lone.S
	for id := n.first; id < uint32(len(s.index.types.ids.S)); id++ {
		k := loneBefore(lone, id)
		n.Types, lone = n.Types+k, lone[k:]
		if s.index.types.ids.S[id].fwd == id {
			n.newID.S[id-n.first] = n.first + uint32(n.Types)
			n.Types++
			n.TypeBytes += 4 * s.index.types.record(id).Len()
		}
	}
	n.Types += len(lone)
	n.TypeBytes += loneSize * len(s.lone.S)
	for id := n.first; id < uint32(len(s.index.types.ids.S)); id++ {
		if s.index.types.ids.S[id].fwd != id {
			n.newID.S[id-n.first] = n.ID(s.index.types.Final(id))
		}
	}
	return n
}

// End returns the type id after the last one of the output.
func (num *Numbering) End() uint32 { return num.first + uint32(num.Types) }

// Free releases the numbering's memory.
func (num *Numbering) Free() { num.newID.Free() }

// uniqueForwards forwards each FWD that leads nowhere yet to the only definition of its name,
// if that is of the FWD's kind. The proxy of a base's FWD goes to where that leads.
func (ix *index) uniqueForwards() {
	for _, f := range ix.forwards.S {
		if ix.types.ids.S[f].fwd != f {
			continue
		}
		w := ix.types.record(f)
		e := ix.entity(w.Name())
		k := entEnum
		if w.Kind() == btf.KindFwd {
			k = fwdAggregate(w.Info())
		}
		if b := ix.baseForward(w.Name(), k); b != 0 {
			ix.types.ids.S[f].fwd = ix.types.Final(b) // mostly b itself
			continue
		}
		d, other := e.defs[k], e.defs[entStruct+entUnion-k]
		if d != 0 && ix.types.keys.S[d].next == 0 && other == 0 {
			ix.types.ids.S[f].fwd = d
		}
	}
}

// mergeRefs merges references that have become equal because their targets were
// forwarded. placed lists the ids of all references in the order in which they were placed,
// so a target precedes the references to it.
func (ix *index) mergeRefs(placed []uint32) {
	at := ix.types.words.Another()
	defer at.Free()
	first := ix.baseIDs + 1
	at.Resize(len(ix.types.ids.S) - int(first)) // by id, from the first own one
	for i, id := range placed {
		at.S[id-first] = uint32(i)
	}
	for _, id := range placed {
		if ix.types.ids.S[id].fwd != id {
			continue
		}
		w := ix.types.record(id)
		w = w[:w.Len()]
		changed := false
		update := func(p *uint32) {
			if *p != 0 {
				if f := ix.types.Final(*p); f != *p {
					*p = f
					changed = true
				}
			}
		}
		btf.EachRef(w, update)
		if !changed {
			continue
		}
		h, other := ix.equalRef(id, w)
		if other != 0 && (other < first || at.S[other-first] < at.S[id-first]) {
			ix.types.ids.S[id].fwd = other
			continue
		}
		if other != 0 {
			ix.types.ids.S[other].fwd = id
		}
		if ix.types.direct(w) != nil {
			ix.setDirect(w, id)
		} else {
			ix.rehash(id, h)
		}
	}
}

// equalRef returns another reference with the record w of id, 0 if there is none. h is
// the hash of w if the kind is in the table by content.
func (ix *index) equalRef(id uint32, w btf.Record) (h, other uint32) {
	if at := ix.types.direct(w); at != nil {
		other = *at
	} else {
		h = contentHash(w)
		for o := ix.table.S[h&uint32(len(ix.table.S)-1)]; o != 0; o = ix.types.keys.S[o].next {
			if o != id && ix.types.keys.S[o].hash&^unique == h && ix.types.ids.S[o].fwd == o && equalWords(ix.types.record(o), w) {
				return h, o
			}
		}
		other = ix.baseFunc(w)
	}
	if other == id {
		other = 0
	}
	return h, other
}

// ID returns the type id that an id of the Set has in the output.
func (num *Numbering) ID(id uint32) uint32 {
	if id < num.first {
		if f := num.set.index.types.ids.S[id].fwd; f >= num.first {
			return num.newID.S[f-num.first] // a FWD of the base that is forwarded for this output
		}
		return id
	}
	return num.newID.S[id-num.first]
}

// PutTypes writes the type section to dst, which has num.TypeBytes bytes. It uses at most
// jobs goroutines.
func (num *Numbering) PutTypes(dst []byte, bigEndian bool, jobs int) {
	type piece struct {
		dst      []byte
		from, to uint32
	}
	var pieces []piece
	from, last := num.first, uint32(len(num.set.index.types.ids.S))
	for k := min(jobs, len(dst)/minPiece); k > 1; k-- {
		to, size := num.cut(from, len(dst)/k)
		pieces = append(pieces, piece{dst[:size], from, to})
		dst, from = dst[size:], to
	}
	pieces = append(pieces, piece{dst, from, last})
	put := func(k int) {
		p := pieces[k]
		rest, lone := num.put(p.dst, p.from, p.to, bigEndian)
		if k == len(pieces)-1 { // FUNCs after the last type; the piece before may end there, too
			num.putLone(rest, lone, bigEndian)
		}
	}
	if len(pieces) == 1 {
		put(0)
		return
	}
	workers.Do(len(pieces), put)
}

// minPiece is how many bytes of types are worth another goroutine.
const minPiece = 256 << 10

// cut returns the id before which the types, beginning with from, take at least want
// bytes, and how many they take.
func (num *Numbering) cut(from uint32, want int) (to uint32, size int) {
	s, lone := num.set, loneFrom(num.set.lone.S, from)
	for to = from; to < uint32(len(s.index.types.ids.S)) && size < want; to++ {
		k := loneBefore(lone, to)
		size, lone = size+loneSize*k, lone[k:]
		if s.index.types.ids.S[to].fwd == to {
			size += 4 * s.index.types.record(to).Len()
		}
	}
	return to, size
}

// put writes the types from..to-1 to dst, and the FUNCs among them. It returns the rest of dst, and the
// FUNCs that come later. It does not use btf.EachName and btf.EachRef, which would call a function for
// each word.
func (num *Numbering) put(dst []byte, from, to uint32, bigEndian bool) (rest []byte, lone []loneFunc) {
	s := num.set
	lone = loneFrom(s.lone.S, from)
	var out btf.Record
	for id := from; id < to; id++ {
		n := loneBefore(lone, id)
		dst, lone = num.putLone(dst, lone[:n], bigEndian), lone[n:]
		if s.index.types.ids.S[id].fwd != id {
			continue
		}
		r := s.index.types.record(id)
		out = append(out[:0], r[:r.Len()]...)
		k, vlen, third := r.Kind(), r.Vlen(), r.Third()
		if btf.ThirdIsRef(k) {
			third = num.ID(third)
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
			*w = num.ID(*w)
		}
		dst = putWords(dst, out, bigEndian)
	}
	return dst, lone
}

// putLone writes FUNCs of AddLoneFunc, and returns the rest of dst.
func (num *Numbering) putLone(dst []byte, funcs []loneFunc, bigEndian bool) []byte {
	for _, f := range funcs {
		name, _ := num.set.strings.offset(f.name)
		w := [...]uint32{name, btf.Info(btf.KindFunc, 0, false), num.ID(f.proto)}
		dst = putWords(dst, w[:], bigEndian)
	}
	return dst
}

// putWords writes words, and returns the rest of dst.
func putWords(dst []byte, words []uint32, bigEndian bool) []byte {
	for _, w := range words {
		if bigEndian {
			w = bits.ReverseBytes32(w)
		}
		binary.LittleEndian.PutUint32(dst, w)
		dst = dst[4:]
	}
	return dst
}
