package unitrecord

import "github.com/btflite/btflite/dedup"

// nameTable holds facts about the names of the unit that is being written, by token.
type nameTable struct {
	slots []nameInfo // open addressing
	used  int
	fresh int // names that have a number
}

// nameInfo holds the facts about one name.
type nameInfo struct {
	token  dedup.Name // 0 in a free slot
	number int32      // 1 + its number in the record, 0 if it has none
	hash   uint64     // textHash, 0 before it is needed
}

func (t *nameTable) reset() {
	if t.slots == nil {
		t.slots = make([]nameInfo, 1<<13)
	}
	clear(t.slots)
	t.used, t.fresh = 0, 0
}

// at returns the facts about a name, and adds the name if it is new. The result is valid
// until the next call.
func (t *nameTable) at(token dedup.Name) *nameInfo {
	x := t.slot(token)
	if x.token == token {
		return x
	}
	if 2*t.used >= len(t.slots) {
		old := t.slots
		t.slots = make([]nameInfo, 2*len(old))
		for _, o := range old {
			if o.token != 0 {
				*t.slot(o.token) = o
			}
		}
		x = t.slot(token)
	}
	t.used++
	x.token = token
	return x
}

// slot returns the slot of a name, or the free slot that it would get.
func (t *nameTable) slot(token dedup.Name) *nameInfo {
	mask := uint64(len(t.slots) - 1)
	for i := uint64(token) * 0x9e3779b97f4a7c15 >> 32 & mask; ; i = (i + 1) & mask {
		if x := &t.slots[i]; x.token == token || x.token == 0 {
			return x
		}
	}
}
