package unitrecord

import "github.com/btflite/btflite/dedup"

// nameTable is what is known of the names of a unit that is written, by token.
type nameTable struct {
	slots []nameInfo // open addressing
	used  int
	fresh int // names that have a number
}

// nameInfo is what is known of a name.
type nameInfo struct {
	token  dedup.Name // 0 of a free slot
	number int32      // 1 + its number in the record, 0 if it has none
	hash   uint64     // textHash, 0 if nobody has asked
}

// reset forgets all names.
func (t *nameTable) reset() {
	if t.slots == nil {
		t.slots = make([]nameInfo, 1<<13)
	}
	clear(t.slots)
	t.used, t.fresh = 0, 0
}

// at is what is known of a name. It is valid until the next call.
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

// slot is where a name is, or the free place where it would go.
func (t *nameTable) slot(token dedup.Name) *nameInfo {
	mask := uint64(len(t.slots) - 1)
	for i := uint64(token) * 0x9e3779b97f4a7c15 >> 32 & mask; ; i = (i + 1) & mask {
		if x := &t.slots[i]; x.token == token || x.token == 0 {
			return x
		}
	}
}
