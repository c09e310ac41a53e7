package btf

import (
	"bytes"
	"strings"
	"testing"
)

// TestAppendPlain: names of all lengths, from every offset of a base and of what is over
// it, and from offsets that do not exist.
func TestAppendPlain(t *testing.T) {
	build := func(base *Blob, from, to int) *Blob {
		b := NewBuilder(false, base)
		for n := from; n < to; n++ {
			b.Str(strings.Repeat("x~ ", n/3) + strings.Repeat("y", n%3))
			b.Str(strings.Repeat("é", n/2) + strings.Repeat("x", n%2))
			b.Str(strings.Repeat("x", n) + "\n")
		}
		blob := MustBlob(t, b)
		return blob
	}
	b := build(build(nil, 0, 20), 20, 30)
	plain, odd := 0, 0
	for off := range b.StrEnd() + 9 {
		want := b.NameBytes(off)
		got, ok := b.AppendPlain([]byte("before "), off)
		if ok != IsPlain(want) {
			t.Fatalf("offset %d: %q is plain: %t", off, want, ok)
		}
		if !ok {
			odd++
			want = nil
		} else if len(want) > 0 {
			plain++
		}
		if !bytes.Equal(got, append([]byte("before "), want...)) {
			t.Fatalf("offset %d: %q, want %q", off, got, want)
		}
	}
	if plain < 400 || odd < 400 {
		t.Errorf("%d names are plain and %d are not", plain, odd)
	}
}

// TestHasName: an offset has a name if NameBytes has one.
func TestHasName(t *testing.T) {
	b := NewBuilder(false, nil)
	b.Str("name")
	blob := MustBlob(t, b)
	for off := range blob.StrEnd() + 9 {
		if want := len(blob.NameBytes(off)) > 0; blob.HasName(off) != want {
			t.Errorf("offset %d: %t", off, !want)
		}
	}
}

// TestIsPlain: every byte at every place of strings longer and shorter than a step.
func TestIsPlain(t *testing.T) {
	for _, n := range []int{7, 15, 67} {
		for at := range n {
			for c := range 256 {
				s := bytes.Repeat([]byte{0, 'a', '~', ' '}, 17)[:n]
				s[at] = byte(c)
				if want := c == 0 || c >= ' ' && c < 0x7f; IsPlain(s) != want {
					t.Errorf("byte %#x at %d of %d: %t", c, at, n, !want)
				}
			}
		}
	}
}
