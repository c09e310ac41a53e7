package names

import (
	"strings"
	"testing"

	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/dedup"
)

// newTable makes a table with a pool that lives as long as the test.
func newTable(t *testing.T) *Table {
	t.Helper()
	n := new(Table)
	n.Use(NewPool(nil, nil))
	t.Cleanup(n.FreePool)
	return n
}

// place gives a section with these bytes its place in n.
func place(t *testing.T, n *Table, data string, byText bool) *Text {
	t.Helper()
	s := &Text{Table: n, Data: []byte(data), ByText: byText}
	if !s.Place() {
		t.Fatal("no room for a section")
	}
	return s
}

// holds checks the text of a token.
func holds(t *testing.T, n *Table, tok dedup.Name, want string, ok bool) {
	t.Helper()
	if b, found := n.Bytes(tok); string(b) != want || found != ok {
		t.Errorf("token %#x: %q, %v, want %q, %v", tok, b, found, want, ok)
	}
	if got := string(n.Text(tok)); got != want {
		t.Errorf("token %#x: text %q, want %q", tok, got, want)
	}
}

// TestShortNames: names of up to three bytes are their own tokens, longer ones are in
// the pool, and a name ends at its NUL however few bytes follow.
func TestShortNames(t *testing.T) {
	n := newTable(t)
	for _, x := range []struct {
		b, want string
		token   dedup.Name // of a name of the pool: its flag
	}{
		{"", "", 0}, {"\x00", "", 0}, {"\x00abc", "", 0}, {"\x00abcd", "", 0},
		{"a\x00", "a", 0x80000061}, {"a\x00bcd", "a", 0x80000061}, {"a\x00bc", "a", 0x80000061},
		{"ab\x00", "ab", 0x80006261}, {"ab\x00c", "ab", 0x80006261}, {"ab\x00\x00c", "ab", 0x80006261},
		{"abc\x00", "abc", 0x80636261}, {"abc\x00de", "abc", 0x80636261},
		{"abcd\x00", "abcd", tokPool}, {"abcde\x00f", "abcde", tokPool},
		{"abc", "", 0}, {"abcd", "", 0}, {"abcde", "", 0}, // without an end
	} {
		tok := n.At([]byte(x.b))
		holds(t, n, tok, x.want, true)
		if tok != x.token && (x.token != tokPool || tok&tokPool != tokPool) {
			t.Errorf("%q: token %#x, want %#x", x.b, tok, x.token)
		}
		if again := n.Token([]byte(x.want)); again != tok {
			t.Errorf("%q: token %#x by its bytes, %#x by its place", x.want, again, tok)
		}
		short, ok := inlineToken([]byte(x.want))
		if ok != (len(x.want) <= 3) || ok && short != tok {
			t.Errorf("%q: inline token %#x, %v", x.want, short, ok)
		}
	}
	if Inline(0x6261) != 0x80006261 {
		t.Errorf("inline token of a word: %#x", Inline(0x6261))
	}
}

// TestSections: each section has its own offsets, and a token leads into its own section
// only, up to the last byte.
func TestSections(t *testing.T) {
	n := newTable(t)
	a := place(t, n, "\x00one\x00two\x00", false)
	b := place(t, n, "four\x00", false)
	c := place(t, n, "\x00five\x00open", false)
	var r Reader
	for _, x := range []struct {
		s    *Text
		off  uint64
		want string
		ok   bool
	}{
		{a, 0, "", true}, {a, 1, "one", true}, {a, 5, "two", true}, {a, 8, "", true},
		{b, 0, "four", true}, {b, 3, "r", true}, {b, 4, "", true},
		{c, 0, "", true}, {c, 1, "five", true}, {c, 6, "", false}, {c, 9, "", false},
	} {
		tok := x.s.Offset(&r, x.off)
		if tok != x.s.Base+uint32(x.off)+1 || r.Bad {
			t.Errorf("offset %d: token %#x, bad %v", x.off, tok, r.Bad)
		}
		holds(t, n, tok, x.want, x.ok)
	}
	for _, s := range []*Text{a, b, c} {
		last := s.Offset(&r, uint64(len(s.Data))-1)
		if last != s.Last || r.Bad {
			t.Errorf("the last byte has token %#x, Last is %#x, bad %v", last, s.Last, r.Bad)
		}
		for _, off := range []uint64{uint64(len(s.Data)), uint64(len(s.Data)) + 1, 1 << 40} {
			r.Bad = false
			if tok := s.Offset(&r, off); tok != 0 || !r.Bad {
				t.Errorf("offset %d of %d: token %#x, bad %v", off, len(s.Data), tok, r.Bad)
			}
		}
		r.Bad = false
		holds(t, n, s.Last+1, "", false) // between two sections
	}
	holds(t, n, tokInline-1, "", false)
	holds(t, newTable(t), 1, "", false) // there is no section
	toks := []dedup.Name{0, a.Base + 2, b.Base + 1, c.Base + 2, c.Last + 1, tokInline | 'x', tokInline}
	if sum := n.Touch(toks); sum != byte('o'+'f'+'f'-256) {
		t.Errorf("sum of the first bytes %#x", sum)
	}
	if n.Look() {
		t.Error("offsets need a look without a second token")
	}
}

