package dedup

import (
	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
)

// A unit may have a type whose name has several definitions, and leave out known chunks.
// Their keys count what they refer to by name, so it has to be known that none of what was
// left out leads to such a name before the next name: then it is what it was in the unit
// before, whichever definition this one has.

// apartTable remembers which types lead to no name with several definitions.
type apartTable struct {
	seen  arena.Vec[uint64] // bit set of ids
	notes uint32            // chunkTable.notes when that was so
}

// leftApart says whether nothing that was left out of u leads to a name with several
// definitions.
func (s *tables) leftApart(u *Unit) bool {
	a := &s.chunks.apart
	if a.notes != s.chunks.notes {
		a.seen.Reset()
		a.notes = s.chunks.notes
	}
	a.seen.Resize((len(s.ids.S) + 63) / 64)
	c := &u.chunks
	for i, k := range c.found {
		if k == 0 {
			continue
		}
		for _, r := range c.got[c.asked[i].First:][:c.asked[i].Count] {
			if !s.isApart(r&^Extern, 0) {
				a.seen.Reset() // it has types that were being looked at
				return false
			}
		}
	}
	return true
}

// isApart says whether what a type refers to, up to the next name of a struct or union, has
// one definition.
func (s *tables) isApart(id uint32, depth int) bool {
	seen := s.chunks.apart.seen.S
	if seen[id>>6]>>(id&63)&1 != 0 {
		return true
	}
	seen[id>>6] |= 1 << (id & 63)
	apart := depth < maxMatch
	btf.EachRef(s.record(id), func(ref *uint32) {
		to := s.Final(*ref)
		switch {
		case !apart || to == 0:
		case s.chunks.isHazy(to):
			apart = false
		case !isCut(s.record(to)):
			apart = s.isApart(to, depth+1)
		}
	})
	return apart
}

// isCut says whether a key counts what refers to a type by the name of it alone.
func isCut(w btf.Record) bool {
	switch w.Kind() {
	case btf.KindStruct, btf.KindUnion, btf.KindFwd:
		return w.Name() != 0
	}
	return false
}
