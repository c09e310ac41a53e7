package dedup

// exactIndex maps keys to lists of candidate ids and reproduces the order in
// which libbpf's hash table yields the candidates of one key: an inserted id
// goes to the front of its list, and whenever the table doubles, every list is
// reversed. The table doubles just before entry number 1, 4, 7, 13, 25, 49, ...
// (all entries of all keys count). Reversing all lists is one flip of the side
// that is called the front.
type exactIndex struct {
	lists map[uint64]exactList
	nodes []exactNode
	front int    // side of the lists that is the front: 0 or 1
	next  uint32 // entry number before which the table doubles next
}

// exactList holds the two end nodes of a list, as indexes of nodes.
type exactList struct{ end [2]int32 }

// exactNode is one entry; side[s] is the neighbour towards end s, or -1.
type exactNode struct {
	id   uint32
	side [2]int32
}

func newExactIndex() exactIndex {
	return exactIndex{lists: make(map[uint64]exactList), next: 1}
}

// insert adds id to the front of the list of key.
func (x *exactIndex) insert(key uint64, id uint32) {
	if uint32(len(x.nodes))+1 == x.next {
		x.front = 1 - x.front
		if x.next == 1 {
			x.next = 4
		} else {
			x.next = 2*x.next - 1
		}
	}
	n := int32(len(x.nodes))
	node := exactNode{id: id, side: [2]int32{-1, -1}}
	l, ok := x.lists[key]
	if !ok {
		l.end = [2]int32{n, n}
	} else {
		old := l.end[x.front]
		x.nodes[old].side[x.front] = n
		node.side[1-x.front] = old
		l.end[x.front] = n
	}
	x.nodes = append(x.nodes, node)
	x.lists[key] = l
}

// first returns a cursor on the first candidate of key; a negative cursor is
// the end of the list. Cursors stay valid until the next insert.
func (x *exactIndex) first(key uint64) int32 {
	l, ok := x.lists[key]
	if !ok {
		return -1
	}
	return l.end[x.front]
}

// at returns the candidate under cursor c, and the cursor after it.
func (x *exactIndex) at(c int32) (id uint32, next int32) {
	n := &x.nodes[c]
	return n.id, n.side[1-x.front]
}
