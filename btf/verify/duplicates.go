package verify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/btflite/btflite/btf"
)

// Duplicate is a name that has several definitions of one sort. Either the name means different
// types in different parts of the program, or deduplication could not merge the definitions.
type Duplicate struct {
	Kind btf.Kind // ENUM stands for ENUM64 too
	Name string
	// IDs are the definitions, in ascending order. At least one of them is a type of b itself.
	IDs []uint32
	// Differences has one text for each definition but the first: where the definition first
	// differs from the first one, on the shortest way there. The text is "" if they do not differ, or if
	// it takes too long to find out.
	Differences []string
}

// Duplicates returns the names of own types of b that have several
// definitions in b and its base, in the order of their first definitions.
func Duplicates(b *btf.Blob) []Duplicate {
	type key struct {
		kind btf.Kind
		name string
	}
	ids := map[key][]uint32{}
	add := func(id uint32, only bool) {
		r := b.Record(id)
		k := btf.InfoKind(r[1])
		switch k {
		case btf.KindEnum64:
			k = btf.KindEnum
		case btf.KindInt, btf.KindFloat, btf.KindStruct, btf.KindUnion, btf.KindEnum, btf.KindTypedef:
		default:
			return
		}
		name := key{k, b.Name(r[0])}
		if _, known := ids[name]; name.name != "" && (known || !only) {
			ids[name] = append(ids[name], id)
		}
	}
	for id := b.FirstID; id < b.TypeCount(); id++ {
		add(id, false)
	}
	for id := uint32(1); id < b.FirstID; id++ {
		add(id, true)
	}
	var out []Duplicate
	for k, list := range ids {
		if len(list) > 1 {
			slices.Sort(list)
			out = append(out, Duplicate{Kind: k.kind, Name: k.name, IDs: list})
		}
	}
	slices.SortFunc(out, func(x, y Duplicate) int { return cmp.Compare(x.IDs[0], y.IDs[0]) })
	left := maxAllPairs
	for i := range out {
		for _, id := range out[i].IDs[1:] {
			out[i].Differences = append(out[i].Differences, difference(b, out[i].IDs[0], id, &left))
		}
	}
	return out
}

// String is one line, and one more for each definition that differs from the
// first.
func (d *Duplicate) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s %s has %d definitions: %d", d.Kind, quote(d.Name), len(d.IDs), d.IDs)
	for i, diff := range d.Differences {
		if diff != "" {
			fmt.Fprintf(&s, "\n    [%d], [%d]: %s", d.IDs[0], d.IDs[i+1], diff)
		}
	}
	return s.String()
}

// pair is two types to compare, and how the comparison came to them.
type pair struct {
	x, y   uint32
	parent int    // index of the pair that refers to this one, -1 for none
	how    string // what of the parent they are
}

// maxPairs bounds one comparison, and maxAllPairs all of them. Kernels need some thousand for all.
const (
	maxPairs    = 10000
	maxAllPairs = 1 << 22
)

// difference says how types x and y differ. Pairs of types are compared in the
// order of their distance from x and y, each by its own words. left is how many may
// still be compared.
func difference(b *btf.Blob, x, y uint32, left *int) string {
	pairs := []pair{{x, y, -1, ""}}
	seen := map[[2]uint32]bool{{x, y}: true}
	for i := 0; i < len(pairs) && i < maxPairs && *left > 0; i++ {
		*left--
		p := pairs[i]
		diff := ""
		if p.x == 0 || p.y == 0 {
			diff = "void"
			if p.y != 0 {
				diff += ", " + describe(b, p.y)
			} else {
				diff = describe(b, p.x) + ", void"
			}
		} else {
			diff = localDifference(b, p.x, p.y, func(x, y uint32, how string) {
				if k := [2]uint32{x, y}; x != y && !seen[k] {
					seen[k] = true
					pairs = append(pairs, pair{x, y, i, how})
				}
			})
		}
		if diff != "" {
			for ; p.parent >= 0; p = pairs[p.parent] {
				diff = p.how + ": " + diff
			}
			return diff
		}
	}
	return ""
}

func describe(b *btf.Blob, id uint32) string {
	r := b.Record(id)
	k := btf.InfoKind(r[1])
	if name := b.Name(r[0]); name != "" {
		return fmt.Sprintf("%s %s", k, quote(name))
	}
	return fmt.Sprintf("%s [%d]", k, id)
}

// localDifference compares two records and hands what they refer to to follow.
func localDifference(b *btf.Blob, x, y uint32, follow func(x, y uint32, how string)) string {
	r, s := b.Record(x), b.Record(y)
	k, vlen := btf.InfoKind(r[1]), int(btf.InfoVlen(r[1]))
	if k != btf.InfoKind(s[1]) || b.Name(r[0]) != b.Name(s[0]) {
		return describe(b, x) + ", " + describe(b, y)
	}
	word := func(what string, i int) string {
		if r[i] != s[i] {
			return fmt.Sprintf("%s %d, %d", what, r[i], s[i])
		}
		return ""
	}
	if btf.ThirdIsRef(k) {
		follow(r[2], s[2], map[bool]string{true: "returns", false: "refers to"}[k == btf.KindFuncProto])
	} else if diff := word("size", 2); diff != "" {
		return diff
	}
	switch k {
	case btf.KindArray:
		follow(r[3], s[3], "element")
		return word("elements", 5)
	case btf.KindInt:
		if r[3] != s[3] {
			return fmt.Sprintf("encoding %#x, %#x", r[3], s[3])
		}
	}
	if n := int(btf.InfoVlen(s[1])); n != vlen {
		return fmt.Sprintf("%d elements, %d", vlen, n)
	}
	if r[1] != s[1] {
		return "kind_flag"
	}
	stride, n := btf.NameWords(k, uint32(vlen))
	for j := range n {
		e, f := r[3+j*stride:][:stride], s[3+j*stride:][:stride]
		what := fmt.Sprintf("element %d", j)
		if name := b.Name(e[0]); name != b.Name(f[0]) {
			return fmt.Sprintf("%s: %s, %s", what, quote(name), quote(b.Name(f[0])))
		} else if name != "" {
			what = quote(name)
		}
		switch k {
		case btf.KindEnum, btf.KindEnum64:
			if !slices.Equal(e[1:], f[1:]) {
				return what + ": another value"
			}
		case btf.KindStruct, btf.KindUnion:
			if e[2] != f[2] {
				return fmt.Sprintf("%s: bits at %#x, %#x", what, e[2], f[2])
			}
			follow(e[1], f[1], what)
		case btf.KindFuncProto:
			follow(e[1], f[1], what)
		}
	}
	return ""
}
