package dedup

import (
	"errors"
	"slices"
	"sync"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
)

// Split BTF.
//
// A Set over a base starts with the base's types under their own type ids, so
// that units find them like types of earlier units; only what it lacks becomes
// a new id, and only that is numbered and written. The base's records never
// change, but a forward declaration of the base may be forwarded for the time
// of one output: own references to it then lead to an own definition.
//
// libbpf's deduplication does three things to a base that the Set must
// repeat:
//
//   - A type of the base does not take in a unit's type if that would give a
//     forward declaration of the base a body: the unit's type is kept as well,
//     and from then on the forward stands for that body. match.go sees such a
//     unit as one with conflicting names, and the walk in slow.go does as above.
//   - That rule looks at the base's own graph only. Where a comparison starts at
//     an own type, what lies behind it is the graph of that type's unit, even
//     where this one has been found to be the base's; and what was a copy of a
//     type of the base there is the copy, not the base's (copyOf).
//   - What a forward declaration of a unit stands for, the base's forward or an
//     own definition, is known at the end only. So it is an own type, the proxy
//     of the base's, and Finish merges those that were left.

// baseState is what a Set remembers to become empty again over its base.
type baseState struct {
	*Base
	words, ents, entered int
	forward              map[forwardKey]uint32 // FWDs of the base
	redirected           []uint32              // forwards of the base that lead to own types
	pointed              []uint32              // types of the base with an own PTR or CONST
	lostUnique           []uint32              // types of the base that own types have made not unique
	copies               map[uint32][]uint32   // own copies of types of the base, oldest first
	unitEnds             []uint32              // last id of each unit that brought new types
	order                baseOrder
	anonymous            []uint32 // structs and unions of the base that have no hash yet
	funcs                int      // FUNCs of the base, and their table: see baseFunc
	funcsOnce            sync.Once
	funcTab              arena.Vec[uint32]
	// noTypedefs keeps units from finding TYPEDEFs of the base, as libbpf 1.7.0
	// does. Set it before the first unit.
	noTypedefs bool
}

// NewSplitSet makes a Set for types that build upon base; about types of them
// are expected. noTypedefs repeats a flaw of libbpf 1.7.0: typedefs of the base
// are never found.
func NewSplitSet(names Names, base *Base, types int, noTypedefs bool) (*Set, error) {
	s := NewSet(names, types)
	s.base = &baseState{Base: base, forward: make(map[forwardKey]uint32), copies: make(map[uint32][]uint32), noTypedefs: noTypedefs}
	s.baseIDs = base.types
	s.strings.base = base
	s.strings.init()
	if err := s.loadBase(types); err != nil {
		s.Free()
		return nil, err
	}
	return s, nil
}

// loadBase enters the types of the base under their type ids, and makes room in
// the table for about own more.
func (s *tables) loadBase(own int) error {
	b := s.base
	words := 0
	for _, x := range b.chain {
		words += len(x.Words)
	}
	s.words.Populate(len(s.words.S) + words + words/64)
	s.ids.Populate(int(b.types) + 1)
	if _, err := s.newIDs(int(b.types)); err != nil {
		return err
	}
	s.reserveEntities(int(b.types) / 8)
	s.ents.Populate(int(b.types) / 9)
	id := uint32(1)
	b.order.next = 1
	for _, x := range b.chain {
		at, err := s.addWords(len(x.Words))
		if err != nil {
			return err
		}
		w := s.words.S[at:]
		copy(w, x.Words)
		for i, off := range x.Off {
			end := uint32(len(w))
			if i+1 < len(x.Off) {
				end = x.Off[i+1]
			}
			s.ids.S[id].off = at + off
			s.loadRecord(id, w[off:end:end])
			b.order.count(id)
			id++
		}
	}
	s.enterAgain()
	s.insertBase(own)
	b.words, b.ents, b.entered = len(s.words.S), len(s.ents.S), s.entered
	b.lostUnique = b.lostUnique[:0]
	s.conflicts = 0
	return nil
}

