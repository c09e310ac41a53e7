package diff

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/btf/ctype"
)

// Words of types that the tests build.
var (
	ptrInfo   = btf.Info(btf.KindPtr, 0, false)
	funcInfo  = btf.Info(btf.KindFunc, 0, false)
	varInfo   = btf.Info(btf.KindVar, 0, false)
	tagInfo   = btf.Info(btf.KindDeclTag, 0, false)
	constInfo = btf.Info(btf.KindConst, 0, false)
)

func unionInfo(vlen uint32) uint32 { return btf.Info(btf.KindUnion, vlen, false) }
func enumInfo(vlen uint32) uint32  { return btf.Info(btf.KindEnum, vlen, false) }
func protoInfo(vlen uint32) uint32 { return btf.Info(btf.KindFuncProto, vlen, false) }

// compareCase is two sets and what is said of them.
type compareCase struct {
	name string
	a, b *btf.Blob
	want string
}

func runCases(t *testing.T, cases []compareCase) {
	t.Helper()
	for _, c := range cases {
		if got := linesOf(t, c.a, c.b, Options{}); got != c.want {
			t.Errorf("%s: (-want +got)\n%s", c.name, cmp.Diff(c.want, got))
		}
		if got := linesOf(t, c.a, c.a, Options{}) + linesOf(t, c.b, c.b, Options{}); got != "" {
			t.Errorf("%s: differs from itself:\n%s", c.name, got)
		}
	}
}

// TestBitFieldWords: the last word of a member means different things with and
// without kind_flag, unless there is no bit-field.
func TestBitFieldWords(t *testing.T) {
	set := func(kflag bool, word uint32) *btf.Blob {
		return build(t, func(b *btftest.Builder) {
			b.Add("int", intInfo, 4, 32)
			b.Add("s", btf.Info(btf.KindStruct, 1, kflag), 1<<22, b.Str("m"), 1, word)
		})
	}
	runCases(t, []compareCase{
		{"no bit-field", set(true, 32), set(false, 32), ""},
		{"width or offset", set(true, 3<<24|8), set(false, 3<<24|8), "~ struct s\n    ~ member m: at 1 -> 6291457, bits 3 -> none"},
		{"width", set(true, 3<<24|8), set(true, 4<<24|8), "~ struct s\n    ~ member m: bits 3 -> 4"},
	})
}

// TestIntWords: each field of the last word of an INT.
func TestIntWords(t *testing.T) {
	set := func(word uint32) *btf.Blob {
		return build(t, func(b *btftest.Builder) { b.Add("i", intInfo, 4, word) })
	}
	const word = 1<<24 | 2<<16 | 8
	runCases(t, []compareCase{
		{"encoding", set(word), set(word ^ 1<<24), "~ int i: encoding SIGNED -> (none)"},
		{"offset", set(word), set(word + 3<<16), "~ int i: at 0:2 -> 0:5"},
		{"bits", set(word), set(word + 8), "~ int i: bits 8 -> 16"},
		{"added", set(word), build(t, func(b *btftest.Builder) { b.Add("j", intInfo, 1, 4<<24|8) }),
			"- int i: size 4, encoding SIGNED, bits 8\n+ int j: size 1, encoding BOOL, bits 8"},
	})
}

// TestOneSidedTags: a type that only one side has shows its own tags, not its members'.
func TestOneSidedTags(t *testing.T) {
	tagged := build(t, func(b *btftest.Builder) {
		b.Add("int", intInfo, 4, 32)
		b.Add("s", structInfo(2), 8, b.Str("m"), 1, 0, b.Str("n"), 1, 32)
		b.Add("of_n", tagInfo, 2, 1)
		b.Add("of_m", tagInfo, 2, 0)
		b.Add("of_s", tagInfo, 2, ^uint32(0))
	})
	plain := build(t, func(b *btftest.Builder) { b.Add("int", intInfo, 4, 32) })
	runCases(t, []compareCase{
		{"added", plain, tagged, "+ struct s: size 8, members 2\n    + tag of_s"},
		{"removed", tagged, plain, "- struct s: size 8, members 2\n    - tag of_s"},
	})
}

