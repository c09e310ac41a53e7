package show

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/btf/view"
	"github.com/btflite/btflite/test/testfile"
)

// addRare adds structs that reach the rare lines of the printer.
func addRare(b *btftest.Builder) {
	char, short, i, long := b.Int("char", 1), b.Int("short", 2), b.Int("int", 4), b.Int("long", 8)
	b.Struct("far", 200016, b.Member("a", b.Array(char, i, 99999), 0), b.Member("b", char, 8*99999), b.Member("c", i, 8*100000), b.Member("d", b.Array(char, i, 100000), 8*100004),
		b.Member("e", long, 8*200008))
	b.Struct("wide", 100000, b.Member("a", b.Array(char, i, 100000), 0))
	constant := b.Const(b.Struct("", 4, b.Member("x", i, 0)))
	b.Struct("in_array", 8, b.Member("array", b.Array(b.Struct("", 4, b.Member("in", constant, 0)), i, 2), 0))
	b.Struct("in_pointer", 8, b.Member("pointer", b.Ptr(b.Struct("", 4, b.Member("in", constant, 0))), 0))
	b.Struct("in_plain", 4, b.Member("plain", b.Struct("", 4, b.Member("in", constant, 0)), 0))
	named := b.Struct("aligned", 64, b.Member("z", long, 0))
	aligned := b.Struct("", 128, b.Member("x", i, 0), b.Member("y", named, 512))
	b.Struct("of_aligned", 384, b.Member("first", b.Typedef("aligned_t", aligned), 0), b.Member("second", b.Const(aligned), 1024), b.Member("third", b.Array(aligned, i, 1), 2048))
	padded := b.Struct("", 64, b.Member("z", long, 0))
	b.Struct("of_padded", 320, b.Member("one", padded, 0), b.Member("some", b.Array(padded, i, 1), 512), b.Member("far", b.Ptr(padded), 1024),
		b.Member("fixed", b.Const(padded), 1536), b.Member("more", b.Array(b.Const(padded), i, 1), 2048))
	b.Struct("points", 48, b.Member("s", b.Ptr(b.Ptr(named)), 0), b.Member("f", b.Ptr(b.Fwd("declared")), 64), b.Member("u", b.Ptr(b.FwdUnion("declared_too")), 128),
		b.Member("v", b.Ptr(0), 256), b.Member("n", b.Ptr(b.Union("number", 4, b.Member("x", i, 0))), 320))
	bits := func(name string, typ, width, off uint32) btftest.Part { return b.Member(name, typ, width<<24|off) }
	for k, w := range []uint32{1, 2} {
		b.Of(btf.KindStruct, []string{"one_bit", "two_bits"}[k], true, 12, bits("a", i, 3, 0), bits("b", short, w, 4), bits("c", char, 2, 6), bits("d", char, 0, 16), bits("e", i, 0, 32),
			bits("f", i, w, 64), bits("g", char, 1, 72))
	}
}

// TestRare: what the printer writes of such structs is as pahole 1.32 has printed it.
func TestRare(t *testing.T) {
	v := view.New(btftest.Build(t, nil, addRare))
	for golden, opt := range map[string]Options{"rare": {}, "rare.expand": {Expand: true}, "rare.biggest": {Biggest: true}, "rare.hex": {Hex: true}, "rare.pointers": {Pointers: true}} {
		want := testfile.Read(t, "testdata/"+golden+".txt")
		var got bytes.Buffer
		if err := New(&got, v, opt).List(&Filter{}, Text, ""); err != nil {
			t.Fatal(err)
		}
		if a, b := diffLine(got.Bytes(), want); a != b {
			t.Errorf("%s: got %q, want %q", golden, a, b)
		}
	}
}

// TestBack: before a member that goes back pahole 1.32 prints a note, bit-field or not.
func TestBack(t *testing.T) {
	v := view.New(btftest.Build(t, nil, func(b *btftest.Builder) {
		i, long := b.Int("int", 4), b.Int("long", 8)
		b.Struct("s", 8, b.Member("a", i, 0), b.Member("same", i, 0), b.Member("b", i, 32), b.Member("back", long, 0), b.Member("again", i, 0))
		b.Union("u", 8, b.Member("x", i, 0), b.Member("y", long, 0))
		for k, none := range []uint32{b.Array(i, i, 0), b.Struct("none", 0), b.Array(b.Array(b.Struct("", 0), i, 1), i, 3)} { // behind it, pahole prints no note
			b.Of(btf.KindStruct, fmt.Sprint("bits", k), true, 8, b.Member("a", i, 0), b.Member("z", none, 32), b.Member("b", long, 32<<24|32))
			b.Struct(fmt.Sprint("plain", k), 8, b.Member("a", i, 0), b.Member("z", none, 32), b.Member("b", long, 0))
		}
	}))
	var got bytes.Buffer
	if err := New(&got, v, Options{}).List(&Filter{}, Text, ""); err != nil {
		t.Fatal(err)
	}
	want := "     4     4 */\n\n\t/* Bitfield combined with previous fields */\n\n\tlong                       back; "
	if text := got.String(); !strings.Contains(text, want) || strings.Count(text, "combined") != 1 {
		t.Errorf("not once %q:\n%s", want, text)
	}
}

