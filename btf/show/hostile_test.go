package show

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/btf/view"
)

// counted counts what is written.
type counted struct{ n int }

func (c *counted) Write(p []byte) (int, error) {
	c.n += len(p)
	return len(p), nil
}

// isEndless reports whether an error is one of those for BTF that no program has.
func isEndless(err error) bool {
	return errors.Is(err, errTooLong) || errors.Is(err, errTooMuch) || errors.Is(err, errTooDeep)
}

// everything prints v in each way and returns how much that was.
func everything(t testing.TB, v *view.View) (n int) {
	t.Helper()
	for _, opt := range []Options{{}, {Expand: true}, {Expand: true, Quiet: true}, {Pointers: true}, {Pointers: true, Expand: true}, {Compile: true}, {Reorganize: true, Steps: true, Biggest: true}, {Hex: true, Relative: true, Flat: true, CacheLine: 1}} {
		var c counted
		p := New(&c, v, opt)
		err := p.List(&Filter{}, Text, "")
		for x := range v.Own() {
			switch x.Kind() {
			case btf.KindStruct, btf.KindUnion, btf.KindEnum, btf.KindEnum64, btf.KindTypedef:
				if !p.w.full() {
					if !p.w.full() {
						p.Entry(x, &Filter{Anonymous: true, Nested: true}, Text, "")
					}
				}
			}
		}
		if err = errors.Join(err, p.Flush()); err != nil && !isEndless(err) {
			t.Fatal(err)
		}
		n = max(n, c.n)
	}
	p := New(io.Discard, v, Options{})
	for form := Text; form <= Pointers; form++ {
		if err := p.Sorted(&Filter{Contains: "s", PointTo: "s"}, form, "\t"); err != nil && !isEndless(err) {
			t.Fatal(err)
		}
	}
	return n
}

// TestEndless: types that would become endless text end with an error, and so do those that contain
// themselves.
func TestEndless(t *testing.T) {
	for _, c := range []struct {
		name  string
		build func(b *btftest.Builder)
		want  error
	}{
		{"a struct that contains itself", func(b *btftest.Builder) {
			b.Add("s", btf.Info(btf.KindStruct, 1, false), 8, b.Str("m"), 1, 0)
		}, errTooDeep},
		{"anonymous structs that contain two of the next", func(b *btftest.Builder) {
			b.Add("s", btf.Info(btf.KindStruct, 1, false), 8, b.Str("m"), 2, 0)
			for i := range uint32(60) {
				b.Add("", btf.Info(btf.KindStruct, 2, false), 8, b.Str("a"), 3+i, 0, b.Str("b"), 3+i, 32)
			}
			b.Add("int", btf.Info(btf.KindInt, 0, false), 4, 32)
		}, errTooLong},
		{"prototypes that take two of the next", func(b *btftest.Builder) {
			b.Add("s", btf.Info(btf.KindStruct, 1, false), 8, b.Str("m"), 2, 0)
			for i := range uint32(60) {
				b.Add("", btf.Info(btf.KindPtr, 0, false), 3+2*i)
				b.Add("", btf.Info(btf.KindFuncProto, 2, false), 0, 0, 4+2*i, 0, 4+2*i)
			}
			b.Add("", btf.Info(btf.KindPtr, 0, false), 0)
		}, errTooLong},
		{"circles of all kinds", func(b *btftest.Builder) {
			b.Add("s", btf.Info(btf.KindStruct, 4, false), 8, b.Str("a"), 2, 0, b.Str("b"), 3, 0, b.Str("c"), 5, 7, b.Str("d"), 6, 9)
			b.Add("", btf.Info(btf.KindPtr, 0, false), 2)
			b.Add("t", btf.Info(btf.KindTypedef, 0, false), 4)
			b.Add("", btf.Info(btf.KindConst, 0, false), 3)
			b.Add("", btf.Info(btf.KindArray, 0, false), 0, 5, 1, 3)
			b.Add("", btf.Info(btf.KindFuncProto, 1, false), 6, 0, 6)
		}, errTooLong},
		{"a member behind everything", func(b *btftest.Builder) {
			b.Add("s", btf.Info(btf.KindStruct, 2, true), 1, b.Str("a"), 2, 0xffffffff, b.Str("b"), 2, 0x00ffffff)
			b.Add("", btf.Info(btf.KindArray, 0, false), 0, 1, 1, 0xffffffff)
		}, errTooDeep},
	} {
		b := btftest.New()
		c.build(b)
		v := view.New(b.Blob(t))
		err := New(io.Discard, v, Options{Expand: true}).List(&Filter{}, Text, "")
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		everything(t, v)
	}
}

