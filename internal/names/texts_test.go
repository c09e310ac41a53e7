package names

import (
	"bytes"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/dedup"
)

// TestTextsIs: a name is the one of a token if the texts are the same, wherever that text is: in a
// base, in the base of a base, in the pool.
func TestTextsIs(t *testing.T) {
	words := []string{"x"}
	for n := range 40 {
		// Texts of each length, and others that differ in the first, the middle or the last byte.
		b := []byte(strings.Repeat("abcdefgh", 6)[:n+1])
		words = append(words, string(b))
		for _, i := range []int{0, n / 2, n} {
			c := bytes.Clone(b)
			c[i] ^= 0x80
			words = append(words, string(c))
		}
	}
	third := len(words) / 3
	root := btftest.Build(t, nil, func(b *btftest.Builder) { strs(b, words[:third]) })
	upper := btftest.Build(t, root, func(b *btftest.Builder) { strs(b, words[third:2*third]) })
	one, err := dedup.NewBase(root)
	if err != nil {
		t.Fatal(err)
	}
	defer one.Free()
	two, err := dedup.NewBase(upper)
	if err != nil {
		t.Fatal(err)
	}
	defer two.Free()
	for _, base := range []*dedup.Base{nil, one, two} {
		n := new(Table)
		n.Use(NewPool(base, nil))
		s := place(t, n, "\x00"+strings.Join(words, "\x00")+"\x00"+strings.Repeat("end\x00", 8), true)
		texts := s.Texts()
		there := make([]string, len(s.Data)) // by offset
		for off := range there {
			there[off], _, _ = strings.Cut(string(s.Data[off:min(off+64, len(s.Data))]), "\x00")
		}
		for _, name := range words {
			tok := n.Token([]byte(name))
			if tok>>31 == 1 && tok < tokPool {
				continue // it is inline
			}
			for off, text := range there {
				at := firstPlace + 1 + dedup.Name(off)
				is := texts.Is(at, tok)
				// Right may know less than Is, but nothing else.
				if right := texts.Right([]Guess{{at, tok}, {at, tok ^ 1}}); right > 1 && there[off] != name || right > 0 && !is {
					t.Fatalf("%q at offset %d, token %#x of %q: %d guesses right, single: %v", text, off, tok, name, right, is)
				} else if right == 0 && is && base != two {
					t.Fatalf("%q at offset %d, token %#x of %q: not compared with others", text, off, tok, name)
				}
				// A text near the end of the strings is not compared.
				if is && text != name || !is && text == name && off < len(s.Data)-16 && !nearEnd(base, tok) {
					t.Fatalf("%q at offset %d, token %#x of %q: %v", text, off, tok, name, is)
				}
			}
			if texts.Is(s.Last, tok) || texts.Is(1<<32-1, tok) {
				t.Fatalf("token %#x is beyond .debug_str", tok)
			}
		}
		n.FreePool()
	}
}

func strs(b *btftest.Builder, words []string) {
	for _, w := range words {
		b.Str(w)
	}
}

// nearEnd reports whether a string of a base ends less than 16 bytes after the last full block
// before the end of its section.
func nearEnd(base *dedup.Base, tok dedup.Name) bool {
	if base == nil || tok >= dedup.MaxBaseStrings {
		return false
	}
	b := base.Blob()
	for tok < b.StrBase {
		b = b.Base
	}
	return int(tok-b.StrBase)+48 > len(b.Strings)
}
