package dedup

import "github.com/btflite/btflite/arena"

// localIndex is a chained hash table of the new nodes of a unit, newest first. The slices next,
// node and key are parallel: one element for each entry.
type localIndex struct {
	head arena.Vec[uint32] // by hash: 1 + index of the newest entry, 0 if there is none
	next arena.Vec[uint32] // 1 + index of the next entry in the chain
	node arena.Vec[uint32] // index of the node in Unit.Nodes
	key  arena.Vec[uint32] // hash of the node

	families map[familyKey]*family // by key: see placer.enter
}

func (l *localIndex) reset(n int) {
	size := 64
	for size < n {
		size *= 2
	}
	l.head.Reset()
	l.head.Resize(size)
	l.next.Reset()
	l.node.Reset()
	l.key.Reset()
	l.families = nil
}

func (l *localIndex) free() {
	l.head.Free()
	l.next.Free()
	l.node.Free()
	l.key.Free()
}

// first returns 1 + the index of the first entry that may have the key h, or 0.
func (l *localIndex) first(h uint32) uint32 {
	return l.head.S[h&uint32(len(l.head.S)-1)]
}

// add adds a node under the hash h.
func (l *localIndex) add(h, node uint32) {
	b := h & uint32(len(l.head.S)-1)
	l.node.Append(node)
	l.next.Append(l.head.S[b])
	l.key.Append(h)
	l.head.S[b] = uint32(len(l.node.S))
}