// TestTagFlag: a tag with kind_flag, which stands for an attribute, is another.
func TestTagFlag(t *testing.T) {
	set := func(kflag bool) *btf.Blob {
		return build(t, func(b *btftest.Builder) {
			b.Add("s", structInfo(0), 8)
			b.Add("tag", btf.Info(btf.KindDeclTag, 0, kflag), 1, ^uint32(0))
		})
	}
	runCases(t, []compareCase{{"flag", set(false), set(true), "~ struct s\n    - tag tag\n    + tag tag"}})
}

// TestHeading: where Markdown has a difference.
func TestHeading(t *testing.T) {
	for want, d := range map[string]Difference{
		"Structs": {Part: "struct", Name: "s"}, "Sections": {Part: "section", Name: ".data"}, "Functions": {Part: "function", Name: "f"},
		"Without a name": {Part: "enum"}, "member": {Part: "member", Name: "m"},
	} {
		if got := d.Heading(); got != want {
			t.Errorf("%+v: %s, want %s", d, got, want)
		}
	}
}

// TestCut: the longest name that is shown as it is.
func TestCut(t *testing.T) {
	long := strings.Repeat("x", maxName)
	if got := cut([]byte(long)); got != long {
		t.Errorf("%d bytes of %d", len(got), maxName)
	}
	if got := cut([]byte(long + "y")); got != long+"..." {
		t.Errorf("%d bytes of %d", len(got), maxName+1)
	}
}

// TestCType: types in C, and where they are cut.
func TestCType(t *testing.T) {
	var nested, fnested, wide, members uint32
	blob := build(t, func(b *btftest.Builder) {
		id := uint32(0)
		add := func(name string, info, third uint32, more ...uint32) uint32 {
			b.Add(name, info, third, more...)
			id++
			return id
		}
		num := add("int", intInfo, 4, 32)
		nested = add("", structInfo(1), 4, b.Str("m0"), num, 0)
		for i := range 10 {
			nested = add("", structInfo(1), 4, b.Str(fmt.Sprint("m", i+1)), nested, 0)
		}
		fnested = add("", ptrInfo, add("", protoInfo(0), 0))
		for range 10 {
			fnested = add("", ptrInfo, add("", protoInfo(1), 0, 0, fnested))
		}
		var list []uint32
		for i := range 200 {
			list = append(list, b.Str(fmt.Sprint("parameter", i)), num)
		}
		wide = add("", protoInfo(200), num, list...)
		list = nil
		for i := range 4 {
			list = append(list, b.Str(fmt.Sprint("m", i)), num, uint32(32*i))
		}
		add("", structInfo(3), 16, list[:9]...)
		members = add("", structInfo(4), 16, list...)
		add("", enumInfo(4), 4, b.Str("A"), 0, b.Str("B"), 1, b.Str("C"), 2, b.Str("D"), 3)
		add("", constInfo, add("", ptrInfo, add("", constInfo, num)))
		array := add("", btf.Info(btf.KindArray, 0, false), 0, num, num, 3)
		add("", ptrInfo, array)
		add("", btf.Info(btf.KindArray, 0, false), 0, add("", ptrInfo, num), num, 3)
		add("u", btf.Info(btf.KindFwd, 0, true), 0)
		add("f", btf.Info(btf.KindFwd, 0, false), 0)
		add("", protoInfo(2), num, b.Str("format"), num, 0, 0)
	})
	c := compare(t, blob, blob, Options{})
	s := c.sides[0]
	for _, tt := range []struct {
		id         uint32
		name, want string
	}{
		{0, "", "void"},
		{0, "x", "void x"},
		{nested, "x", "struct { struct { struct { struct { struct { ... } m7 } m8 } m9 } m10 } x"},
		{fnested, "x", "void (*x)(void (*)(void (*)(void (*)(void (*)(...)))))"},
		{members - 1, "", "struct { int m0; int m1; int m2 }"},
		{members, "", "struct { int m0; int m1; int m2; ... }"},
		{members + 1, "e", "enum { A, B, C, ... } e"},
		{members + 4, "x", "const int *const x"},
		{members + 6, "x", "int (*x)[3]"},
		{members + 8, "x", "int *x[3]"},
		{members + 9, "", "union u"},
		{members + 10, "*x", "struct f *x"},
		{members + 11, "print", "int print(int format, ...)"},
	} {
		if got := s.ctype(tt.id, tt.name); got != tt.want {
			t.Errorf("[%d] %s\nwant %s", tt.id, got, tt.want)
		}
	}
	// A long type is cut after a whole parameter, by the count of its types.
	got := s.ctype(wide, "f")
	if !strings.HasPrefix(got, "... f(int parameter0, ") || !strings.HasSuffix(got, ", int parameter59, ...)") {
		t.Errorf("%d parameters: %s", strings.Count(got, ","), got)
	}
}

