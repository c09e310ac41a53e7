package dedup

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/btflite/btflite/btf"
)

// TestEqualEnum: an enumeration is a known one if every word is equal, names as
// tokens.
func TestEqualEnum(t *testing.T) {
	narrow := Node{Info: btf.Info(btf.KindEnum, 2, false), Name: 5, Third: 4}
	wide := Node{Info: btf.Info(btf.KindEnum64, 2, false), Name: 5, Third: 8}
	members := []Member{{Name: 1, Type: 10, Val: 100}, {Name: 2, Type: 20, Val: 200}}
	records := map[btf.Kind]btf.Record{
		btf.KindEnum:   btf.MakeRecord(5, narrow.Info, 4, 1, 10, 2, 20, 99, 99),
		btf.KindEnum64: btf.MakeRecord(5, wide.Info, 8, 1, 10, 100, 2, 20, 200, 99, 99, 99),
	}
	for _, n := range []Node{narrow, wide} {
		r := records[btf.InfoKind(n.Info)]
		if !equalEnum(r, &n, members) {
			t.Errorf("%s: not like itself", r.Kind())
		}
		for name, change := range map[string]func(n *Node, m []Member){
			"a value less":    func(n *Node, _ []Member) { n.Info-- },
			"a value more":    func(n *Node, _ []Member) { n.Info++ },
			"kind_flag":       func(n *Node, _ []Member) { n.Info |= 1 << 31 },
			"name":            func(n *Node, _ []Member) { n.Name++ },
			"size":            func(n *Node, _ []Member) { n.Third++ },
			"name of a value": func(_ *Node, m []Member) { m[1].Name++ },
			"first value":     func(_ *Node, m []Member) { m[0].Type++ },
			"last value":      func(_ *Node, m []Member) { m[1].Type++ },
		} {
			other, m := n, append(append([]Member(nil), members...), Member{Name: 99, Type: 99, Val: 99})
			change(&other, m)
			if equalEnum(r, &other, m[:btf.InfoVlen(other.Info)]) {
				t.Errorf("%s: the same with another %s", r.Kind(), name)
			}
		}
		m := append([]Member(nil), members...)
		m[1].Val++ // the high half; an ENUM has none
		if equalEnum(r, &n, m) != (r.Kind() == btf.KindEnum) {
			t.Errorf("%s: another high half", r.Kind())
		}
	}
}

// TestShortNamesOfBase: the token of each string of a base is its offset, also if the string is in the
// table of short ones. If strings are equal, all have the token of the first. Empty strings have none. A
// base over another base behaves like one base.
func TestShortNamesOfBase(t *testing.T) {
	var texts []string
	for i := range 1500 {
		switch i % 5 {
		case 0, 1:
			texts = append(texts, fmt.Sprintf("%c%c", 'a'+i%26, 'a'+i/26%26))
		case 2:
			texts = append(texts, string(rune('a'+i%26)))
		case 3:
			texts = append(texts, fmt.Sprintf("a_long_name_%d", i/20))
		case 4:
			texts = append(texts, fmt.Sprintf("abc%d", i))
		}
	}
	root := &btf.Blob{FirstID: 1, Strings: []byte{0}}
	top := &btf.Blob{FirstID: 1, Base: root}
	first := map[string]uint32{}
	var offs []uint32 // of texts
	off := uint32(1)
	for i, text := range texts {
		level := root
		if i >= len(texts)/2 {
			level = top
		}
		level.Strings = append(append(level.Strings, text...), 0)
		if _, again := first[text]; !again {
			first[text] = off
		}
		offs = append(offs, off)
		off += uint32(len(text)) + 1
	}
	top.StrBase = uint32(len(root.Strings))
	b, err := NewBase(top)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Free()
	for text, want := range first {
		if got := b.Token([]byte(text), TextHash([]byte(text))); got != want {
			t.Errorf("%q: token %#x, want the offset %d", text, got, want)
		}
		if got := b.token(want); got != want || !b.has(got) {
			t.Errorf("%q: the token of its offset is %#x, not %#x", text, got, want)
		}
	}
	for _, text := range []string{"zz9", "z9", "9", "a_long_name", "abc", "a_long_name_1000"} {
		if got := b.Token([]byte(text), TextHash([]byte(text))); got != 0 {
			t.Errorf("%q: token %#x of a base that lacks it", text, got)
		}
	}
	for i, text := range texts {
		if got, want := b.token(offs[i]), b.token(first[text]); got != want {
			t.Errorf("%q at %d: token %#x, the first one at %d has %#x", text, offs[i], got, first[text], want)
		}
	}
	if b.has(MaxBaseStrings) {
		t.Error("a token that no base gives")
	}
}

