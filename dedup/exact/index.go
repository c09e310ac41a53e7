package exact

import "github.com/btflite/btflite/arena"

// index maps keys to lists of candidate ids and reproduces the order in
// which libbpf's hash table yields the candidates of one key: an inserted id
// goes to the front of its list, and whenever the table doubles, every list is
// reversed. The table doubles just before entry number 1, 4, 7, 13, 25, 49, ...
// (all entries of all keys count). Reversing all lists is one flip of the side
// that is called the front.
type index struct {
	lists map[uint64]list
	nodes []entry
	front int    // side of the lists that is the front: 0 or 1
	next  uint32 // entry number before which the table doubles next
	tried uint64 // how many candidates there were so far
}

// list holds the two end nodes of a list, as indexes of nodes.
type list struct{ end [2]int32 }

// entry is one entry; side[s] is the neighbour towards end s, or -1.
type entry struct {
	id   uint32
	side [2]int32
}

func newIndex() index {
	return index{lists: make(map[uint64]list), next: 1}
}

// insert adds id to the front of the list of key.
func (x *index) insert(key uint64, id uint32) {
	if uint32(len(x.nodes))+1 == x.next {
		x.front = 1 - x.front
		if x.next == 1 {
			x.next = 4
		} else {
			x.next = 2*x.next - 1
		}
	}
	n := int32(len(x.nodes))
	node := entry{id: id, side: [2]int32{-1, -1}}
	l, ok := x.lists[key]
	if !ok {
		l.end = [2]int32{n, n}
	} else {
		old := l.end[x.front]
		x.nodes[old].side[x.front] = n
		node.side[1-x.front] = old
		l.end[x.front] = n
	}
	x.nodes = append(arena.Room(x.nodes, 1), node)
	x.lists[key] = l
}

// first returns a cursor on the first candidate of key; a negative cursor is
// the end of the list. Cursors stay valid until the next insert.
func (x *index) first(key uint64) int32 {
	l, ok := x.lists[key]
	if !ok {
		return -1
	}
	return l.end[x.front]
}

// at returns the candidate under cursor c, and the cursor after it.
func (x *index) at(c int32) (id uint32, next int32) {
	x.tried++
	n := &x.nodes[c]
	return n.id, n.side[1-x.front]
}
