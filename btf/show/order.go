package show

import (
	"bytes"
	"cmp"

	"github.com/btflite/btflite/btf/ctype"
	"github.com/btflite/btflite/btf/view"
)

// byName compares structs and unions as pahole sorts them: by their names, then by the
// first member in which they differ.
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

// byMember compares members: by their places, by their names if both have one, by the
// names of their types.
func byMember(a, b view.Member) int {
	if c := cmp.Compare(a.Offset, b.Offset); c != 0 {
		return c
	}
	if x, y := a.Name(), b.Name(); len(x) > 0 && len(y) > 0 {
		if c := bytes.Compare(x, y); c != 0 {
			return c
		}
	}
	if a.TypeID == b.TypeID {
		return 0
	}
	return bytes.Compare(comparedName(a.Type()), comparedName(b.Type()))
}

// comparedName is the name of a type as far as it is compared.
func comparedName(t view.Type) []byte {
	w := ctype.Writer{Limit: longestColumn}
	w.Type(t)
	return w.Text
}
