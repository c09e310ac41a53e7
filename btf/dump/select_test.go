package dump_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/btf/dump"
)

// TestSelectOverBase: types of a base are selected by patterns that fit nothing above it, or by all
// patterns if bases are wanted.
func TestSelectOverBase(t *testing.T) {
	base := btftest.Build(t, nil, func(b *btftest.Builder) {
		b.Int("int", 4)                                    // 1
		b.Struct("both", 0)                                // 2
		b.Struct("below", 0)                               // 3
		b.Enum("", b.Value("V_BELOW", 0))                  // 4
		b.Struct("a/b", 0)                                 // 5
		b.Enum64("", b.Value64("W", 0), b.Value64("X", 1)) // 6
	})
	b := btftest.Build(t, base, func(b *btftest.Builder) {
		b.Struct("both", 0)               // 7
		b.Struct("above", 0)              // 8
		b.Enum("", b.Value("V_ABOVE", 0)) // 9
		b.TypeTag("above", 1)             // 10
		b.DeclTag("above", 8, btftest.Whole)
		b.Enum("above", b.Value("above", 0)) // 12
	})
	for _, tt := range []struct {
		patterns string
		bases    bool
		want     []uint32
		missing  []string
	}{
		{"both", false, []uint32{7}, nil},
		{"both", true, []uint32{2, 7}, nil},
		{"below", false, []uint32{3}, nil},
		{"above", true, []uint32{8, 12}, nil},
		{"b*", false, []uint32{7}, nil},
		{"b*", true, []uint32{2, 3, 7}, nil},
		{"below both", false, []uint32{3, 7}, nil},
		{"V_BELOW V_ABOVE", false, []uint32{4, 9}, nil},
		{"X", false, []uint32{6}, nil},
		{"V_*", true, nil, []string{"V_*"}},
		{"a?b a*", true, []uint32{5, 8, 12}, nil},
		{"none n* both", false, []uint32{7}, []string{"none", "n*"}},
		{"none n* int", true, []uint32{1}, []string{"none", "n*"}},
	} {
		ids, missing, err := dump.Select(b, strings.Fields(tt.patterns), tt.bases)
		if err != nil || !slices.Equal(ids, tt.want) || !slices.Equal(missing, tt.missing) {
			t.Errorf("%s, bases %v: %v, without %q, %v; want %v, without %q", tt.patterns, tt.bases, ids, missing, err, tt.want, tt.missing)
		}
	}
}

