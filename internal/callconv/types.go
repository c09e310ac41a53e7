package callconv

import (
	"slices"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
)

// Types are the types of a unit, as far as they decide how a parameter is passed.
type Types struct {
	Nodes    []dedup.Node   // of dedup.Unit
	Members  []dedup.Member // of dedup.Unit; membersOf appends to it
	AddrSize int            // bytes of a pointer
	// Set has the types that Extern references lead to; nil if there are none. It must not
	// change meanwhile (dedup.Set.Hold).
	Set *dedup.Set
	// Classes are the types that are classes and not structs. They get sorted.
	Classes []dedup.Ref
	sorted  bool // Classes are
}

// maxTypeHops bounds every walk along a chain of types; real chains have a
// handful, cycles exist in broken files only.
const maxTypeHops = 64

// Node returns the node that r refers to, and false for void and for a type that is
// neither in this unit nor in Set. A node from Set has no First: see membersOf.
func (t *Types) Node(r dedup.Ref) (dedup.Node, bool) {
	if r&dedup.Extern != 0 && t.Set != nil {
		return t.Set.Node(r &^ dedup.Extern), true
	}
	if r == 0 || uint64(r) > uint64(len(t.Nodes)) {
		return dedup.Node{}, false
	}
	return t.Nodes[r-1], true
}

// typeSize returns the size of a parameter of type r: the first size on the way
// through typedefs, qualifiers and arrays. So an array has the size of its
// element.
func (t *Types) typeSize(r dedup.Ref) uint16 {
	for range maxTypeHops {
		n, ok := t.Node(r)
		if !ok {
			return 0
		}
		switch btf.InfoKind(n.Info) {
		case btf.KindPtr:
			return uint16(t.AddrSize)
		case btf.KindInt, btf.KindFloat, btf.KindEnum, btf.KindEnum64, btf.KindStruct, btf.KindUnion:
			return uint16(DwarfSize(&n))
		case btf.KindFwd:
			return 0
		}
		r = n.Third
	}
	return 0
}

// stripped returns the type behind const and typedef; false for void.
func (t *Types) stripped(r dedup.Ref) (dedup.Ref, dedup.Node, bool) {
	for range maxTypeHops {
		n, ok := t.Node(r)
		if !ok {
			break
		}
		switch btf.InfoKind(n.Info) {
		case btf.KindConst, btf.KindTypedef:
			r = n.Third
		default:
			return r, n, true
		}
	}
	return 0, dedup.Node{}, false
}

// isStruct reports whether r is a struct, directly or behind const and typedef. A C++ class does not count.
func (t *Types) isStruct(r dedup.Ref) bool {
	r, n, ok := t.stripped(r)
	if !ok {
		return false
	}
	k := btf.InfoKind(n.Info)
	return (k == btf.KindStruct || k == btf.KindFwd && !btf.InfoKflag(n.Info)) && !t.isClass(r)
}

// IsClass reports whether r is a class, directly or behind const and typedef.
func (t *Types) IsClass(r dedup.Ref) bool {
	if len(t.Classes) == 0 {
		return false
	}
	r, _, _ = t.stripped(r)
	return t.isClass(r)
}

// isClass reports whether r is a class.
func (t *Types) isClass(r dedup.Ref) bool {
	if !t.sorted {
		slices.Sort(t.Classes)
		t.sorted = true
	}
	_, found := slices.BinarySearch(t.Classes, r)
	return found
}

// membersOf returns the members of the struct or union r, whose node is n. For a type in
// Set, it first appends the members to Members, and sets n.First.
func (t *Types) membersOf(r dedup.Ref, n *dedup.Node) []dedup.Member {
	if r&dedup.Extern != 0 {
		n.First = uint32(len(t.Members))
		t.Members = t.Set.AppendMembers(t.Members, r&^dedup.Extern)
	}
	first, vlen := uint64(n.First), uint64(btf.InfoVlen(n.Info))
	if first+vlen > uint64(len(t.Members)) {
		return nil
	}
	return t.Members[first:][:vlen]
}

// bitsOf returns the offset of a member of n in bits, and its width if it is a
// bit-field, else 0.
func bitsOf(n *dedup.Node, m *dedup.Member) (off uint64, width uint64) {
	if btf.InfoKflag(n.Info) {
		return uint64(m.Val & 0xffffff), uint64(m.Val >> 24)
	}
	return uint64(m.Val), 0
}

// DwarfSize returns the size in bytes that DWARF gives a type. BTF cannot have every
// size of an INT: then Third has another one, and First has 1 + the size of DWARF.
func DwarfSize(n *dedup.Node) uint32 {
	if n.First != 0 && btf.InfoKind(n.Info) == btf.KindInt {
		return n.First - 1
	}
	return n.Third
}
