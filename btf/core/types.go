package core

import (
	"bytes"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
)

// maxLevels is how deeply types may be nested that are compared as a whole, as in libbpf.
const maxLevels = 32

// compatible tells whether the type b of the target exists for a program that has a. Names and
// sizes do not count, nor what structs, unions and enums are made of: these only have to be of
// the same kind. Pointers, arrays and prototypes are followed.
func (s *search) compatible(a, b view.Type, levels int) bool {
	for range maxLevels {
		if levels--; levels < 0 || !s.spend() {
			return false
		}
		a, b = a.Resolved(), b.Resolved()
		if !sameKind(a.Kind(), b.Kind()) {
			return false
		}
		switch a.Kind() {
		case btf.KindVoid, btf.KindStruct, btf.KindUnion, btf.KindEnum, btf.KindEnum64, btf.KindFwd:
			return true
		case btf.KindInt:
			return isWholeInt(a) && isWholeInt(b)
		case btf.KindPtr:
			a, b = a.Target(), b.Target()
		case btf.KindArray:
			a, _ = a.Elem()
			b, _ = b.Elem()
		case btf.KindFuncProto:
			if a.Vlen() != b.Vlen() {
				return false
			}
			for i := range a.Vlen() {
				if !s.compatible(a.Param(i).Type(), b.Param(i).Type(), levels) {
					return false
				}
			}
			a, b = a.Target(), b.Target()
		default:
			return false
		}
	}
	return false
}

// matches tells whether the type b of the target has everything that the local type a says:
//
//   - Modifiers and typedefs do not count, nor do flavours of names.
//   - Integers have the same size and sign, enums the same size. Arrays have the same
//     number of elements, prototypes the same number of parameters.
//   - Each member of a struct or union, and each value of an enum, is found by its name.
//     Members match, whatever their offset. Values may be other numbers.
//   - Behind a pointer, for a struct or union the name and the kind are enough, and a
//     forward declaration will do on either side.
func (s *search) matches(a, b view.Type, behind bool, levels int) bool {
	for range maxLevels {
		if levels <= 0 || !s.spend() {
			return false
		}
		a, b = a.Resolved(), b.Resolved()
		if !sameEssential(a.Name(), b.Name()) {
			return false
		}
		if behind && (isForwardOf(a, b) || isForwardOf(b, a)) {
			return true
		}
		if !sameKind(a.Kind(), b.Kind()) {
			return false
		}
		switch a.Kind() {
		case btf.KindVoid:
			return true
		case btf.KindFwd:
			return a.Flag() == b.Flag()
		case btf.KindEnum, btf.KindEnum64:
			return s.enumMatches(a, b)
		case btf.KindStruct, btf.KindUnion:
			return behind || s.compositeMatches(a, b, levels)
		case btf.KindInt:
			return a.Size() == b.Size() && isSigned(a) == isSigned(b)
		case btf.KindPtr:
			a, b, behind = a.Target(), b.Target(), true
		case btf.KindArray:
			elemA, n := a.Elem()
			elemB, m := b.Elem()
			if n != m {
				return false
			}
			a, b = elemA, elemB
		case btf.KindFuncProto:
			if a.Vlen() != b.Vlen() {
				return false
			}
			for i := range a.Vlen() {
				if !s.matches(a.Param(i).Type(), b.Param(i).Type(), behind, levels-1) {
					return false
				}
			}
			a, b = a.Target(), b.Target()
		default:
			return false
		}
	}
	return false
}

// sameEssential tells whether both names are the same but for flavours, or both are empty.
func sameEssential(a, b []byte) bool { return bytes.Equal(essential(a), essential(b)) }

// isForwardOf tells whether a is a forward declaration of a struct or union like b.
func isForwardOf(a, b view.Type) bool {
	return a.Kind() == btf.KindFwd && (b.Kind() == btf.KindStruct && !a.Flag() || b.Kind() == btf.KindUnion && a.Flag())
}

// signedInt is the bit of an INT's encoding for a sign.
const signedInt = 1

// isSigned tells whether an INT or enum has a sign.
func isSigned(t view.Type) bool {
	if t.IsEnum() {
		return t.Flag()
	}
	encoding, _, _ := t.IntEncoding()
	return encoding&signedInt != 0
}

// enumMatches is matches for two enums.
func (s *search) enumMatches(a, b view.Type) bool {
	if a.Size() != b.Size() || a.Vlen() > b.Vlen() {
		return false
	}
	for _, x := range a.Values() {
		found := false
		for _, y := range b.Values() {
			if !s.spend() {
				return false
			}
			if found = sameEssential(x.Name(), y.Name()); found {
				break
			}
		}
		if !found {
			return false
		}
	}
	return true
}

// compositeMatches is matches for two structs or unions.
func (s *search) compositeMatches(a, b view.Type, levels int) bool {
	if a.Vlen() > b.Vlen() {
		return false
	}
	for _, x := range a.Members() {
		found := false
		for _, y := range b.Members() {
			if !s.spend() {
				return false
			}
			if found = sameEssential(x.Name(), y.Name()) && s.matches(x.Type(), y.Type(), false, levels-1); found {
				break
			}
		}
		if !found {
			return false
		}
	}
	return true
}
