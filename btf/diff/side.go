package diff

import (
	"cmp"
	"math"
	"slices"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
)

// shared is the state that the readers of both sides share.
type shared struct {
	filter filter
	names  names
	groups groups
	table  table
}

// side is one of the two sets.
type side struct {
	*btf.Blob
	c     *shared
	index int
	in    uint8 // inA or inB
	use   uint8 // a mark that internNode adds to nodes: usedA or usedB at first

	strings []*stringSection // of the base chain, this blob's first
	ids     []uint32         // by type, see ids.go
	loops   []uint32         // types that lead to themselves without a name
	alone   []uint32         // nameless enums, structs and unions without user
	tags    []tag            // by target, component and name
	vars    []variable       // by type id

	content []uint32    // scratch of define
	values  [][3]uint32 // scratch of appendValues
}

// Values of side.ids.
const (
	idUnseen = iota
	idBusy   // its references are being followed
	idLoop   // leads to a loop
	idVoid
	firstNode                   // + number of the node
	idGroup   = uint32(1) << 31 // + number of the group
)

// tag is a DECL_TAG.
type tag struct {
	target    uint32
	component int32 // -1: the target itself
	name      uint32
	kflag     uint32 // 0 or 1
}

// variable is a VAR at one place.
type variable struct {
	id      uint32
	section uint32 // number of the section's name; 0: in none
	offset  uint32 // in bytes, as size
	size    uint32
}

func newSide(b *btf.Blob, index int, c *shared) *side {
	s := &side{Blob: b, c: c, index: index, in: inA << index, use: usedA << index, ids: arena.Make[uint32](int(b.TypeCount()))}
	s.ids[0] = idVoid
	for l := b; l != nil; l = l.Base {
		s.strings = append(s.strings, newStringSection(l))
	}
	return s
}

// section finds the strings that an offset lies in, nil if it lies in none.
func (s *side) section(off uint32) *stringSection {
	for _, t := range s.strings {
		if off >= t.start {
			if off-t.start >= uint32(len(t.text)) {
				return nil
			}
			return t
		}
	}
	return nil
}

// name returns the number of the name at a string offset.
func (s *side) name(off uint32) uint32 {
	if off == 0 {
		return 0
	}
	t := s.section(off)
	if t == nil {
		return 0
	}
	return t.number(off-t.start, &s.c.names)
}

// text is the name at a string offset as differences show it.
func (s *side) text(off uint32) string { return s.c.names.text(s.name(off)) }

// readTags finds the DECL_TAGs, each once.
func (s *side) readTags() {
	for id := uint32(1); id < s.TypeCount(); id++ {
		if s.Kind(id) != btf.KindDeclTag {
			continue
		}
		r := s.Record(id)
		s.tags = append(s.tags, tag{r[2], int32(r[3]), s.name(r[0]), r[1] >> 31})
	}
	slices.SortFunc(s.tags, func(x, y tag) int {
		return cmp.Or(cmp.Compare(x.target, y.target), cmp.Compare(x.component, y.component), s.c.compareTags(x, y))
	})
	s.tags = slices.Compact(s.tags)
}

// compareTags orders tags of one component by name.
func (c *shared) compareTags(x, y tag) int {
	return cmp.Or(c.names.compare(x.name, y.name), cmp.Compare(x.kflag, y.kflag))
}

// tagsOf are the tags of a type and all its components.
func (s *side) tagsOf(id uint32) []tag {
	from := s.firstTag(id, math.MinInt32)
	to := from
	for to < len(s.tags) && s.tags[to].target == id {
		to++
	}
	return s.tags[from:to]
}

// tagsAt are the tags of one component, or for -1 of the type itself.
func (s *side) tagsAt(id uint32, component int) []tag {
	from := s.firstTag(id, int32(component))
	to := from
	for to < len(s.tags) && s.tags[to].target == id && s.tags[to].component == int32(component) {
		to++
	}
	return s.tags[from:to]
}

func (s *side) firstTag(id uint32, component int32) int {
	i, _ := slices.BinarySearchFunc(s.tags, tag{target: id, component: component}, func(t, want tag) int {
		return cmp.Or(cmp.Compare(t.target, want.target), cmp.Compare(t.component, want.component))
	})
	return i
}

// readVariables finds where each variable is.
func (s *side) readVariables() {
	for id := uint32(1); id < s.TypeCount(); id++ {
		if s.Kind(id) != btf.KindDatasec {
			continue
		}
		r := s.Record(id)
		for e := r[3:]; len(e) > 0; e = e[3:] {
			if s.Kind(e[0]) == btf.KindVar {
				s.vars = append(s.vars, variable{e[0], s.name(r[0]), e[1], e[2]})
			}
		}
	}
	placed := len(s.vars)
	byID := func(x, y variable) int { return cmp.Compare(x.id, y.id) }
	slices.SortStableFunc(s.vars, byID)
	next := 0
	for id := uint32(1); id < s.TypeCount(); id++ {
		if s.Kind(id) != btf.KindVar {
			continue
		}
		if next == placed || s.vars[next].id != id {
			s.vars = append(s.vars, variable{id: id})
		}
		for next < placed && s.vars[next].id == id {
			next++
		}
	}
	slices.SortStableFunc(s.vars, byID)
}

// partOf says which part a type belongs to and which name it stands for;
// types without a name, other than functions and variables, have noPart, and
// so have those whose names do not count (see Options.ABI).
func (s *side) partOf(id uint32) (part, uint32) {
	r := s.Record(id)
	if r == nil {
		return noPart, 0
	}
	k := btf.InfoKind(r[1])
	p := kindPart[k]
	if p == noPart {
		return noPart, 0
	}
	name := s.name(r[0])
	switch {
	case name == 0 && p < partFunction:
		p = noPart
	case k == btf.KindFwd && btf.InfoKflag(r[1]):
		p = partUnion
	case s.c.filter.abi && (k == btf.KindInt || k == btf.KindFloat || k == btf.KindTypedef && !s.isNameless(s.unqualified(r[2]))):
		p = noPart
	}
	return p, name
}

// chosen is partOf for a type that is compared by itself.
func (s *side) chosen(id uint32) (p part, name uint32, ok bool) {
	f := &s.c.filter
	if f.parts&kindParts[s.Kind(id)] == 0 {
		return noPart, 0, false
	}
	p, name = s.partOf(id)
	return p, name, p != noPart && f.parts>>p&1 != 0 && f.hasName(&s.c.names, name, id >= s.FirstID)
}

// unqualified is a type without its qualifiers and tags.
func (s *side) unqualified(id uint32) uint32 { return s.Behind(id, btf.Modifiers) }

// isNameless reports whether a type is an enum, struct or union without a name.
func (s *side) isNameless(id uint32) bool {
	r := s.Record(id)
	return r != nil && kindPart[btf.InfoKind(r[1])] <= partEnum && btf.InfoKind(r[1]) != btf.KindFwd && s.name(r[0]) == 0
}

// isForward reports whether a record of a named type is a forward declaration.
func isForward(r []uint32) bool {
	k := btf.InfoKind(r[1])
	return k == btf.KindFwd || kindPart[k] == partEnum && btf.InfoVlen(r[1]) == 0
}
