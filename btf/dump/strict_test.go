package dump_test

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/btf/dump"
	"github.com/btflite/btflite/test/testfile"
)

// standards are the dialects that strict C is for.
var standards = []string{"gnu11", "gnu17", "gnu2x", "c11"}

// TestStrictDialects: names that are words in some dialects can be used in the others, what a
// typedef without a name leads to is reachable, and macros of other headers come back.
func TestStrictDialects(t *testing.T) {
	b := build(t, func(b *btftest.Builder) {
		n := newMaker(b).int
		flag := b.Add("_Bool", btf.Info(btf.KindInt, 0, false), 1, 4<<24|8)
		boolean := b.Add("bool", btf.Info(btf.KindTypedef, 0, false), flag)
		b.Add("", btf.Info(btf.KindEnum, 2, false), 4, b.Str("false"), 0, b.Str("true"), 1)
		unnamed := b.Add("", btf.Info(btf.KindStruct, 1, false), 4, b.Str("inner"), n, 0)
		of := b.Add("td", btf.Info(btf.KindTypedef, 0, false), unnamed)
		tagged := b.Add("tagged", btf.Info(btf.KindStruct, 1, false), 4, b.Str("other"), n, 0)
		to := b.Add("tagged_t", btf.Info(btf.KindTypedef, 0, false), tagged)
		b.Add("s", btf.Info(btf.KindStruct, 6, false), 24, b.Str("up"), boolean, 0, b.Str("nullptr"), n, 32, 0, of, 64, 0, to, 96, b.Str("linux"), n, 128, b.Str("plain"), n, 160)
	})
	var text bytes.Buffer
	if err := dump.C(&text, b, dump.COptions{Strict: true}); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	testfile.Write(t, filepath.Join(dir, "types.h"), text.Bytes())
	for name, begin := range map[string]string{"alone": "", "behind stdbool.h": "#include <stdbool.h>\nbool before = true;\n"} {
		source := filepath.Join(dir, "x.c")
		program := begin + "#include \"types.h\"\nstruct s x;\nint f(void) { return x.inner + x.other + x.plain + x.up; }\n" +
			"_Static_assert(sizeof(x) == 24 && sizeof(x.up) == 1 && __builtin_offsetof(struct s, other) == 12, \"\");\n"
		if begin != "" {
			program += "bool behind = true;\n"
		}
		testfile.Write(t, source, program)
		for _, cc := range []string{"gcc", "gcc-16", "clang"} {
			if _, err := exec.LookPath(cc); err != nil {
				t.Logf("left out: no %s", cc)
				continue
			}
			for _, standard := range standards {
				if out, err := exec.Command(cc, "-std="+standard, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", source).CombinedOutput(); err != nil {
					t.Errorf("%s, %s -std=%s: %v: %.800s", name, cc, standard, err, out)
				}
			}
		}
	}
}

// TestTakeNames: a name that is used gets underscores at the end, then numbers. It never
// becomes the name of another member.
func TestTakeNames(t *testing.T) {
	many := slices.Repeat([]string{"m"}, 12)
	for _, c := range []struct{ names, want []string }{
		{[]string{"a", "", "b", "", "a", "a_", "a"}, []string{"a", "", "b", "", "a_", "a__", "a___"}},
		{[]string{"__asm_", "__asm_", "__attribute_", "__attribute_"}, []string{"__asm_", "__asm___", "__attribute_", "__attribute___"}},
		{append([]string{"m_11", "m__"}, many...),
			[]string{"m_11", "m__", "m", "m_", "m___", "m____", "m_____", "m______", "m_______", "m________", "m_9", "m_10", "m_12", "m_13"}},
	} {
		if got := dump.TakeNames(c.names...); !slices.Equal(got, c.want) {
			t.Errorf("%q: got %q, want %q", c.names, got, c.want)
		}
	}
}