const (
	maxTypes = ctype.MaxTypes
	maxText  = ctype.MaxBytes
)

// TestTypeBounds: how many types and bytes a text takes at most.
func TestTypeBounds(t *testing.T) {
	const chain = maxTypes + 10 // id n is a pointer n-1 times over to int
	blob := build(t, func(b *btftest.Builder) {
		b.Add("int", intInfo, 4, 32)
		for i := range uint32(chain) {
			b.Add("", ptrInfo, i+1)
		}
		b.Add("", constInfo, 1)
		var list []uint32
		for range chain {
			list = append(list, b.Str("p"), 1)
		}
		b.Add("", protoInfo(chain), 1, list...)
		b.Add("", structInfo(3), 4, b.Str("a"), maxTypes-1, 0, b.Str("b"), 1, 0, b.Str("c"), 1, 0)
	})
	c := compare(t, blob, blob, Options{})
	stars := func(n int) string { return strings.Repeat("*", n) }
	name := strings.Repeat("n", maxText)
	for i, tt := range []struct {
		id         uint32
		name, want string
	}{
		{maxTypes, "", "int " + stars(maxTypes-1)},
		{maxTypes + 1, "", "... " + stars(maxTypes)},
		{1, name, "int " + name},
		{1, name + "n", "... " + name + "n"},
		{chain + 2, name[len("const "):], "const int " + name[len("const "):]},
		{chain + 2, name[len("const")-1:], "const ... " + name[len("const")-1:]},
		{chain + 3, "f", "... f(" + strings.Repeat("int p, ", maxTypes-1) + "... p, ...)"},
		{chain + 4, "x", "struct { int " + stars(maxTypes-2) + "a; ... b; ... } x"},
	} {
		if got := c.sides[0].ctype(tt.id, tt.name); got != tt.want {
			t.Errorf("%d: %s\nwant %s", i, got, tt.want)
		}
	}
}

// TestTextBound: no type takes much more than maxText bytes, whatever its names.
func TestTextBound(t *testing.T) {
	for _, c := range []struct{ size, inProto, inStruct int }{
		{100, 7, 3}, {300, 4, 3}, {496, 3, 3}, {497, 2, 3}, {498, 2, 3}, {499, 2, 2}, {996, 2, 2}, {997, 1, 2}, {998, 1, 2}, {999, 1, 1}, {1000, 1, 1}, {5000, 1, 1},
	} {
		name := strings.Repeat("n", c.size)
		blob := build(t, func(b *btftest.Builder) {
			b.Add(name, intInfo, 4, 32)
			b.Add("", protoInfo(6), 1, b.Str("a"), 1, b.Str("b"), 1, b.Str("c"), 1, b.Str("d"), 1, b.Str("e"), 1, b.Str("f"), 1)
			b.Add("", structInfo(3), 4, b.Str("a"), 1, 0, b.Str("b"), 1, 0, b.Str("c"), 1, 0)
		})
		all := compare(t, blob, blob, Options{})
		s := all.sides[0]
		for id, want := range map[uint32]int{2: c.inProto, 3: c.inStruct} {
			text := s.ctype(id, "f")
			if got := strings.Count(text, s.text(s.Record(1)[0])); got != want {
				t.Errorf("[%d], names of %d bytes: %d of them, want %d", id, c.size, got, want)
			}
			if whole := map[uint32]int{2: 7, 3: 3}[id]; (want < whole) != (strings.Contains(text, ", ...") || strings.Contains(text, "; ...")) && c.size < 1000 {
				t.Errorf("[%d], names of %d bytes: %s", id, c.size, text)
			}
		}
	}
}

