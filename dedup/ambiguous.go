package dedup

import "github.com/btflite/btflite/arena"

// ambiguousSet has the ids of types whose name has several definitions.
type ambiguousSet struct {
	ids     arena.Vec[uint64] // bit set
	changes uint32            // how often ids were added
}

// add notes that the name of these ids has several definitions.
func (a *ambiguousSet) add(ids ...uint32) {
	a.changes++
	for _, id := range ids {
		if n := int(id>>6) + 1; n > len(a.ids.S) {
			a.ids.Resize(n + n/2)
		}
		a.ids.S[id>>6] |= 1 << (id & 63)
	}
}

func (a *ambiguousSet) has(id uint32) bool {
	return id>>6 < uint32(len(a.ids.S)) && a.ids.S[id>>6]>>(id&63)&1 != 0
}
