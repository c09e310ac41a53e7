package unit

import (
	"fmt"

	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/dwarf"
)

// BTF has no kind for some types: references, pointers to members and atomic types,
// complex numbers. pahole gives up on a file with such a type. Here the type is dropped,
// and with it what cannot exist without it:
//
//	typedef, qualifier, array, prototype of it   dropped too
//	pointer to it                                becomes a pointer to void
//	member of it                                 dropped: a gap, other offsets stay
//	function, variable of it                     dropped
//
// All that is dropped is counted, by its sort. Void where C does not allow it is handled
// in the same way (voids.go).

// Unencodable lists the types of a unit that BTF has no kind for.
type Unencodable struct {
	// Counts has the number of these types by sort, and of the things that were dropped
	// with them; nil if there are none.
	Counts map[string]int
	// Members are the first members that were dropped, as "struct.member".
	Members []string
	nodes   []uint32
	// voids says that there may be void where C does not allow it (voids.go). voidTags
	// counts the DIEs that stand for void, by sort.
	voids    bool
	voidTags map[string]int
}

// MaxMembers is how many dropped members are named. All are counted.
const MaxMembers = 1000

func (x *Unencodable) reset() { *x = Unencodable{nodes: x.nodes[:0]} }

// add notes that BTF has no kind for node i. what is the sort of type.
func (x *Unencodable) add(i uint32, what string) {
	x.nodes = append(x.nodes, i)
	x.count(what, 1)
}

func (x *Unencodable) count(what string, n int) {
	if n == 0 {
		return
	}
	if x.Counts == nil {
		x.Counts = make(map[string]int)
	}
	x.Counts[what] += n
}

// member names a member that was dropped.
func (x *Unencodable) member(of, name []byte) {
	if len(of) == 0 {
		of = []byte("(anonymous)")
	}
	if text := string(of) + "." + string(name); len(x.Members) < MaxMembers {
		x.Members = append(x.Members, text)
	}
}

// Any reports whether there are such types, or may be because of a misplaced void.
func (x *Unencodable) Any() bool { return len(x.nodes) > 0 || x.voids }

// Dropped is the Ref of a parameter or function whose type is unencodable.
const Dropped = dedup.Extern - 1

// Sorts of things that are dropped with an unencodable type, in Counts.
const (
	goneTypes     = "types made of them"
	goneMembers   = "struct and union members"
	goneFunctions = "functions"
	goneVariables = "variables"
	goneBases     = "base classes"
	goneVariants  = "variant parts of structs"
	goneVoid      = "types of other languages, which are void"
)

// tagName returns the name of a tag that errors mention.
func tagName(t dwarf.Tag) string {
	switch t {
	case dwarf.TagAtomicType:
		return "DW_TAG_atomic_type"
	case dwarf.TagReferenceType:
		return "DW_TAG_reference_type"
	case dwarf.TagRvalueReferenceType:
		return "DW_TAG_rvalue_reference_type"
	case dwarf.TagPtrToMemberType:
		return "DW_TAG_ptr_to_member_type"
	case dwarf.TagStringType:
		return "DW_TAG_string_type"
	case dwarf.TagInterfaceType:
		return "DW_TAG_interface_type"
	case dwarf.TagUnspecifiedType:
		return "DW_TAG_unspecified_type"
	}
	return fmt.Sprintf("DW_TAG_%#x", uint16(t))
}
