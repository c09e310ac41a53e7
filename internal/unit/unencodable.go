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

// MaxMembers is how many dropped members of a unit are named. All are counted.
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

// Any reports whether dropUnencodable may have something to drop.
func (x *Unencodable) Any() bool { return len(x.nodes) > 0 || x.voids }

// Dropped is the type of a parameter, or of a function's result, whose type was dropped.
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

// tagNames are the names of tags of types. A class can be among them where DWARF has it in a part
// of the tree that is not read, as below an inlined function.
var tagNames = [...]string{
	dwarf.TagArrayType:           "DW_TAG_array_type",
	dwarf.TagClassType:           "DW_TAG_class_type",
	dwarf.TagEnumerationType:     "DW_TAG_enumeration_type",
	dwarf.TagPointerType:         "DW_TAG_pointer_type",
	dwarf.TagReferenceType:       "DW_TAG_reference_type",
	dwarf.TagStringType:          "DW_TAG_string_type",
	dwarf.TagStructureType:       "DW_TAG_structure_type",
	dwarf.TagSubroutineType:      "DW_TAG_subroutine_type",
	dwarf.TagTypedef:             "DW_TAG_typedef",
	dwarf.TagUnionType:           "DW_TAG_union_type",
	dwarf.TagPtrToMemberType:     "DW_TAG_ptr_to_member_type",
	dwarf.TagSetType:             "DW_TAG_set_type",
	dwarf.TagSubrangeType:        "DW_TAG_subrange_type",
	dwarf.TagBaseType:            "DW_TAG_base_type",
	dwarf.TagConstType:           "DW_TAG_const_type",
	dwarf.TagFileType:            "DW_TAG_file_type",
	dwarf.TagPackedType:          "DW_TAG_packed_type",
	dwarf.TagThrownType:          "DW_TAG_thrown_type",
	dwarf.TagVolatileType:        "DW_TAG_volatile_type",
	dwarf.TagRestrictType:        "DW_TAG_restrict_type",
	dwarf.TagInterfaceType:       "DW_TAG_interface_type",
	dwarf.TagUnspecifiedType:     "DW_TAG_unspecified_type",
	dwarf.TagSharedType:          "DW_TAG_shared_type",
	dwarf.TagRvalueReferenceType: "DW_TAG_rvalue_reference_type",
	dwarf.TagTemplateAlias:       "DW_TAG_template_alias",
	dwarf.TagCoarrayType:         "DW_TAG_coarray_type",
	dwarf.TagDynamicType:         "DW_TAG_dynamic_type",
	dwarf.TagAtomicType:          "DW_TAG_atomic_type",
	dwarf.TagImmutableType:       "DW_TAG_immutable_type",
}

// tagName returns the name of a tag that errors mention.
func tagName(t dwarf.Tag) string {
	if int(t) < len(tagNames) && tagNames[t] != "" {
		return tagNames[t]
	}
	return fmt.Sprintf("DW_TAG_%#x", uint16(t))
}
