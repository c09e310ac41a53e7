package show

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/btf/view"
)

// TestFind: a name stands for the first type that has it, of whatever kind, and a name
// that looks like a pattern for itself.
func TestFind(t *testing.T) {
	var typedef, of, slice, other, enum uint32
	v := view.New(btftest.Build(t, nil, func(b *btftest.Builder) {
		i := b.Int("int", 4)
		typedef = b.Typedef("atomic_t", i)
		of = b.Struct("atomic_t", 4, b.Member("counter", i, 0))
		slice = b.Struct("&[u8]", 16)
		other = b.Struct("&u", 4)
		enum = b.Enum("both", b.Value("one", 1))
		b.Struct("both", 0)
		b.Struct("&u", 4) // the same again
	}))
	for _, x := range []struct {
		kind, name string
		want       []uint32
	}{
		{"", "atomic_t", []uint32{typedef}},
		{"struct", "atomic_t", []uint32{of}},
		{"", "both", []uint32{enum}},
		{"", "&[u8]", []uint32{slice}},
		{"", "&[u]", []uint32{other}},
		{"", "&*", []uint32{slice, other}},
		{"", "none", nil},
	} {
		if got, err := Find(v, x.kind, x.name, false); err != nil || !slices.Equal(got, x.want) {
			t.Errorf("%s %q: %v, %v, want %v", x.kind, x.name, got, err, x.want)
		}
	}
}

// TestFilters: a dropped type does not hide another one with the same members, the prefix
// of a nameless struct is its typedef's, and enums and typedefs are found in members.
func TestFilters(t *testing.T) {
	v := view.New(btftest.Build(t, nil, func(b *btftest.Builder) {
		char, short, i := b.Int("char", 1), b.Int("short", 2), b.Int("int", 4)
		b.Struct("a", 8, b.Member("c", short, 0), b.Member("x", i, 32))
		b.Struct("a", 8, b.Member("c", char, 0), b.Member("x", i, 32))
		no := b.Struct("", 4, b.Member("counter", i, 0))
		counter := b.Typedef("atomic_t", no)
		kind := b.Enum("kind", b.Value("one", 1))
		with := b.Struct("with", 16, b.Member("kind", kind, 0), b.Member("p", b.Ptr(counter), 64))
		f := b.Proto(0, b.Param("w", b.Ptr(with)))
		b.Func("f", 1, f)
		b.Func("g", 1, f)
	}))
	for _, x := range []struct {
		name   string
		filter Filter
		form   Form
		want   string
	}{
		{"a hole of the second", Filter{HoleSize: 3}, Names, "a\nwith\n"},
		{"times", Filter{HoleSize: 3}, Times, "a 1\nwith 1\n"},
		{"all times", Filter{}, Times, "a 2\nwith 1\n"},
		{"prefix of a typedef", Filter{Anonymous: true, Prefixes: []string{"atomic"}}, Names, "atomic_t\n"},
		{"another prefix", Filter{Anonymous: true, Prefixes: []string{"a"}}, Names, "a\natomic_t\n"},
		{"a prefix that it lacks", Filter{Anonymous: true, Prefixes: []string{"w"}}, Names, "with\n"},
		{"without", Filter{Anonymous: true, Without: []string{"atomic"}}, Names, "a\nwith\n"},
		{"an enum", Filter{Contains: "kind"}, Names, "with\n"},
		{"but no other", Filter{Contains: "kind", ContainsNot: []string{"a", "kind"}}, Names, ""},
		{"pointers to a typedef", Filter{PointTo: "atomic_t"}, Pointers, "with: p\n"},
	} {
		var got bytes.Buffer
		if err := New(&got, v, Options{}).List(&x.filter, x.form, " "); err != nil || got.String() != x.want {
			t.Errorf("%s: %q, %v, want %q", x.name, got.String(), err, x.want)
		}
	}
	for want, filter := range map[string]Filter{"a\nwith\n": {Anonymous: true}, "with\n": {Anonymous: true, Prefixes: []string{"w"}}, "a\n": {Without: []string{"w"}}} {
		var got bytes.Buffer
		if err := New(&got, v, Options{}).Sorted(&filter, Names, ""); err != nil || got.String() != want { // a text comes once
			t.Errorf("sorted: %q, %v, want %q", got.String(), err, want)
		}
	}
	for holes, want := range []string{"with 2\n", "with 2\n", ""} {
		var got bytes.Buffer
		if err := New(&got, v, Options{}).Methods(&Filter{Holes: holes}, " "); err != nil || got.String() != want {
			t.Errorf("methods with %d holes: %q, %v, want %q", holes, got.String(), err, want)
		}
	}
}

