package diff

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
)

// TestABI: two compilers make the same of one source, and for the pair "abi" only
// differences that code depends on are reported.
func TestABI(t *testing.T) {
	p := pairs(t)
	compilers := p["compilers"]
	if got := linesOf(t, compilers[0], compilers[1], Options{ABI: true}); got != "" {
		t.Errorf("compilers:\n%s", got)
	}
	var heads []string
	a, b := p["abi"][0], p["abi"][1]
	for _, l := range strings.Split(linesOf(t, a, b, Options{ABI: true}), "\n") {
		if !strings.HasPrefix(l, " ") {
			name, _, _ := strings.Cut(l[2:], ":")
			heads = append(heads, name)
		}
	}
	want := []string{
		"struct deep", "struct grows", "struct holds", "struct renamed", "struct typed",
		"enum state", "typedef size_of_t",
		"function callback", "function fewer", "function pointees", "function types", "function variadic",
		"variable handle", "variable holds", "variable typed",
	}
	if !slices.Equal(heads, want) {
		t.Errorf("abi: %q, want %q", heads, want)
	}
}

// TestABIOrder: order and copies do not count with the option either.
func TestABIOrder(t *testing.T) {
	for name, p := range pairs(t) {
		want := linesOf(t, p[0], p[1], Options{ABI: true})
		if want != "" && linesOf(t, p[0], p[1], Options{}) == "" {
			t.Errorf("%s: differs by its ABI only: %s", name, want)
		}
		for seed := range uint64(5) {
			r := rand.New(rand.NewPCG(seed, 4))
			a, b := remixed(t, p[0], 1+int(seed%3), r), remixed(t, p[1], 1+int(seed%2), r)
			if got := linesOf(t, a, b, Options{ABI: true}); got != want {
				t.Errorf("%s, seed %d: (-want +got)\n%s", name, seed, cmp.Diff(want, got))
			}
			if got := linesOf(t, a, p[0], Options{ABI: true}); got != "" {
				t.Errorf("%s, seed %d: differs from itself\n%s", name, seed, got)
			}
		}
	}
}

// TestABIShowsOne: one of several definitions is shown if their differences do not count,
// whatever the order.
func TestABIShowsOne(t *testing.T) {
	set := func(result string, names ...string) *btf.Blob {
		return build(t, func(b *btftest.Builder) {
			b.Add(result, intInfo, 4, 32)
			for i, n := range names {
				b.Proto(uint32(i%2), b.Param(n, 1))
			}
			for i := range names {
				b.Func("f", btftest.Static, uint32(i+2))
			}
		})
	}
	a, b := set("int", "x", "y", "z", "w"), set("int", "x")
	want := "- function f (definitions: 2, 1): int f(int w)"
	for seed := range uint64(20) {
		if got := linesOf(t, remixed(t, a, 1, rand.New(rand.NewPCG(seed, 5))), b, Options{ABI: true}); got != want {
			t.Errorf("seed %d: %s\nwant %s", seed, got, want)
		}
	}
}

