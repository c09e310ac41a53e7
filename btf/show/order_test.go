package show

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/btf/view"
)

// TestByName: structs of one name are in the order of the first members that differ.
func TestByName(t *testing.T) {
	b := btftest.New()
	add := func(name string, k btf.Kind, vlen, third uint32, extra ...uint32) uint32 {
		return b.Add(name, btf.Info(k, vlen, false), third, extra...)
	}
	short := add("short", btf.KindInt, 0, 2, 16)
	long := add("long", btf.KindInt, 0, 8, 64)
	union := add("", btf.KindUnion, 1, 8, b.Str("x"), long, 0)
	one := func(name, member string, typ, at uint32) uint32 {
		return add(name, btf.KindStruct, 1, 16, b.Str(member), typ, at)
	}
	want := []uint32{
		one("a", "z", short, 64),
		one("n", "a", short, 64), // its name comes before its place
		one("n", "b", short, 0),
		one("n", "b", short, 8),
		one("s", "b", long, 0),
		one("s", "b", short, 0),
		add("s", btf.KindStruct, 2, 16, b.Str("b"), short, 0, b.Str("c"), short, 64),
		one("s", "c", long, 0),
		one("s", "", union, 0), // its type decides: long, short, union
		one("s", "d", long, 64),
	}
	v := view.New(b.Blob(t))
	for turn := range len(want) {
		got := append(slices.Clone(want[turn:]), want[:turn]...)
		slices.SortFunc(got, func(a, b uint32) int { return byName(v.Type(a), v.Type(b)) })
		if !slices.Equal(got, want) {
			t.Errorf("%d: %v, want %v", turn, got, want)
		}
	}
	twin := append(slices.Clone(want), want[1])
	if byName(v.Type(twin[1]), v.Type(twin[10])) != 0 {
		t.Error("a struct is not like itself")
	}
}

// TestReorganize: what another order of members saves, in bytes and in cache lines, as pahole -R
// says it.
func TestReorganize(t *testing.T) {
	v := view.New(btftest.Build(t, nil, func(b *btftest.Builder) {
		char, long := b.Int("char", 1), b.Int("long int", 8)
		longs := b.Array(long, char, 7)
		b.Struct("two_lines", 72, b.Member("a", char, 0), b.Member("b", longs, 64), b.Member("z", char, 512))
		b.Struct("one_line", 24, b.Member("a", char, 0), b.Member("b", long, 64), b.Member("z", char, 128))
		b.Struct("none", 16, b.Member("a", char, 0), b.Member("b", long, 64))
	}))
	for name, want := range map[string]string{
		"two_lines": "};   /* saved 8 bytes and 1 cacheline! */", "one_line": "};   /* saved 8 bytes! */", "none": "};",
	} {
		ids, err := Find(v, "", name, false)
		if err != nil || len(ids) != 1 {
			t.Fatal(ids, err)
		}
		var got bytes.Buffer
		p := New(&got, v, Options{Reorganize: true})
		p.Entry(v.Type(ids[0]), &Filter{}, Text, "")
		if err := p.Flush(); err != nil || !strings.HasSuffix(got.String(), "\n"+want+"\n") {
			t.Errorf("%s: %v, %q does not end with %q", name, err, got.String(), want)
		}
	}
}
