package dedup

import (
	"slices"
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
