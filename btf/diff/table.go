package diff

import (
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/btflite/btflite/arena"
)

// table keeps each content, a slice of words, once. Equal contents of both
// sides are one node: equality is decided here and nowhere else.
type table struct {
	seed  uint64
	slots []uint32 // node + 1, or 0; a power of two, at most half of it in use
	words []uint32 // the contents, one after the other
	nodes []node
}

// node is one content.
type node struct {
	hash  uint32
	end   uint32 // in words; the content begins at the end of the node before
	rep   uint32 // if isCompared: a type or variable that has it, see side.define
	flags uint8
}

// Flags of nodes. inA and inB are 1 << the index of the side.
const (
	inA = 1 << iota
	inB
	ownA // a type of the file itself, not of its base
	ownB
	usedA // something with a name leads to a type that has it
	usedB
	isCompared // by itself: a definition, or a nameless type that nothing uses
)

// init makes room for as many words and types as the inputs have. Memory that
// is not used is not touched.
func (t *table) init(types, words int) {
	t.seed = rand.Uint64()
	t.slots = arena.Make[uint32](1 << bits.Len(uint(types)))
	t.words = make([]uint32, 0, words)
	t.nodes = make([]node, 0, types/2)
}

// wordsChecked is how many words are filled between two checks of the memory limit.
const wordsChecked = 64 << 10

// intern returns the node of a content, which is copied if it is new.
func (t *table) intern(content []uint32) uint32 {
	h := t.hash(content)
	mask := uint32(len(t.slots) - 1)
	i := h & mask
	for ; t.slots[i] != 0; i = (i + 1) & mask {
		if n := t.slots[i] - 1; t.nodes[n].hash == h && slices.Equal(t.content(n), content) {
			return n
		}
	}
	n := uint32(len(t.nodes))
	if at := len(t.words); at/wordsChecked != (at+len(content))/wordsChecked {
		arena.Filling(4 * max(wordsChecked, len(content)))
	}
	t.words = append(arena.Room(t.words, len(content)), content...)
	t.nodes = append(arena.Room(t.nodes, 1), node{hash: h, end: uint32(len(t.words))})
	t.slots[i] = n + 1
	if 2*len(t.nodes) > len(t.slots) {
		t.slots = grown(t.slots, len(t.nodes), func(i int) uint32 { return t.nodes[i].hash })
	}
	return n
}

func (t *table) content(n uint32) []uint32 {
	start := uint32(0)
	if n > 0 {
		start = t.nodes[n-1].end
	}
	return t.words[start:t.nodes[n].end]
}

// grown is an index of n entries with twice the slots. Slots hold numbers + 1.
func grown(slots []uint32, n int, hash func(int) uint32) []uint32 {
	slots = arena.Make[uint32](2 * len(slots))
	mask := uint32(len(slots) - 1)
	for i := range n {
		slot := hash(i) & mask
		for slots[slot] != 0 {
			slot = (slot + 1) & mask
		}
		slots[slot] = uint32(i) + 1
	}
	return slots
}

// hash is seeded so that no file can be made to fill one part of the slots.
func (t *table) hash(content []uint32) uint32 {
	h := t.seed
	for _, w := range content {
		h = arena.MixSeeded(h, uint64(w), t.seed)
	}
	return uint32(h ^ h>>32)
}

// group is all that has one name, on both sides.
type group struct {
	name uint32
	next uint32 // another group of the name + 1, or 0
	part part
	// defined has inA and inB for a definition, declared for a forward
	// declaration, own for either in the file itself.
	defined, declared, own uint8
	// count is the number of different definitions of each side.
	count [2]uint32
}

// rank is 0 for a group with a name, which comes first in the report, 1 for one
// of types without.
func (g *group) rank() int {
	if g.name == 0 {
		return 1
	}
	return 0
}

// groups numbers the names of each part.
type groups struct {
	first []uint32 // by name: one of its groups + 1, or 0
	list  []group
}

// intern returns the number of a group.
func (g *groups) intern(p part, name uint32) uint32 {
	for int(name) >= len(g.first) {
		g.first = append(g.first, 0)
	}
	for i := g.first[name]; i != 0; i = g.list[i-1].next {
		if g.list[i-1].part == p {
			return i - 1
		}
	}
	g.list = append(arena.Room(g.list, 1), group{name: name, next: g.first[name], part: p})
	g.first[name] = uint32(len(g.list))
	return uint32(len(g.list)) - 1
}
