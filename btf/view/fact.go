package view

import (
	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
)

// fact is the cached knowledge of Layouts about a type of members.
type fact struct {
	size     uint64 // bytes; of an empty class of C++ or Rust, in whose byte others may lie: 0
	sum      uint32 // of a struct: its place in Layouts.sums, 0 if it has none yet
	align    uint8
	kind     btf.Kind
	at, bits uint8  // of an INT of fewer bits than its size
	odd      bool   // of a struct: a member may be at an offset where its type would not be
	behind   uint32 // the struct behind typedefs and modifiers, itself for a struct; 0 for none
}

// facts caches a fact for each type of a member. Few types of a kernel are types of
// members, so they get slots in the order in which they are first seen.
type facts struct {
	slots []uint32 // by type id; 0: none yet
	pages []*[factPage]fact
	used  uint32 // slots
}

// factPage is how many facts a page has: 6 KiB.
const factPage = 256

// at is the fact in a slot.
func (s *facts) at(slot uint32) *fact { return &s.pages[slot/factPage][slot%factPage] }

// maxAlign is how many references are followed from a type for its alignment: through modifiers,
// arrays, and members of members.
const maxAlign = 2 * MaxDepth

// fact is the place to cache knowledge about the type with the id.
func (s *Layouts) fact(id uint32) *fact { return s.facts.at(s.Slot(id)) }

// Slot returns a number for the type with the id, for callers that keep data for the
// types of members: the types that are asked for first have the lowest numbers, from 1.
func (s *Layouts) Slot(id uint32) uint32 {
	if id < uint32(len(s.facts.slots)) {
		if slot := s.facts.slots[id]; slot != 0 {
			return slot
		}
	}
	return s.newSlot(id, 0)
}

// newSlot is Slot for what a type at the depth refers to, which may have none yet.
func (s *Layouts) newSlot(id uint32, depth int) uint32 {
	f := &s.facts
	if f.slots == nil {
		f.slots = arena.Make[uint32](int(s.v.Count()))
	}
	if id >= s.v.Count() {
		id = 0
	}
	if slot := f.slots[id]; slot != 0 {
		return slot
	}
	f.used++
	if f.used/factPage >= uint32(len(f.pages)) {
		f.pages = append(f.pages, new([factPage]fact))
	}
	slot := f.used
	f.slots[id] = slot
	s.find(f.at(slot), id, depth)
	return slot
}

// find fills in the facts about a type. A type that several types refer to is computed
// once. The alignment is the one that a compiler gives it without attributes, which BTF does not
// have: 1 for a type without a size, or one that refers to itself or is too deep.
func (s *Layouts) find(f *fact, id uint32, depth int) {
	t := s.v.Type(id)
	f.kind, f.align = t.Kind(), 1
	if depth == maxAlign {
		f.size = t.Size()
		return
	}
	switch f.kind {
	case btf.KindPtr:
		f.size, f.align = uint64(s.v.pointer), max(s.v.pointer, 1)
	case btf.KindTypedef, btf.KindConst, btf.KindVolatile, btf.KindRestrict, btf.KindTypeTag:
		of := s.known(t.rec.Third(), depth)
		f.size, f.align, f.behind = of.size, of.align, of.behind
	case btf.KindArray:
		elem, _, n := t.rec.Array()
		of := s.known(elem, depth)
		if f.size, f.align = btf.Product(uint64(n), of.size), of.align; of.size == 0 {
			f.size = t.Size() // an array of empty classes has a size
		}
	case btf.KindStruct, btf.KindUnion:
		f.size = uint64(t.rec.Third())
		align, odd := uint8(1), false
		for i := range t.Vlen() {
			_, member, off := t.rec.Member(i)
			a := s.known(member, depth).align
			align, odd = max(align, a), odd || uint8(off/8)&(a-1) != 0
		}
		if f.kind == btf.KindStruct {
			f.odd, f.behind = odd, id
		}
		if f.align = align; f.size == 1 && t.Vlen() == 0 {
			f.size = 0
		}
	case btf.KindInt:
		f.size = uint64(t.rec.Third())
		f.align = uint8(s.v.scalarAlign(t.rec.Third()))
		if _, at, bits := t.IntEncoding(); at != 0 || uint64(bits) != 8*f.size {
			f.at, f.bits = uint8(at), uint8(bits)
		}
	case btf.KindEnum, btf.KindEnum64:
		f.size = uint64(t.rec.Third())
		f.align = uint8(s.v.scalarAlign(t.rec.Third()))
	case btf.KindFloat:
		f.size = uint64(t.rec.Third())
		f.align = uint8(s.v.floatAlign(t.rec))
	default:
		f.size = t.Size()
	}
}

// known is fact for what a type at the depth refers to.
func (s *Layouts) known(id uint32, depth int) *fact { return s.facts.at(s.newSlot(id, depth+1)) }

// sums keeps the summaries of structs with unused bytes and numbers them from 2. All structs
// without unused bytes share number 1. 0 means that the summary has not been computed.
type sums struct {
	pages []*[sumPage]Summary
	used  uint32
}

// sumPage is how many summaries a page has: 5 KiB.
const sumPage = 128

// keep gives sum a place.
func (s *sums) keep(sum Summary) uint32 {
	if sum == (Summary{}) {
		return 1
	}
	if s.used/sumPage >= uint32(len(s.pages)) {
		s.pages = append(s.pages, new([sumPage]Summary))
	}
	s.pages[s.used/sumPage][s.used%sumPage] = sum
	s.used++
	return s.used + 1
}

// at returns a summary that keep has stored.
func (s *sums) at(place uint32) Summary {
	if place < 2 {
		return Summary{}
	}
	return s.pages[(place-2)/sumPage][(place-2)%sumPage]
}
