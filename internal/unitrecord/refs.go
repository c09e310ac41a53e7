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

// ref writes a reference at node i.
func (c *columns) ref(i int, r dedup.Ref) {
	if r == 0 {
		c.byte(colRef, 0)
		return
	}
	to := int(r) - 1
	switch d := zigzag(int64(to - i)); {
	case d < refHigh-1:
		c.byte(colRef, byte(1+d))
	case to>>8 < refFar-refHigh:
		c.byte(colRef, byte(refHigh+to>>8))
		c.byte(colRefLow, byte(to))
	default:
		c.byte(colRef, refFar)
		c.uint(colRefFar, uint64(to))
	}
}

// refs reads references.
type refs struct {
	code, low, far *column
	nodes          int // of the unit
}

// at is the next reference, at node i. What leads to no node is void, and the column is
// bad.
func (r *refs) at(i int) dedup.Ref {
	b := r.code.byte()
	var to int
	switch {
	case b == 0:
		return 0
	case b < refHigh:
		to = i + int(unzigzag(uint64(b)-1))
	case b < refFar:
		to = int(b-refHigh)<<8 | int(r.low.byte())
	default:
		to = int(min(r.far.uint(), 1<<40))
	}
	if uint(to) >= uint(r.nodes) {
		r.code.bad = true
		return 0
	}
	return dedup.Ref(to + 1)
}
