package dedup

import (
	"slices"
	"sync"

	"github.com/btflite/btflite/arena"
)

// baseState records the state of a Set right after its base was loaded, and what units have
// changed since. With it, Restart undoes the changes and need not load the base again. Own types
// are the types of the Set that are not the base's.
type baseState struct {
	*Base
	// The lengths of index.types.words and index.ents, and index.entered, when the base had been loaded.
	words, ents, entered int
	forward              map[forwardKey]uint32 // FWDs of the base
	redirected           []uint32              // FWDs of the base that lead to own types
	pointed              []uint32              // types of the base with an own PTR or CONST
	lostUnique           []uint32              // types of the base that are not unique since own types came
	copies               map[uint32][]uint32   // by id of the base: own types that repeat it, oldest first
	unitEnds             []uint32              // last id of each unit that brought new types
	order                baseOrder
	seen                 []uint64 // bits for hashes in the table, while the base is loaded
	funcsOnce            sync.Once
	funcTab              arena.Vec[uint32] // the FUNCs of the base: see baseFunc
	// noTypedefs keeps units from finding TYPEDEFs of the base, as libbpf 1.7.0
	// does. Set it before the first unit.
	noTypedefs bool
}

// forwardKey is a name and entStruct, entUnion or entEnum.
type forwardKey struct {
	name Name
	kind int
}

// noteCopies records which new types of u are copies of types of the base. last is the last id
// of the Set.
func (bs *baseState) noteCopies(u *Unit, last uint32) {
	for _, p := range u.slow.copies {
		if id := u.ID.S[p.def]; id > bs.types {
			if c := bs.copies[p.fwd]; len(c) == 0 || c[len(c)-1] < id {
				bs.copies[p.fwd] = append(c, id)
			}
		}
	}
	if len(u.newNodes.S) > 0 {
		bs.unitEnds = append(bs.unitEnds, last)
	}
}

// copyOf returns the type that stood for y, a type of the base, in the unit whose
// last id is end: the newest copy by then, or y itself.
func (bs *baseState) copyOf(y, end uint32) uint32 {
	c := bs.copies[y]
	for k := len(c) - 1; k >= 0; k-- {
		if c[k] <= end {
			return c[k]
		}
	}
	return y
}

// unitEnd returns the last id of the unit that brought id.
func (bs *baseState) unitEnd(id uint32) uint32 {
	ends := bs.unitEnds
	i, _ := slices.BinarySearch(ends, id)
	if i == len(ends) {
		return id
	}
	return ends[i]
}