// TestTokensOfOffsets: the offset of a string is its token, unless the string is empty.
func TestTokensOfOffsets(t *testing.T) {
	root := &btf.Blob{FirstID: 1, Strings: []byte("\x00name\x00id\x00")}
	top := &btf.Blob{FirstID: 1, Base: root, StrBase: uint32(len(root.Strings)), Strings: []byte("\x00\x00other\x00\x00")}
	for _, c := range []struct {
		blob    *btf.Blob
		repeats bool
		want    map[uint32]Name // by offset, where it is not the offset
	}{
		{blob: root},
		{blob: &btf.Blob{FirstID: 1, Strings: []byte("\x00id\x00name\x00id\x00name\x00")}, repeats: true, want: map[uint32]Name{9: 1, 12: 4}},
		{blob: top, repeats: true, want: map[uint32]Name{9: 0, 10: 0, 17: 0}}, // 16 is the end of a string
	} {
		b, err := NewBase(c.blob)
		if err != nil {
			t.Fatal(err)
		}
		for off := range c.blob.StrEnd() {
			want, changed := c.want[off]
			if !changed {
				want = off
			}
			if got := b.token(off); got != want {
				t.Errorf("%q: token %d of offset %d, want %d", c.blob.Strings, got, off, want)
			}
		}
		if b.needsTokens() != c.repeats {
			t.Errorf("%q: repeats %v", c.blob.Strings, b.needsTokens())
		}
		b.Free()
	}
}

// TestTextHash: it is the same for a text alone and among others, whatever its length and
// what follows.
func TestTextHash(t *testing.T) {
	var section []byte
	var texts [][]byte
	for n := range 40 {
		text := bytes.Repeat([]byte{byte('a' + n%26)}, n)
		texts, section = append(texts, text), append(append(section, text...), 0)
	}
	for _, tail := range []string{"", "\x00", "behind", "\x80\xff\x01\x00 and more"} {
		s, at := append(bytes.Clone(section), tail...), 0
		for _, text := range texts {
			if got := hashAt(s, at); got != TextHash(text) {
				t.Errorf("%q: hash %#x among others, %#x alone", text, got, TextHash(text))
			}
			at += len(text) + 1
		}
		found := make([]hashed, len(texts))
		n := hashStrings(s, 0, found)
		for i, x := range found[:n] {
			if x.hash != TextHash(texts[i]) || s[x.end] != 0 {
				t.Errorf("%q: %#x up to %d", texts[i], x.hash, x.end)
			}
		}
		if n < len(texts)-2 {
			t.Errorf("only %d of %d strings", n, len(texts))
		}
	}
}

// texts are names by token, from 1.
type texts []string

func (x texts) Bytes(t Name) ([]byte, bool) {
	if int(t) > len(x) {
		return nil, false
	}
	return []byte(x[t-1]), true
}
func (texts) Alias(t, canon Name) {}
func (texts) Touch(t []Name) byte { return 0 }

// TestManyStrings: a table that has grown many times finds every text and every token,
// and gives a text that comes again the token that it had first.
func TestManyStrings(t *testing.T) {
	const n = 20_000
	var names texts
	for i := range 2 * n {
		names = append(names, fmt.Sprintf("name_%d", i%n))
	}
	var s stringTable
	s.init()
	defer s.free()
	for tok := Name(1); tok <= 2*n; tok++ {
		got, err := s.intern(tok, names)
		if want := (tok-1)%n + 1; err != nil || got != want {
			t.Fatalf("token %d: %d, %v, want %d", tok, got, err, want)
		}
	}
	at := uint32(1)
	for tok := Name(1); tok <= n; tok++ {
		if off, ok := s.offset(tok); !ok || off != at {
			t.Fatalf("token %d is at %d, %v, want %d", tok, off, ok, at)
		}
		at += uint32(len(names[tok-1])) + 1
	}
	if uint32(len(s.text.S)) != at || s.n != n || s.longest != len("name_19999") {
		t.Errorf("%d bytes, %d texts, longest %d", len(s.text.S), s.n, s.longest)
	}
	if _, ok := s.offset(2*n + 1); ok {
		t.Error("an offset of a token that never came")
	}
	if _, err := s.intern(2*n+1, names); err != errBadName {
		t.Errorf("a name beyond the section: %v", err)
	}
	s.restart()
	if tok, err := s.intern(n+1, names); err != nil || tok != n+1 || s.n != 1 {
		t.Errorf("after a restart: %d, %v, %d texts", tok, err, s.n)
	}
}