// TestUnusedPrefix: no text has the prefix, and the prefix has as few underscores as
// possible.
func TestUnusedPrefix(t *testing.T) {
	for text, want := range map[string]string{
		"": "p_", "\x00p\x00pp": "p_", "\x00p_": "p__", "\x00p__x\x00p_": "p___", "p__p____": "p_____", "_p_x": "p__",
	} {
		if got := dump.UnusedPrefix([]byte(text), "p_"); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestFloatWithoutName: a number that has no name, and no size that says which it is, is a float.
func TestFloatWithoutName(t *testing.T) {
	var text bytes.Buffer
	b := build(t, func(b *btftest.Builder) {
		b.Add("t", btf.Info(btf.KindTypedef, 0, false), b.Add("", btf.Info(btf.KindFloat, 0, false), 0))
	})
	if err := dump.C(&text, b, dump.COptions{Strict: true}); err != nil || !strings.Contains(text.String(), "typedef float t;") {
		t.Errorf("%v: %s", err, &text)
	}
}

// TestRepeatedMembers: members of a struct that a member without a name has are repeated eight deep, and
// as long as they are fewer than the types. Deeper ones get a name.
func TestRepeatedMembers(t *testing.T) {
	for _, tt := range []struct{ depth, each, types, structs, names int }{
		{1, 1, 0, 1, 0}, {8, 1, 0, 15, 3}, {9, 1, 0, 15, 4}, {12, 1, 0, 15, 7}, {1, 2, 0, 2, 0}, {12, 2, 0, 15, 19},
		{8, 1, 1000, 36, 0}, {9, 1, 1000, 44, 1}, {12, 1, 1000, 68, 4}, {12, 2, 1000, 1022, 26},
	} {
		b := build(t, func(b *btftest.Builder) {
			m := newMaker(b)
			in := m.int
			for range tt.types {
				m.ptr(in)
			}
			last := b.Add("s0", btf.Info(btf.KindStruct, 1, false), 4, b.Str("m"), in, 0)
			size := uint32(4)
			for k := range tt.depth {
				words := []uint32{}
				for j := range uint32(tt.each) {
					words = append(words, 0, last, 8*size*j)
				}
				size *= uint32(tt.each)
				last = b.Add("s"+string(rune('A'+k)), btf.Info(btf.KindStruct, uint32(tt.each), false), size, words...)
			}
		})
		var text bytes.Buffer
		if err := dump.C(&text, b, dump.COptions{Strict: true}); err != nil {
			t.Fatal(err)
		}
		if structs, names := strings.Count(text.String(), "struct {"), strings.Count(text.String(), "__unnamed_"); structs != tt.structs || names != tt.names {
			t.Errorf("%+v: %d structs are repeated, %d members got a name", tt, structs, names)
		}
	}
}

// TestPointersBackWithoutName: strict C names the structs and unions without a name that pointers
// in them lead back to, as Go and Modula-2 have them. bpftool refuses them, and so does other C.
func TestPointersBackWithoutName(t *testing.T) {
	kind := btf.Info
	ptr := func(b *btftest.Builder, to uint32) uint32 { return b.Add("", kind(btf.KindPtr, 0, false), to) }
	cases := map[string]func(b *btftest.Builder){
		"typedef": func(b *btftest.Builder) { // type t struct { up *t }
			p := ptr(b, 4)
			s := b.Add("", kind(btf.KindStruct, 1, false), 8, b.Str("up"), p, 0)
			b.Add("t", kind(btf.KindTypedef, 0, false), s)
		},
		"no typedef": func(b *btftest.Builder) {
			p := ptr(b, 3)
			s := b.Add("", kind(btf.KindStruct, 1, false), 8, b.Str("up"), p, 0)
			b.Add("v", kind(btf.KindVar, 0, false), s, 1)
		},
		"by value behind a pointer": func(b *btftest.Builder) { // type t struct { up *struct { in t } }
			p := ptr(b, 3)
			b.Add("", kind(btf.KindStruct, 1, false), 8, b.Str("in"), 5, 0)
			s := b.Add("", kind(btf.KindStruct, 1, false), 8, b.Str("up"), p, 0)
			b.Add("t", kind(btf.KindTypedef, 0, false), s)
		},
		"functions": func(b *btftest.Builder) { // type t union { call func(t) *t }
			p := ptr(b, 3)
			b.Add("", kind(btf.KindFuncProto, 1, false), 5, 0, 6)
			s := b.Add("", kind(btf.KindUnion, 1, false), 8, b.Str("call"), p, 0)
			ptr(b, 6)
			b.Add("t", kind(btf.KindTypedef, 0, false), s)
		},
		"two": func(b *btftest.Builder) { // struct { a *t; b *struct { c *u } }: each struct leads to itself
			a, c := ptr(b, 7), ptr(b, 8)
			inner := b.Add("", kind(btf.KindStruct, 1, false), 8, b.Str("c"), c, 0)
			p := ptr(b, inner)
			outer := b.Add("", kind(btf.KindStruct, 2, false), 16, b.Str("a"), a, 0, b.Str("b"), p, 64)
			b.Add("t", kind(btf.KindTypedef, 0, false), outer)
			b.Add("u", kind(btf.KindTypedef, 0, false), inner)
		},
	}
	for name, add := range cases {
		b := build(t, func(b *btftest.Builder) {
			newMaker(b)
			add(b)
		})
		for _, o := range []dump.COptions{{}, {Unsorted: true}, {Strict: true, Again: true}} {
			if err := dump.C(&bytes.Buffer{}, b, o); err == nil || !strings.Contains(err.Error(), "pointers in it lead back to it") {
				t.Errorf("%s, %+v: %v", name, o, err)
			}
		}
		for _, unsorted := range []bool{false, true} {
			var text bytes.Buffer
			if err := dump.C(&text, b, dump.COptions{Strict: true, Unsorted: unsorted}); err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if err := checkC(text.String()); err != nil {
				t.Errorf("%s: %v:\n%s", name, err, text.String())
			}
			source := filepath.Join(t.TempDir(), "x.c")
			testfile.Write(t, source, text.String())
			for _, cc := range []string{"gcc", "clang"} {
				if _, err := exec.LookPath(cc); err != nil {
					t.Logf("left out: no %s", cc)
				} else if out, err := exec.Command(cc, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", source).CombinedOutput(); err != nil {
					t.Errorf("%s, %s: %v: %.800s\n%s", name, cc, err, out, text.String())
				}
			}
		}
	}

	itself := build(t, func(b *btftest.Builder) {
		newMaker(b)
		b.Add("t", kind(btf.KindTypedef, 0, false), 3)
		b.Add("", kind(btf.KindStruct, 1, false), 8, b.Str("in"), 2, 0)
	})
	if err := dump.C(&bytes.Buffer{}, itself, dump.COptions{Strict: true}); err == nil || !strings.Contains(err.Error(), "contains itself") {
		t.Errorf("a struct in itself: %v", err)
	}
}

// TestHugeMembers: strict C leaves out members that are larger than their struct, also if their size has
// more than 64 bits.
func TestHugeMembers(t *testing.T) {
	for _, dimensions := range [][]uint32{{5}, {1 << 31}, {1 << 29, 1 << 29}, {1 << 30, 1 << 30}, {1 << 31, 1 << 31}, {1<<32 - 1, 1<<32 - 1, 1<<32 - 1}} {
		b := btftest.Build(t, nil, func(b *btftest.Builder) {
			i := b.Int("int", 4)
			of := i
			for _, n := range dimensions {
				of = b.Array(of, i, n)
			}
			b.Struct("s", 16, b.Member("first", i, 0), b.Member("huge", of, 32), b.Member("last", i, 96))
		})
		var text bytes.Buffer
		if err := dump.C(&text, b, dump.COptions{Strict: true}); err != nil || strings.Contains(text.String(), "huge") || !strings.Contains(text.String(), "last") {
			t.Errorf("%v: %v, %s", dimensions, err, &text)
		}
	}
}
