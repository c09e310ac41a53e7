package dedup

import (
	"errors"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
)

// A chunk is a run of nodes that many units repeat. The reader of a unit may know a hash of
// the nodes' content (Chunk.Key) before it reads them. If a chunk with this key was committed
// before, its nodes have ids: the reader skips them, and the rest of the unit refers to them
// by Extern.
//
// A key covers names, numbers and references of the nodes, down to the next named struct,
// union or FWD. Of this one it covers only kind and name. So two chunks with one key are equal
// if each name in them has one definition. The streaming algorithm cuts the graph at the
// same names (doc.go, 3). The definition of such a name is in another chunk of the unit, or
// it is a node, which is compared. If Commit cannot be sure that the chunks are equal, it
// returns ErrIncomplete, and the reader reads the whole unit again.

// ErrIncomplete is returned by Commit for a unit that left out known chunks which are needed
// after all. Commit added nothing but strings. Read the unit again with all of its nodes,
// and commit that.
var ErrIncomplete = errors.New("the unit left out types that have to be compared")

// Chunks sets which of the unit's nodes are whole chunks with a key, so that Commit can store
// their ids. The unit keeps the slice until Reset.
func (u *Unit) Chunks(chunks []Chunk) { u.chunks.read = chunks }

// LeftOutNodes returns how many nodes the unit leaves out because the Set knows their types.
func (u *Unit) LeftOutNodes() int { return u.chunks.left }

// chunkTable has the ids of the nodes of known chunks.
type chunkTable struct {
	known       arena.Vec[chunkEntry] // oldest first; entry 0 is unused
	slots       arena.Vec[uint32]     // open addressing: index in known, 0 if the slot is free
	ids         arena.Vec[uint32]     // ids of the nodes, one chunk after another
	index       *index
	unambiguous unambiguousTable
}

// unchecked is chunkEntry.checked before the first check.
const unchecked = ^uint32(0)

// chunkEntry is a known chunk.
type chunkEntry struct {
	key      uint64
	firstID  uint32 // index in chunkTable.ids of its first id
	count    uint32 // number of its ids
	checked  uint32 // ambiguousSet.changes when none of its ids was ambiguous
	forwards uint64 // bit set of its nodes that may be forwarded; from node 63 on they share a bit
}

func (ct *chunkTable) free() {
	ct.known.Free()
	ct.slots.Free()
	ct.ids.Free()
	ct.unambiguous.seen.Free()
}

// find returns the index in known of each chunk, 0 for one that is not known. A look-up misses
// the cache three times. So find takes each step for all chunks before the next step, and their
// misses overlap.
func (uc *unitChunks) find(t *chunkTable, chunks []Chunk) []uint32 {
	found := slices.Grow(uc.found[:0], len(chunks))[:len(chunks)]
	uc.found = found
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
			found[i] = 0 // if e.count differs, two chunks collide in their key
		}
	}
	for _, k := range found {
		if e := &t.known.S[k]; k != 0 {
			uc.touched.Read(t.ids.S[e.firstID])
		}
	}
	return found
}

// slot returns the slot of a key, or the free slot for it.
func (ct *chunkTable) slot(key uint64) uint64 {
	mask := uint64(len(ct.slots.S) - 1)
	i := key & mask
	for ct.slots.S[i] != 0 && ct.known.S[ct.slots.S[i]].key != key {
		i = (i + 1) & mask
	}
	return i
}

// add adds a chunk, unless its key is known.
func (ct *chunkTable) add(key uint64, ids []uint32, forwards uint64) {
	if 2*len(ct.known.S) >= len(ct.slots.S) {
		ct.grow()
	}
	i := ct.slot(key)
	if ct.slots.S[i] != 0 {
		return
	}
	ct.slots.S[i] = uint32(len(ct.known.S))
	ct.known.Append(chunkEntry{key: key, firstID: uint32(len(ct.ids.S)), count: uint32(len(ids)), checked: unchecked, forwards: forwards})
	ct.ids.AppendSlice(ids)
}

// grow makes the table twice as large.
func (ct *chunkTable) grow() {
	if len(ct.known.S) == 0 {
		ct.known.Append(chunkEntry{})
	}
	n := max(2*len(ct.slots.S), 1<<12)
	ct.slots.Free()
	ct.slots.Resize(n)
	for k := 1; k < len(ct.known.S); k++ {
		ct.slots.S[ct.slot(ct.known.S[k].key)] = uint32(k)
	}
}

