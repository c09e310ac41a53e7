package unitrecord

import "github.com/btflite/btflite/dedup"

// References to nodes. Most lead to a neighbour, or to one of a few types that are
// used all over; the first are told by the distance, in one byte, the others by the
// number of the node, whose bytes are the same wherever it is used.
//
//	0          void
//	1 … 7f     1 + zigzag of the distance, in nodes
//	80 … fe    upper half of the node's number - 80, the lower one is in colRefLow
//	ff         the number is in colRefFar

const (
	refFar  = 0xff
	refHigh = 0x80
)

// ref writes a reference.
func (c *columns) ref(r dedup.Ref) { c.refTo(0, r, colRef, colRefLow, colRefFar) }

// refTo writes a reference at node i to columns.
func (c *columns) refTo(i int, r dedup.Ref, code, low, far int) {
	if r == 0 {
		c.byte(code, 0)
		return
	}
	to := int(r) - 1
	switch d := zigzag(int64(to - i)); {
	case d < refHigh-1:
		c.byte(code, byte(1+d))
	case to>>8 < refFar-refHigh:
		c.byte(code, byte(refHigh+to>>8))
		c.byte(low, byte(to))
	default:
		c.byte(code, refFar)
		c.uint(far, uint64(to))
	}
}

// readRef reads a reference at node i from columns. nodes are the Refs of all nodes.
// What leads to no node is void, and code is bad.
func readRef(i int, nodes []dedup.Ref, code, low, far *column) dedup.Ref {
	b := code.byte()
	to := 0
	switch {
	case b == 0:
		return 0
	case b < refHigh:
		d := int(b - 1)
		to = i + (d>>1 ^ -(d & 1))
	case b < refFar:
		to = int(b-refHigh)<<8 | int(low.byte())
	default:
		to = int(min(far.uint(), 1<<40))
	}
	if uint(to) >= uint(len(nodes)) {
		code.bad = true
		return 0
	}
	return nodes[to]
}
