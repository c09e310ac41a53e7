package show

import (
	"slices"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
	"github.com/btflite/btflite/internal/glob"
)

// Kinds returns the kinds that a user can name, by the word before the name.
func Kinds(word string) []btf.Kind {
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
// it is a pattern and stands for all types that match, each once, in bases
// only if withBases. Names come first because names of Rust such as &[u8] are valid
// patterns. A malformed pattern is an error.
func Find(v *view.View, kind, name string, withBases bool) (ids []uint32, err error) {
	if ids = v.Named(name, Kinds(kind)...); len(ids) > 0 {
		return ids[:1], nil
	}
	if !glob.Is(name) {
		return nil, nil
	}
	pattern, err := glob.Parse(name)
	if err != nil {
		return nil, err
	}
	known := newSeen()
	types := v.Own()
	if withBases {
		types = v.All()
	}
	for t := range types {
		if !slices.Contains(Kinds(kind), t.Kind()) || len(t.Name()) == 0 {
			continue
		}
		if pattern.Fits(t.Name()) && (!t.IsComposite() || known.add(t)) {
			ids = append(ids, t.ID)
		}
	}
	return ids, nil
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
