package exact

import (
	"slices"

	"github.com/btflite/btflite/btf"
)

// A record is compared in three ways:
//
//	equal          all words equal; references must be placed already
//	shallow equal  STRUCT, UNION: all but the member types
//	compatible     ARRAY, FUNC_PROTO: all but references; ENUM, ENUM64: equal,
//	               or one of them is a forward (no values) of the same name
//
// All need names that are equal exactly when their offsets are.

// keyOf hashes the words of r that two mergeable records must share.
func keyOf(r []uint32) uint64 {
	h := mix(0, r[0])
	switch k := btf.InfoKind(r[1]); k {
	case btf.KindEnum, btf.KindEnum64:
		return mix(h, uint32(btf.KindEnum)<<24)
	case btf.KindTypedef:
		return mix(h, r[1])
	case btf.KindStruct, btf.KindUnion:
		h = mix(mix(h, r[1]), r[2])
		for e := r[3:]; len(e) > 0; e = e[3:] {
			h = mix(mix(h, e[0]), e[2])
		}
		return h
	}
	for _, w := range r[1:] {
		h = mix(h, w)
	}
	return h
}

func mix(h uint64, w uint32) uint64 {
	h = (h ^ uint64(w)) * 0x9e3779b97f4a7c15
	return h ^ h>>29
}

// sameHead compares name, info and third word.
func sameHead(a, b []uint32) bool { return a[0] == b[0] && a[1] == b[1] && a[2] == b[2] }

// sameNameInfo compares name and info.
func sameNameInfo(a, b []uint32) bool { return a[0] == b[0] && a[1] == b[1] }

// equal compares all words.
func equal(a, b []uint32) bool { return slices.Equal(a, b) }

// shallow compares two structs or unions without their member types.
func shallow(a, b []uint32) bool {
	if !sameHead(a, b) {
		return false
	}
	for i := 3; i < len(a); i += 3 {
		if a[i] != b[i] || a[i+2] != b[i+2] {
			return false
		}
	}
	return true
}

func isEnum(r []uint32) bool {
	k := btf.InfoKind(r[1])
	return k == btf.KindEnum || k == btf.KindEnum64
}

// compatEnum compares two ENUM or ENUM64; one without values stands for
// any of the same name, whatever its kind, size or sign.
func compatEnum(a, b []uint32) bool {
	if !isEnum(a) || !isEnum(b) {
		return false
	}
	if btf.InfoVlen(a[1]) == 0 || btf.InfoVlen(b[1]) == 0 {
		return a[0] == b[0]
	}
	return equal(a, b)
}

// compatArray compares two arrays without their references.
func compatArray(a, b []uint32) bool { return sameHead(a, b) && a[5] == b[5] }

// compatProto compares two prototypes without their references.
func compatProto(a, b []uint32) bool {
	if !sameNameInfo(a, b) {
		return false
	}
	for i := 3; i < len(a); i += 2 {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// forwardOf reports whether forward f can stand for the type with info word
// info: a struct, or a union if kind_flag of f is set.
func forwardOf(f []uint32, info uint32) bool {
	if btf.InfoKflag(f[1]) {
		return btf.InfoKind(info) == btf.KindUnion
	}
	return btf.InfoKind(info) == btf.KindStruct
}
