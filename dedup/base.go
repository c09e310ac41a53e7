package dedup

import (
	"errors"

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
//     and from then on the forward stands for that body. match sees such a
//     unit as one with conflicting names, and the walk in slow.go does as above.
//   - That rule looks at the base's own graph only. Where a comparison starts at
//     an own type, what lies behind it is the graph of that type's unit, even
//     where this one has been found to be the base's; and what was a copy of a
//     type of the base there is the copy, not the base's (copyOf).
//   - What a forward declaration of a unit stands for, the base's forward or an
//     own definition, is known at the end only. So it is an own type, the proxy
//     of the base's, and Finish merges those that were left.

// NewSplitSet makes a Set for types that build upon base; about types of them
// are expected. noTypedefs repeats a flaw of libbpf 1.7.0: typedefs of the base
// are never found.
func NewSplitSet(names Names, base *Base, types int, noTypedefs bool) (*Set, error) {
	s := NewSet(names, types)
	s.index.base = &baseState{Base: base, forward: make(map[forwardKey]uint32), copies: make(map[uint32][]uint32), noTypedefs: noTypedefs}
	s.index.baseIDs = base.types
	s.strings.base = base
	s.strings.init()
	if err := s.index.loadBase(types); err != nil {
		s.Free()
		return nil, err
	}
	return s, nil
}

// errNoBase is the error of Restart for a Set without a base.
var errNoBase = errors.New("dedup: Set has no base")

// Restart forgets all own types and strings, so that other units can be merged
// over the same base, with other names. The time it takes follows what is
// forgotten, not the base.
func (s *Set) Restart(names Names) error {
	b := s.index.base
	if b == nil {
		return errNoBase
	}
	s.tried = 0
	s.walk.shapes.S = s.walk.shapes.S[:min(len(s.walk.shapes.S), int(s.index.baseIDs)+1)]
	own := func(id uint32) bool { return id > s.index.baseIDs }
	mask := uint32(len(s.index.table.S) - 1)
	for id := uint32(len(s.index.types.ids.S)) - 1; own(id); id-- {
		if s.index.types.keys.S[id].hash&inTable != 0 {
			// Own types stand before those of the base in every chain.
			p := &s.index.table.S[s.index.types.keys.S[id].hash&mask]
			for own(*p) {
				*p = s.index.types.keys.S[*p].next
			}
		}
	}
	for id := uint32(len(s.index.types.ids.S)) - 1; own(id); id-- {
		w := s.index.types.record(id)
		switch w.Kind() {
		case btf.KindStruct, btf.KindUnion, btf.KindTypedef, btf.KindFwd, btf.KindEnum, btf.KindEnum64:
			if e := s.index.entity(w.Name()); w.Name() != 0 && e != nil {
				s.index.restoreEntity(e)
			}
		}
	}
	for k := len(s.index.ents.S) - 1; k >= b.ents; k-- {
		// The last in goes first: no chain of slots is cut.
		s.index.entTab.S[s.index.entitySlot(s.index.ents.S[k].name)] = 0
	}
	s.index.ents.S = s.index.ents.S[:b.ents]
	for _, f := range b.redirected {
		s.index.types.ids.S[f].fwd = f
	}
	for _, t := range b.pointed {
		if own(s.index.types.keys.S[t].ptrTo) {
			s.index.types.keys.S[t].ptrTo = 0
		}
		if own(s.index.types.keys.S[t].constTo) {
			s.index.types.keys.S[t].constTo = 0
		}
	}
	for _, id := range b.lostUnique {
		s.index.types.keys.S[id].hash |= unique
	}
	b.lostUnique = b.lostUnique[:0]
	b.redirected, b.pointed, b.unitEnds = b.redirected[:0], b.pointed[:0], b.unitEnds[:0]
	clear(b.copies)
	n := int(s.index.baseIDs) + 1
	s.index.types.ids.S, s.index.types.keys.S = s.index.types.ids.S[:n], s.index.types.keys.S[:n]
	s.index.types.words.S = s.index.types.words.S[:b.words]
	s.index.entered, s.index.conflicts, s.Slow, s.walk.Walks = b.entered, 0, 0, 0
	s.visited.Reset()
	s.index.forwards.Reset()
	s.strings.restart()
	s.names = names
	return nil
}

// restoreEntity makes e know the base's types only.
func (s *index) restoreEntity(e *entity) {
	pop := func(id uint32) uint32 {
		for id > s.baseIDs {
			id = s.types.keys.S[id].next
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
