package show

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/btf/view"
)

// TestManyColumns: the text of each type is right, from the cache too, however many types there are.
// Texts of all lengths fill several pieces of the cache, and the longest ones are not in it.
func TestManyColumns(t *testing.T) {
	const n = 2000
	var want strings.Builder
	want.WriteString("struct s {\n")
	v := view.New(btftest.Build(t, nil, func(b *btftest.Builder) {
		of := b.Int("int", 4)
		var types [n]uint32
		name := func(k int) string { return fmt.Sprintf("t%0*d", 4+k%(longestColumn+8), k) }
		for k := range types {
			types[k] = b.Typedef(name(k), of)
		}
		var members []btftest.Part
		for m := range 2 * n { // each type twice: the second time its text is in the cache
			members = append(members, b.Member(fmt.Sprint("m", m), types[m%n], uint32(32*m)))
			fmt.Fprintf(&want, "\t%-*s m%d;\n", typeWidth, name(m%n), m)
		}
		b.Struct("s", 4*2*n, members...)
	}))
	want.WriteString("};\n")
	var got bytes.Buffer
	p := New(&got, v, Options{Quiet: true})
	if err := p.List(&Filter{}, Text, ""); err != nil {
		t.Fatal(err)
	}
	if a, b := diffLine(got.Bytes(), []byte(want.String())); a != b {
		t.Errorf("got %q, want %q", a, b)
	}
	if pieces := len(p.w.columns.pieces); pieces < 3 {
		t.Errorf("the texts have filled %d pieces", pieces)
	}
}
