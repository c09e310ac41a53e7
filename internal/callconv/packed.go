package callconv

import (
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
)

// Packed structs as arguments on the stack. DWARF has no attribute for
// __attribute__((packed)), so pahole infers it from the layout:
//
//	a struct with padding or with a hole of whole bytes is not packed;
//	else it is packed if a member does not stand at a multiple of its natural
//	alignment, or the size is not a multiple of the largest one.
//
// A program that knows only the BTF cannot know where a packed struct lies on the
// stack.

// Bounds for broken files, in which types can contain themselves: how deep
// types nest, and how many types one question may visit.
const (
	maxNesting = 64
	maxVisits  = 1 << 16
)

// Uncertain reports whether a parameter of f after the register parameters has the
// type of a named struct that is inferred packed. Typedefs and qualifiers are not
// followed.
func (e *Functions) Uncertain(f *Func) bool {
	args := argRegsOf(e.Machine)
	ps := e.paramsOf(f)
	for j := args.n; j < len(ps); j++ {
		r := ps[j].Type
		n, ok := e.Types.Node(r)
		if ok && btf.InfoKind(n.Info) == btf.KindStruct && n.Name != 0 && e.Types.packed(r, &n) {
			return true
		}
	}
	return false
}

// packed infers whether the struct r, whose node is n, is packed.
func (t *Types) packed(r dedup.Ref, n *dedup.Node) bool {
	var end uint64     // bit after the previous member
	var unitEnd uint64 // if that is a bit-field, bit after the storage units of it and of those before it
	largest := uint64(1)
	misplaced := false
	budget := maxVisits
	ms := t.membersOf(r, n)
	for i := range ms {
		m := &ms[i]
		off, width := bitsOf(n, m)
		size, align := t.layout(m.Type, maxNesting, &budget)
		start := off
		if width != 0 && size != 0 {
			start = off - off%(size*8) // of the storage unit
		}
		from := end
		if unitEnd > from {
			from = min(unitEnd, start)
		}
		if start/8 > from/8 {
			return false // a hole
		}
		if width != 0 {
			end = max(end, off+width)
			to := start + size*8
			if to < end { // it reaches into the next unit
				to += size * 8
			}
			unitEnd = max(unitEnd, to)
		} else {
			end = max(end, off+size*8)
			unitEnd = 0
		}
		if align <= 1 {
			continue
		}
		largest = max(largest, align)
		if start/8%align != 0 {
			misplaced = true
		}
	}
	if uint64(n.Third) > (max(end, unitEnd)+7)/8 {
		return false // padding
	}
	return misplaced || uint64(n.Third)%largest != 0
}

// layout returns the size and the natural alignment of a type in bytes, 0 if it has none.
// It gives up when depth or budget is used up.
func (t *Types) layout(r dedup.Ref, depth int, budget *int) (size, align uint64) {
	count := uint64(1)
	for ; depth > 0 && *budget > 0; depth-- {
		*budget--
		n, ok := t.Node(r)
		if !ok {
			return 0, 0
		}
		switch btf.InfoKind(n.Info) {
		case btf.KindPtr:
			return count * uint64(t.AddrSize), uint64(t.AddrSize)
		case btf.KindInt, btf.KindFloat, btf.KindEnum, btf.KindEnum64:
			size := uint64(DwarfSize(&n))
			return count * size, size
		case btf.KindStruct, btf.KindUnion:
			ms := t.membersOf(r, &n)
			for i := range ms {
				_, a := t.layout(ms[i].Type, depth-1, budget)
				align = max(align, a)
			}
			return count * uint64(n.Third), align
		case btf.KindArray:
			count = min(count*uint64(n.Aux), 1<<31)
		case btf.KindFuncProto, btf.KindFwd:
			return 0, 0
		}
		r = n.Third
	}
	return 0, 0
}
