package unit

import (
	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/dedup"
)

// Over a base, a third of the references of a unit do not lead to the very type that the record has, but
// to a copy of it, or to a node. The same few pairs come again and again, s64 for example.

// pairs remembers the DIEs and types that were found to agree.
type pairs struct {
	alike  arena.Vec[uint64] // as met: the DIE was left out, and is an equivalent type
	listed arena.Vec[uint32] // by noteSlot: 1 + the index of a pair in unproved
}

// begin prepares for a unit.
func (p *pairs) begin() {
	if len(p.alike.S) == 0 {
		p.alike.Resize(metSize)
		p.listed.Resize(noteSize)
	}
}

// free releases the memory.
func (p *pairs) free() {
	p.alike.Free()
	p.listed.Free()
}

const noteSize = 1 << 10

// noteSlot returns the place of a pair in listed.
func noteSlot(to dedup.Ref, id uint32) uint32 { return (to*0x9e3779b1 + id) % noteSize }

// isSame reports whether the DIE at ref, which was left out as the type to, is equivalent to the type id.
func (x *proofs) isSame(ref, to, id uint32) bool {
	if to == id {
		return true
	}
	at, pair := &x.alike.S[id&metMask], metPair(id, x.stamp+ref)
	if *at == pair {
		return true
	}
	if !x.known.Same(to, id) {
		return false
	}
	*at = pair
	return true
}

// isNoted reports whether unproved has p already. listed only says where to look: forget or a new
// unit may have removed the element since.
func (x *proofs) isNoted(p dedup.Unproved) bool {
	k := x.listed.S[noteSlot(p.Ref, p.ID)] - 1
	return k < uint32(len(x.unproved.S)) && x.unproved.S[k] == p
}

// note adds p, which isNoted did not find, to unproved.
func (x *proofs) note(p dedup.Unproved) {
	x.unproved.Append(p)
	x.listed.S[noteSlot(p.Ref, p.ID)] = uint32(len(x.unproved.S))
}