// TestMembersOf: structs and unions are chosen by what they are and by the types of their members. With
// Recursive, those follow that are members themselves and have such members.
func TestMembersOf(t *testing.T) {
	v := view.New(btftest.Build(t, nil, func(b *btftest.Builder) {
		i := b.Int("int", 4)
		id := b.Typedef("id_t", i)
		kind := b.Enum("kind", b.Value("one", 1))
		pair := b.Struct("pair", 8, b.Member("x", id, 0), b.Member("y", id, 32))
		other := b.Struct("other", 4, b.Member("x", i, 0))
		either := b.Union("either", 8, b.Member("pair", pair, 0), b.Member("kind", kind, 0))
		b.Struct("all", 24, b.Member("id", id, 0), b.Member("pair", pair, 32), b.Member("other", other, 96), b.Member("either", either, 128))
	}))
	for _, x := range []struct {
		opt    Options
		filter Filter
		want   string
	}{
		{Options{}, Filter{}, "pair\nother\neither\nall\n"},
		{Options{}, Filter{Structs: true}, "pair\nother\nall\n"},
		{Options{}, Filter{Unions: true}, "either\n"},
		{Options{}, Filter{Structs: true, Unions: true}, "pair\nother\neither\nall\n"},
		{Options{}, Filter{Contains: "int"}, ""},
		{Options{}, Filter{Contains: "id_t"}, "pair\nall\n"},
		{Options{}, Filter{Contains: "kind"}, "either\n"},
		{Options{}, Filter{Contains: "pair", Structs: true}, "all\n"},
		{Options{}, Filter{ContainsNot: []string{"id_t", "kind"}}, "other\n"},
		{Options{Recursive: true}, Filter{Contains: "id_t"}, "pair\nall\n  pair\n"},
		{Options{Recursive: true}, Filter{Contains: "pair"}, "either\nall\n  either\n"},
		{Options{Recursive: true, Counts: true}, Filter{Contains: "id_t"}, "pair: 2\nall: 1\n  pair: 2\n"},
	} {
		var got bytes.Buffer
		if err := New(&got, v, x.opt).List(&x.filter, Names, ""); err != nil || got.String() != x.want {
			t.Errorf("%+v, %+v: %q, %v, want %q", x.opt, x.filter, got.String(), err, x.want)
		}
	}
}

// TestSortedLists: a list that is sorted has the lines of the one that is not, also where several
// types of one name have the same line.
func TestSortedLists(t *testing.T) {
	v := view.New(btftest.Build(t, nil, func(b *btftest.Builder) {
		i := b.Int("int", 4)
		to := b.Struct("to", 4, b.Member("n", i, 0))
		p := b.Ptr(to)
		for _, name := range []string{"a", "b", "a", "c", "a"} {
			b.Struct("s", 24, b.Member(name, i, 0), b.Member("p", p, 64), b.Member("c", i, 128))
		}
		b.Struct("r", 8, b.Member("p", p, 0))
	}))
	for _, filter := range []Filter{{}, {Holes: 1}, {Contains: "int"}, {PointTo: "to"}} {
		for form := Sizes; form < Nothing; form++ {
			lines := func(print func(*Filter, Form, string) error, to *bytes.Buffer) []string {
				if err := print(&filter, form, " "); err != nil {
					t.Fatal(err)
				}
				l := strings.Split(to.String(), "\n")
				slices.Sort(l)
				return l
			}
			var plain, sorted bytes.Buffer
			want := lines(New(&plain, v, Options{}).List, &plain)
			if got := lines(New(&sorted, v, Options{}).Sorted, &sorted); !slices.Equal(got, want) {
				t.Errorf("%+v, form %d: %q, want %q", filter, form, got, want)
			}
		}
	}
}
