package dedup

import (
	"slices"
)

// A base may have equal types: resolve_btfids of Linux 7.2 appends prototypes of
// kfuncs after deduplication. libbpf merges a unit's type with the first equal one
// in a list of its hash table. The table prepends new types, and reverses its lists
// each time it doubles. Package exact has that table. Here, baseOrder computes
// whether a repeated type ends up before or after its equals once all of the base
// is in the table. It ignores that types of units may make the table double again.

// baseOrder is the order of equal types of a base in libbpf's hash table.
type baseOrder struct {
	unhashed  uint32   // types so far that the table does not take
	nextSize  uint32   // the table doubles before this entry
	doublings []uint32 // ids before which it has doubled
	repeated  []uint32 // ids of types that are equal to an earlier one of the base
}

// next returns the id of the type before which the table doubles, if the types up to it are
// all hashed.
func (o *baseOrder) next() uint32 { return o.unhashed + o.nextSize }

// double notes that the table has doubled before id. It returns what next returns now.
func (o *baseOrder) double(id uint32) uint32 {
	o.doublings = append(o.doublings, id)
	o.nextSize = max(4, 2*o.nextSize-1)
	return o.next()
}

// after reports whether id follows its earlier equals in the list, not precedes them.
func (o *baseOrder) after(id uint32) bool {
	before, _ := slices.BinarySearch(o.doublings, id+1)
	return (len(o.doublings)-before)%2 != 0
}