// TestFlat: --flat_arrays multiplies the dimensions of an array, as pahole 1.32 does for these ones.
func TestFlat(t *testing.T) {
	v := view.New(btftest.Build(t, nil, func(b *btftest.Builder) {
		i := b.Int("int", 4)
		array := func(dimensions ...uint32) uint32 {
			of := i
			for _, n := range slices.Backward(dimensions) {
				of = b.Array(of, i, n)
			}
			return of
		}
		b.Struct("flat", 1000, b.Member("a", array(2, 3), 0), b.Member("b", array(2, 3, 4), 8*24), b.Member("c", array(1, 5), 8*120),
			b.Member("d", array(0, 3), 8*140), b.Member("e", array(2, 0, 3), 8*140), b.Member("f", array(2, 0), 8*140), b.Member("last", i, 8*996))
	}))
	var got bytes.Buffer
	if err := New(&got, v, Options{Flat: true}).List(&Filter{}, Text, ""); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"a[6];", "b[24];", "c[5];", "d[0];", "e[3];", "f[0];"} {
		if !strings.Contains(got.String(), want) {
			t.Errorf("not %s:\n%s", want, &got)
		}
	}
}

// TestRenamedTwice: a union whose name a struct has gets the first number that no struct and no enum
// has. Here pahole gives it the name of the struct that has its number.
func TestRenamedTwice(t *testing.T) {
	made := btftest.New()
	i := made.Int("int", 4)
	made.Struct("first", 4, made.Member("e", made.Enum("b__1", made.Value("E", 1)), 0))
	s := func(name string) btftest.Part {
		return made.Member(name, made.Struct(name, 4, made.Member("x", i, 0)), 0)
	}
	u := func(name string) btftest.Part {
		return made.Member("u", made.Union(name, 4, made.Member("y", i, 0)), 96)
	}
	made.Struct("top_a", 16, s("a"), s("a__1"), u("a"))
	made.Struct("top_b", 16, s("b"), u("b"))
	v := view.New(made.Blob(t))
	var got bytes.Buffer
	if err := New(&got, v, Options{Compile: true}).List(&Filter{}, Text, ""); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		if want := "union " + name + "__2 {"; strings.Count(got.String(), want) != 1 {
			t.Errorf("not once %q:\n%s", want, &got)
		}
	}
}

// TestGaps: a struct with a gap that no alignment explains counts once, however often it is printed.
func TestGaps(t *testing.T) {
	var unnamed, gap uint32
	v := view.New(btftest.Build(t, nil, func(b *btftest.Builder) {
		char, i := b.Int("char", 1), b.Int("int", 4)
		b.Struct("explained", 8, b.Member("a", char, 0), b.Member("b", i, 32))
		unnamed = b.Struct("", 20, b.Member("a", char, 0), b.Member("b", char, 128))
		gap = b.Struct("gap", 20, b.Member("a", char, 0), b.Member("b", char, 128))
	}))
	for _, tt := range []struct {
		types []uint32
		first string
		n     int
	}{
		{nil, "", 0},
		{[]uint32{gap, gap}, "gap", 1},
		{[]uint32{unnamed, gap, unnamed}, "one without a name", 2},
	} {
		p := New(io.Discard, v, Options{})
		p.w.whole(v.Type(gap - 2)) // explained
		for _, id := range tt.types {
			p.w.whole(v.Type(id))
		}
		if n, first := p.Gaps(); first != tt.first || n != tt.n {
			t.Errorf("%v: %d structs, the first %q, want %d and %q", tt.types, n, first, tt.n, tt.first)
		}
	}
}