// TestPairs: of several definitions of a name, those are compared that have most
// in common.
func TestPairs(t *testing.T) {
	// lists are the names of members of the definitions of s.
	set := func(lists ...string) *btf.Blob {
		return build(t, func(b *btftest.Builder) {
			b.Add("int", intInfo, 4, 32)
			for i, list := range lists {
				var m []uint32
				for j, name := range strings.Fields(list) {
					m = append(m, b.Str(name), 1, uint32(32*j))
				}
				b.Add("s", structInfo(uint32(len(m)/3)), 4*uint32(i+len(m)/3), m...)
			}
		})
	}
	heads := func(a, b *btf.Blob) (list []string) {
		for _, l := range strings.Split(linesOf(t, a, b, Options{}), "\n") {
			if !strings.HasPrefix(l, " ") {
				_, size, _ := strings.Cut(l, "size ")
				list = append(list, l[:2]+size)
			}
		}
		return list
	}
	for i, c := range []struct {
		a, b *btf.Blob
		want []string
	}{
		// Sizes tell which is which: 4 bytes for each member, and 4 more for each definition before.
		{set("a b c", "x y z"), set("p x y z q", "a b c d"), []string{"~ 12 -> 20", "~ 16 -> 20"}},
		{set("a", "a b c d e"), set("b c d e f g", "a z z z"), []string{"~ 4 -> 20", "~ "}},
		{set("p b", "p c"), set("p c d", "p b d"), []string{"~ 8 -> 16", "~ "}},
		{set("a b"), set("a c", "a b c"), []string{"~ 8 -> 16", "+ 8, members 2"}},
		{set("a b", "c d", "e f"), set("e f g"), []string{"- 8, members 2", "- 12, members 2", "~ 16 -> 12"}},
		// Unlike ones are pairs as they come.
		{set("a", "b b"), set("x x x", "y y y y"), []string{"~ 4 -> 12", "~ 12 -> 20"}},
		{set("a"), set("x", "y y"), []string{"~ ", "+ 12, members 2"}},
	} {
		got := heads(c.a, c.b)
		if !slices.Equal(got, c.want) {
			t.Errorf("%d: %q, want %q\n%s", i, got, c.want, linesOf(t, c.a, c.b, Options{}))
		}
	}
}

// TestFeatures: the names that identify a definition.
func TestFeatures(t *testing.T) {
	blob := build(t, func(b *btftest.Builder) {
		b.Add("int", intInfo, 4, 32)                                                      // 1
		b.Add("", unionInfo(2), 4, b.Str("inside"), 1, 0, b.Str("too"), 1, 0)             // 2
		b.Add("", structInfo(1), 4, b.Str("deep"), 1, 0)                                  // 3
		b.Add("u", unionInfo(4), 4, b.Str("a"), 1, 0, 0, 2, 0, b.Str("b"), 1, 0, 0, 3, 0) // 4
		b.Add("e", enumInfo(2), 4, b.Str("A"), 0, b.Str("B"), 7)                          // 5
		b.Add("", protoInfo(2), 1, b.Str("p"), 1, b.Str("q"), 4)                          // 6
		b.Add("f", funcInfo, 6)                                                           // 7
	})
	c := compare(t, blob, blob, Options{})
	c.identify()
	s := c.sides[0]
	for id, want := range map[uint32]string{4: "a inside too b deep", 5: "A B", 7: "p q", 1: "", 0: ""} {
		var names []string
		list := s.features(id)
		for i := 0; i < len(list); i += 2 {
			names = append(names, c.names.text(uint32(list[i])))
			if uint32(list[i+1]) != uint32(list[i]) || list[i+1]>>32 == 0 || list[i]>>32 != 0 {
				t.Errorf("[%d]: %#x, %#x", id, list[i], list[i+1])
			}
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("[%d]: %s, want %s", id, got, want)
		}
	}
	if list := s.features(5); list[1]>>32 != 1 || list[3]>>32 != 8 {
		t.Errorf("values: %#x", list)
	}
}

// TestUsedByOthers: a type without a name is reported where it is used, even if its user
// is not compared.
func TestUsedByOthers(t *testing.T) {
	set := func(size uint32) *btf.Blob {
		return build(t, func(b *btftest.Builder) {
			b.Add("int", intInfo, 4, 32)
			b.Add("", structInfo(1), size, b.Str("m"), 1, 0)
			b.Add("", ptrInfo, 2)
			b.Add("", protoInfo(1), 0, b.Str("p"), 3)
			b.Add("f", funcInfo, 4)
			b.Add("", structInfo(1), 2*size, b.Str("m"), 1, 0)
			b.Add("t", defInfo, 6)
			b.Add("", structInfo(1), 3*size, b.Str("m"), 1, 0)
			b.Add("u", unionInfo(1), 64, b.Str("m"), 8, 0)
			b.Add("", enumInfo(1), size, b.Str("E"), 1)
			b.Add("v", varInfo, 10, 0)
		})
	}
	if got := linesOf(t, set(4), set(8), Options{Parts: []string{"struct", "enum"}}); got != "" {
		t.Error(got)
	}
	if got := linesOf(t, set(4), set(8), Options{Parts: []string{"function"}}); strings.Count(got, "size 4 -> 8") != 1 {
		t.Error(got)
	}
}

