package unitrecord

import (
	"slices"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/unit"
)

// Keys of chunks. The key of a chunk is a hash of its nodes and of all types to which they
// refer. References are followed down to structs, unions and forward declarations with a
// name, which count by kind and name (see dedup.Chunk). Only the last node of a chunk
// decides where the chunk ends, so the same types make the same chunks in other units.

// chunkSize is the average number of nodes in a chunk, a power of two. Smaller chunks are
// known more often, but each has a key, which does not compress. In Linux 7.2 nine of ten
// nodes are in known chunks if a chunk has 8, and eight of ten if it has 16.
const chunkSize = 8

// endsChunk reports whether a node with this hash ends its chunk.
func endsChunk(hash uint64) bool { return hash>>32%chunkSize == 0 }

// chunkKey is the chunk that is being written.
type chunkKey struct {
	from     int // where it begins in colNode
	names    int // number of its first new name
	nodes    int
	elements int
	hash     uint64
	none     bool // it cannot have a key
}

// add adds the hash of a node.
func (k *chunkKey) add(hash uint64) {
	k.nodes++
	k.hash = arena.Mix(k.hash, hash)
	k.none = k.none || hash == 0
}

// key returns the key, 0 for none.
func (k *chunkKey) key() uint64 {
	if k.none {
		return 0
	}
	return k.hash
}

// keyMaker makes the hashes of the nodes of a unit.
type keyMaker struct {
	u     *unit.Unit
	names *namer
	hash  []uint64 // by node; 0 if it has none
	state []byte   // by node
}

// States of a node.
const (
	stateNew = iota
	stateBusy
	stateDone
)

// hashes returns the hashes of the nodes of u. A node has none (0) if it refers to itself or
// through more than maxKeyDepth references, if it is an enumeration without values, which
// may become another one in each unit, or if it is an INT that BTF cannot describe. The
// slice is valid until the next call.
func (m *keyMaker) hashes(u *unit.Unit, names *namer) []uint64 {
	n := len(u.Types.Nodes.S)
	*m = keyMaker{u: u, names: names, hash: slices.Grow(m.hash[:0], n)[:n], state: slices.Grow(m.state[:0], n)[:n]}
	clear(m.hash)
	clear(m.state)
	for i := range n {
		m.node(i, 0)
	}
	return m.hash
}

// maxKeyDepth is how deep a hash follows references.
const maxKeyDepth = 64

// node returns the hash of node i.
func (m *keyMaker) node(i, depth int) uint64 {
	if m.state[i] == stateDone {
		return m.hash[i]
	}
	if m.state[i] == stateBusy || depth > maxKeyDepth {
		return 0
	}
	m.state[i] = stateBusy
	m.hash[i] = m.content(&m.u.Types.Nodes.S[i], depth)
	m.state[i] = stateDone
	return m.hash[i]
}

// content computes the hash of a node.
func (m *keyMaker) content(n *dedup.Node, depth int) uint64 {
	kind := btf.InfoKind(n.Info)
	h := arena.Mix(arena.Mix(1, uint64(n.Info)), m.names.hash(n.Name))
	whole := true // everything has a hash
	ref := func(r dedup.Ref) {
		x := m.ref(r, depth+1)
		whole = whole && x != 0
		h = arena.Mix(h, x)
	}
	switch kind {
	case btf.KindInt:
		whole = n.First == 0
		h = arena.Mix(arena.Mix(h, uint64(n.Third)), uint64(n.Aux))
	case btf.KindFloat:
		h = arena.Mix(h, uint64(n.Third))
	case btf.KindFwd:
	case btf.KindStruct, btf.KindUnion:
		h = arena.Mix(h, uint64(n.Third))
		for _, x := range m.u.Types.Members.S[n.First:][:btf.InfoVlen(n.Info)] {
			h = arena.Mix(arena.Mix(h, m.names.hash(x.Name)), uint64(x.Val))
			ref(x.Type)
		}
	case btf.KindEnum, btf.KindEnum64:
		whole = btf.InfoVlen(n.Info) != 0
		h = arena.Mix(h, uint64(n.Third))
		for _, x := range m.u.Types.Members.S[n.First:][:btf.InfoVlen(n.Info)] {
			h = arena.Mix(arena.Mix(h, m.names.hash(x.Name)), uint64(x.Type)|uint64(x.Val)<<32)
		}
	case btf.KindFuncProto:
		ref(n.Third)
		for _, x := range m.u.Types.Members.S[n.First:][:btf.InfoVlen(n.Info)] {
			h = arena.Mix(h, m.names.hash(x.Name))
			ref(x.Type)
		}
	case btf.KindArray:
		ref(n.Third)
		h = arena.Mix(h, uint64(n.Aux))
	default:
		ref(n.Third)
	}
	if !whole {
		return 0
	}
	return max(h, 1)
}

// ref returns the hash of the type to which a reference leads.
func (m *keyMaker) ref(r dedup.Ref, depth int) uint64 {
	if r == 0 {
		return 2
	}
	n := &m.u.Types.Nodes.S[r-1]
	switch kind := btf.InfoKind(n.Info); kind {
	case btf.KindStruct, btf.KindUnion, btf.KindFwd:
		if n.Name != 0 {
			return max(arena.Mix(arena.Mix(3, uint64(n.Info)&^0xffff), m.names.hash(n.Name)), 1)
		}
	}
	return m.node(int(r-1), depth)
}
