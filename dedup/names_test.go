package dedup

import (
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

// content is the token of a text that is its content: its bytes, as a number.
func content(text []byte) (t Name, ok bool) {
	if len(text) == 0 || len(text) > maxShort {
		return 0, false
	}
	for i, c := range text {
		t |= Name(c) << (8 * i)
	}
	return t, true
}

// TestShortNamesOfBase: each string of a base has an offset by its token, the first of
// equal ones, whether the token is its place or its content; two levels are like one. The
// offset of each repetition has the token of the first.
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
	b, err := NewBase(top, content)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Free()
	for text, want := range first {
		token, ok := content([]byte(text))
		if !ok {
			if token = b.Token([]byte(text), TextHash([]byte(text))); token != BaseToken|want {
				t.Errorf("%q: token %#x, want the token of offset %d", text, token, want)
			}
		}
		if got, ok := b.offset(token); !ok || got != want {
			t.Errorf("%q: offset %d, %v, want %d", text, got, ok, want)
		}
		if got := b.token(want); got != token {
			t.Errorf("%q: the token of its offset is %#x, not %#x", text, got, token)
		}
	}
	for i, text := range texts {
		if got, want := b.token(offs[i]), b.token(first[text]); got != want {
			t.Errorf("%q at %d: token %#x, the first one at %d has %#x", text, offs[i], got, first[text], want)
		}
	}
	if _, ok := b.offset(0x7a7a7a); ok {
		t.Error("an offset of a text that the base lacks")
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