// chunkIDs fills refs with the ids of a known chunk, as Extern. It reports whether each of
// their names has one definition.
func (ct *chunkTable) chunkIDs(e *chunkEntry, refs []Ref) bool {
	for i, id := range ct.ids.S[e.firstID:][:len(refs)] {
		refs[i] = id | Extern
	}
	ambiguous := false
	for m := e.forwards; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		forwards := refs[i:][:1]
		if i == sharedBit {
			forwards = refs[i:]
		}
		for j, r := range forwards {
			id := ct.index.types.Final(r &^ Extern)
			forwards[j] = id | Extern
			ambiguous = ambiguous || ct.index.ambiguous.has(id)
		}
	}
	if atomic.LoadUint32(&e.checked) == ct.index.ambiguous.changes {
		return !ambiguous
	}
	for _, id := range refs {
		ambiguous = ambiguous || ct.index.ambiguous.has(id&^Extern)
	}
	if !ambiguous {
		atomic.StoreUint32(&e.checked, ct.index.ambiguous.changes) // other goroutines may store it as well
	}
	return !ambiguous
}

// sharedBit is the bit of chunkEntry.forwards for this node and all after it.
const sharedBit = 63

// keepChunks stores the ids of the chunks that a unit has brought. The gate is locked.
func (ct *chunkTable) keepChunks(u *Unit) {
	for _, c := range u.chunks.read {
		if c.Key != 0 {
			ct.add(c.Key, u.ID.S[c.First:][:c.Count], u.forwards(&c))
		}
	}
}

// forwards returns chunkEntry.forwards of a chunk: its FWDs and its enumerations without values.
func (u *Unit) forwards(c *Chunk) (set uint64) {
	for i, n := range u.Nodes.S[c.First:][:c.Count] {
		switch btf.InfoKind(n.Info) {
		case btf.KindFwd:
			set |= 1 << min(i, sharedBit)
		case btf.KindEnum, btf.KindEnum64:
			if btf.InfoVlen(n.Info) == 0 {
				set |= 1 << min(i, sharedBit)
			}
		}
	}
	return set
}

// bringsChunks reports whether the table may keep the chunks of this unit.
func (u *Unit) bringsChunks() bool {
	return len(u.chunks.read) > 0 && !u.needsWalk && len(u.ambiguous.S) == 0
}

// incomplete reports whether nodes that u leaves out are needed.
func (ct *chunkTable) incomplete(u *Unit) bool {
	switch {
	case u.chunks.left == 0:
		return false
	case u.needsWalk || u.loops || u.err != nil || u.chunks.view != ct.index.conflicts || len(u.chunks.proved.Older) > 0:
		return true
	case u.chunks.proved.Types > 0:
		return finder{ct.index}.unproved(u)
	}
	return len(u.ambiguous.S) > 0 && !ct.leftOutUnambiguous(u)
}

// A name is ambiguous if it has several definitions. A unit may leave out known chunks although
// it has a type with an ambiguous name. A chunk's key covers references to named types by kind
// and name only. So none of the types that were left out may refer to an ambiguous name. Then
// they are the same as in the unit that brought them, whichever definition this unit has.

// unambiguousTable remembers which types refer to no ambiguous name.
type unambiguousTable struct {
	seen    arena.Vec[uint64] // bit set of ids
	changes uint32            // ambiguousSet.changes when seen was computed
}

// leftOutUnambiguous reports whether no type that u leaves out refers to an ambiguous name.
func (ct *chunkTable) leftOutUnambiguous(u *Unit) bool {
	a := &ct.unambiguous
	if a.changes != ct.index.ambiguous.changes {
		a.seen.Reset()
		a.changes = ct.index.ambiguous.changes
	}
	a.seen.Resize((len(ct.index.types.ids.S) + 63) / 64)
	c := &u.chunks
	for i, k := range c.found {
		if k == 0 {
			continue
		}
		for _, r := range c.refs[c.asked[i].First:][:c.asked[i].Count] {
			if !ct.isUnambiguous(r&^Extern, 0) {
				a.seen.Reset() // isUnambiguous marks a type before it has looked at its references
				return false
			}
		}
	}
	return true
}

// isUnambiguous reports whether each struct or union that a type leads to, down to the next
// name, has one definition. It reports false if chains of types are deeper than maxMatch.
func (ct *chunkTable) isUnambiguous(id uint32, depth int) bool {
	seen := ct.unambiguous.seen.S
	if seen[id>>6]>>(id&63)&1 != 0 {
		return true
	}
	seen[id>>6] |= 1 << (id & 63)
	unambiguous := depth < maxMatch
	btf.EachRef(ct.index.types.record(id), func(ref *uint32) {
		to := ct.index.types.Final(*ref)
		switch {
		case !unambiguous || to == 0:
		case ct.index.ambiguous.has(to):
			unambiguous = false
		case !isCut(ct.index.types.record(to)):
			unambiguous = ct.isUnambiguous(to, depth+1)
		}
	})
	return unambiguous
}

// isCut reports whether keys cover a reference to this type by kind and name only.
func isCut(w btf.Record) bool {
	switch w.Kind() {
	case btf.KindStruct, btf.KindUnion, btf.KindFwd:
		return w.Name() != 0
	}
	return false
}
