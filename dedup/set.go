package dedup

import (
	"errors"

	"github.com/btflite/btflite/arena"
)

// Set holds each distinct type once, as a BTF record whose references are ids
// of the Set. Each unit goes through two steps:
//
// Resolve (many goroutines at a time) looks up each node of a unit. Nine tenths
// of the data are named structs and unions. Resolve does not hash their content:
// the name leads to the known definition, and one linear comparison proves that
// the node is equivalent to it. libbpf's deduplication gets the same result by
// walking the graph from each type. References (pointers, qualifiers, arrays,
// prototypes) are looked up by their content, with ids as references.
//
// Commit (one at a time, in unit order) places the nodes that Resolve did not
// find. If a comparison failed or a name has several definitions, the graph
// walk in slow.go places the nodes that can reach this name.
//
// The Set hands out ids in raw order (by unit, then by Unit.Order), so the output
// needs no sorting. After the last unit, Finish decides where the remaining FWDs
// lead, and merges references that have become equal.
type Set struct {
	index  index      // the types, and the tables that find them
	find   finder     // finds the types of a unit's nodes
	place  placer     // finds new nodes of a unit that are equivalent
	walk   walker     // does both where a name has several definitions
	chunks chunkTable // runs of nodes that units may leave out
	// Raw switches merging off: every node becomes a type of its own, for the
	// batch algorithm (package exact). Set it before the first commit.
	Raw bool
	// Alone says that no other worker waits for a Commit. Then Resolve leaves the hashing of new
	// names to Commit, which hashes only those that the Set still lacks.
	Alone bool

	gate    gate // Resolve holds it as a reader, Commit and AddRef as writers
	names   Names
	strings stringTable
	lone    arena.Vec[loneFunc]
	// placedRefs has the ids of all references, in the order in which they were placed.
	placedRefs arena.Vec[uint32]
	// tried counts the candidates of the same name or shape that units were
	// compared with: see checkTried.
	tried uint64
	// Slow counts units that needed the graph walk.
	Slow int
}

// ErrAlias is returned by Commit if two name tokens of the unit stand for the
// same text. Commit added nothing but strings and told Names.Alias. Read the unit
// again with the earlier token, and commit that.
var ErrAlias = errors.New("name token is an alias")

// All units together may try freeTries candidates, and triesPerType more for each type of the
// Set. The kernels with the most definitions of a name stay below a hundredth of that.
const (
	freeTries    = 1 << 27
	triesPerType = 256
)

// checkTried adds the unit's tries to the Set's. It returns errTried if they are too
// many.
func (s *Set) checkTried(u *Unit) error {
	s.tried += u.tried
	u.tried = 0
	if s.tried > s.index.mostTries() {
		return errTried
	}
	return nil
}

// mostTries returns how many candidates may be tried in all.
func (ix *index) mostTries() uint64 { return freeTries + triesPerType*uint64(len(ix.types.ids.S)) }

// mayTry counts one candidate. If the unit has tried too many, it reports false and sets the
// unit's error.
func (f finder) mayTry(u *Unit) bool {
	if u.tried++; u.tried <= freeTries || u.tried <= f.index.mostTries() {
		return true
	}
	u.err = errTried
	return false
}

// NewSet makes an empty Set. The argument types is about how many distinct types it will
// have; it may be wrong.
func NewSet(names Names, types int) *Set {
	s := &Set{names: names}
	s.find, s.chunks.index = finder{&s.index}, &s.index
	s.place.find, s.walk.find, s.walk.place = s.find, s.find, &s.place
	s.index.init(types)
	s.strings.init()
	return s
}

// Free releases all memory.
func (s *Set) Free() {
	s.index.types.free()
	s.index.free()
	s.place.local.free()
	s.walk.shapes.Free()
	s.strings.free()
	s.lone.Free()
	s.placedRefs.Free()
	s.chunks.free()
	s.index.ambiguous.ids.Free()
}

// SetLimit limits the memory of the Set by l.
func (s *Set) SetLimit(l *arena.Limit) { arena.Bind(l, s) }

// DropIndexes releases the indexes of types and names. Afterwards nothing can be
// added or looked up. Types and strings can still be read and written
// (Numbering.PutTypes).
func (s *Set) DropIndexes() {
	s.index.free()
	s.index.types.keys.Free()
	s.place.local.free()
	s.strings.freeByText()
	s.chunks.free()
	s.index.ambiguous.ids.Free()
	s.placedRefs.Free()
}
