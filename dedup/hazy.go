package dedup

import "github.com/btflite/btflite/arena"

// hazySet has the ids of types whose name has several definitions.
type hazySet struct {
	ids   arena.Vec[uint64] // bit set
	notes uint32            // how often it got more
}

// note notes that the name of these ids has several definitions.
func (t *hazySet) note(ids ...uint32) {
	t.notes++
	for _, id := range ids {
		if n := int(id>>6) + 1; n > len(t.ids.S) {
			t.ids.Resize(n + n/2)
		}
		t.ids.S[id>>6] |= 1 << (id & 63)
	}
}

func (t *hazySet) has(id uint32) bool {
	return id>>6 < uint32(len(t.ids.S)) && t.ids.S[id>>6]>>(id&63)&1 != 0
}
