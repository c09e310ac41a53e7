package show

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
)

// kinds are the kinds that a user can name, by the word before the name.
func kinds(word string) []btf.Kind {
	switch word {
	case "":
		return []btf.Kind{btf.KindStruct, btf.KindUnion, btf.KindEnum, btf.KindEnum64, btf.KindTypedef}
	case "struct":
		return []btf.Kind{btf.KindStruct}
	case "union":
		return []btf.Kind{btf.KindUnion}
	case "enum":
		return []btf.Kind{btf.KindEnum, btf.KindEnum64}
	}
	return nil
}

// Find returns the ids of the types with a name, or matching a pattern. The kind is
// struct, union, enum, or "" for any of these and typedefs.
//
// A name stands for the first type that has it, as in pahole. In kernels with Rust units,
// whose structs have names of C typedefs, the first one is C's. If no type has the name,
// it is a pattern of path.Match and stands for all types that match, each once, in bases
// only if withBases. Names come first because names of Rust such as &[u8] are valid
// patterns. A malformed pattern is an error.
func Find(v *view.View, kind, name string, withBases bool) (ids []uint32, err error) {
	if ids = v.Named(name, kinds(kind)...); len(ids) > 0 {
		return ids[:1], nil
	}
	if !strings.ContainsAny(name, `*?[\`) {
		return nil, nil
	}
	if _, err := path.Match(name, ""); err != nil {
		return nil, err
	}
	known := newSeen()
	types := v.Own()
	if withBases {
		types = v.All()
	}
	for t := range types {
		if !slices.Contains(kinds(kind), t.Kind()) || len(t.Name()) == 0 {
			continue
		}
		if ok, _ := path.Match(name, string(t.Name())); ok && (!t.IsComposite() || known.add(t)) {
			ids = append(ids, t.ID)
		}
	}
	return ids, nil
}

// maxName is how many letters a name may have that others are compared with.
const maxName = 64

// Nearest is the name of a struct, union, enum or typedef that is most like the
// name, "" if none is near.
func Nearest(v *view.View, name string) (nearest string) {
	letters := utf8.RuneCountInString(name)
	if letters > maxName {
		return ""
	}
	least := max(2, letters/4) + 1 // edits; a name with so many is too far off
	if letters <= 3 {
		least = 2
	}
	for t := range v.All() {
		if !slices.Contains(kinds(""), t.Kind()) {
			continue
		}
		other := t.Name()
		if n := utf8.RuneCount(other) - letters; n >= least || n <= -least || len(other) == 0 {
			continue
		}
		if d := levenshtein.ComputeDistance(name, string(other)); d < least {
			nearest, least = string(other), d
		}
	}
	return nearest
}

// WithEnumerator is the first enum that has the enumerator.
func WithEnumerator(v *view.View, name string) (t view.Type, ok bool) {
	for t := range v.All() {
		for _, e := range t.Values() {
			if string(e.Name()) == name {
				return t, true
			}
		}
	}
	return t, false
}
