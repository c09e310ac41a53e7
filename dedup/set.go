package dedup

import (
	"errors"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
)

// The streaming set.
//
// A Set holds every distinct type seen so far, once, as BTF-shaped records
// whose references are ids of the Set. Units are merged in two steps:
//
// Resolve (any worker, many at a time) looks each node of a unit up. No hash
// of the content is taken of named structs and unions, which are nine tenths
// of all data: their name says which known definition they must be, and one
// linear comparison proves that they are. That proof may rest on itself: while
// the members are compared, a reference to a named struct counts as equal to
// the known definition of that name, whose own comparison is part of the same
// unit. If all comparisons of the unit succeed, the pairing of its nodes with
// those of the Set is a bisimulation, the very thing that libbpf's
// deduplication establishes by walking the graph type by type. References
// (pointers, qualifiers, arrays, prototypes) are looked up exactly, by their
// content with ids in place of references.
//
// Commit (one at a time, in unit order) places what Resolve did not find. If
// a comparison failed, or a name involved has several definitions, the nodes
// that can reach such a name are placed by the graph walk in slow.go.
//
// Ids are handed out in raw order (unit, then Unit.Order), so that survivors
// never need sorting. Forward declarations are types of their own until a
// definition is seen in their place; then they are forwarded to it. Finish
// settles the rest and merges references that have become equal.
type Set struct {
	index  index      // the types, and what finds them
	find   finder     // which types the nodes of a unit are
	place  placer     // which new nodes of a unit are equivalent
	walk   walker     // both, where names do not tell
	chunks chunkTable // runs of nodes that units may leave out
	// Raw switches merging off: every node becomes a type of its own, for the
	// batch algorithm (package exact) to work on. It is set before the first
	// commit.
	Raw bool

	gate    gate // Resolve reads the Set, what adds to it writes
	names   Names
	strings stringTable
	visited arena.Vec[uint32] // references in the order in which they were placed
	// tried counts, over all units, the types of the same name or shape that
	// were considered for one: see checkTried.
	tried uint64
	// Slow counts units that needed the graph walk.
	Slow int
}

// ErrAlias is returned by Commit when a name token of the unit stands for the
// same text as another token. Nothing but strings was added; the unit must be
// read again, with Names.Alias in force, and committed then.
var ErrAlias = errors.New("name token is an alias")

// freeTries and triesPerType bound how many types are considered in all. The
// kernels with the most definitions of a name stay below a hundredth of it.
const (
	freeTries    = 1 << 27
	triesPerType = 256
)

// checkTried adds what the unit has tried and returns errTried if that was too
// much.
func (s *Set) checkTried(u *Unit) error {
	s.tried += u.tried
	u.tried = 0
	if s.tried > s.index.mostTries() {
		return errTried
	}
	return nil
}

// mostTries is how many types may be considered in all.
func (s *index) mostTries() uint64 { return freeTries + triesPerType*uint64(len(s.types.ids.S)) }

// mayTry counts one type that is considered for another, and gives the unit an error if there
// have been too many of them in it.
func (s finder) mayTry(u *Unit) bool {
	if u.tried++; u.tried <= freeTries || u.tried <= s.index.mostTries() {
		return true
	}
	u.err = errTried
	return false
}

// Disagree reports whether a struct or union of which there are several definitions is
// also declared without one. Such a declaration fits each of them, so that which one
// it leads to depends on the order in which they are tried.
func Disagree(s *Set) bool {
	for id := s.index.baseIDs + 1; id < uint32(len(s.index.types.ids.S)); id++ {
		w := s.index.types.record(id)
		if k := w.Kind(); (k == btf.KindStruct || k == btf.KindUnion) && w.Name() != 0 && s.index.types.keys.S[id].next != 0 &&
			s.index.entity(w.Name()).fwds[aggregate(w.Info())] != 0 {
			return true
		}
	}
	return false
}

// NewSet makes an empty Set for about types distinct types.
func NewSet(names Names, types int) *Set {
	s := &Set{names: names}
	s.find, s.chunks.index = finder{&s.index}, &s.index
	s.place.find, s.walk.find, s.walk.place = s.find, s.find, &s.place
	s.index.init(types)
	s.strings.init()
	return s
}

// Free gives all memory back.
func (s *Set) Free() {
	s.index.types.free()
	s.index.free()
	s.place.local.free()
	s.walk.shapes.Free()
	s.strings.free()
	s.visited.Free()
	s.chunks.free()
	s.index.hazy.ids.Free()
}

// SetLimit makes l the limit of the memory that the Set takes.
func (s *Set) SetLimit(l *arena.Limit) { arena.Bind(l, s) }

// DropIndexes gives back what serves to find types and names. Nothing but the
// types and strings as they are may be asked for afterwards, Numbering.PutTypes
// included.
func (s *Set) DropIndexes() {
	s.index.free()
	s.index.types.keys.Free()
	s.place.local.free()
	s.strings.freeByText()
	s.chunks.free()
	s.index.hazy.ids.Free()
	s.visited.Free()
}