// TestPlace: the offsets of all sections together are less than the first inline token.
func TestPlace(t *testing.T) {
	const limit = 1<<31 - 1
	for _, x := range []struct {
		end  uint32
		size int
		ok   bool
	}{{0, 0, true}, {0, 10, true}, {limit - 11, 10, true}, {limit - 10, 10, false}, {limit - 1, 0, true}, {limit, 0, false}} {
		s := &Text{Table: newTable(t), Data: make([]byte, x.size)}
		s.end = x.end
		if ok := s.Place(); ok != x.ok {
			t.Fatalf("%d bytes behind %d: room %v", x.size, x.end, ok)
		}
		switch {
		case x.ok && (s.Base != x.end || s.Last != x.end+uint32(x.size) || s.end != s.Last+1 || len(s.strs) != 1):
			t.Errorf("%d bytes behind %d: from %d to %d, the next one at %d", x.size, x.end, s.Base, s.Last, s.end)
		case !x.ok && (s.end != x.end || len(s.strs) != 0):
			t.Errorf("%d bytes behind %d have no room and move the end to %d", x.size, x.end, s.end)
		}
	}
	s := place(t, newTable(t), "int\x00integer\x00", true)
	if s.Last != dedup.MaxBaseStrings+12 || s.Base != dedup.MaxBaseStrings || s.end != 0 || !s.Look() {
		t.Errorf("by text: from %d to %d, end %d, look %v", s.Base, s.Last, s.end, s.Look())
	}
	s = place(t, newTable(t), "int\x00integer\x00", false)
	holds(t, s.Table, s.Int, "int", true)
	holds(t, s.Table, s.FakeInt, "__SANITIZED_FAKE_INT__", true)
	for tok, want := range map[dedup.Name]bool{s.Int: true, 1: true, 2: false, 5: false, 0: false, s.FakeInt: false, tokLimit - 1: false} {
		if s.IsInt(tok) != want {
			t.Errorf("token %#x is int: %v", tok, !want)
		}
	}
}

// TestAlias: a second token of a name stands for the first one, and no other token does,
// not even one that the filter cannot tell from it.
func TestAlias(t *testing.T) {
	n := newTable(t)
	s := place(t, n, "\x00abc\x00longer\x00", false)
	inline, _ := inlineToken([]byte("abc"))
	if n.Canonical(inline) != inline || n.MayBeAlias(inline) || n.Look() {
		t.Error("a token is an alias before there is one")
	}
	long := s.Base + 6
	n.Alias(inline, s.Base+2)
	pooled := n.Literal([]byte("longer"))
	n.Alias(pooled, long)
	if !n.Look() || !n.MayBeAlias(inline) || !n.MayBeAlias(pooled) {
		t.Error("an alias asks for no look")
	}
	for tok, want := range map[dedup.Name]dedup.Name{inline: s.Base + 2, s.Base + 2: s.Base + 2, pooled: long, long: long, 0: 0, tokInline | 'z': tokInline | 'z'} {
		if n.Canonical(tok) != want || n.Unalias(tok) != want {
			t.Errorf("token %#x stands for %#x and %#x, want %#x", tok, n.Canonical(tok), n.Unalias(tok), want)
		}
	}
	if n.Token([]byte("abc")) != s.Base+2 || n.At([]byte("abc\x00d")) != s.Base+2 || n.Token([]byte("longer")) != long {
		t.Error("a name that is read again has its second token")
	}
	passed, total := 0, 0
	for tok := dedup.Name(tokInline); tok < tokInline+1<<20; tok++ {
		total++
		if n.MayBeAlias(tok) {
			passed++
			if tok != inline && n.Canonical(tok) != tok {
				t.Fatalf("token %#x stands for %#x", tok, n.Canonical(tok))
			}
		}
	}
	if passed == 0 || passed > total/1000 {
		t.Errorf("the filter lets %d of %d tokens pass with two aliases", passed, total)
	}
	to := make([]dedup.Name, 5)
	n.Tokens([][]byte{[]byte("abc"), []byte("longer"), []byte("ab"), []byte("abcd"), []byte("abcd")}, to, new(Batch))
	if to[0] != s.Base+2 || to[1] != long || to[2] != tokInline|'a'|'b'<<8 || to[3] != to[4] || to[3] != n.Token([]byte("abcd")) {
		t.Errorf("tokens of many names: %#x", to)
	}
}

