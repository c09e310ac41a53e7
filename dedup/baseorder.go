package dedup

import (
	"slices"

	"github.com/btflite/btflite/btf"
)

// Of types of the base that would do for a unit's type, libbpf takes the first of
// its table's list. A base may have equal types: resolve_btfids of Linux 7.2 adds
// prototypes of kfuncs behind those that deduplication has left. The table puts a
// type in front of the list, and turns the list round each time that it doubles.
// Package exact has that table. Here, what is entered again is put in front of the
// others or behind them, by how the list stands when all of the base is in it. Types
// of units that make the table double are not regarded.

// baseOrder is how libbpf's table takes in the types of a base.
type baseOrder struct {
	none  uint32   // types so far that the table does not take
	next  uint32   // entry before which it doubles next
	turns []uint32 // ids before which it has doubled
	again []uint32 // ids that a type of the base before them would do for
}

// count notes that id is the next type.
func (o *baseOrder) count(id uint32) {
	if id-o.none == o.next {
		o.turns = append(o.turns, id)
		o.next = max(4, 2*o.next-1)
	}
}

// behind reports whether id comes behind the types before it, not in front of them.
func (o *baseOrder) behind(id uint32) bool {
	later, _ := slices.BinarySearch(o.turns, id+1)
	return (len(o.turns)-later)%2 != 0
}

// enterAgain enters what loadRecord has left.
func (s *tables) enterAgain() {
	b := s.base
	for _, id := range b.order.again {
		r, behind := s.record(id), b.order.behind(id)
		switch k := r.Kind(); k {
		case btf.KindPtr, btf.KindConst:
			to := &s.keys.S[r.Third()].ptrTo
			if k == btf.KindConst {
				to = &s.keys.S[r.Third()].constTo
			}
			if !behind {
				*to = id
			}
		case btf.KindFwd:
			if !behind {
				b.forward[forwardKey{r.Name(), fwdAggregate(r.Info())}] = id
			}
		case btf.KindTypedef:
			s.enterAmong(&s.entity(r.Name()).typedefs, id, behind)
		case btf.KindStruct, btf.KindUnion:
			s.enterAmong(&s.entity(r.Name()).defs[aggregate(r.Info())], id, behind)
		}
	}
	b.order.again = nil
}

// enterAmong is enter for a type whose chain has others.
func (s *tables) enterAmong(first *uint32, id uint32, behind bool) {
	if !behind {
		s.enter(first, id)
		return
	}
	s.notUnique(*first)
	last := *first
	for s.keys.S[last].next != 0 {
		last = s.keys.S[last].next
	}
	s.keys.S[last].next = id
}

// insertAmong puts id into the chain of a bucket that has others of its hash.
func (s *tables) insertAmong(first *uint32, id uint32) {
	h := s.keys.S[id].hash &^ unique
	if s.base.order.behind(id) {
		for o := *first; o != 0; o = s.keys.S[o].next {
			if s.keys.S[o].hash&^unique == h {
				first = &s.keys.S[o].next // of the last one, at the end
			}
		}
	}
	s.keys.S[id].next = *first
	*first = id
}