// loadRecord turns the words of a type of the base into a record and enters it
// into the look-up tables, unless it is irregular or another one is there. The hash
// of what belongs into the table is put where insertBase finds it.
func (s *tables) loadRecord(id uint32, r btf.Record) {
	b := s.base
	named, info := r.Name() != 0, r.Info()
	name := b.token(r.Name())
	r.SetHead(name, info, r.Third())
	k := btf.InfoKind(info)
	if vlen := btf.InfoVlen(info); vlen != 0 { // not by btf.EachName: a call for each word would take longer
		stride, names := btf.NameWords(k, vlen)
		for e, j := r.Extra(), 0; names > 0; names, j = names-1, j+stride {
			e[j] = b.token(e[j])
		}
	}
	plain := !named && info == btf.Info(k, 0, false)
	switch k {
	case btf.KindFunc:
		b.funcs++ // see baseFunc
	case btf.KindFuncProto:
		if !named {
			s.keys.S[id].hash = contentHash(r)
		}
	case btf.KindPtr:
		if plain {
			s.loadFirst(&s.keys.S[r.Third()].ptrTo, id)
		}
	case btf.KindConst:
		if plain {
			s.loadFirst(&s.keys.S[r.Third()].constTo, id)
		}
	case btf.KindVolatile, btf.KindRestrict:
		if plain {
			s.keys.S[id].hash = contentHash(r)
		}
	case btf.KindArray:
		if plain && r.Third() == 0 {
			s.keys.S[id].hash = contentHash(r)
		}
	case btf.KindStruct, btf.KindUnion:
		if name == 0 {
			b.anonymous = append(b.anonymous, id)
			break
		}
		if s.loadFirst(&s.addEntity(name).defs[aggregate(info)], id) {
			s.keys.S[id].hash = unique
		}
	case btf.KindTypedef:
		if named && s.loadFirst(&s.addEntity(name).typedefs, id) {
			s.keys.S[id].hash = unique
		}
	case btf.KindFwd:
		if named && r.Third() == 0 && btf.InfoVlen(info) == 0 {
			s.addEntity(name)
			key := forwardKey{name, fwdAggregate(info)}
			first := b.forward[key]
			s.loadFirst(&first, id)
			b.forward[key] = first
		}
	case btf.KindEnum, btf.KindEnum64:
		switch {
		case btf.InfoVlen(info) > 0 && name != 0:
			s.index(id)
		case btf.InfoVlen(info) > 0:
			s.keys.S[id].hash = contentHash(r)
		case name != 0:
			s.addEntity(name)
			b.forward[forwardKey{name, entEnum}] = id
		case named:
			s.keys.S[id].hash = contentHash(r)
		}
	case btf.KindVar, btf.KindDatasec, btf.KindVoid: // the last for what was skipped
		b.order.none++
	default:
		s.keys.S[id].hash = contentHash(r)
	}
}

// loadFirst makes id what first leads to, or leaves it to enterAgain if there is
// another one.
func (s *tables) loadFirst(first *uint32, id uint32) bool {
	if *first != 0 {
		s.base.order.again = append(s.base.order.again, id)
		return false
	}
	*first = id
	return true
}

// insertBase puts the types that loadRecord has hashed into the table.
func (s *tables) insertBase(own int) {
	keys := s.keys.S
	for _, id := range s.base.anonymous {
		keys[id].hash = s.anonRecordHash(s.record(id))
	}
	s.base.anonymous = nil
	s.entered = 0
	for i := range keys {
		s.entered += int(keys[i].hash >> 31) // inTable
	}
	size := len(s.table.S)
	for size < s.entered+own {
		size *= 2
	}
	s.table.Free()
	s.table.Resize(size)
	table, mask := s.table.S, uint32(size-1)
	for id := range keys {
		h := keys[id].hash
		if h&inTable == 0 {
			continue
		}
		first := &table[h&mask]
		only := uint32(unique)
		for o := *first; o != 0; o = keys[o].next {
			if keys[o].hash&^unique == h {
				keys[o].hash, only = h, 0
			}
		}
		keys[id].hash = h | only
		if only == 0 {
			s.insertAmong(first, uint32(id))
			continue
		}
		keys[id].next = *first
		*first = uint32(id)
	}
}

