// Package core resolves the CO-RE relocations of BPF objects against the BTF of
// kernels, and makes the minimal BTF that they need.
//
// A relocation names a type of the program, its local type, and how the program gets
// from there to a field or a value. Resolve finds the same in a kernel, the target, by
// the rules of libbpf:
//
//   - Candidates are the types of the target that have the local type's essential
//     name, which is the name up to a last "___", and its kind. If a base has
//     candidates, split BTF over it is not asked.
//
//   - A field is found by the names of the members on the way, also inside of members
//     without a name. Its type has to be compatible: of the same kind, whatever its
//     size, but with the same essential name if it is an enum or a forward declaration.
//
//   - For the relocations of whole types, and of values of enums, see types.go.
//
//   - Several candidates may fit if they lead to the same result.
//
// The files:
//
//	core.go      kinds of relocations, essential names
//	ext.go       the section .BTF.ext
//	program.go   the relocations of an object
//	target.go    candidates of a kernel
//	field.go     fields in a candidate
//	types.go     types that are compatible, types that match
//	value.go     what a relocation computes
//	needs.go     what relocations need, as BTF
//	names.go     the names of types that a program relocates
//
// The documentation of the format is the kernel's (Documentation/bpf/btf.rst and
// Documentation/bpf/llvm_reloc.rst).
//
// The stable API is package btflite. What it does not use of this package may change.
package core

import (
	"bytes"
	"strconv"

	"github.com/btflite/btflite/btf"
)

// Kind says what a relocation asks for.
type Kind uint32

// The kinds, by their numbers in .BTF.ext.
const (
	FieldByteOffset Kind = iota
	FieldByteSize
	FieldExists
	FieldSigned
	FieldLshift
	FieldRshift
	TypeIDLocal
	TypeIDTarget
	TypeExists
	TypeSize
	EnumvalExists
	EnumvalValue
	TypeMatches
)

// kinds is how many kinds there are.
const kinds = TypeMatches + 1

var kindNames = [kinds]string{
	"byte_off", "byte_sz", "field_exists", "signed", "lshift_u64", "rshift_u64", "local_type_id", "target_type_id",
	"type_exists", "type_size", "enumval_exists", "enumval_value", "type_matches",
}

// String returns the kind's name as libbpf prints it, for example "byte_off".
func (k Kind) String() string {
	if k < kinds {
		return kindNames[k]
	}
	return "kind " + strconv.Itoa(int(k))
}

// Asks tells whether the relocation asks if something is there, so that a program works
// without it. Other relocations that find nothing make their instruction invalid.
func (k Kind) Asks() bool {
	return k == FieldExists || k == TypeExists || k == TypeMatches || k == EnumvalExists
}

func (k Kind) isField() bool   { return k <= FieldRshift }
func (k Kind) isEnumval() bool { return k == EnumvalExists || k == EnumvalValue }

// separator begins what a flavour adds to a name: task_struct___old.
var separator = []byte("___")

// essential returns the name without its flavour. A separator has other characters before and
// behind it.
func essential(name []byte) []byte {
	for end := len(name); ; {
		at := bytes.LastIndex(name[:end], separator)
		if at < 1 {
			return name
		}
		behind := at + len(separator)
		if name[at-1] != '_' && behind < len(name) && name[behind] != '_' {
			return name[:at]
		}
		end = behind - 1
	}
}

// sameKind tells whether types of the kinds may stand for each other. Enums have two.
func sameKind(a, b btf.Kind) bool {
	return a == b || btf.Enums.Has(a) && btf.Enums.Has(b)
}
