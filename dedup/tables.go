package dedup

import (
	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
)

// index finds the types of the Set: by content, and by name.
type index struct {
	types store

	table   arena.Vec[uint32] // hash buckets: newest id, chained by next
	entered int               // ids in the table

	ents   arena.Vec[entity]
	entTab arena.Vec[uint32] // open addressing: 1 + index in ents

	// conflicts counts how often a name, or a shape of anonymous types, got
	// another definition; a Resolve that saw an older value is not trusted.
	conflicts uint32

	hazy hazySet // ids of types whose name has several definitions

	base     *baseState        // nil: no base
	baseIDs  uint32            // ids up to this one are type ids of the base; 0 without one
	forwards arena.Vec[uint32] // ids of FWDs, for the unique-name pass
}

// init makes the records and tables for about types types.
func (s *index) init(types int) {
	s.types.init()
	size := 1 << 10
	for size < types {
		size *= 2
	}
	s.table.Resize(size)
	s.entTab.Resize(1 << 12)
	s.ents.Append(entity{})
}

// free gives back the tables, but not the records.
func (s *index) free() {
	s.table.Free()
	s.ents.Free()
	s.entTab.Free()
	s.forwards.Free()
	if s.base != nil {
		s.base.funcTab.Free()
	}
}

// entity is what the Set knows of one name.
type entity struct {
	name     Name
	typedefs uint32    // newest TYPEDEF
	defs     [3]uint32 // newest STRUCT, UNION, ENUM with values
	likely   [2]uint32 // the STRUCT, UNION that a walk last decided on
	fwds     [3]uint32 // FWD struct, FWD union (not the base's), ENUM without values
}

// Bits of Set.hash beside those of the hash.
const (
	inTable = 1 << 31 // the id is in the table
	// unique says that a look-up which fits the id's record can give no other
	// id: no other type in the table has its hash, or no other definition, or
	// typedef, has its name. What may be found another way is not unique.
	unique = 1 << 30
	// likely says of a named struct or union, which is not in the table, that
	// it is its entity's likely one.
	likely = 1 << 29
)

// entity finds what is known of a name; nil if nothing.
func (s *index) entity(name Name) *entity {
	if k := s.entTab.S[s.entitySlot(name)]; k != 0 {
		return &s.ents.S[k]
	}
	return nil
}

// entitySlot is the slot of a name in entTab, or the one where it would go.
func (s *index) entitySlot(name Name) uint32 {
	mask := uint32(len(s.entTab.S) - 1)
	i := arena.Spread(name) & mask
	for {
		k := s.entTab.S[i]
		if k == 0 || s.ents.S[k].name == name {
			return i
		}
		i = (i + 1) & mask
	}
}

// addEntity is entity, adding an empty one if there is none.
func (s *index) addEntity(name Name) *entity {
	if e := s.entity(name); e != nil {
		return e
	}
	s.reserveEntities(len(s.ents.S))
	s.entTab.S[s.entitySlot(name)] = uint32(len(s.ents.S))
	s.ents.Append(entity{name: name})
	return &s.ents.S[len(s.ents.S)-1]
}

// reserveEntities makes the table of names large enough for n.
func (s *index) reserveEntities(n int) {
	size := len(s.entTab.S)
	for n*2 > size {
		size *= 2
	}
	if size == len(s.entTab.S) {
		return
	}
	s.entTab.Free()
	s.entTab.Resize(size)
	mask := uint32(size - 1)
	for k := 1; k < len(s.ents.S); k++ {
		i := arena.Spread(s.ents.S[k].name) & mask
		for s.entTab.S[i] != 0 {
			i = (i + 1) & mask
		}
		s.entTab.S[i] = uint32(k)
	}
}

// notUnique notes that another type has been entered beside id.
func (s *index) notUnique(id uint32) {
	if s.types.keys.S[id].hash&unique != 0 {
		s.types.keys.S[id].hash &^= unique
		if id <= s.baseIDs {
			s.base.lostUnique = append(s.base.lostUnique, id)
		}
	}
}

// enter makes id the newest of the definitions, or typedefs, whose chain
// starts at first.
func (s *index) enter(first *uint32, id uint32) {
	s.types.keys.S[id].next = *first
	if *first == 0 {
		s.types.keys.S[id].hash = unique
	} else {
		s.notUnique(*first)
	}
	*first = id
}

// rehash moves an id to the bucket of its new content.
func (s *index) rehash(id, h uint32) {
	mask := uint32(len(s.table.S) - 1)
	p := &s.table.S[s.types.keys.S[id].hash&mask]
	for *p != 0 && *p != id {
		p = &s.types.keys.S[*p].next
	}
	if *p == id {
		*p = s.types.keys.S[id].next
	}
	s.types.keys.S[id].hash = h
	b := h & mask
	s.types.keys.S[id].next = s.table.S[b]
	s.table.S[b] = id
}