// TestNumbers: with ABI, numbers are reported where they are used: integers by size and
// encoding, others by name and size.
func TestNumbers(t *testing.T) {
	set := func(name string, size, encoding uint32) *btf.Blob {
		return build(t, func(b *btftest.Builder) {
			b.Add(name, intInfo, size, encoding<<24|8*size)
			b.Ptr(1)
			b.Proto(1, b.Param("p", 2))
			b.Func("f", btftest.Static, 3)
			b.Add("s", structInfo(1), 8, b.Str("m"), 1, 0)
			b.Add("unused", defInfo, 1)
		})
	}
	float := func(name string, size uint32) *btf.Blob {
		return build(t, func(b *btftest.Builder) {
			b.Float(name, size)
			b.Add("s", structInfo(1), 16, b.Str("m"), 1, 0)
			b.Add("t", defInfo, 1)
			b.Union("u", 16, b.Member("m", 3, 0))
		})
	}
	const signed, char = 1, 2
	for i, c := range []struct {
		a, b *btf.Blob
		want string
	}{
		{set("long", 8, signed), set("long int", 8, signed), ""},
		{set("long", 8, signed), set("long", 8, signed|char), ""},
		{set("long", 8, signed), set("long", 8, 0), `~ struct s
    ~ member m
        ~ type long: encoding SIGNED -> (none)
~ function f: long f(long *p) differs inside
    ~ returns long: encoding SIGNED -> (none)
    ~ parameter p
        ~ type long *: encoding SIGNED -> (none)`},
		{float("double", 8), float("double", 8), ""},
		{float("long double", 8), float("long double", 16), `~ struct s
    ~ member m: size 8 -> 16
        ~ type long double: size 8 -> 16
~ union u
    ~ member m: size 8 -> 16
        ~ type t: size 8 -> 16`},
		{float("_Float16", 2), float("__bf16", 2), `~ struct s
    ~ member m: type _Float16 -> __bf16
~ union u
    ~ member m
        ~ type t: type _Float16 -> __bf16`},
		{set("long", 8, signed), set("int", 4, signed), `~ struct s
    ~ member m: type long -> int, size 8 -> 4
~ function f
    - long f(long *p)
    + int f(int *p)`},
	} {
		if got := linesOf(t, c.a, c.b, Options{ABI: true}); got != c.want {
			t.Errorf("%d: (-want +got)\n%s", i, cmp.Diff(c.want, got))
		}
	}
}

// named has something of each part, and of structs two that go together.
func named(t *testing.T, size uint32) *btf.Blob {
	return build(t, func(b *btftest.Builder) {
		b.Add("int", intInfo, size, 8*size)                                          // 1
		b.Add("", structInfo(1), size, b.Str("x"), 1, 0)                             // 2
		b.Add("outer", structInfo(1), size, 0, 2, 0)                                 // 3
		b.Union("union", size, b.Member("y", 1, 0))                                  // 4
		b.Of(btf.KindEnum, "enum", false, size, b.Value("E", int32(size)))           // 5
		b.Add("type_t", defInfo, 2)                                                  // 6
		b.Float("float", size)                                                       // 7
		b.Proto(0, b.Param("p", 2))                                                  // 8
		b.Func("call", btftest.Static, 8)                                            // 9
		b.Var("var", 2, btftest.Static)                                              // 10
		b.Datasec("a/b", size, btftest.Place(10, 0, size))                           // 11
		b.Enum("", b.Value("alone", int32(size)))                                    // 12
		b.Add("only_declared", btf.Info(btf.KindFwd, 0, size > 4), 0)                // 13
		b.Union("", size, b.Member("alone", 1, 0))                                   // 14
		b.Add("inner", structInfo(1), size, b.Str("z"), 15+1, 0)                     // 15
		b.Add("", structInfo(2), size+size, b.Str("a"), 1, 0, b.Str("b"), 1, 8*size) // 16
		b.Func("call_too", btftest.Static, 8)                                        // 17
	})
}

