package stats

import (
	"cmp"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
)

// Repeated is a name with several definitions of one kind.
type Repeated struct {
	Kind  string `json:"kind"`
	Name  string `json:"name"`
	Count int    `json:"count"`
	// InBase is how many of them are in the base.
	InBase int `json:"in_base,omitempty"`
	// Bytes is the size of all definitions except the first, without the base's.
	Bytes uint64 `json:"bytes"`
	// IDs are the first definitions, at most 16.
	IDs []uint32 `json:"ids"`
}

const maxIDs = 16

// sortOf is the kind of t as it counts here: wide enums are enums. Only these
// kinds define names.
func sortOf(t view.Type) (btf.Kind, bool) {
	switch k := t.Kind(); k {
	case btf.KindEnum64:
		return btf.KindEnum, true
	case btf.KindInt, btf.KindFloat, btf.KindStruct, btf.KindUnion, btf.KindEnum, btf.KindTypedef, btf.KindFunc, btf.KindVar:
		return k, true
	}
	return 0, false
}

// findRepeated finds the names of own types that have several definitions, there or
// in the base.
func (r *Report) findRepeated(v *view.View, n int) {
	type key struct {
		kind btf.Kind
		name string
	}
	own := map[key]uint32{} // how many own definitions there are
	for t := range v.Own() {
		if k, ok := sortOf(t); ok && len(t.Name()) > 0 {
			own[key{k, string(t.Name())}]++
		}
	}
	found := map[key]*Repeated{}
	for t := range v.All() {
		k, ok := sortOf(t)
		if !ok {
			continue
		}
		at := key{k, string(t.Name())}
		if n := own[at]; n == 0 || n == 1 && v.FirstOwn() == 1 {
			continue // a single definition; with a base, that may have one too
		}
		x := found[at]
		if x == nil {
			x = &Repeated{Kind: k.String(), Name: at.name}
			found[at] = x
		}
		if t.ID < v.FirstOwn() {
			x.InBase++
		} else if x.Count > 0 {
			x.Bytes += recordBytes(t)
		}
		if x.Count++; len(x.IDs) < maxIDs {
			x.IDs = append(x.IDs, t.ID)
		}
	}
	list := newTop(n, func(x, y *Repeated) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count), cmp.Compare(y.Bytes, x.Bytes), cmp.Compare(x.IDs[0], y.IDs[0]))
	})
	for _, x := range found {
		if x.Count > 1 {
			r.RepeatedNames++
			r.RepeatedBytes += x.Bytes
			list.add(*x)
		}
	}
	r.Repeated = list.sorted()
}
