package btf

import (
	"bytes"
	"strings"
	"testing"
)

// TestAppendName: names of all lengths, from every offset of a base and of what is over
// it, and from offsets that do not exist.
func TestAppendName(t *testing.T) {
	build := func(base *Blob, from, to int) *Blob {
		b := NewBuilder(false, base)
		for n := from; n < to; n++ {
			b.Str(strings.Repeat("é", n/2) + strings.Repeat("x", n%2))
		}
		blob, err := b.Blob()
		if err != nil {
			t.Fatal(err)
		}
		return blob
	}
	b := build(build(nil, 0, 20), 20, 30)
	names := 0
	for off := range b.StrEnd() + 9 {
		want := b.NameBytes(off)
		got := b.AppendName([]byte("before "), off)
		if !bytes.Equal(got, append([]byte("before "), want...)) {
			t.Fatalf("offset %d: %q, want %q", off, got, want)
		}
		if b.HasName(off) != (len(want) > 0) {
			t.Errorf("offset %d: HasName is not right about %q", off, want)
		}
		names += min(len(want), 1)
	}
	if names < 400 {
		t.Errorf("%d names", names)
	}
}