// told are the parts and names of the differences of a comparison.
func told(t *testing.T, a, b *btf.Blob, o Options) (list, unmatched []string) {
	t.Helper()
	unmatched, err := Compare(a, b, o, func(d *Difference) error {
		list = append(list, d.Part+" "+d.Name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list, unmatched
}

// TestPartsAndNames: the compared parts, in the order of the report.
func TestPartsAndNames(t *testing.T) {
	a, b := named(t, 4), named(t, 8)
	all := []string{
		"struct inner", "struct only_declared", "struct outer", "union only_declared", "union union", "enum enum", "typedef type_t",
		"int int", "float float", "function call", "function call_too", "variable var", "section a/b",
		"union ", "union ", "enum ",
	}
	for i, c := range []struct {
		o               Options
		want, unmatched string
	}{
		{Options{}, strings.Join(all, ", "), ""},
		{Options{Parts: Parts()}, strings.Join(all, ", "), ""},
		{Options{Parts: []string{"struct"}}, "struct inner, struct only_declared, struct outer", ""},
		{Options{Parts: []string{"union"}}, "union only_declared, union union, union , union ", ""},
		{Options{Parts: []string{"enum"}}, "enum enum, enum ", ""},
		{Options{Parts: []string{"typedef"}}, "typedef type_t", ""},
		{Options{Parts: []string{"int"}}, "int int", ""},
		{Options{Parts: []string{"float"}}, "float float", ""},
		{Options{Parts: []string{"function"}}, "function call, function call_too", ""},
		{Options{Parts: []string{"variable"}}, "variable var", ""},
		{Options{Parts: []string{"section"}}, "section a/b", ""},
		{Options{Parts: []string{"section", "int", "int"}}, "int int, section a/b", ""},
		{Options{Names: []string{"*"}}, strings.Join(all[:13], ", "), ""},
		{Options{Names: []string{"call"}}, "function call", ""},
		{Options{Names: []string{"call*"}}, "function call, function call_too", ""},
		{Options{Names: []string{"?a*"}}, "function call, function call_too, variable var", ""},
		{Options{Names: []string{"[^a-n]*r"}}, "struct outer, variable var", ""},
		{Options{Names: []string{"a*b", "nobody", "call"}}, "function call, section a/b", "nobody"},
		{Options{Names: []string{"a?b"}}, "section a/b", ""},
		{Options{Names: []string{"OUTER", "oute", "uter", "x", "y", "E", "p"}}, "", "OUTER, oute, uter, x, y, E, p"},
		{Options{Names: []string{"outer", "call"}, Parts: []string{"struct"}}, "struct outer", "call"},
		{Options{Names: []string{"only_declared"}, Parts: []string{"struct"}}, "struct only_declared", ""},
		{Options{Names: []string{"int"}, ABI: true}, "", "int"},
		{Options{Names: []string{`\[`}}, "", `\[`},
	} {
		list, unmatched := told(t, a, b, c.o)
		if strings.Join(list, ", ") != c.want || strings.Join(unmatched, ", ") != c.unmatched {
			t.Errorf("%d: %q, %q; want %q, %q", i, list, unmatched, c.want, c.unmatched)
		}
		// Nothing but the choice changes what is said.
		if got, want := linesOf(t, a, b, c.o), linesOf(t, a, b, Options{ABI: c.o.ABI}); !contains(want, got) {
			t.Errorf("%d:\n%s\nis not all in\n%s", i, got, want)
		}
	}
}

// contains reports whether the lines of part are lines of whole, in this order.
func contains(whole, part string) bool {
	lines := strings.Split(whole, "\n")
	if part == "" {
		return true
	}
	for _, l := range strings.Split(part, "\n") {
		i := slices.Index(lines, l)
		if i < 0 {
			return false
		}
		lines = lines[i+1:]
	}
	return true
}

// TestNamesOfBases: a pattern does not fit names that only the base has.
func TestNamesOfBases(t *testing.T) {
	base := named(t, 4)
	split := func(name string) *btf.Blob {
		b := btftest.Over(base)
		b.Add(name, defInfo, 1)
		b.Add(name+"_too", defInfo, 3)
		blob := b.Blob(t)
		return blob
	}
	o := Options{Names: []string{"outer", "a*"}}
	list, unmatched := told(t, split("a"), split("b"), o)
	if !slices.Equal(list, []string{"typedef a", "typedef a_too"}) || !slices.Equal(unmatched, []string{"outer"}) {
		t.Errorf("%q, %q", list, unmatched)
	}
	// In the file itself as well as in the base.
	if _, unmatched := told(t, split("outer"), split("b"), o); !slices.Equal(unmatched, []string{"a*"}) {
		t.Errorf("%q", unmatched)
	}
}

func TestBadOptions(t *testing.T) {
	a := named(t, 4)
	for _, o := range []Options{
		{Names: []string{"good", ""}}, {Names: []string{"[a"}}, {Names: []string{`x\`}}, {Names: []string{"a[]"}},
		{Parts: []string{"struct", "structs"}}, {Parts: []string{""}}, {Parts: []string{"member"}},
	} {
		_, err := Compare(a, a, o, func(*Difference) error { t.Error("compared"); return nil })
		if err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
	for _, p := range Parts() {
		if want := p != "int" && p != "float" && p != "section"; IsABI(p) != want {
			t.Errorf("IsABI(%q) = %v", p, !want)
		}
	}
	if IsABI("member") {
		t.Error("member")
	}
}