// TestLooseEnds: functions without a name and variables in no section.
func TestLooseEnds(t *testing.T) {
	set := func(id uint32) *btf.Blob {
		return build(t, func(b *btftest.Builder) {
			b.Add("int", intInfo, 4, 32)
			b.Add("char", intInfo, 1, 8)
			b.Add("", protoInfo(0), id)
			b.Add("", funcInfo, 3)
			b.Add("v", varInfo, 1, 0)
			b.Add("w", varInfo, id, 0)
			b.Add("", varInfo, id, 0)
		})
	}
	runCases(t, []compareCase{{"types", set(1), set(2), `~ variable w: type int -> char
- function (anonymous): int (void)
+ function (anonymous): char (void)
- int
+ char`}})
}

// TestBudget: types without a name are reported until the budget is used up.
func TestBudget(t *testing.T) {
	set := func(size uint32) *btf.Blob {
		return build(t, func(b *btftest.Builder) {
			b.Add("int", intInfo, 4, 32)
			b.Add("", structInfo(2), size, b.Str("a"), 1, 0, b.Str("b"), 1, 0)
			b.Add("s", structInfo(2), 4, b.Str("m"), 2, 0, b.Str("n"), 2, 0)
			b.Add("", protoInfo(1), 0, b.Str("p"), 2)
			b.Add("f", funcInfo, 4)
		})
	}
	// Each pair of the struct takes 4, the prototypes take 2.
	for budget, want := range map[int]string{
		14: "parameter", 13: "parameter content", 9: "", 8: "", 7: "content", 4: "content", 3: "content content", 0: "content content",
	} {
		c := compare(t, set(8), set(16), Options{})
		c.identify()
		c.define()
		c.budget = budget
		var got []string
		var look func(d *Difference)
		look = func(d *Difference) {
			if d.Part == "content" || d.Part == "parameter" {
				got = append(got, d.Part)
			}
			for i := range d.Details {
				look(&d.Details[i])
			}
		}
		if err := c.report(func(d *Difference) error { look(d); return nil }); err != nil {
			t.Fatal(err)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("budget %d: %q, want %q", budget, got, want)
		}
	}
}

// TestSortKeys: several definitions of a name are reported in an order that depends on
// their contents.
func TestSortKeys(t *testing.T) {
	a := build(t, func(b *btftest.Builder) {
		b.Add("int", intInfo, 4, 32)
		b.Add("char", intInfo, 1, 8)
		for i := range uint32(4) {
			b.Add("e", enumInfo(2), 4, b.Str("A"), 0, b.Str("B"), i)
			b.Add("e", enumInfo(2), 4, b.Str("A"), 0, b.Str(fmt.Sprint("C", i)), 1)
			b.Add("s", structInfo(2), 8, b.Str("m"), 1, 0, b.Str("n"), 1, 32+i)
			b.Add("s", structInfo(2), 8, b.Str("m"), 1, 0, b.Str(fmt.Sprint("o", i)), 1, 32)
			b.Of(btf.KindUnion, "u", true, 8, b.Member("m", 1, 0), b.Member("n", 1, i<<24))
			b.Add("i", intInfo, 4, i<<16|8)
		}
		for i := range uint32(2) {
			b.Add("u", unionInfo(2), 8, b.Str("m"), 1, 0, b.Str("n"), 1+i, 0)
			b.Add("t", defInfo, 1+i)
			b.Add("v", varInfo, 1, i)
			b.Add("v", varInfo, 2, i)
			b.Float("x", 4+i)
		}
	})
	none := build(t, func(*btftest.Builder) {})
	want := linesOf(t, a, none, Options{})
	for seed := range uint64(20) {
		if got := linesOf(t, remixed(t, a, 1, rand.New(rand.NewPCG(seed, 9))), none, Options{}); got != want {
			t.Fatalf("seed %d: (-want +got)\n%s", seed, cmp.Diff(want, got))
		}
	}
}