// TestNeededAndNamed: what types need to be complete, and what stands for them in C, from each kind
// of type.
func TestNeededAndNamed(t *testing.T) {
	type ids = []uint32
	b := btftest.Build(t, nil, func(b *btftest.Builder) {
		i := b.Int("int", 4)                                            // 1
		s := b.Struct("s", 8, b.Member("p", 3, 0))                      // 2
		p := b.Ptr(s)                                                   // 3
		u := b.Union("", 8, b.Member("p", p, 0), b.Member("i", i, 0))   // 4
		pu := b.Ptr(b.Const(u))                                         // 6, of 5
		td := b.Typedef("td", s)                                        // 7
		ptd := b.Ptr(td)                                                // 8
		proto := b.Proto(pu, b.Param("a", ptd), b.Param("v", 0))        // 9
		fn := b.Func("fn", btftest.Global, proto)                       // 10
		v := b.Var("v", b.Array(p, i, 2), btftest.Global)               // 12, of 11
		b.Datasec(".data", 8, btftest.Place(v, 0, 8))                   // 13
		b.DeclTag("tag", fn, btftest.Whole)                             // 14
		b.Ptr(b.Volatile(b.Const(s)))                                   // 17, of 15 and 16
		b.Enum("e", b.Value("E", 0))                                    // 18
		b.Enum64("e64", b.Value64("E64", 0))                            // 19
		b.Float("float", 4)                                             // 20
		b.Fwd("fwd")                                                    // 21
		b.Restrict(0)                                                   // 22
		b.Union("named", 16, b.Member("u", u, 0), b.Member("s", s, 64)) // 23
	})
	for _, tt := range []struct {
		of, needed, named ids
	}{
		{ids{1}, ids{1}, ids{1}},
		{ids{2}, ids{2, 3}, ids{2}},
		{ids{3}, ids{3}, ids{2}},
		{ids{3, 2}, ids{2, 3}, ids{2}},
		{ids{4}, ids{1, 3, 4}, ids{4}},
		{ids{6}, ids{1, 3, 4, 5, 6}, ids{4}},
		{ids{7}, ids{2, 3, 7}, ids{7}},
		{ids{8}, ids{2, 3, 7, 8}, ids{7}},
		{ids{9}, ids{1, 2, 3, 4, 5, 6, 7, 8, 9}, ids{4, 7}},
		{ids{10}, ids{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, ids{4, 7}},
		{ids{12}, ids{1, 3, 11, 12}, ids{1, 2}},
		{ids{13}, ids{1, 3, 11, 12, 13}, ids{1, 2}},
		{ids{14}, ids{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 14}, ids{4, 7}},
		{ids{17}, ids{15, 16, 17}, ids{2}},
		{ids{18, 19, 20, 21}, ids{18, 19, 20, 21}, ids{18, 19, 20, 21}},
		{ids{22}, ids{22}, ids{}},
		{ids{23}, ids{1, 2, 3, 4, 23}, ids{23}},
		{ids{}, ids{}, ids{}},
		{ids{99}, ids{}, ids{}},
	} {
		if needed := dump.Needed(b, tt.of); !slices.Equal(needed, tt.needed) {
			t.Errorf("%v needs %v, want %v", tt.of, needed, tt.needed)
		}
		if named := dump.Named(b, tt.of); named == nil || !slices.Equal(named, tt.named) {
			t.Errorf("%v is named by %v, want %v", tt.of, named, tt.named)
		}
	}
}

// TestDialect: one standard of C fits all names, wherever they stand. Names of numbers are words
// anyway, and long names never are.
func TestDialect(t *testing.T) {
	for _, tt := range []struct {
		names, want string
	}{
		{"", ""}, {"plain", ""}, {"int", ""}, {"bool", "gnu11"}, {"asm", "c11"}, {"typeof", "c11"}, {"linux", "c11"}, {"static_assert", "gnu11"}, {"static_asserts", ""},
		{"bool asm", "c11"}, {"asm bool", "c11"}, {"plain nullptr", "gnu11"}, {"m68k", "c11"}, {"true false", "gnu11"},
	} {
		for place, add := range map[string]func(b *btftest.Builder, name string){
			"a struct":      func(b *btftest.Builder, name string) { b.Struct(name, 0) },
			"a member":      func(b *btftest.Builder, name string) { b.Struct("", 4, b.Member(name, 1, 0)) },
			"an enumerator": func(b *btftest.Builder, name string) { b.Enum("", b.Value("V", 0), b.Value(name, 1)) },
			"a parameter":   func(b *btftest.Builder, name string) { b.Proto(0, b.Param(name, 1)) },
			"a function":    func(b *btftest.Builder, name string) { b.Func(name, btftest.Global, b.Proto(0)) },
		} {
			b := btftest.Build(t, nil, func(b *btftest.Builder) {
				b.Int("bool", 1)
				b.Float("asm", 4)
				for _, name := range strings.Fields(tt.names) {
					add(b, name)
				}
			})
			if got := dump.Dialect(b); got != tt.want {
				t.Errorf("%q as %s: %q, want %q", tt.names, place, got, tt.want)
			}
		}
	}
}

// TestIsNumber: the names that C has for numbers, in any order of their words.
func TestIsNumber(t *testing.T) {
	for name, want := range map[string][2]bool{ // as an INT, as a FLOAT
		"int": {true, false}, "long unsigned int": {true, false}, "unsigned long": {true, false}, "char": {true, false}, "signed char": {true, false}, "_Bool": {true, false},
		"__int128 unsigned": {true, false}, "u32": {false, false}, "": {false, false}, "long long long": {false, false}, "float": {false, true}, "long double": {false, true},
		"_Float16": {false, true}, "complex double": {false, true}, "complex int": {false, false}, "complex ": {false, false}, "Complex float": {false, false}, "__bf16": {false, true},
	} {
		for i, kind := range []btf.Kind{btf.KindInt, btf.KindFloat} {
			if got := dump.IsNumber(btf.MakeRecord(0, btf.Info(kind, 0, false), 4, 0), name); got != want[i] {
				t.Errorf("%v %q: %v", kind, name, got)
			}
		}
	}
}
