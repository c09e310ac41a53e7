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

// refs are the references of a unit that is read.
type refs struct {
	all   []uint32 // as read: a Ref, or near and the code of a distance
	p     int      // of the next one
	nodes int      // of the unit
	bad   bool
}

// near marks a reference that is told by its distance.
const near = 1 << 31

// read reads all references of a unit at once: the loop has nothing else to do.
func (r *refs) read(codes, low, far *column, nodes int) {
	if cap(r.all) < len(codes.b) {
		r.all = make([]uint32, len(codes.b)+len(codes.b)/2)
	}
	r.all, r.p, r.nodes, r.bad = r.all[:len(codes.b)], 0, nodes, false
	for k, b := range codes.b {
		var to int
		switch {
		case b == 0:
			r.all[k] = 0
			continue
		case b < refHigh:
			r.all[k] = near | uint32(b-1)
			continue
		case b < refFar:
			to = int(b-refHigh)<<8 | int(low.byte())
		default:
			to = int(min(far.uint(), 1<<40))
		}
		if to >= nodes {
			r.bad, to = true, 0
		}
		r.all[k] = uint32(to) + 1
	}
	codes.p = len(codes.b)
}

// at is the next reference, at node i. What leads to no node is void, and bad is set.
func (r *refs) at(i int) dedup.Ref {
	if r.p >= len(r.all) {
		r.bad = true
		return 0
	}
	v := r.all[r.p]
	r.p++
	if v&near != 0 {
		to := i + int(int32(v>>1&0x3f)^-int32(v&1))
		if uint(to) >= uint(r.nodes) {
			r.bad = true
			return 0
		}
		return dedup.Ref(to + 1)
	}
	return v
}

// done says whether all references were used, and all were right.
func (r *refs) done() bool { return !r.bad && r.p == len(r.all) }