// baseFunc is the FUNC of the base that has the record w; 0 if there is none. FUNCs are half of all types of a kernel and a module defines few of their
// names, so they are not in the table: the first call indexes them by name.
func (s *tables) baseFunc(w btf.Record) uint32 {
	b := s.base
	if b == nil || b.funcs == 0 || w.Kind() != btf.KindFunc {
		return 0
	}
	b.funcsOnce.Do(s.indexFuncs)
	found := uint32(0)
	for id := b.funcTab.S[arena.Spread(w.Name())&uint32(len(b.funcTab.S)-1)]; id != 0; id = s.keys.S[id].next {
		if equalWords(s.record(id), w) {
			if found = id; !b.order.behind(id) {
				break
			}
		}
	}
	return found
}

// indexFuncs fills the table of baseFunc, which is chained by s.next.
func (s *tables) indexFuncs() {
	b := s.base
	size := 1 << 10
	for size < b.funcs {
		size *= 2
	}
	b.funcTab.Resize(size)
	for id := uint32(1); id <= s.baseIDs; id++ {
		if w := s.record(id); w.Kind() == btf.KindFunc {
			first := &b.funcTab.S[arena.Spread(w.Name())&uint32(size-1)]
			s.keys.S[id].next = *first
			*first = id
		}
	}
}

// typedef is id, or 0 if units do not find that typedef.
func (s *tables) typedef(id uint32) uint32 {
	if id <= s.baseIDs && s.base != nil && s.base.noTypedefs {
		return 0
	}
	return id
}

// forwardKey is a name and entStruct, entUnion or entEnum.
type forwardKey struct {
	name Name
	kind int
}

// baseForward is the forward declaration of the base that own forwards of the
// name and kind are proxies of; 0 if there is none.
func (s *tables) baseForward(name Name, kind int) uint32 {
	if s.base == nil {
		return 0
	}
	return s.base.forward[forwardKey{name, kind}]
}

// setForward makes f lead to d. If f is a forward of the base, or a proxy of
// one, both do.
func (s *tables) setForward(f, d uint32) {
	s.redirect(f, d)
	if s.base == nil {
		return
	}
	w := s.record(f)
	if w.Kind() != btf.KindFwd {
		return
	}
	e, k := s.entity(w.Name()), fwdAggregate(w.Info())
	if o := e.fwds[k]; o != 0 && o != f && s.ids.S[o].fwd == o {
		s.redirect(o, d)
	}
	if o := s.baseForward(w.Name(), k); o != 0 && o != f && s.ids.S[o].fwd == o {
		s.redirect(o, d)
	}
}

func (s *tables) redirect(f, d uint32) {
	s.ids.S[f].fwd = d
	if f <= s.baseIDs {
		s.base.redirected = append(s.base.redirected, f)
	}
}

// setPtrTo and setConstTo enter id as the PTR to, or the CONST of, target.
func (s *tables) setPtrTo(target, id uint32) {
	s.keys.S[target].ptrTo = id
	if s.base != nil && target <= s.baseIDs && id > s.baseIDs {
		s.base.pointed = append(s.base.pointed, target)
	}
}

func (s *tables) setConstTo(target, id uint32) {
	s.keys.S[target].constTo = id
	if s.base != nil && target <= s.baseIDs && id > s.baseIDs {
		s.base.pointed = append(s.base.pointed, target)
	}
}

// noteCopies keeps which new types of u are copies of types of the base.
func (s *walker) noteCopies(u *Unit) {
	b := s.base
	for _, p := range u.slow.copies {
		if id := u.ID.S[p.def]; id > s.baseIDs {
			if c := b.copies[p.fwd]; len(c) == 0 || c[len(c)-1] < id {
				b.copies[p.fwd] = append(c, id)
			}
		}
	}
	if len(u.news.S) > 0 {
		b.unitEnds = append(b.unitEnds, uint32(len(s.ids.S))-1)
	}
}

