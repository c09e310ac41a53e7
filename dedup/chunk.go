package dedup

import (
	"errors"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
)

// Chunks: runs of nodes that come again in unit after unit. Whoever reads a unit may
// have, for a run of its nodes, a key of their content (Chunk.Key). If a chunk of that
// key was committed before, its nodes have ids, and need not be read at all: they are
// not in the unit, and what refers to them is Extern.
//
// A key covers a node with its names, numbers and references, down to structs, unions
// and forward declarations that have a name. Those are covered as kind and name. So
// two chunks of one key are equal if each name they need has one definition, which
// is how the streaming algorithm cuts the graph anyhow (doc.go, 3). The definition
// itself is in another chunk of the unit, or is a node that is compared. As soon as
// there is a doubt, Commit gives ErrIncomplete: the unit is read again, as a whole.

// ErrIncomplete is returned by Commit for a unit of which known chunks were left out, if
// they are needed after all. Nothing but strings was added; the unit must be read again,
// with all of its nodes, and committed then.
var ErrIncomplete = errors.New("a unit without the types that are known is not enough")

// Chunks tells which of the unit's nodes are whole chunks with a key. chunks is part of
// the unit until Reset.
func (u *Unit) Chunks(chunks []Chunk) { u.chunks.read = chunks }

// Left is how many nodes are known and therefore not in the unit.
func (u *Unit) Left() int { return u.chunks.left }

// chunkTable has the ids of the nodes of known chunks.
type chunkTable struct {
	known arena.Vec[chunkEntry] // in the order in which they came; the first is none
	slots arena.Vec[uint32]     // open addressing: index in known, 0 for a free place
	ids   arena.Vec[uint32]     // of the nodes of each chunk
	index *index
	apart apartTable
}

// unchecked is chunkEntry.checked when nobody has looked yet.
const unchecked = ^uint32(0)

// chunkEntry is a known chunk.
type chunkEntry struct {
	key     uint64
	at      uint32 // of its ids
	count   uint32
	checked uint32 // hazySet.notes when no id was hazy
	moves   uint64 // bit set of the nodes whose ids may be forwarded; those from 63 on share a bit
}

func (t *chunkTable) free() {
	t.known.Free()
	t.slots.Free()
	t.ids.Free()
	t.apart.seen.Free()
}

// find is the indexes of chunks in known, 0 for one that is not known. Chunks of a header
// follow each other in unit after unit, but where a unit goes on after them differs: so
// each look-up waits for memory three times. It is done for all chunks at once, step by
// step, so that this waiting overlaps.
func (u *unitChunks) find(t *chunkTable, chunks []Chunk) []uint32 {
	found := slices.Grow(u.found[:0], len(chunks))[:len(chunks)]
	u.found = found
	if len(t.slots.S) == 0 {
		clear(found)
		return found
	}
	mask := uint64(len(t.slots.S) - 1)
	for i := range chunks {
		found[i] = t.slots.S[chunks[i].Key&mask]
	}
	for i := range chunks {
		c := &chunks[i]
		if t.known.S[found[i]].key != c.Key && found[i] != 0 {
			found[i] = t.slots.S[t.slot(c.Key)]
		}
		if e := &t.known.S[found[i]]; c.Key == 0 || e.count != c.Count {
			found[i] = 0 // e.count differs: two chunks of one key
		}
	}
	for _, k := range found {
		if e := &t.known.S[k]; k != 0 {
			u.touched.Read(t.ids.S[e.at])
		}
	}
	return found
}

// slot is where a key is in slots, or the free place where it would go.
func (t *chunkTable) slot(key uint64) uint64 {
	mask := uint64(len(t.slots.S) - 1)
	i := key & mask
	for t.slots.S[i] != 0 && t.known.S[t.slots.S[i]].key != key {
		i = (i + 1) & mask
	}
	return i
}

// add adds a chunk, unless its key is known.
func (t *chunkTable) add(key uint64, ids []uint32, moves uint64) {
	if 2*len(t.known.S) >= len(t.slots.S) {
		t.grow()
	}
	i := t.slot(key)
	if t.slots.S[i] != 0 {
		return
	}
	t.slots.S[i] = uint32(len(t.known.S))
	t.known.Append(chunkEntry{key: key, at: uint32(len(t.ids.S)), count: uint32(len(ids)), checked: unchecked, moves: moves})
	t.ids.AppendSlice(ids)
}

// grow makes the table twice as large.
func (t *chunkTable) grow() {
	if len(t.known.S) == 0 {
		t.known.Append(chunkEntry{})
	}
	n := max(2*len(t.slots.S), 1<<12)
	t.slots.Free()
	t.slots.Resize(n)
	for k := 1; k < len(t.known.S); k++ {
		t.slots.S[t.slot(t.known.S[k].key)] = uint32(k)
	}
}

