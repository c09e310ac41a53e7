package unitrecord

import (
	"slices"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/unit"
)

// References to nodes. Many lead to a neighbour, and their code is the distance. Most
// others lead to one of a few types that are used all over, which colCommon lists.
//
//	0          void
//	1 … 40     1 + zigzag of the distance, in nodes
//	41 … b0    41 + place in colCommon
//	b1 … fe    upper half of the node's number + b1, the lower one follows
//	ff         the number follows
const (
	refCommon = 0x41
	refHigh   = 0xb1
	refFar    = 0xff
)

// near returns the code of a reference from node i to a near node. If the result is
// refCommon or more, the node is not near.
func near(i, to int) uint64 { return 1 + zigzag(int64(to-i)) }

// refWriter writes references of a unit.
type refWriter struct {
	code []byte // by node: its code in place of the number, or 0
	uses []uint32
	top  []uint64
}

// begin finds the nodes of u to which most references from far nodes lead, and writes
// them.
func (x *refWriter) begin(c *columns, u *unit.Unit) {
	n := len(u.Types.Nodes.S)
	x.code, x.uses, x.top = slices.Grow(x.code[:0], n)[:n], slices.Grow(x.uses[:0], n)[:n], x.top[:0]
	clear(x.code)
	clear(x.uses)
	for i := range u.Types.Nodes.S {
		x.count(u, i)
	}
	for i, uses := range x.uses {
		if uses > 2 {
			x.top = append(x.top, uint64(uses)<<32|uint64(^uint32(i)))
		}
	}
	slices.Sort(x.top)
	top := x.top[max(0, len(x.top)-(refHigh-refCommon)):]
	for k, t := range top {
		top[k] = uint64(^uint32(t))
	}
	slices.Sort(top)
	last := uint64(0)
	for k, i := range top {
		x.code[i] = byte(refCommon + k)
		c.uint(colCommon, i-last)
		last = i
	}
}

// count counts the references of node i.
func (x *refWriter) count(u *unit.Unit, i int) {
	n := &u.Types.Nodes.S[i]
	use := func(r dedup.Ref) {
		if r != 0 && near(i, int(r)-1) >= refCommon {
			x.uses[r-1]++
		}
	}
	switch btf.InfoKind(n.Info) {
	case btf.KindInt, btf.KindFloat, btf.KindFwd, btf.KindEnum, btf.KindEnum64:
		return
	case btf.KindStruct, btf.KindUnion:
	default:
		use(n.Third)
	}
	if vlen := vlenOf(n); vlen > 0 {
		for _, m := range u.Types.Members.S[n.First:][:vlen] {
			use(m.Type)
		}
	}
}

// vlenOf returns how many elements a node has.
func vlenOf(n *dedup.Node) uint32 {
	switch btf.InfoKind(n.Info) {
	case btf.KindStruct, btf.KindUnion, btf.KindEnum, btf.KindEnum64, btf.KindFuncProto:
		return btf.InfoVlen(n.Info)
	}
	return 0
}

// write writes a reference at node i to a column.
func (x *refWriter) write(c *columns, i int, r dedup.Ref, col int) {
	if r == 0 {
		c.byte(col, 0)
		return
	}
	to := int(r) - 1
	switch d := near(i, to); {
	case d < refCommon:
		c.byte(col, byte(d))
	case x.code[to] != 0:
		c.byte(col, x.code[to])
	case to>>8 < refFar-refHigh:
		c.byte(col, byte(refHigh+to>>8))
		c.byte(col, byte(to))
	default:
		c.byte(col, refFar)
		c.uint(col, uint64(to))
	}
}

// refReader reads references of a unit.
type refReader struct {
	nodes  []dedup.Ref // by node: the Ref that stands for it
	common []dedup.Ref // the Refs of the nodes in colCommon
}

// begin reads colCommon.
func (x *refReader) begin(c *column) {
	x.common = x.common[:0]
	for at := uint64(0); c.left() > 0; {
		if at += c.uint(); at >= uint64(len(x.nodes)) || len(x.common) == refHigh-refCommon {
			c.bad = true
			return
		}
		x.common = append(x.common, x.nodes[at])
	}
}

// read reads a reference at node i. A reference that leads to no node is void, and sets
// c.bad.
func (x *refReader) read(c *column, i int) dedup.Ref {
	b := int(c.byte())
	to := 0
	switch {
	case b == 0:
		return 0
	case b < refCommon:
		d := b - 1
		to = i + (d>>1 ^ -(d & 1))
	case b < refHigh:
		if b -= refCommon; b < len(x.common) {
			return x.common[b]
		}
		to = -1
	case b < refFar:
		to = (b-refHigh)<<8 | int(c.byte())
	default:
		to = int(min(c.uint(), 1<<40))
	}
	if uint(to) >= uint(len(x.nodes)) {
		c.bad = true
		return 0
	}
	return x.nodes[to]
}
