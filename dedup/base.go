package dedup

import (
	"errors"

	"github.com/btflite/btflite/btf"
)

// Split BTF.
//
// A Set over a base starts with the base's types under their own type ids, so
// units find them like types of earlier units. Types that the base lacks are the
// Set's own: only they get new ids, and only they are written. The base's records
// never change. But while one output is made, a FWD of the base may be
// forwarded: own references to it then lead to an own definition.
//
// libbpf's deduplication has three rules for a base, which the Set repeats:
//
//   - A unit's type does not merge with a type of the base if that would give a
//     FWD of the base a body. The unit's type stays, and from then on the FWD
//     stands for that body. match marks such a unit as one with conflicting
//     names, and the walk in slow.go applies the rule.
//   - The rule holds in the base's own graph only. A comparison that starts at an
//     own type sees the graph of the unit that brought this type, even where it
//     reaches types of the base. Where that unit had a copy of a type of the
//     base, the comparison sees the copy (copyOf).
//   - Only the end of the run shows whether a unit's FWD stands for the base's
//     FWD or for an own definition. So it is an own type, the proxy of the base's
//     FWD, and Finish merges the proxies that are left.

// NewSplitSet makes a Set for about types types that are split from base. With
// noTypedefs, units never find typedefs of the base: libbpf 1.7.0 has this flaw.
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
// over the same base, with other names. It takes time for each type that it
// forgets, and no time for the types of the base.
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
			// In every chain, own types come before the base's.
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
		// Remove the newest first: this never breaks a run of probed slots.
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
	s.placedRefs.Reset()
	s.index.forwards.Reset()
	s.index.families, s.index.newcomers = nil, nil
	s.strings.restart()
	s.names = names
	return nil
}

// restoreEntity makes e know the base's types only.
func (ix *index) restoreEntity(e *entity) {
	pop := func(id uint32) uint32 {
		for id > ix.baseIDs {
			id = ix.types.keys.S[id].next
		}
		return id
	}
	for k := range e.defs {
		e.defs[k] = pop(e.defs[k])
	}
	e.typedefs = pop(e.typedefs)
	for k, f := range e.fwds {
		if f > ix.baseIDs {
			e.fwds[k] = 0
		}
	}
	e.likely = [2]uint32{}
}
