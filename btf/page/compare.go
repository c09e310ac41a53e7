package page

import (
	"fmt"
	"io"
	"strings"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
	"github.com/btflite/btflite/internal/message"
)

// Compare writes a page with the structs and unions of a and b whose layouts
// differ, side by side. Types are the same if they have the same kind and name;
// of several with one name the first ones are compared, then the second ones.
// names says what a and b are called. It returns the number of types that differ.
func Compare(w io.Writer, a, b *view.View, names [2]string, o Options) (int, error) {
	d := newData(o)
	for i, name := range names {
		names[i] = message.OneLine(name)
	}
	d.Sides = names[:]
	pairs := differing(a, b, o.Only)
	sides := [2]*side{d.side(a), d.side(b)}
	for i, s := range sides {
		for _, p := range pairs {
			if p.id[i] == 0 {
				continue
			}
			if _, err := s.add(p.id[i]); err != nil {
				return 0, err
			}
		}
		if err := s.finish(); err != nil {
			return 0, err
		}
	}
	for _, p := range pairs {
		here, other := 0, -1
		if p.id[0] == 0 {
			here = sides[1].index[p.id[1]]
		} else if here = sides[0].index[p.id[0]]; p.id[1] != 0 {
			other = sides[1].index[p.id[1]]
		}
		d.Types[here] = append(d.Types[here], []any{other, p.what})
		d.List = append(d.List, here)
	}
	d.sortList()
	d.About = fmt.Sprintf("%s and %s: %d structs and unions differ", names[0], names[1], len(pairs))
	return len(pairs), d.write(w)
}

// pair is a type in both files; an id of 0 says that one has none.
type pair struct {
	id   [2]uint32
	what string // what became of it
}

// key is what a type is found by in the other file.
type key struct {
	kind btf.Kind
	name string
	nth  int
}

// differing gives the named structs and unions that differ, those of a in their
// order, then those that only b has: those for which only is true, or those whose
// layouts differ.
func differing(a, b *view.View, only func(part, name string) bool) (pairs []pair) {
	shown := func(k key) bool { return only == nil || only(strings.ToLower(k.kind.String()), k.name) }
	there, keys := map[key]uint32{}, []key{}
	each(b, func(k key, id uint32) {
		there[k] = id
		keys = append(keys, k)
	})
	each(a, func(k key, id uint32) {
		other, ok := there[k]
		delete(there, k)
		if !shown(k) {
			return
		}
		p := pair{[2]uint32{id, other}, "gone"}
		if ok {
			p.what = change(a.Type(id), b.Type(other))
		}
		switch {
		case p.what != "":
		case only == nil:
			return
		default:
			p.what = "the same layout"
		}
		pairs = append(pairs, p)
	})
	for _, k := range keys {
		if id, ok := there[k]; ok && shown(k) {
			pairs = append(pairs, pair{[2]uint32{0, id}, "new"})
		}
	}
	return pairs
}

// each gives the named structs and unions of v.
func each(v *view.View, fn func(k key, id uint32)) {
	seen := map[key]int{}
	for t := range v.All() {
		if !t.IsComposite() || len(t.Name()) == 0 {
			continue
		}
		k := key{kind: t.Kind(), name: string(t.Name())}
		seen[k]++
		k.nth = seen[key{kind: k.kind, name: k.name}]
		fn(k, t.ID)
	}
}

// change says how the layout of b differs from that of a; "" if it does not.
func change(a, b view.Type) string {
	var what []string
	if x, y := a.Size(), b.Size(); y > x {
		what = append(what, fmt.Sprintf("grew by %d bytes", y-x))
	} else if y < x {
		what = append(what, fmt.Sprintf("shrank by %d bytes", x-y))
	}
	before := members(a)
	after := members(b)
	came, gone, moved, other := 0, 0, 0, 0
	for name, p := range after {
		q, ok := before[name]
		switch {
		case !ok:
			came++
		case q.at != p.at:
			moved++
		case q.size != p.size || typeText(q.m.Type()) != typeText(p.m.Type()):
			other++
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			gone++
		}
	}
	for _, x := range []struct {
		n    int
		word string
	}{{came, "new"}, {gone, "gone"}, {moved, "moved"}, {other, "changed"}} {
		if x.n > 0 {
			what = append(what, fmt.Sprintf("%d %s", x.n, x.word))
		}
	}
	return strings.Join(what, ", ")
}

// maxMembers bounds the members that are compared of one type: structs without
// names that contain each other twice could have any number of them.
const maxMembers = 1 << 16

// members gives the members of t by name. Those of members without a name are
// among them, as they are in C.
func members(t view.Type) map[string]part {
	out, left := map[string]part{}, maxMembers
	addMembers(t, 0, 0, &left, out)
	return out
}

func addMembers(t view.Type, base uint64, depth int, left *int, out map[string]part) {
	for _, p := range layout(t) {
		if *left--; *left < 0 {
			return
		}
		if p.kind != 0 {
			continue
		}
		if name := p.m.Name(); len(name) > 0 {
			p.at += base
			out[string(name)] = p
		} else if in := p.m.Type().Resolved(); in.IsComposite() && depth < view.MaxDepth {
			addMembers(in, base+p.at, depth+1, left, out)
		}
	}
}
