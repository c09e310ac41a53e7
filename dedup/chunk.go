package dedup

import (
	"errors"

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
}

// Chunks tells which of the unit's nodes are whole chunks with a key. chunks is part of
// the unit until Reset.
func (u *Unit) Chunks(chunks []Chunk) { u.chunks.read = chunks }

// Left is how many nodes are known and therefore not in the unit.
func (u *Unit) Left() int { return u.chunks.left }

// chunkTable has the ids of the nodes of known chunks.
type chunkTable struct {
	keys arena.Vec[uint64] // open addressing: keys, 0 for a free place
	at   arena.Vec[uint32] // of the key in the same place: index in ids
	used int               // places
	ids  arena.Vec[uint32] // of each chunk: how many nodes it has, then their ids
	hazy arena.Vec[uint64] // bit set of ids: their name has several definitions
}

func (t *chunkTable) free() {
	t.keys.Free()
	t.at.Free()
	t.ids.Free()
	t.hazy.Free()
}

// find is the ids of a chunk's nodes; nil if it is not known.
func (t *chunkTable) find(c *Chunk) []uint32 {
	if len(t.keys.S) == 0 || c.Key == 0 {
		return nil
	}
	i := t.place(c.Key)
	if t.keys.S[i] == 0 {
		return nil
	}
	ids := t.ids.S[t.at.S[i]:]
	if ids[0] != c.Count {
		return nil // two chunks of one key
	}
	return ids[1:][:c.Count]
}

// place is where a key is, or the free place where it would go.
func (t *chunkTable) place(key uint64) uint64 {
	mask := uint64(len(t.keys.S) - 1)
	i := key & mask
	for t.keys.S[i] != 0 && t.keys.S[i] != key {
		i = (i + 1) & mask
	}
	return i
}

// add adds a chunk, unless its key is known.
func (t *chunkTable) add(key uint64, ids []uint32) {
	if 2*t.used >= len(t.keys.S) {
		t.grow()
	}
	i := t.place(key)
	if t.keys.S[i] != 0 {
		return
	}
	t.used++
	t.keys.S[i], t.at.S[i] = key, uint32(len(t.ids.S))
	t.ids.Append(uint32(len(ids)))
	t.ids.AppendSlice(ids)
}

// grow makes the table twice as large.
func (t *chunkTable) grow() {
	old := *t
	t.keys, t.at = old.keys.Another(), old.at.Another()
	n := max(2*len(old.keys.S), 1<<12)
	t.keys.Resize(n)
	t.at.Resize(n)
	for i, key := range old.keys.S {
		if key != 0 {
			k := t.place(key)
			t.keys.S[k], t.at.S[k] = key, old.at.S[i]
		}
	}
	old.keys.Free()
	old.at.Free()
}

// noteHazy notes that the name of these ids has several definitions.
func (t *chunkTable) noteHazy(ids ...uint32) {
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

// LookUpChunks gives the nodes of the known ones among chunks their ids: to has a place
// for each node of all chunks, and is 0 where the node is not known. If it is found
// that the unit has to be read as a whole, to is all 0. It may run beside Commits.
func (s *Set) LookUpChunks(u *Unit, chunks []Chunk, to []uint32) {
	s.gate.rlock()
	defer s.gate.runlock()
	u.chunks.view, u.chunks.left = s.conflicts, 0
	for i := range chunks {
		c := &chunks[i]
		known := s.chunks.find(c)
		if known == nil {
			continue
		}
		at := to[c.First:][:c.Count]
		for k, id := range known {
			id = s.Final(id)
			if s.chunks.isHazy(id) {
				clear(to)
				u.chunks.left = 0
				return
			}
			at[k] = id
		}
		u.chunks.left += int(c.Count)
	}
}

// keepChunks keeps the ids of the chunks that a unit has brought. The gate is locked.
func (s *tables) keepChunks(u *Unit) {
	for _, c := range u.chunks.read {
		if c.Key != 0 {
			s.chunks.add(c.Key, u.ID.S[c.First:][:c.Count])
		}
	}
}

// bringsChunks says whether the unit, which is committed, brings chunks that may be kept.
func (u *Unit) bringsChunks() bool {
	return len(u.chunks.read) > 0 && !u.dirty && len(u.ambiguous.S) == 0
}

// incomplete says whether nodes that were left out of u are needed. conflicts are those of
// the Set.
func (u *Unit) incomplete(conflicts uint32) bool {
	return u.chunks.left > 0 && (u.dirty || u.loops || u.err != nil || len(u.ambiguous.S) > 0 || u.chunks.view != conflicts)
}

// Hold keeps Commits from changing the Set until Release, for readers of records. It
// may be held by several goroutines, none of which may hold it twice.
func (s *Set) Hold() { s.gate.rlock() }

// Release ends Hold.
func (s *Set) Release() { s.gate.runlock() }

// Node is type id in the form of a node, whose references are Extern. Its members are
// appended to members. It is valid until the next change.
func (s *records) Node(id uint32, members []Member) (Node, []Member) {
	w := s.record(id)
	n := Node{Name: w.Name(), Info: w.Info(), Third: w.Third(), First: uint32(len(members))}
	extern := func(id uint32) Ref {
		if id == 0 {
			return 0
		}
		return id | Extern
	}
	switch k := w.Kind(); k {
	case btf.KindInt:
		n.First, n.Aux = 0, w.Data()
	case btf.KindArray:
		elem, index, count := w.Array()
		n.Third, n.First, n.Aux = extern(elem), extern(index), count
	case btf.KindStruct, btf.KindUnion:
		for j := range int(w.Vlen()) {
			name, typ, val := w.Member(j)
			members = append(members, Member{Name: name, Type: extern(typ), Val: val})
		}
	case btf.KindFuncProto:
		n.Third = extern(w.Third())
		for j := range int(w.Vlen()) {
			name, typ := w.Param(j)
			members = append(members, Member{Name: name, Type: extern(typ)})
		}
	case btf.KindFloat, btf.KindFwd, btf.KindEnum, btf.KindEnum64:
		n.First = 0 // enumerators are not asked for
	default:
		n.First, n.Third = 0, extern(w.Third())
	}
	return n, members
}