// insert puts an id into the hash table, in front of its chain.
func (s *index) insert(id, h uint32) {
	if s.entered >= len(s.table.S) {
		n := len(s.table.S) * 2
		s.table.Free()
		s.table.Resize(n)
		mask := uint32(n - 1)
		// Ascending ids: the newest stays in front.
		for k := uint32(1); k < uint32(len(s.types.ids.S)); k++ {
			if s.types.keys.S[k].hash&inTable == 0 || k == id {
				continue
			}
			b := &s.table.S[s.types.keys.S[k].hash&mask]
			if k <= s.baseIDs && s.types.keys.S[k].hash&unique == 0 {
				s.insertAmong(b, k)
				continue
			}
			s.types.keys.S[k].next = *b
			*b = k
		}
	}
	b := h & uint32(len(s.table.S)-1)
	only := uint32(unique)
	for o := s.table.S[b]; o != 0; o = s.types.keys.S[o].next {
		if s.types.keys.S[o].hash&^unique == h {
			s.notUnique(o)
			only = 0
		}
	}
	s.types.keys.S[id].hash = h | only
	s.types.keys.S[id].next = s.table.S[b]
	s.table.S[b] = id
	s.entered++
}

// contentHash is the hash of a record whose references are settled; not for
// structs and unions, see anonHash.
func contentHash(w btf.Record) uint32 {
	info := w.Info()
	h := arena.Mix(arena.Mix(arena.Mix(0, info), w.Name()), w.Third())
	n := btf.InfoVlen(info)
	switch btf.InfoKind(info) {
	case btf.KindInt, btf.KindDeclTag:
		h = arena.Mix(h, w.Data())
	case btf.KindArray:
		elem, _, nelems := w.Array()
		h = arena.Mix(arena.Mix(h, elem), nelems)
	case btf.KindEnum:
		for _, x := range w.Extra()[:2*n] {
			h = arena.Mix(h, x)
		}
	case btf.KindFuncProto:
		for j := range int(n) {
			name, typ := w.Param(j)
			h = arena.Mix(h, uint64(name)<<32|uint64(typ))
		}
	case btf.KindEnum64:
		for _, x := range w.Extra()[:3*n] {
			h = arena.Mix(h, x)
		}
	}
	return uint32(h>>32)&^unique | inTable
}

// enterType enters a stored record into the look-up tables.
func (s *index) enterType(id uint32) {
	w := s.types.record(id)
	info, name := w.Info(), w.Name()
	k := btf.InfoKind(info)
	switch k {
	case btf.KindVar, btf.KindDatasec:
	case btf.KindPtr:
		s.setPtrTo(w.Third(), id)
	case btf.KindConst:
		s.setConstTo(w.Third(), id)
	case btf.KindStruct, btf.KindUnion:
		e := s.addEntity(name)
		d := &e.defs[aggregate(info)]
		if *d != 0 {
			s.conflicts++
			s.hazy.note(id, *d, e.fwds[aggregate(info)])
		}
		s.enter(d, id)
	case btf.KindTypedef:
		e := s.addEntity(name)
		if e.typedefs != 0 {
			s.conflicts++
		}
		s.enter(&e.typedefs, id)
	case btf.KindFwd:
		k := fwdAggregate(info)
		e := s.addEntity(name)
		e.fwds[k] = id
		if d := e.defs[k]; d != 0 && s.types.keys.S[d].next != 0 {
			s.hazy.note(id)
		}
		s.forwards.Append(id)
		if f := s.baseForward(name, k); f != 0 && s.types.ids.S[f].fwd != f {
			s.types.ids.S[id].fwd = s.types.Final(f)
		}
	case btf.KindEnum, btf.KindEnum64:
		if name == 0 {
			s.insert(id, contentHash(w))
			break
		}
		e := s.addEntity(name)
		if btf.InfoVlen(info) == 0 {
			e.fwds[entEnum] = id
			if s.baseForward(name, entEnum) != 0 {
				s.forwards.Append(id)
			}
			break
		}
		other := e.defs[entEnum] != 0
		s.enter(&e.defs[entEnum], id)
		for _, f := range [...]uint32{e.fwds[entEnum], s.baseForward(name, entEnum)} {
			if f != 0 {
				s.redirect(f, id) // the last definition wins
				other = true
			}
		}
		if other {
			s.conflicts++ // a forward declaration means another one now
		}
	default:
		s.insert(id, contentHash(w))
	}
}

// enterAnonymous is enterType for an anonymous struct or union. The types of its
// members may not be stored yet, so h is anonHash of its node.
func (s *index) enterAnonymous(id, h uint32) {
	for o := s.table.S[h&uint32(len(s.table.S)-1)]; o != 0; o = s.types.keys.S[o].next {
		if s.types.keys.S[o].hash&^unique == h {
			s.conflicts++
			break
		}
	}
	s.insert(id, h)
}

// anonRecordHash is anonHash of a record. The types of its members must be
// stored.
func (s *index) anonRecordHash(w btf.Record) uint32 {
	h := arena.Mix(arena.Mix(0, w.Info()), w.Third())
	last := uint32(0)
	for j := range int(w.Vlen()) {
		name, typ, offset := w.Member(j)
		h = arena.Mix(arena.Mix(h, name), offset)
		last = typ
	}
	if last != 0 {
		t := s.types.record(last)
		h = arena.Mix(h, cutName(t.Info(), t.Name()))
	}
	return uint32(h>>32)&^unique | inTable
}

