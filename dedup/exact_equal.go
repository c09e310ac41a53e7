package dedup

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

// exactKey hashes the words of r that two mergeable records must share.
func exactKey(r []uint32) uint64 {
	h := exactMix(0, r[0])
	switch k := btf.InfoKind(r[1]); k {
	case btf.KindEnum, btf.KindEnum64:
		return exactMix(h, uint32(btf.KindEnum)<<24)
	case btf.KindTypedef:
		return exactMix(h, r[1])
	case btf.KindStruct, btf.KindUnion:
		h = exactMix(exactMix(h, r[1]), r[2])
		for e := r[3:]; len(e) > 0; e = e[3:] {
			h = exactMix(exactMix(h, e[0]), e[2])
		}
		return h
	}
	for _, w := range r[1:] {
		h = exactMix(h, w)
	}
	return h
}

func exactMix(h uint64, w uint32) uint64 {
	h = (h ^ uint64(w)) * 0x9e3779b97f4a7c15
	return h ^ h>>29
}

// exactSameC compares name, info and third word.
func exactSameC(a, b []uint32) bool { return a[0] == b[0] && a[1] == b[1] && a[2] == b[2] }

// exactSameNameInfo compares name and info.
func exactSameNameInfo(a, b []uint32) bool { return a[0] == b[0] && a[1] == b[1] }

// exactEqual compares all words.
func exactEqual(a, b []uint32) bool { return slices.Equal(a, b) }

// exactShallow compares two structs or unions without their member types.
func exactShallow(a, b []uint32) bool {
	if !exactSameC(a, b) {
		return false
	}
	for i := 3; i < len(a); i += 3 {
		if a[i] != b[i] || a[i+2] != b[i+2] {
			return false
		}
	}
	return true
}

func exactIsEnum(r []uint32) bool {
	k := btf.InfoKind(r[1])
	return k == btf.KindEnum || k == btf.KindEnum64
}

// exactCompatEnum compares two ENUM or ENUM64; one without values stands for
// any of the same name, whatever its kind, size or sign.
func exactCompatEnum(a, b []uint32) bool {
	if !exactIsEnum(a) || !exactIsEnum(b) {
		return false
	}
	if btf.InfoVlen(a[1]) == 0 || btf.InfoVlen(b[1]) == 0 {
		return a[0] == b[0]
	}
	return exactEqual(a, b)
}

// exactCompatArray compares two arrays without their references.
func exactCompatArray(a, b []uint32) bool { return exactSameC(a, b) && a[5] == b[5] }

// exactCompatProto compares two prototypes without their references.
func exactCompatProto(a, b []uint32) bool {
	if !exactSameNameInfo(a, b) {
		return false
	}
	for i := 3; i < len(a); i += 2 {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// exactFwdOf reports whether forward f can stand for the type with info word
// info: a struct, or a union if kind_flag of f is set.
func exactFwdOf(f []uint32, info uint32) bool {
	if btf.InfoKflag(f[1]) {
		return btf.InfoKind(info) == btf.KindUnion
	}
	return btf.InfoKind(info) == btf.KindStruct
}