// copyOf is the type that stood for y, a type of the base, in the unit that
// ends with id end: the base's or the newest copy of it.
func (s *walker) copyOf(y, end uint32) uint32 {
	c := s.base.copies[y]
	for k := len(c) - 1; k >= 0; k-- {
		if c[k] <= end {
			return c[k]
		}
	}
	return y
}

// unitEnd is the last id of the unit that brought id.
func (s *walker) unitEnd(id uint32) uint32 {
	ends := s.base.unitEnds
	i, _ := slices.BinarySearch(ends, id)
	if i == len(ends) {
		return id
	}
	return ends[i]
}

// errNoBase is the error of Restart for a Set without a base.
var errNoBase = errors.New("dedup: Set has no base")

// Restart forgets all own types and strings, so that other units can be merged
// over the same base, with other names. The time it takes follows what is
// forgotten, not the base.
func (s *Set) Restart(names Names) error {
	b := s.base
	if b == nil {
		return errNoBase
	}
	s.tried = 0
	s.shapes.S = s.shapes.S[:min(len(s.shapes.S), int(s.baseIDs)+1)]
	own := func(id uint32) bool { return id > s.baseIDs }
	mask := uint32(len(s.table.S) - 1)
	for id := uint32(len(s.ids.S)) - 1; own(id); id-- {
		if s.keys.S[id].hash&inTable != 0 {
			// Own types stand before those of the base in every chain.
			p := &s.table.S[s.keys.S[id].hash&mask]
			for own(*p) {
				*p = s.keys.S[*p].next
			}
		}
	}
	for id := uint32(len(s.ids.S)) - 1; own(id); id-- {
		w := s.record(id)
		switch w.Kind() {
		case btf.KindStruct, btf.KindUnion, btf.KindTypedef, btf.KindFwd, btf.KindEnum, btf.KindEnum64:
			if e := s.entity(w.Name()); w.Name() != 0 && e != nil {
				s.restoreEntity(e)
			}
		}
	}
	for k := len(s.ents.S) - 1; k >= b.ents; k-- {
		// The last in goes first: no chain of slots is cut.
		s.entTab.S[s.entitySlot(s.ents.S[k].name)] = 0
	}
	s.ents.S = s.ents.S[:b.ents]
	for _, f := range b.redirected {
		s.ids.S[f].fwd = f
	}
	for _, t := range b.pointed {
		if own(s.keys.S[t].ptrTo) {
			s.keys.S[t].ptrTo = 0
		}
		if own(s.keys.S[t].constTo) {
			s.keys.S[t].constTo = 0
		}
	}
	for _, id := range b.lostUnique {
		s.keys.S[id].hash |= unique
	}
	b.lostUnique = b.lostUnique[:0]
	b.redirected, b.pointed, b.unitEnds = b.redirected[:0], b.pointed[:0], b.unitEnds[:0]
	clear(b.copies)
	n := int(s.baseIDs) + 1
	s.ids.S, s.keys.S = s.ids.S[:n], s.keys.S[:n]
	s.words.S = s.words.S[:b.words]
	s.entered, s.conflicts, s.Slow, s.Walks = b.entered, 0, 0, 0
	s.visited.Reset()
	s.forwards.Reset()
	s.strings.restart()
	s.names = names
	return nil
}

// restoreEntity makes e know the base's types only.
func (s *tables) restoreEntity(e *entity) {
	pop := func(id uint32) uint32 {
		for id > s.baseIDs {
			id = s.keys.S[id].next
		}
		return id
	}
	for k := range e.defs {
		e.defs[k] = pop(e.defs[k])
	}
	e.typedefs = pop(e.typedefs)
	for k, f := range e.fwds {
		if f > s.baseIDs {
			e.fwds[k] = 0
		}
	}
	e.likely = [2]uint32{}
}