// TestPrefix: every name that begins with the prefix stands for it, wherever it is read;
// a literal name does not.
func TestPrefix(t *testing.T) {
	n := newTable(t)
	if n.SetPrefix(""); n.Look() {
		t.Error("an empty prefix asks for a look")
	}
	n.SetPrefix("ab_c")
	s := place(t, n, "\x00ab_cd\x00ab_\x00", false)
	cut := n.Token([]byte("ab_c"))
	holds(t, n, cut, "ab_c", true)
	var r Reader
	for name, tok := range map[string]dedup.Name{
		"bytes": n.Token([]byte("ab_cxyz")), "place": n.At([]byte("ab_cxyz\x00")), "offset": s.Offset(&r, 1),
		"token of the pool": n.Canonical(n.Literal([]byte("ab_czz"))),
	} {
		if tok != cut {
			t.Errorf("%s: token %#x, want the prefix's, %#x", name, tok, cut)
		}
	}
	holds(t, n, n.Literal([]byte("ab_cxyz")), "ab_cxyz", true)
	holds(t, n, n.Token([]byte("xab_c")), "xab_c", true)
	holds(t, n, s.Offset(&r, 7), "ab_", true)
	holds(t, n, n.Canonical(tokInline|'a'|'b'<<8|'_'<<16), "ab_", true)
}

// TestSettle: a name that was read by its place has the token of its text if the section
// is by text, and its alias otherwise.
func TestSettle(t *testing.T) {
	const data = "\x00int\x00four\x00int\x00four\x00open"
	long := strings.Repeat("n", maskWords)
	for _, byText := range []bool{false, true} {
		n := newTable(t)
		s := place(t, n, data+long, byText)
		r := Reader{Low: ^uint32(0)}
		var m []dedup.Member
		if !byText {
			n.Alias(11, 2)
			n.Alias(15, 6)
		}
		for _, name := range []dedup.Name{2, 6, 11, 15, 0, tokInline | 'q', 9, 2, 6} {
			if name != 0 && name < tokInline {
				name += s.Base
			}
			m = append(m, dedup.Member{Name: name})
		}
		settle(s, &r, m)
		for i, want := range []string{"int", "four", "int", "four", "", "q", "r", "int", "four"} {
			holds(t, n, m[i].Name, want, true)
			if again := s.Settle(&r, m[i].Name); again != m[i].Name {
				t.Errorf("by text %v: %q has token %#x, then %#x", byText, want, m[i].Name, again)
			}
		}
		if m[0].Name != m[2].Name || m[1].Name != m[3].Name || m[0].Name != m[7].Name || m[4].Name != 0 {
			t.Errorf("by text %v: equal names have tokens %v", byText, m)
		}
		if inline, _ := inlineToken([]byte("int")); byText != (m[0].Name == inline) {
			t.Errorf("by text %v: int has token %#x", byText, m[0].Name)
		}
		if r.Bad || byText && r.Low != 1 {
			t.Errorf("by text %v: bad %v, lowest offset %d", byText, r.Bad, r.Low)
		}
		if byText {
			if tok := s.Offset(&r, uint64(len(data))-4); tok != 0 || !r.Bad {
				t.Errorf("a name without an end: token %#x, bad %v", tok, r.Bad)
			}
		}
	}
}

// TestBaseNames: a name that the base has gets the token of its string there, however it is read,
// and offsets of a section are not looked at.
func TestBaseNames(t *testing.T) {
	blob := btftest.Build(t, nil, func(b *btftest.Builder) {
		b.Str("shared_name")
		b.Str("id")
	})
	base, err := dedup.NewBase(blob)
	if err != nil {
		t.Fatal(err)
	}
	defer base.Free()
	n := new(Table)
	n.Use(NewPool(base, nil))
	defer n.FreePool()
	const data = "\x00shared_name\x00own_name\x00id\x00no\x00"
	s := place(t, n, data+strings.Repeat("\x00", maskWords), true)
	var r Reader
	defer r.Free()
	for _, c := range []struct {
		text string
		want dedup.Name
	}{{"shared_name", 1}, {"own_name", tokPool}, {"id", 13}, {"no", tokInline | 'n' | 'o'<<8}} {
		tok, off := n.Token([]byte(c.text)), uint64(strings.Index(data, c.text))
		if c.want != tokPool && tok != c.want || c.want == tokPool && tok&tokPool != tokPool {
			t.Errorf("%q: token %#x, want %#x", c.text, tok, c.want)
		}
		holds(t, n, tok, c.text, true)
		if sum := n.Touch([]dedup.Name{tok}); sum != 0 {
			t.Errorf("%q: sum %d", c.text, sum)
		}
		many := make([]dedup.Name, 1)
		n.Tokens([][]byte{[]byte(c.text)}, many, new(Batch))
		got := []dedup.Name{many[0], n.At([]byte(c.text + "\x00more")), s.Offset(&r, off), s.Offset(&r, off)}
		members := []dedup.Member{{Name: s.Base + dedup.Name(off) + 1}, {}, {Name: s.Base + dedup.Name(off) + 1}}
		if t, ok := inlineToken([]byte(c.text)); ok {
			got = append(got, s.Settle(&r, t))
			members = append(members, dedup.Member{Name: t})
		}
		settle(s, &r, members)
		for i, m := range members {
			if i != 1 {
				got = append(got, m.Name)
			}
		}
		for _, got := range got {
			if got != tok {
				t.Errorf("%q: tokens %#x and %#x", c.text, tok, got)
			}
		}
		if members[1].Name != 0 {
			t.Errorf("no name has token %#x", members[1].Name)
		}
	}
}