// TestNested: the numbers of structs in each other are found however deep these are, wherever they
// are met first. Structs without a name, and with Expand all, are written out with all their braces, or
// end with an error.
func TestNested(t *testing.T) {
	const n = 2 * maxIndent
	var named, unnamed [n]uint32
	v := view.New(btftest.Build(t, nil, func(b *btftest.Builder) {
		of := b.Int("int", 4)
		outer := of
		for k := range n {
			named[k] = b.Struct(fmt.Sprint("s", k), 4, b.Member("m", of, 0))
			unnamed[k] = b.Struct("", 4, b.Member("m", outer, 0))
			of, outer = named[k], unnamed[k]
		}
	}))
	var got strings.Builder
	p := New(&got, v, Options{Biggest: true})
	for k := n - 1; k >= 0; k-- {
		p.w.whole(v.Type(named[k]))
	}
	if err := p.Flush(); err != nil || strings.Count(got.String(), "/* first biggest size base type member: m 0 4 */") != n {
		t.Errorf("not %d numbers: %v, %s", n, err, &got)
	}
	for _, x := range []struct {
		types [n]uint32
		opt   Options
	}{{unnamed, Options{}}, {named, Options{Expand: true}}} {
		for _, k := range []int{0, 10, maxIndent / 2, maxIndent, maxIndent + 1, n - 1} {
			var got strings.Builder
			p := New(&got, v, x.opt)
			p.w.whole(v.Type(x.types[k]))
			if err := p.Flush(); k > maxIndent {
				if !errors.Is(err, errTooDeep) {
					t.Errorf("%d structs in each other: %v", k+1, err)
				}
			} else if err != nil || strings.Count(got.String(), "{") != k+1 || strings.Count(got.String(), "}") != k+1 {
				t.Errorf("%d structs in each other: %v, %s", k+1, err, &got)
			}
		}
	}
}

// TestCompileTypedef: a typedef that is asked for comes after what it needs, and once more, as in
// pahole. Later it is known, and an empty line stands for it.
func TestCompileTypedef(t *testing.T) {
	var typedef uint32
	v := view.New(btftest.Build(t, nil, func(b *btftest.Builder) {
		typedef = b.Typedef("in_t", b.Struct("in", 4, b.Member("x", b.Int("int", 4), 0)))
	}))
	var got strings.Builder
	p := New(&got, v, Options{Compile: true})
	p.Entry(v.Type(typedef), &Filter{}, Text, "")
	p.Entry(v.Type(typedef), &Filter{}, Text, "")
	const want = `struct in {
	int                        x;                    /*     0     4 */

	/* size: 4, cachelines: 1, members: 1 */
	/* last cacheline: 4 bytes */
};
typedef struct in in_t;
typedef struct in in_t;

`
	if err := p.Flush(); err != nil || got.String() != want {
		t.Errorf("%v, got\n%s\nwant\n%s", err, &got, want)
	}
}

// TestMembersWithoutName: a member without a name, of a struct or enum that has one (-fms-extensions),
// as pahole 1.32 prints it.
func TestMembersWithoutName(t *testing.T) {
	v := view.New(btftest.Build(t, nil, func(b *btftest.Builder) {
		i := b.Int("int", 4)
		b.Int("long int", 8)
		s := b.Struct("s", 4, b.Member("x", i, 0))
		b.Struct("t", 12, b.Member("", s, 0), b.Member("", b.Enum("e", b.Value("E", 1)), 32), b.Member("named", s, 64))
	}))
	for want, opt := range map[string]Options{
		"\tstruct s                   ;\n\tenum e                     ;\n\tstruct s                   named;\n":  {Quiet: true, Pointers: true},
		"\tstruct s                   ;\n\tenum e                     ;\n\tstruct s                    named;\n": {Quiet: true, Pointers: true, Expand: true},
	} {
		var got strings.Builder
		if err := New(&got, v, opt).List(&Filter{}, Text, ""); err != nil || !strings.Contains(got.String(), want) {
			t.Errorf("%+v: %v, not %q:\n%s", opt, err, want, &got)
		}
	}
}

// TestCompileBases: in what is to compile, base classes are members, also of a struct that another one
// needs.
func TestCompileBases(t *testing.T) {
	b := btftest.Build(t, nil, func(b *btftest.Builder) {
		i := b.Int("int", 4)
		base := b.Struct("B", 4, b.Member("b", i, 0))
		derived := b.Struct("D", 8, b.Member(string(btf.AppendMark(nil, btf.MarkBase, 'B')), base, 0), b.Member("d", i, 32))
		b.Struct("E", 8, b.Member("x", derived, 0))
	})
	b.Marked = true
	v := view.New(b)
	for _, name := range []string{"D", "E"} {
		var got strings.Builder
		p := New(&got, v, Options{Compile: true, Quiet: true})
		p.Entry(v.Type(v.Named(name)[0]), &Filter{}, Text, "")
		if err := p.Flush(); err != nil || !strings.Contains(got.String(), "struct D {\n\tstruct B                   B;") {
			t.Errorf("%s: %v, %s", name, err, &got)
		}
	}
}
