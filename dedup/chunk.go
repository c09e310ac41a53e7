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

// Chunk is a run of nodes of a unit.
type Chunk struct {
	Key   uint64 // 0 if there is none
	First uint32 // index in Nodes of its first node
	Count uint32 // nodes
}

// ErrIncomplete is returned by Commit for a unit of which known chunks were left out, if
// they are needed after all. Nothing but strings was added; the unit must be read again,
// with all of its nodes, and committed then.
var ErrIncomplete = errors.New("a unit without the types that are known is not enough")

// unitChunks is what a unit has of chunks.
type unitChunks struct {
	read []Chunk // whose nodes are in the unit; the ids of those with a key are to be kept
	left int     // nodes of known chunks, which are not in the unit
	view uint32  // Set.conflicts when these were looked up

	asked   []Chunk  // those that were looked up, and what their nodes got; the caller's
	got     []Ref    //
	found   []uint32 // by index in asked: result of find
	touched arena.Touched
}

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
	hazy  arena.Vec[uint64]     // bit set of ids: their name has several definitions
	notes uint32                // how often hazy got more
	apart apartTable
}

// unchecked is chunkEntry.checked when nobody has looked yet.
const unchecked = ^uint32(0)

// chunkEntry is a known chunk.
type chunkEntry struct {
	key     uint64
	at      uint32 // of its ids
	count   uint32
	checked uint32 // chunkTable.notes when no id was hazy
	moves   uint64 // bit set of the nodes whose ids may be forwarded; those from 63 on share a bit
}

func (t *chunkTable) free() {
	t.known.Free()
	t.slots.Free()
	t.ids.Free()
	t.hazy.Free()
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

// noteHazy notes that the name of these ids has several definitions.
func (t *chunkTable) noteHazy(ids ...uint32) {
	t.notes++
	for _, id := range ids {
		if n := int(id>>6) + 1; n > len(t.hazy.S) {
			t.hazy.Resize(n + n/2)
		}
		t.hazy.S[id>>6] |= 1 << (id & 63)
	}
}

func (t *chunkTable) isHazy(id uint32) bool {
	return id>>6 < uint32(len(t.hazy.S)) && t.hazy.S[id>>6]>>(id&63)&1 != 0
}

// LookUpChunks gives the nodes of the known ones among chunks their ids, as Refs: to has a
// place for each node of all chunks, and is 0 where the node is not known. If it is found
// that the unit has to be read as a whole, to is all 0. It may run beside Commits. chunks and
// to must stay as they are until the unit is committed.
func (s *Set) LookUpChunks(u *Unit, chunks []Chunk, to []Ref) {
	s.gate.rlock()
	defer s.gate.runlock()
	u.chunks.view, u.chunks.left = s.conflicts, 0
	u.chunks.asked, u.chunks.got = chunks, to
	for i, k := range u.chunks.find(&s.chunks, chunks) {
		c := &chunks[i]
		at := to[c.First:][:c.Count]
		if k == 0 {
			clear(at)
			continue
		}
		if !s.chunkIDs(&s.chunks.known.S[k], at) {
			clear(to)
			u.chunks.left = 0
			return
		}
		u.chunks.left += int(c.Count)
	}
}

// chunkIDs gives the nodes of a known chunk their ids. It reports whether each name of
// them has one definition.
func (s *tables) chunkIDs(e *chunkEntry, to []Ref) bool {
	t := &s.chunks
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
			id := s.Final(r &^ Extern)
			rest[j] = id | Extern
			hazy = hazy || t.isHazy(id)
		}
	}
	if atomic.LoadUint32(&e.checked) == t.notes {
		return !hazy
	}
	for _, id := range to {
		hazy = hazy || t.isHazy(id&^Extern)
	}
	if !hazy {
		atomic.StoreUint32(&e.checked, t.notes) // other units may do the same
	}
	return !hazy
}

// lastMoves is the bit of chunkEntry.moves for all nodes from this one on.
const lastMoves = 63

// renewView makes the look-up of u's chunks one of the Set as it is now, if it would give the
// same: a conflict that came since then is mostly about names of other units.
func (s *Set) renewView(u *Unit) {
	c := &u.chunks
	if c.left == 0 || c.view == s.conflicts {
		return
	}
	now := u.scratch
	for i, k := range c.found {
		if k == 0 {
			continue
		}
		got := c.got[c.asked[i].First:][:c.asked[i].Count]
		now = slices.Grow(now[:0], len(got))[:len(got)]
		if !s.chunkIDs(&s.chunks.known.S[k], now) || !slices.Equal(now, got) {
			return
		}
	}
	u.scratch, c.view = now, s.conflicts
}

// keepChunks keeps the ids of the chunks that a unit has brought. The gate is locked.
func (s *tables) keepChunks(u *Unit) {
	for _, c := range u.chunks.read {
		if c.Key != 0 {
			s.chunks.add(c.Key, u.ID.S[c.First:][:c.Count], u.moves(&c))
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
func (s *tables) incomplete(u *Unit) bool {
	switch {
	case u.chunks.left == 0:
		return false
	case u.dirty || u.loops || u.err != nil || u.chunks.view != s.conflicts:
		return true
	}
	return len(u.ambiguous.S) > 0 && !s.leftApart(u)
}

// Hold keeps Commits from changing the Set until Release, for readers of records. It
// may be held by several goroutines, none of which may hold it twice.
func (s *Set) Hold() { s.gate.rlock() }

// Release ends Hold.
func (s *Set) Release() { s.gate.runlock() }

// Node is type id in the form of a node, whose references are Extern. Its First is only
// set for an array. It is valid until the next change.
func (s *records) Node(id uint32) Node {
	w := s.record(id)
	n := Node{Name: w.Name(), Info: w.Info(), Third: w.Third()}
	switch w.Kind() {
	case btf.KindInt:
		n.Aux = w.Data()
	case btf.KindArray:
		elem, index, count := w.Array()
		n.Third, n.First, n.Aux = extern(elem), extern(index), count
	case btf.KindStruct, btf.KindUnion, btf.KindFloat, btf.KindFwd, btf.KindEnum, btf.KindEnum64:
	default:
		n.Third = extern(w.Third())
	}
	return n
}

// AppendMembers appends the members of id, a struct or a union, whose types are Extern.
func (s *records) AppendMembers(members []Member, id uint32) []Member {
	w := s.record(id)
	for j := range int(w.Vlen()) {
		name, typ, val := w.Member(j)
		members = append(members, Member{Name: name, Type: extern(typ), Val: val})
	}
	return members
}

// extern is the Ref of a type id; 0 stays 0.
func extern(id uint32) Ref {
	if id == 0 {
		return 0
	}
	return id | Extern
}
