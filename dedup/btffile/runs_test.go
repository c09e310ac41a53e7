package btffile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
)

// TestRuns: where inputs are cut. What leads to integers only may be referred
// to from later runs, whatever the order in which it stands.
func TestRuns(t *testing.T) {
	for _, tt := range []struct {
		name string
		add  func(b *btftest.Builder)
		want string // the first ids of the runs, and the end
	}{
		{"nothing", func(b *btftest.Builder) {}, "1"},
		{"one by one", func(b *btftest.Builder) {
			i := b.Int("int", 4)
			p := b.Ptr(i)
			b.Struct("s", 8, b.Member("a", p, 0))
			b.Struct("t", 4, b.Member("a", i, 0))
		}, "1 2 3 4 5"},
		{"a pointer before its integer", func(b *btftest.Builder) {
			p := b.Ptr(3)
			q := b.Const(p)
			b.Int("int", 4)
			b.Struct("s", 8, b.Member("a", q, 0))
		}, "1 4 5"},
		{"a chain that is met from its middle", func(b *btftest.Builder) {
			b.Proto(2, b.Param("x", 3), b.Param("y", 4))
			b.Ptr(3)
			b.Typedef("t", 4)
			b.Int("int", 4)
			b.Struct("s", 8, b.Member("a", 1, 0))
			b.Struct("u", 8, b.Member("a", 2, 0))
		}, "1 5 6 7"},
		{"a forward stays with what leads to it", func(b *btftest.Builder) {
			f := b.Fwd("f")
			p := b.Ptr(f)
			b.Int("int", 4)
			b.Struct("s", 8, b.Member("a", p, 0))
			b.Int("long", 8)
		}, "1 5 6"},
		{"no struct leads to it", func(b *btftest.Builder) {
			f := b.Fwd("f")
			p := b.Ptr(f)
			b.Var("v", p, 1)
		}, "1 2 3 4"},
		{"an enumeration is none of the integers", func(b *btftest.Builder) {
			e := b.Enum("e", b.Value("A", 1))
			b.Int("int", 4)
			b.Typedef("t", e)
		}, "1 4"},
		{"a loop is not plain", func(b *btftest.Builder) {
			b.Ptr(2)
			b.Const(1)
			b.Int("int", 4)
			b.Typedef("t", 2)
			b.Typedef("u", 3)
		}, "1 5 6"},
		{"nor what leads to one", func(b *btftest.Builder) {
			i := b.Int("int", 4)
			b.Proto(i, b.Param("a", 3), b.Param("b", i))
			b.Ptr(4)
			b.Const(3)
			b.Int("long", 8)
			b.Struct("s", 8, b.Member("a", 2, 0), b.Member("b", i, 64))
		}, "1 2 7"},
		{"void is plain", func(b *btftest.Builder) {
			p := b.Ptr(0)
			b.Typedef("t", p)
			b.Typedef("u", 0)
		}, "1 2 3 4"},
	} {
		in := btftest.Build(t, nil, tt.add)
		c := newRuns(in)
		first, cuts := uint32(1), []string{"1"}
		for first < in.TypeCount() {
			first = c.next(first)
			cuts = append(cuts, fmt.Sprint(first))
		}
		if got := strings.Join(cuts, " "); got != tt.want {
			t.Errorf("%s: runs begin at %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestIrregular: the records that compilers write are regular; with a name, a
// flag, a vlen or a third word that their kind does not have they are not.
func TestIrregular(t *testing.T) {
	rec := func(name uint32, k btf.Kind, vlen uint32, kflag bool, third uint32) btf.Record {
		return btf.MakeRecord(name, btf.Info(k, vlen, kflag), third, make([]uint32, 9)...)
	}
	check := func(r btf.Record, want bool) {
		t.Helper()
		if irregular(r) != want {
			t.Errorf("%s, name %d, vlen %d, kind_flag %v, third %d: irregular %v", r.Kind(), r.Name(), r.Vlen(), btf.InfoKflag(r.Info()), r.Third(), !want)
		}
	}
	for _, k := range []btf.Kind{btf.KindPtr, btf.KindConst, btf.KindVolatile, btf.KindRestrict} {
		check(rec(0, k, 0, false, 1), false)
		check(rec(1, k, 0, false, 1), true)
		check(rec(0, k, 1, false, 1), true)
		check(rec(0, k, 0, true, 1), true)
	}
	check(rec(0, btf.KindArray, 0, false, 0), false)
	check(rec(1, btf.KindArray, 0, false, 0), true)
	check(rec(0, btf.KindArray, 1, false, 0), true)
	check(rec(0, btf.KindArray, 0, true, 0), true)
	check(rec(0, btf.KindArray, 0, false, 1), true)
	check(rec(0, btf.KindFuncProto, 2, false, 1), false)
	check(rec(1, btf.KindFuncProto, 2, false, 1), true)
	check(rec(1, btf.KindFwd, 0, false, 0), false)
	check(rec(1, btf.KindFwd, 0, true, 0), false) // of a union
	check(rec(0, btf.KindFwd, 0, false, 0), true)
	check(rec(1, btf.KindFwd, 0, false, 1), true)
	check(rec(1, btf.KindFwd, 1, false, 0), true)
	check(rec(1, btf.KindTypedef, 0, false, 1), false)
	check(rec(0, btf.KindTypedef, 0, false, 1), true)
	for _, k := range []btf.Kind{btf.KindEnum, btf.KindEnum64} {
		check(rec(1, k, 1, false, 4), false)
		check(rec(0, k, 1, true, 4), false)
		check(rec(1, k, 0, false, 4), false)
		check(rec(0, k, 0, false, 4), true)
	}
	for _, k := range []btf.Kind{btf.KindStruct, btf.KindUnion} {
		check(rec(0, k, 1, true, 8), false)
	}
	check(rec(0, btf.KindInt, 0, false, 4), false)
}

// TestStreamKeepsTheForm: the result has the input's header and layout section.
func TestStreamKeepsTheForm(t *testing.T) {
	for _, form := range []btf.Form{{}, btf.LongHeader, btf.WithLayout()} {
		in := btftest.Build(t, nil, func(b *btftest.Builder) { b.Int("int", 4); b.Int("int", 4) })
		in.Form = form
		out, m, err := Stream(in)
		if err != nil || len(out.Off) != 1 || m[2] != 1 {
			t.Fatalf("%d types, map %v, %v", len(out.Off), m, err)
		}
		if out.Form.HeaderLen != form.HeaderLen || string(out.Form.Layout) != string(form.Layout) {
			t.Errorf("form %+v, want %+v", out.Form, form)
		}
	}
}

// TestTokens: equal texts have one token, the lowest offset of the text that was asked
// for. A token beyond the strings has no text.
func TestTokens(t *testing.T) {
	in := &btf.Blob{FirstID: 1, Strings: []byte("\x00ab\x00b\x00ab\x00")}
	names := NewTokens(in)
	defer names.Free()
	for _, tt := range []struct{ off, want uint32 }{{0, 0}, {1, 1}, {2, 2}, {4, 2}, {6, 1}, {7, 2}, {6, 1}, {2, 2}} {
		if got, err := names.Token(tt.off); err != nil || got != tt.want {
			t.Errorf("token of %d: %d, %v, want %d", tt.off, got, err, tt.want)
		}
	}
	for tok, want := range map[uint32]string{1: "ab", 4: "b", 8: "", in.StrEnd(): "-", in.StrEnd() + 1: "-"} {
		text, ok := names.Bytes(tok)
		if ok != (want != "-") || ok && string(text) != want {
			t.Errorf("text of %d: %q, %v", tok, text, ok)
		}
	}
}
