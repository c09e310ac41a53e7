package inline

import (
	"slices"

	"github.com/btflite/btflite/arena"
)

// table keeps each of many records of words once, outside the Go heap. Records have
// indexes from 0, in the order in which they came.
type table struct {
	words arena.Vec[uint32]
	at    arena.Vec[uint32] // where each record begins
	slots arena.Vec[slot]   // by hash
}

// slot is a place of the hash table: 1 + the index of a record, 0 for none, and its hash.
type slot struct{ index, hash uint32 }

func (t *table) free() {
	t.words.Free()
	t.at.Free()
	t.slots.Free()
}

// len is the number of records.
func (t *table) len() int { return len(t.at.S) }

// record is record i; valid until the next change.
func (t *table) record(i uint32) []uint32 {
	from, to := int(t.at.S[i]), len(t.words.S)
	if int(i)+1 < len(t.at.S) {
		to = int(t.at.S[i+1])
	}
	return t.words.S[from:to]
}

// intern returns the index of the record w, and adds it if it is new.
func (t *table) intern(w []uint32) uint32 {
	if 4*len(t.at.S) >= 3*len(t.slots.S) {
		t.grow()
	}
	hash := hashWords(w)
	p, ok := t.place(w, hash)
	if ok {
		return p.index - 1
	}
	i := uint32(len(t.at.S))
	t.at.Append(uint32(len(t.words.S)))
	t.words.AppendSlice(w)
	*p = slot{i + 1, hash}
	return i
}

// find returns the index of the record w, if the table has it.
func (t *table) find(w []uint32) (i uint32, ok bool) {
	if len(t.slots.S) == 0 {
		return 0, false
	}
	p, ok := t.place(w, hashWords(w))
	return p.index - 1, ok
}

// place returns the slot of the record w, or the free slot for it.
func (t *table) place(w []uint32, hash uint32) (p *slot, ok bool) {
	mask := uint32(len(t.slots.S) - 1)
	for h := hash & mask; ; h = (h + 1) & mask {
		switch p = &t.slots.S[h]; {
		case p.index == 0:
			return p, false
		case p.hash == hash && slices.Equal(t.record(p.index-1), w):
			return p, true
		}
	}
}

// grow doubles the hash table.
func (t *table) grow() {
	n := max(2*len(t.slots.S), 1<<10)
	more := t.slots.Another()
	more.Resize(n)
	for _, s := range t.slots.S {
		if s.index == 0 {
			continue
		}
		h := s.hash & uint32(n-1)
		for more.S[h].index != 0 {
			h = (h + 1) & uint32(n-1)
		}
		more.S[h] = s
	}
	t.slots.Free()
	t.slots = more
}

func hashWords(w []uint32) uint32 {
	h := uint64(len(w))
	for _, x := range w {
		h = arena.Mix(h, x)
	}
	return uint32(h ^ h>>32)
}
