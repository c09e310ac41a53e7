package show

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/btflite/btflite/btf/ctype"
	"github.com/btflite/btflite/btf/view"
)

// inOrder sorts structs and unions as pahole does: by their names, sizes and members, but
// if two of one name differ in the types of members only, all by names and members.
func inOrder(list []view.Type) {
	slices.SortStableFunc(list, bySize)
	for i := 1; i < len(list); i++ {
		if bySize(list[i-1], list[i]) == 0 {
			slices.SortFunc(list, byName)
			return
		}
	}
}

// bySize compares structs and unions by their names, sizes, numbers of members, and by
// the first member that has another name or place.
func bySize(a, b view.Type) int {
	if c := cmp.Or(bytes.Compare(a.Name(), b.Name()), cmp.Compare(a.Size(), b.Size()), cmp.Compare(a.Vlen(), b.Vlen())); c != 0 {
		return c
	}
	for i := range a.Vlen() {
		if c := byPlace(a.Member(i), b.Member(i)); c != 0 {
			return c
		}
	}
	return 0
}

// byName compares structs and unions by their names, then by the first member in which
// they differ.
func byName(a, b view.Type) int {
	if c := bytes.Compare(a.Name(), b.Name()); c != 0 {
		return c
	}
	for i := range min(a.Vlen(), b.Vlen()) {
		if c := byMember(a.Member(i), b.Member(i)); c != 0 {
			return c
		}
	}
	return cmp.Or(cmp.Compare(a.Vlen(), b.Vlen()), cmp.Compare(b.ID, a.ID))
}

// byMember compares members by names and places, then by the names of their types.
func byMember(a, b view.Member) int {
	if c := byPlace(a, b); c != 0 || a.TypeID == b.TypeID {
		return c
	}
	return bytes.Compare(comparedName(a.Type()), comparedName(b.Type()))
}

// byPlace compares members by their names if both have one, by their places, and by the
// sizes of bit-fields.
func byPlace(a, b view.Member) int {
	if x, y := a.Name(), b.Name(); len(x) > 0 && len(y) > 0 {
		if c := bytes.Compare(x, y); c != 0 {
			return c
		}
	}
	return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Bits, b.Bits))
}

// comparedName returns the part of a type's name that sorting compares.
func comparedName(t view.Type) []byte {
	w := ctype.Writer{Limit: longestColumn}
	w.Type(t)
	return w.Text
}
