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
			if err := s.add(p.id[i]); err != nil {
				return 0, err
			}
		}
		if err := s.finish(); err != nil {
			return 0, err
		}
	}
	most := uint64(0)
	for _, p := range pairs {
		here, other := 0, -1
		if p.id[0] == 0 {
			here = sides[1].index[p.id[1]]
		} else if here = sides[0].index[p.id[0]]; p.id[1] != 0 {
			other = sides[1].index[p.id[1]]
		}
		d.Types[here] = append(d.Types[here], []any{other, p.what, p.weight, p.short})
		d.List = append(d.List, here)
		if other >= 0 && (d.Open < 0 || p.weight > most) {
			d.Open, most = here, p.weight
		}
	}
	d.sortList()
	if d.Open < 0 {
		d.Open = d.first(func(i int) uint64 { return d.Types[i][2].(uint64) }) // all are in one file
	}
	verb := "differ"
	if len(pairs) == 1 {
		verb = "differs"
	}
	d.About = fmt.Sprintf("%s and %s: %s %s", names[0], names[1], d.count(), verb)
	return len(pairs), d.write(w)
}

// pair is a type in both files; an id of 0 says that one has none.
type pair struct {
	id    [2]uint32
	what  string // what happened to it
	short string // the same for the list, with the signs of the drawing
	// weight is how much that is: the members that came, went or have another size or
	// type count most, then the bytes that the type grew or shrank by, then the members
	// that moved. For a type that one file has, it is its size.
	weight uint64
}

// key finds a type in the other file.
type key struct {
	kind btf.Kind
	name string
	nth  int
}

// differing gives the named structs and unions that differ: first types of a, in their
// order, then types that only b has. The function only selects them by name; without
// it, a type differs if its layout does.
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
		p := pair{[2]uint32{id, other}, "gone", "gone", a.Type(id).Size()}
		if ok {
			p.what, p.short, p.weight = change(a.Type(id), b.Type(other))
		}
		switch {
		case p.what != "":
		case only == nil:
			return
		default:
			p.what, p.short = "the same layout", "same"
		}
		pairs = append(pairs, p)
	})
	for _, k := range keys {
		if id, ok := there[k]; ok && shown(k) {
			pairs = append(pairs, pair{[2]uint32{0, id}, "new", "new", b.Type(id).Size()})
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
		k.nth = seen[k]
		fn(k, t.ID)
	}
}

// change describes how the layout of b differs from the layout of a, "" if it does
// not. short is the same in signs; members that moved are there if nothing else has
// changed. weight says how large the change is.
func change(a, b view.Type) (text, short string, weight uint64) {
	var what, signs []string
	x, y := a.Size(), b.Size()
	if y > x {
		what, signs = append(what, "grew by "+counted(y-x, "byte")), append(signs, "+"+message.Grouped(y-x)+" B")
	} else if y < x {
		what, signs = append(what, "shrank by "+counted(x-y, "byte")), append(signs, "−"+message.Grouped(x-y)+" B")
	}
	before := members(a)
	after := members(b)
	came, gone, moved, other := 0, 0, 0, 0
	for name, p := range after {
		q, ok := before[name]
		switch {
		case !ok:
			came++
		case q.size != p.size || typeText(q.m.Type()) != typeText(p.m.Type()):
			other++
		case q.at != p.at:
			moved++
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			gone++
		}
	}
	for _, x := range []struct {
		n          int
		word, sign string
	}{{came, "new", "+"}, {gone, "gone", "−"}, {moved, "moved", "→"}, {other, "changed", "≠"}} {
		if x.n == 0 {
			continue
		}
		what = append(what, fmt.Sprintf("%d %s", x.n, x.word))
		if x.word != "moved" || came+gone+other == 0 {
			signs = append(signs, fmt.Sprintf("%s%d", x.sign, x.n))
		}
	}
	grown := min(max(x, y)-min(x, y), 1<<20-1)
	return strings.Join(what, ", "), strings.Join(signs, " "), uint64(came+gone+other)<<40 | grown<<20 | uint64(min(moved, 1<<20-1))
}

// maxMembers bounds the members that are compared of one type: structs without
// names that contain each other twice could have any number of them.
const maxMembers = 1 << 16

// members gives the members of t by name. As in C, members of a nameless struct or
// union inside t count as members of t.
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
