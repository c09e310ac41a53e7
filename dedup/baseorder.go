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
	unhashed  []uint32 // ids of types that the table does not take
	repeated  []uint32 // ids of types that are equal to an earlier one of the base
	doublings []uint32 // ascending ids: the table doubles just before it takes this type
}

// settle fills o.doublings. last is the last id of the base, and o.unhashed is complete.
func (o *baseOrder) settle(last uint32) {
	others := uint32(0)
	for n := uint32(1); ; n = max(4, 2*n-1) { // the table doubles before entry n
		for int(others) < len(o.unhashed) && o.unhashed[others] <= n+others {
			others++
		}
		if n+others > last {
			return
		}
		o.doublings = append(o.doublings, n+others)
	}
}

// after reports whether id follows its earlier equals in the list. A type starts before them,
// and each doubling after its insertion reverses the list.
func (o *baseOrder) after(id uint32) bool {
	before, _ := slices.BinarySearch(o.doublings, id+1)
	return (len(o.doublings)-before)%2 != 0
}
