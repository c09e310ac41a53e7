package show

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/btf/view"
)

// chain is BTF of n structs, each in the next one, or pointed to by it.
func chain(t testing.TB, n int, pointed bool) *view.View {
	return view.New(btftest.Build(t, nil, func(b *btftest.Builder) {
		b.Int("long int", 8) // the size of pointers
		of := b.Int("int", 4)
		for k := range n {
			size := uint32(4)
			if pointed && k > 0 {
				of, size = b.Ptr(of), 8
			}
			of = b.Struct(fmt.Sprint("s", k), size, b.Member("m", of, 0))
		}
	}))
}

// inChain is the text of struct k of a chain without comments. Deeper types have fewer columns; as
// in C's printf, a width below 0 means as many columns.
func inChain(k int) string {
	var text strings.Builder
	tabs := func(n int) string { return strings.Repeat("\t", min(n, mostTabs)) }
	for d := range k + 1 {
		fmt.Fprintf(&text, "%sstruct s%d {\n", tabs(d), k-d)
	}
	fmt.Fprintf(&text, "%s%-*s m;\n", tabs(k+1), typeWidth-8*k, "int")
	for d := k; d > 0; d-- {
		text.WriteString(tabs(d) + "} m;\n")
	}
	text.WriteString("};\n")
	return text.String()
}

// TestDeep: structs in each other are written out whole, as pahole does, though all of them together
// have more text than one type may have.
func TestDeep(t *testing.T) {
	const n = 400
	v := chain(t, n, false)
	var want strings.Builder
	for k := range n {
		want.WriteString(inChain(k))
	}
	var got bytes.Buffer
	p := New(&got, v, Options{Expand: true, Quiet: true})
	if err := p.List(&Filter{}, Text, ""); err != nil {
		t.Error(err)
	}
	if a, b := diffLine(got.Bytes(), []byte(want.String())); a != b {
		t.Errorf("got %q, want %q", a, b)
	}
	if got.Len() < p.w.limit.one {
		t.Errorf("%d bytes of text are less than the %d that one type may have", got.Len(), p.w.limit.one)
	}
}

// TestDeepest: in each way to print types that need each other, maxIndent of them are whole, and more
// end with an error, not with less text.
func TestDeepest(t *testing.T) {
	for _, x := range []struct {
		opt     Options
		pointed bool
	}{
		{Options{Expand: true}, false}, {Options{Pointers: true}, true}, {Options{Pointers: true, Expand: true}, true},
		{Options{Compile: true}, false}, {Options{Compile: true, Expand: true}, false},
	} {
		for _, n := range []int{maxIndent, maxIndent + 1, maxIndent + 2, maxIndent + 3, 3 * maxIndent} {
			v := chain(t, n, x.pointed)
			var got bytes.Buffer
			p := New(&got, v, x.opt)
			p.Entry(v.Type(v.Count()-1), &Filter{}, Text, "")
			err := p.Flush()
			if n <= maxIndent && err != nil || n > maxIndent+2 && !errors.Is(err, errTooDeep) {
				t.Errorf("%+v: %d types: %v", x.opt, n, err)
			}
			for k := 0; k < n && err == nil; k++ {
				if !bytes.Contains(got.Bytes(), fmt.Appendf(nil, "struct s%d {", k)) {
					t.Errorf("%+v: %d types: without struct s%d", x.opt, n, k)
					break
				}
			}
		}
	}
}

// TestTooMuch: types that have an end each, but very much text together, end with an error.
func TestTooMuch(t *testing.T) {
	v := view.New(btftest.Build(t, nil, func(b *btftest.Builder) {
		x := b.Int("int", 4)
		for range 10 {
			x = b.Union("", 4, b.Member("a", x, 0), b.Member("b", x, 0))
		}
		for k := range 10 {
			b.Struct(fmt.Sprint("s", k), 4, b.Member("x", x, 0))
		}
	}))
	var c counted
	if err := New(&c, v, Options{}).List(&Filter{}, Text, ""); err != nil {
		t.Fatal(err)
	}
	for _, sorted := range []bool{false, true} {
		p := New(io.Discard, v, Options{})
		p.w.limit.all = c.n / 2
		list := p.List
		if sorted {
			list = p.Sorted
		}
		if err := list(&Filter{}, Text, ""); !errors.Is(err, errTooMuch) {
			t.Errorf("sorted %t: %v", sorted, err)
		}
	}
}