// findRecord looks a record with settled references up in the table.
func (s *index) findRecord(w btf.Record, h uint32) uint32 {
	for id := s.table.S[h&uint32(len(s.table.S)-1)]; id != 0; id = s.types.keys.S[id].next {
		if s.types.keys.S[id].hash&^unique == h && equalWords(s.types.record(id), w) {
			return s.types.Final(id)
		}
	}
	if id := s.baseFunc(w); id != 0 {
		return id
	}
	return idNew
}

func equalWords(a, b []uint32) bool {
	if len(a) < len(b) {
		return false
	}
	a = a[:len(b)]
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// baseFunc is the FUNC of the base that has the record w; 0 if there is none. FUNCs are half of all types of a kernel and a module defines few of their
// names, so they are not in the table: the first call indexes them by name.
func (s *index) baseFunc(w btf.Record) uint32 {
	b := s.base
	if b == nil || b.funcs == 0 || w.Kind() != btf.KindFunc {
		return 0
	}
	b.funcsOnce.Do(s.indexFuncs)
	found := uint32(0)
	for id := b.funcTab.S[arena.Spread(w.Name())&uint32(len(b.funcTab.S)-1)]; id != 0; id = s.types.keys.S[id].next {
		if equalWords(s.types.record(id), w) {
			if found = id; !b.order.behind(id) {
				break
			}
		}
	}
	return found
}

// indexFuncs fills the table of baseFunc, which is chained by s.next.
func (s *index) indexFuncs() {
	b := s.base
	size := 1 << 10
	for size < b.funcs {
		size *= 2
	}
	b.funcTab.Resize(size)
	for id := uint32(1); id <= s.baseIDs; id++ {
		if w := s.types.record(id); w.Kind() == btf.KindFunc {
			first := &b.funcTab.S[arena.Spread(w.Name())&uint32(size-1)]
			s.types.keys.S[id].next = *first
			*first = id
		}
	}
}

// typedef is id, or 0 if units do not find that typedef.
func (s *index) typedef(id uint32) uint32 {
	if id <= s.baseIDs && s.base != nil && s.base.noTypedefs {
		return 0
	}
	return id
}

// baseForward is the forward declaration of the base that own forwards of the
// name and kind are proxies of; 0 if there is none.
func (s *index) baseForward(name Name, kind int) uint32 {
	if s.base == nil {
		return 0
	}
	return s.base.forward[forwardKey{name, kind}]
}

// setForward makes f lead to d. If f is a forward of the base, or a proxy of
// one, both do.
func (s *index) setForward(f, d uint32) {
	s.redirect(f, d)
	if s.base == nil {
		return
	}
	w := s.types.record(f)
	if w.Kind() != btf.KindFwd {
		return
	}
	e, k := s.entity(w.Name()), fwdAggregate(w.Info())
	if o := e.fwds[k]; o != 0 && o != f && s.types.ids.S[o].fwd == o {
		s.redirect(o, d)
	}
	if o := s.baseForward(w.Name(), k); o != 0 && o != f && s.types.ids.S[o].fwd == o {
		s.redirect(o, d)
	}
}

func (s *index) redirect(f, d uint32) {
	s.types.ids.S[f].fwd = d
	if f <= s.baseIDs {
		s.base.redirected = append(s.base.redirected, f)
	}
}

// setPtrTo and setConstTo enter id as the PTR to, or the CONST of, target.
func (s *index) setPtrTo(target, id uint32) {
	s.types.keys.S[target].ptrTo = id
	if s.base != nil && target <= s.baseIDs && id > s.baseIDs {
		s.base.pointed = append(s.base.pointed, target)
	}
}

func (s *index) setConstTo(target, id uint32) {
	s.types.keys.S[target].constTo = id
	if s.base != nil && target <= s.baseIDs && id > s.baseIDs {
		s.base.pointed = append(s.base.pointed, target)
	}
}

// enterAmong is enter for a type whose chain has others.
func (s *index) enterAmong(first *uint32, id uint32, behind bool) {
	if !behind {
		s.enter(first, id)
		return
	}
	s.notUnique(*first)
	last := *first
	for s.types.keys.S[last].next != 0 {
		last = s.types.keys.S[last].next
	}
	s.types.keys.S[last].next = id
}

// insertAmong puts id into the chain of a bucket that has others of its hash.
func (s *index) insertAmong(first *uint32, id uint32) {
	h := s.types.keys.S[id].hash &^ unique
	if s.base.order.behind(id) {
		for o := *first; o != 0; o = s.types.keys.S[o].next {
			if s.types.keys.S[o].hash&^unique == h {
				first = &s.types.keys.S[o].next // of the last one, at the end
			}
		}
	}
	s.types.keys.S[id].next = *first
	*first = id
}

// cutName is the name of a type of kinds that anonHash knows to have one.
func cutName(info uint32, name Name) Name {
	switch btf.InfoKind(info) {
	case btf.KindStruct, btf.KindUnion, btf.KindFwd, btf.KindTypedef:
		return name
	}
	return 0
}
