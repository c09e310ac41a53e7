package compactstate

import "github.com/btflite/btflite/arena"

// minIndexSlots is the smallest table that an index allocates.
const minIndexSlots = 64

// index is an open-addressing hash table from 64-bit hashes to non-zero 32-bit
// references, with linear probing and at most 3/4 of the slots in use.
//
// Each slot has a one-byte tag taken from the hash, kept apart from the
// references. A probe reads tags first, and they are small enough to stay in
// the cache, so a look-up reads the record behind a reference only if it is
// almost certainly the right one. Tag 0 marks a free slot; nothing is removed.
// The reference of a free slot is 0, so that Ahead, which does not wait for the tag,
// never follows a reference that the table does not hold.
//
// The owner compares records and so writes the probe loop itself:
//
//	for pos := x.home(h); x.tags[pos] != 0; pos = x.next(pos) { … }
type index struct {
	tags []uint8
	refs []uint32
	used int
}

// newIndex returns an index that takes n references without growing, with memory of b as far
// as it goes.
func newIndex(n int, b *arena.Block) index {
	slots := indexSlots(n)
	return index{tags: arena.Carve[uint8](b, slots), refs: arena.Carve[uint32](b, slots)}
}

// indexSlots is how many slots an index has that takes n references.
func indexSlots(n int) int {
	slots := minIndexSlots
	for slots/4*3 < n {
		slots *= 2
	}
	return slots
}

// tagOf returns the tag of hash h, never 0. It uses bits that home does not use
// in any table of a realistic size.
func tagOf(h uint64) uint8 {
	return uint8(h>>56) | 1
}

// home returns the slot where probing for hash h starts.
func (x *index) home(h uint64) int {
	return int(h & uint64(len(x.tags)-1))
}

// next returns the slot probed after pos.
func (x *index) next(pos int) int {
	return (pos + 1) & (len(x.tags) - 1)
}

// insert adds ref, which must not be 0, under hash h. When the table is full,
// it grows and asks hash for the hash of every reference in it.
func (x *index) insert(h uint64, ref uint32, hash func(ref uint32) uint64) {
	if x.used >= len(x.tags)/4*3 {
		old := *x
		*x = newIndex(2*old.used, nil)
		for pos, tag := range old.tags {
			if tag != 0 {
				x.place(hash(old.refs[pos]), old.refs[pos])
			}
		}
	}
	x.place(h, ref)
}

// place puts ref into the first free slot for hash h.
func (x *index) place(h uint64, ref uint32) {
	pos := x.home(h)
	for x.tags[pos] != 0 {
		pos = x.next(pos)
	}
	x.tags[pos], x.refs[pos] = tagOf(h), ref
	x.used++
}

// clear removes all references and keeps the memory.
func (x *index) clear() {
	if x.used == 0 {
		return
	}
	clear(x.tags)
	clear(x.refs)
	x.used = 0
}
