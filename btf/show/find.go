package show

import (
	"path"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
)

// kinds are what has a name that a user may give, by the word before it.
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

// Find returns the ids of the types that a name or pattern stands for. The kind is
// struct, union, enum or "" for any of these and typedefs. A name stands for the first
// type that has it, as in pahole: of a kernel with Rust units, where structs of Rust have
// names of typedefs of C, that is what C means by it. If no type has the name, it is a
// pattern (those of path.Match), which stands for all types that it fits, each once, those
// of bases only if they are wanted: names of Rust such as &[u8] are patterns, too. The
// error is that of a malformed pattern.
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

// maxName is how long a name may be that others are compared with.
const maxName = 64

// Nearest is the name of a struct, union, enum or typedef that is most like the
// name, "" if none is near.
func Nearest(v *view.View, name string) (nearest string) {
	if len(name) > maxName {
		return ""
	}
	least := max(2, len(name)/4) + 1 // edits; a name with so many is too far off
	if len(name) <= 3 {
		least = 2
	}
	for t := range v.All() {
		if !slices.Contains(kinds(""), t.Kind()) {
			continue
		}
		other := t.Name()
		if n := len(other) - len(name); n >= least || n <= -least || len(other) == 0 {
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