// chunkIDs gives the nodes of a known chunk their ids. It reports whether each name of
// them has one definition.
func (t *chunkTable) chunkIDs(e *chunkEntry, to []Ref) bool {
	for i, id := range t.ids.S[e.at:][:len(to)] {
		to[i] = id | Extern
	}
	hazy := false
	for m := e.moves; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		rest := to[i:][:1]
		if i == lastMoves {
			rest = to[i:]
		}
		for j, r := range rest {
			id := t.index.types.Final(r &^ Extern)
			rest[j] = id | Extern
			hazy = hazy || t.index.hazy.has(id)
		}
	}
	if atomic.LoadUint32(&e.checked) == t.index.hazy.notes {
		return !hazy
	}
	for _, id := range to {
		hazy = hazy || t.index.hazy.has(id&^Extern)
	}
	if !hazy {
		atomic.StoreUint32(&e.checked, t.index.hazy.notes) // other units may do the same
	}
	return !hazy
}

// lastMoves is the bit of chunkEntry.moves for all nodes from this one on.
const lastMoves = 63

// keepChunks keeps the ids of the chunks that a unit has brought. The gate is locked.
func (t *chunkTable) keepChunks(u *Unit) {
	for _, c := range u.chunks.read {
		if c.Key != 0 {
			t.add(c.Key, u.ID.S[c.First:][:c.Count], u.moves(&c))
		}
	}
}

// moves is chunkEntry.moves of a chunk: the nodes that may come to stand for another type,
// which are forward declarations.
func (u *Unit) moves(c *Chunk) (set uint64) {
	for i, n := range u.Nodes.S[c.First:][:c.Count] {
		switch btf.InfoKind(n.Info) {
		case btf.KindFwd:
			set |= 1 << min(i, lastMoves)
		case btf.KindEnum, btf.KindEnum64:
			if btf.InfoVlen(n.Info) == 0 {
				set |= 1 << min(i, lastMoves)
			}
		}
	}
	return set
}

// bringsChunks says whether the unit, which is committed, brings chunks that may be kept.
func (u *Unit) bringsChunks() bool {
	return len(u.chunks.read) > 0 && !u.dirty && len(u.ambiguous.S) == 0
}

// incomplete says whether nodes that were left out of u are needed.
func (t *chunkTable) incomplete(u *Unit) bool {
	switch {
	case u.chunks.left == 0:
		return false
	case u.dirty || u.loops || u.err != nil || u.chunks.view != t.index.conflicts:
		return true
	}
	return len(u.ambiguous.S) > 0 && !t.leftApart(u)
}

// A unit may have a type whose name has several definitions, and leave out known chunks.
// Their keys count what they refer to by name, so it has to be known that none of what was
// left out leads to such a name before the next name: then it is what it was in the unit
// before, whichever definition this one has.

// apartTable remembers which types lead to no name with several definitions.
type apartTable struct {
	seen  arena.Vec[uint64] // bit set of ids
	notes uint32            // hazySet.notes when that was so
}

// leftApart says whether nothing that was left out of u leads to a name with several
// definitions.
func (t *chunkTable) leftApart(u *Unit) bool {
	a := &t.apart
	if a.notes != t.index.hazy.notes {
		a.seen.Reset()
		a.notes = t.index.hazy.notes
	}
	a.seen.Resize((len(t.index.types.ids.S) + 63) / 64)
	c := &u.chunks
	for i, k := range c.found {
		if k == 0 {
			continue
		}
		for _, r := range c.got[c.asked[i].First:][:c.asked[i].Count] {
			if !t.isApart(r&^Extern, 0) {
				a.seen.Reset() // it has types that were being looked at
				return false
			}
		}
	}
	return true
}

// isApart says whether what a type refers to, up to the next name of a struct or union, has
// one definition.
func (t *chunkTable) isApart(id uint32, depth int) bool {
	seen := t.apart.seen.S
	if seen[id>>6]>>(id&63)&1 != 0 {
		return true
	}
	seen[id>>6] |= 1 << (id & 63)
	apart := depth < maxMatch
	btf.EachRef(t.index.types.record(id), func(ref *uint32) {
		to := t.index.types.Final(*ref)
		switch {
		case !apart || to == 0:
		case t.index.hazy.has(to):
			apart = false
		case !isCut(t.index.types.record(to)):
			apart = t.isApart(to, depth+1)
		}
	})
	return apart
}

// isCut says whether a key counts what refers to a type by the name of it alone.
func isCut(w btf.Record) bool {
	switch w.Kind() {
	case btf.KindStruct, btf.KindUnion, btf.KindFwd:
		return w.Name() != 0
	}
	return false
}
