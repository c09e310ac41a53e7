package exact

import (
	"slices"

	"github.com/btflite/btflite/arena"
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
func keyOf(r btf.Record) uint64 {
	h := arena.Mix(0, r.Name())
	switch k := r.Kind(); k {
	case btf.KindEnum, btf.KindEnum64:
		return arena.Mix(h, uint32(btf.KindEnum)<<24)
	case btf.KindTypedef:
		return arena.Mix(h, r.Info())
	case btf.KindStruct, btf.KindUnion:
		h = arena.Mix(arena.Mix(h, r.Info()), r.Third())
		for j := range int(r.Vlen()) {
			name, _, offset := r.Member(j)
			h = arena.Mix(arena.Mix(h, name), offset)
		}
		return h
	}
	for _, w := range r[1:] {
		h = arena.Mix(h, w)
	}
	return h
}

// sameHead compares name, info and third word.
func sameHead(a, b btf.Record) bool {
	return a.Name() == b.Name() && a.Info() == b.Info() && a.Third() == b.Third()
}

func sameNameInfo(a, b btf.Record) bool { return a.Name() == b.Name() && a.Info() == b.Info() }

// equal compares all words.
func equal(a, b btf.Record) bool { return slices.Equal(a, b) }

// shallow compares two structs or unions without their member types.
func shallow(a, b btf.Record) bool {
	if !sameHead(a, b) {
		return false
	}
	for j := range int(a.Vlen()) {
		name, _, offset := a.Member(j)
		if other, _, at := b.Member(j); name != other || offset != at {
			return false
		}
	}
	return true
}

func isEnum(r btf.Record) bool {
	k := r.Kind()
	return k == btf.KindEnum || k == btf.KindEnum64
}

// compatEnum compares two ENUM or ENUM64; one without values stands for
// any of the same name, whatever its kind, size or sign.
func compatEnum(a, b btf.Record) bool {
	if !isEnum(a) || !isEnum(b) {
		return false
	}
	if a.Vlen() == 0 || b.Vlen() == 0 {
		return a.Name() == b.Name()
	}
	return equal(a, b)
}

// compatArray compares two arrays without their references.
func compatArray(a, b btf.Record) bool {
	_, _, n := a.Array()
	_, _, m := b.Array()
	return sameHead(a, b) && n == m
}

// compatProto compares two prototypes without their references.
func compatProto(a, b btf.Record) bool {
	if !sameNameInfo(a, b) {
		return false
	}
	for j := range int(a.Vlen()) {
		name, _ := a.Param(j)
		if other, _ := b.Param(j); name != other {
			return false
		}
	}
	return true
}

// forwardOf reports whether forward f can stand for the type with info word
// info: a struct, or a union if kind_flag of f is set.
func forwardOf(f btf.Record, info uint32) bool {
	if btf.InfoKflag(f.Info()) {
		return btf.InfoKind(info) == btf.KindUnion
	}
	return btf.InfoKind(info) == btf.KindStruct
}