// TestEndlessDeclaration: a typedef of an array of itself is written out as often as references are
// followed, and dots stand for the rest.
func TestEndlessDeclaration(t *testing.T) {
	const typedef = 2 // the typedef, of the array behind it
	v := view.New(btftest.Build(t, nil, func(b *btftest.Builder) {
		i := b.Int("int", 4)
		b.Typedef("t", typedef+1)
		b.Array(typedef, i, 1)
		b.Struct("s", 4, b.Member("m", typedef, 0))
	}))
	var got bytes.Buffer
	if err := New(&got, v, Options{Expand: true, Quiet: true}).List(&Filter{}, Text, ""); err != nil {
		t.Fatal(err)
	}
	text := got.String()
	if n := strings.Count(text, "/* typedef t */ "); n != view.MaxDepth/2+1 || strings.Count(text, "...") != 1 {
		t.Errorf("the typedef is written out %d times:\n%s", n, text)
	}
}

// TestNames: characters that a terminal would obey are escaped, and long names are
// printed whole.
func TestNames(t *testing.T) {
	b := btftest.New()
	long := strings.Repeat("n", 60_000)
	b.Add("a\x1b[2Jb\n\u009b1mc", btf.Info(btf.KindStruct, 1, false), 4, b.Str("\x07"), 2, 0)
	b.Add(long, btf.Info(btf.KindTypedef, 0, false), 3)
	b.Add("\x1b]0;x", btf.Info(btf.KindEnum, 1, false), 4, b.Str("\x1bE"), 1)
	v := view.New(b.Blob(t))
	var out bytes.Buffer
	p := New(&out, v, Options{Expand: true})
	for x := range v.Own() {
		p.w.whole(x)
	}
	if err := p.Flush(); err != nil {
		t.Fatal(err)
	}
	for _, r := range out.String() {
		if r != '\n' && r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0) {
			t.Fatalf("%q reaches the terminal", r)
		}
	}
	if !strings.Contains(out.String(), long) {
		t.Error("the long name is not whole")
	}
}

// FuzzShow: whatever btf.Parse takes is printed, or refused as endless.
func FuzzShow(f *testing.F) {
	for _, name := range []string{"plain", "bits", "types", "units", "twice"} {
		f.Add(load(f, "testdata/"+name+".btf").Blob().Encode())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := btf.Parse(data, nil)
		if err != nil || len(data) > 1<<14 {
			return
		}
		everything(t, view.New(b))
	})
}

// TestMutants: damaged copies of good files are printed in bounded time and text, without
// characters that a terminal obeys.
func TestMutants(t *testing.T) {
	var seeds [][]byte
	for _, name := range []string{"plain", "bits", "types"} {
		seeds = append(seeds, load(t, "testdata/"+name+".btf").Blob().Encode())
	}
	btftest.Mutants(t, 300, seeds, func(b *btf.Blob) {
		v := view.New(b)
		everything(t, v)
		var out bytes.Buffer
		p := New(&out, v, Options{Expand: true, Steps: true, Reorganize: true, Biggest: true})
		for x := range v.Own() {
			if p.w.full() {
				break
			}
			p.Entry(x, &Filter{Anonymous: true, Nested: true}, Text, "\t")
		}
		p.Flush()
		for at, r := range out.String() {
			if r != '\n' && r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0) {
				t.Fatalf("%q reaches the terminal at %d", r, at)
			}
		}
	})
}

// TestSortedHoldsLittle: texts of one name are held to be compared, but not what has no end.
func TestSortedHoldsLittle(t *testing.T) {
	b := btftest.New()
	for range 10_000 { // the more BTF, the more text it may have
		b.Int("int", 4)
	}
	for range 3 {
		x := b.Int("int", 4)
		for range maxIndent {
			x = b.Union("", 4, b.Member("a", x, 0), b.Member("b", x, 0))
		}
		b.Struct("s", 4, b.Member("x", x, 0))
	}
	var c counted
	p := New(&c, view.New(b.Blob(t)), Options{})
	if err := p.Sorted(&Filter{}, Text, ""); !errors.Is(err, errTooLong) {
		t.Error(err)
	}
	if c.n < 2*mostHeld || cap(p.w.buf) > 3*mostHeld {
		t.Errorf("%d bytes held of %d", cap(p.w.buf), c.n)
	}
}
