package verify

import (
	"sync/atomic"

	"github.com/btflite/btflite/btf"
)

// mode says what ends a walk.
type mode uint8

const (
	undecided mode = iota
	byValue
	byPointer
	settled // there is no walk: all types count as resolved (proof.go)
)

// States of a type.
const (
	untouched = iota
	inside    // the walk is at or below it
	resolved
	unnamed // of FUNC_PROTOs, which have no other: a parameter has no name
)

// In a proof, the upper bits of final are counts. For a modifier, they count the modifiers that
// follow each other from this one on. For an array, struct or union, they count the types on the
// longest way down by value, including the type itself; 0 means that the way has not been measured.
const (
	idBits = 20
	idMask = 1<<idBits - 1 // maxTypes
)

// frame is a type on the way down.
type frame struct {
	id   uint32
	next uint32 // element, or step, to go on with
	down uint32 // in a proof: types on the longest way down, so far
}

// descend lists the kinds that a walk goes through, by mode.
var descend = [...]uint32{
	undecided: resolvable,
	byValue:   modifiers | nests,
	byPointer: modifiers | 1<<btf.KindPtr,
	settled:   0,
}

// links has the types behind the references of own types. The walk in the kernel's order
// and the proof without order share it.
type links struct {
	input
	loaded  bool   // see Rules.Loaded
	ptrSize uint32 // in bytes
	mode    mode

	// By own type.
	final []uint32 // of modifiers: the type behind them; see proof.go
	size  []uint32 // in bytes; for a variable, of its type; 0 without a size
	state []uint8
}

// pending returns the type that must be walked before its referent id can be used, or 0 if there is
// none. Modifiers that are resolved are skipped: the type behind them may still be open.
func (l *links) pending(id uint32) uint32 {
	for id >= l.first {
		i := id - l.first
		k := l.kinds[i]
		if !in(descend[l.mode], k) {
			return 0
		}
		if l.state[i] != resolved {
			return id
		}
		if !in(modifiers, k) {
			return 0
		}
		id = l.final[i] & idMask
	}
	return 0
}

// below is pending for a type that f's type contains. In a proof it measures the depth
// below it, and a type without a measured depth is pending.
func (l *links) below(f *frame, id uint32) uint32 {
	if l.mode != settled {
		return l.pending(id)
	}
	if id < l.first {
		return 0
	}
	down, k := uint32(0), l.kinds[id-l.first]
	if in(modifiers, k) {
		v := l.final[id-l.first]
		if id, down = v&idMask, v>>idBits; id >= l.first {
			k = l.kinds[id-l.first]
		}
	}
	if in(nests, k) {
		d := atomic.LoadUint32(&l.final[id-l.first])
		if d == 0 {
			return id
		}
		down += d
	}
	f.down = max(f.down, down)
	return 0
}

// behind returns the type behind modifiers and its size, for a type that needs no further
// walk. The size is 0 for types without one.
func (l *links) behind(id uint32) (final, size uint32) {
	if id >= l.first && in(modifiers, l.kinds[id-l.first]) {
		id = l.final[id-l.first] & idMask
	}
	if id < l.first {
		return l.behindBase(id)
	}
	return id, l.size[id-l.first]
}

// behindBase is behind for types of the base. They are taken as they are, but
// a chain too deep for a kernel ends without a size.
func (l *links) behindBase(id uint32) (final, size uint32) {
	total := uint64(1)
	for range maxDepth {
		if id == 0 {
			return final, 0
		}
		r := l.base.Record(id)
		k, third := btf.InfoKind(r[1]), r[2]
		if in(modifiers, k) {
			id = third
			continue
		}
		if final == 0 {
			final = id
		}
		switch {
		case k == btf.KindArray:
			total = min(total*uint64(r[5]), 1<<32-1)
			id = r[3]
			continue
		case k == btf.KindPtr:
			third = l.ptrSize
		case !in(ownSize, k):
			third = 0
		}
		return final, uint32(min(total*uint64(third), 1<<32-1))
	}
	return final, 0
}
