package btf_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	. "github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
)

// TestEveryNameAndIDIsChecked: each name offset and type id of each kind may be the last
// valid one, and not the one after it, with a base or without.
func TestEveryNameAndIDIsChecked(t *testing.T) {
	for _, split := range []bool{false, true} {
		var base *Blob
		if split {
			base = everyKind(t, false)
		}
		b := NewBuilder(false, base)
		first := uint32(1)
		if split {
			first = base.TypeCount()
		}
		copyTypes(b, everyKind(t, false), first)
		b.Str("z") // the last string, and none but a proto as the last type
		last := b.Add("", Info(KindFuncProto, 0, false), 0)
		blob := MustBlob(t, b)
		count := 0
		try := func(what string, id uint32, word *uint32, limit uint32) {
			count++
			was := *word
			for _, v := range []uint32{limit - 1, limit, 1<<32 - 1} {
				*word = v
				_, err := Parse(blob.Encode(), base)
				if (err == nil) != (v < limit) {
					t.Errorf("split %v, [%d] %s: %s %d of %d: error %v", split, id, blob.Kind(id), what, v, limit, err)
				}
				if err != nil && !strings.Contains(err.Error(), fmt.Sprintf("[%d]", id)) {
					t.Errorf("split %v: error %v does not name [%d]", split, err, id)
				}
			}
			*word = was
		}
		for id := blob.FirstID; id <= last; id++ {
			r := blob.Record(id)
			EachName(r, func(off *uint32) { try("name", id, off, blob.StrEnd()) })
			EachRef(r, func(ref *uint32) { try("type", id, ref, blob.TypeCount()) })
		}
		if want := 27 + 19; count != want {
			t.Errorf("%d names and ids were tried, want %d", count, want)
		}
	}
}

// copyTypes adds the types of b, which has no base. The first one gets the id first.
func copyTypes(to *Builder, b *Blob, first uint32) {
	for id := b.FirstID; id < b.TypeCount(); id++ {
		r := append([]uint32(nil), b.Record(id)...)
		EachRef(r, func(ref *uint32) {
			if *ref != 0 {
				*ref += first - 1
			}
		})
		name := b.Name(r[0])
		EachName(r, func(off *uint32) { *off = to.Str(b.Name(*off)) })
		to.Add(name, r[1], r[2], r[3:]...)
	}
}

// TestFuncNeedsPrototype: a FUNC may refer to a prototype before it, after it or in the
// base, and to no other type.
func TestFuncNeedsPrototype(t *testing.T) {
	b := NewBuilder(false, nil)
	b.Add("", Info(KindFuncProto, 0, false), 0)
	b.Add("f", Info(KindFwd, 0, false), 0)
	base := MustBlob(t, b)
	for to, want := range map[uint32]bool{0: false, 1: true, 2: false, 3: true, 4: false, 5: false, 6: true, 7: false, 8: false} {
		b := NewBuilder(false, base)
		b.Add("", Info(KindFuncProto, 0, false), 0)
		b.Add("g", Info(KindFwd, 0, false), 0)
		b.Add("fn", Info(KindFunc, 0, false), to)
		b.Add("", Info(KindFuncProto, 0, false), 0)
		b.Add("h", Info(KindFwd, 0, false), 0)
		b.Add("last", Info(KindFunc, 0, false), 3)
		if _, err := Parse(b.Unchecked().Encode(), base); (err == nil) != want {
			t.Errorf("FUNC to [%d]: error %v", to, err)
		}
	}
}

// withLayout is BTF of 24 bytes of types, a layout section of layout bytes and
// 4 bytes of strings, with a header of head bytes.
func withLayout(head, layout int) []byte {
	le := binary.LittleEndian
	d := AppendHeader(nil, false, 24, 4)
	le.PutUint32(d[4:], uint32(head))
	le.PutUint32(d[16:], uint32(24+layout))
	for len(d) < head {
		d = append(d, 0)
	}
	if head >= 32 {
		le.PutUint32(d[24:], 24)
		le.PutUint32(d[28:], uint32(layout))
	}
	d = AppendWords(d, false, []uint32{1, Info(KindFwd, 0, false), 0, 1, Info(KindFwd, 0, false), 0})
	d = append(d, make([]byte, layout)...)
	return append(d, 0, 'a', 'b', 0)
}

// TestHeaderBounds: each field of a header with its last good value and with the one
// after it.
func TestHeaderBounds(t *testing.T) {
	put := func(off int, v uint32) func([]byte) {
		return func(d []byte) { binary.LittleEndian.PutUint32(d[off:], v) }
	}
	short := func(d []byte) []byte { return d[:HeaderLen] }
	for _, c := range []struct {
		name         string
		head, layout int
		edit         func([]byte)
		cut          func([]byte) []byte
		want         string // "" for no error
	}{
		{"as it is", 24, 0, nil, nil, ""},
		{"as it is, with a layout", 32, 8, nil, nil, ""},
		{"longer header", 28, 0, nil, nil, ""},
		{"unknown byte of a longer header", 28, 0, put(24, 1), nil, "unknown non-zero byte at offset 24"},
		{"last unknown byte", 28, 0, put(24, 1<<24), nil, "unknown non-zero byte at offset 27"},
		{"byte behind the layout", 36, 8, put(32, 1), nil, "unknown non-zero byte at offset 32"},
		{"header as long as the data", 24, 0, put(16, 0), short, "types end at 24, behind the strings at 0"},
		{"header one longer than the data", 24, 0, put(4, 25), short, "bad header length 25"},
		{"header too short", 24, 0, put(4, 23), nil, "bad header length 23"},
		{"types at an odd offset", 24, 0, put(8, 1), nil, "type section offset 1 is not a multiple of 4"},
		{"types of an odd length", 24, 0, put(12, 22), nil, "type section length 22 is not a multiple of 4"},
		{"types up to the strings", 24, 0, put(16, 24), nil, ""},
		{"types beyond the strings", 24, 0, put(16, 23), nil, "behind the strings"},
		{"strings up to the end", 24, 0, put(20, 4), nil, ""},
		{"strings beyond the end", 24, 0, put(20, 5), nil, "strings end at 29, data at 28"},
		{"types begin later", 24, 0, func(d []byte) { put(8, 12)(d); put(12, 12)(d) }, nil, ""},
		{"offset and length wrap", 24, 0, func(d []byte) { put(8, 0xfffffffc)(d); put(12, 8)(d) }, nil, "behind the strings"},
		{"layout before the end of the types", 32, 8, put(24, 20), nil, "not between types and strings"},
		{"layout up to the strings", 32, 8, func(d []byte) { put(24, 28)(d); put(28, 4)(d) }, nil, ""},
		{"layout beyond the strings", 32, 8, put(24, 28), nil, "not between types and strings"},
		{"layout at an odd offset", 32, 8, func(d []byte) { put(24, 26)(d); put(28, 4)(d) }, nil, "not aligned"},
		{"layout of an odd length", 32, 8, put(28, 6), nil, "not aligned"},
		{"no layout has no offset", 32, 0, put(24, 3), nil, ""},
	} {
		d := withLayout(c.head, c.layout)
		if c.edit != nil {
			c.edit(d)
		}
		if c.cut != nil {
			d = c.cut(d)
		}
		b, err := Parse(d, nil)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
		if _, counted := Count(d); (counted == nil) != (err == nil) && len(c.want) == 0 {
			t.Errorf("%s: Count says %v", c.name, counted)
		}
		if err == nil && (string(b.Strings) != "\x00ab\x00" || b.Kind(1) != KindFwd) {
			t.Errorf("%s: strings %q, kind %v", c.name, b.Strings, b.Kind(1))
		}
	}
	for n := range HeaderLen {
		if _, err := Parse(make([]byte, n), nil); err == nil || !strings.Contains(err.Error(), "need 24") {
			t.Errorf("%d bytes: error %v", n, err)
		}
	}
}

// TestCutTypes: a type section that ends inside a record, at each word, is an error of
// Parse and of Count. Bytes after the strings are not read.
func TestCutTypes(t *testing.T) {
	for _, big := range []bool{false, true} {
		blob := everyKind(t, big)
		begins := map[int]bool{}
		for _, off := range blob.Off {
			begins[int(off)] = true
		}
		for n := range blob.Words {
			cut := AppendHeader(nil, big, uint32(4*n), uint32(len(blob.Strings)))
			cut = append(AppendWords(cut, big, blob.Words[:n]), blob.Strings...)
			_, err := Count(cut)
			if (err == nil) != begins[n] {
				t.Errorf("Count of %d words: %v", n, err)
			}
			if _, err := Parse(cut, nil); err == nil && !begins[n] || err != nil && begins[n] && !strings.Contains(err.Error(), "out of range") {
				t.Errorf("Parse of %d words: %v", n, err)
			}
		}
	}
}

// TestOwnAndBaseNames: a name may begin where a string does, in the base, at the first
// own byte or after it, and nowhere else.
func TestOwnAndBaseNames(t *testing.T) {
	b := NewBuilder(false, nil)
	b.Add("abc", Info(KindFwd, 0, false), 0) // strings: \0 abc \0
	base := MustBlob(t, b)
	for off, want := range map[uint32]bool{0: true, 1: true, 2: false, 3: false, 4: false, 5: true, 6: true, 7: true} {
		s := NewBuilder(false, base)
		s.Add("", Info(KindPtr, 0, false), 1)
		s.Add("xyz", Info(KindFwd, 0, false), 0)
		s.Unchecked().Words[0] = off
		blob := MustBlob(t, s)
		if err := blob.CheckBase(); (err == nil) != want {
			t.Errorf("name at %d: error %v", off, err)
		}
		// The same over an empty level in between.
		empty := MustBlob(t, NewBuilder(false, base))
		blob.Base = empty
		if err := blob.CheckBase(); (err == nil) != want {
			t.Errorf("name at %d over an empty level: error %v", off, err)
		}
	}
	if err := base.CheckBase(); err != nil {
		t.Errorf("without a base: %v", err)
	}
	for off, want := range map[uint32]string{0: "", 1: "abc", 3: "c", 4: "", 5: "", 1 << 31: ""} {
		if got := base.Name(off); got != want {
			t.Errorf("name at %d: %q, want %q", off, got, want)
		}
	}
}

// TestWholeByItself: BTF is whole if it begins with the empty string and has
// all names and ids that it refers to.
func TestWholeByItself(t *testing.T) {
	base := everyKind(t, false)
	for _, c := range []struct {
		name          string
		ref, off      uint32
		strings       string
		types, isBase bool
	}{
		{"whole", 2, 2, "\x00a\x00", true, true},
		{"an id of the base", 3, 2, "\x00a\x00", true, false},
		{"a name of the base", 2, 3, "\x00a\x00", true, false},
		{"no empty string", 2, 0, "a\x00", true, false},
		{"no strings", 2, 0, "", true, false},
		{"no types", 0, 0, "\x00", false, false},
	} {
		b := NewBuilder(false, base).Unchecked()
		b.Strings = []byte(c.strings)
		if c.types {
			b.Words = []uint32{c.off, Info(KindPtr, 0, false), c.ref, 0, Info(KindPtr, 0, false), 0}
			b.Off = []uint32{0, 3}
		}
		if err := b.CheckBase(); (err != nil && strings.Contains(err.Error(), "whole by itself")) != c.isBase {
			t.Errorf("%s: error %v", c.name, err)
		}
	}
}

// TestEachKindAlone is TestEveryNameAndIDIsChecked for BTF in which nothing
// else is out of the ordinary: all other words are 0 or 1.
func TestEachKindAlone(t *testing.T) {
	for k := KindInt; k <= LastKind; k++ {
		b := NewBuilder(false, nil)
		b.Add("a", Info(KindFuncProto, 0, false), 0)
		b.Add("bc", Info(KindFwd, 0, false), 0)
		extra := make([]uint32, ExtraWords(k, 2))
		id := b.Add("", Info(k, 2, false), 1, extra...)
		blob := MustBlob(t, b)
		r := blob.Record(id)
		try := func(what string, word *uint32, limit uint32) {
			was := *word
			for v, want := range map[uint32]bool{1: true, limit: false} {
				*word = v
				if _, err := Parse(blob.Encode(), nil); (err == nil) != want {
					t.Errorf("%s: %s %d of %d: error %v", k, what, v, limit, err)
				}
			}
			*word = was
		}
		EachName(r, func(off *uint32) { try("name", off, blob.StrEnd()) })
		EachRef(r, func(ref *uint32) { try("type", ref, blob.TypeCount()) })
	}
}

// TestSum: a level that adds nothing does not count, any other does, wherever
// it stands.
func TestSum(t *testing.T) {
	level := func(base *Blob, name string) *Blob {
		b := NewBuilder(false, base)
		if name != "" {
			b.Add(name, Info(KindFwd, 0, false), 0)
		}
		blob := MustBlob(t, b)
		return blob
	}
	root := level(nil, "a")
	onlyStrings := level(root, "")
	onlyStrings.Strings = []byte("x\x00")
	sums := map[[32]byte]string{}
	for name, b := range map[string]*Blob{
		"root": root, "other root": level(nil, "b"), "void": level(nil, ""), "two levels": level(root, "b"), "over another": level(level(nil, "c"), "b"),
		"strings only": onlyStrings, "three levels": level(level(root, "b"), "c"),
	} {
		if other, ok := sums[b.Sum()]; ok {
			t.Errorf("%s has the sum of %s", name, other)
		}
		sums[b.Sum()] = name
	}
	if level(root, "").Sum() != root.Sum() || level(level(root, ""), "b").Sum() != level(root, "b").Sum() {
		t.Error("an empty level changes the sum")
	}
}

// TestRebase: own types keep what they say over a base with other numbers and
// other strings.
func TestRebase(t *testing.T) {
	small := NewBuilder(false, nil)
	a := small.Add("a", Info(KindFwd, 0, false), 0)
	small.Add("b", Info(KindFwd, 0, false), 0)
	base := MustBlob(t, small)
	large := NewBuilder(false, nil)
	for _, name := range []string{"x", "b", "y", "a", "z"} {
		large.Add(name, Info(KindFwd, 0, false), 0)
	}
	target := MustBlob(t, large)
	s := NewBuilder(false, base)
	own := s.Add("z", Info(KindStruct, 2, false), 8, s.Str("b"), a, 0, s.Str("own"), 2, 32)
	s.Add("", Info(KindPtr, 0, false), own)
	s.Add("", Info(KindPtr, 0, false), 0)
	split := MustBlob(t, s)
	before := split.Encode()
	moved, err := Rebase(split, target, func(id uint32) uint32 { return map[uint32]uint32{0: 0, 1: 4, 2: 2}[id] })
	if err != nil {
		t.Fatal(err)
	}
	const want = "[6] STRUCT 'z' size=8 vlen=2\n\t'b' type_id=4 bits_offset=0\n\t'own' type_id=2 bits_offset=32\n[7] PTR '(anon)' type_id=6\n[8] PTR '(anon)' type_id=0\n"
	if text := btftest.Text(moved); text != want || string(moved.Strings) != "own\x00" {
		t.Errorf("got\n%sand strings %q, want\n%s", text, moved.Strings, want)
	}
	if string(split.Encode()) != string(before) {
		t.Error("the old one has changed")
	}
	bigBase := MustBlob(t, NewBuilder(true, nil))
	if _, err := Rebase(split, bigBase, func(id uint32) uint32 { return id }); err == nil {
		t.Error("no error for another byte order")
	}
}

// TestFormatNumbers: signed and unsigned values, and what has a number only.
func TestFormatNumbers(t *testing.T) {
	b := NewBuilder(false, nil)
	b.Add("e", Info(KindEnum, 1, false), 4, b.Str("A"), 0xfffffffe)
	b.Add("e", Info(KindEnum, 1, true), 4, b.Str("A"), 0xfffffffe)
	b.Add("e", Info(KindEnum64, 1, false), 8, b.Str("A"), 0xfffffffe, 0xffffffff)
	b.Add("e", Info(KindEnum64, 1, true), 8, b.Str("A"), 0xfffffffe, 0xffffffff)
	b.Add("f", Info(KindFwd, 0, false), 0)
	b.Add("i", Info(KindInt, 0, false), 4, 4<<24|3<<16|8)
	blob := MustBlob(t, b)
	const want = `[1] ENUM 'e' encoding=UNSIGNED size=4 vlen=1
	'A' val=4294967294
[2] ENUM 'e' encoding=SIGNED size=4 vlen=1
	'A' val=-2
[3] ENUM64 'e' encoding=UNSIGNED size=8 vlen=1
	'A' val=18446744073709551614ULL
[4] ENUM64 'e' encoding=SIGNED size=8 vlen=1
	'A' val=-2LL
[5] FWD 'f' fwd_kind=struct
[6] INT 'i' size=4 bits_offset=3 nr_bits=8 encoding=BOOL
`
	if text := btftest.Text(blob); text != want {
		t.Errorf("got\n%s, want\n%s", text, want)
	}
	for e, name := range map[uint32]string{0: "(none)", 1: "SIGNED", 2: "CHAR", 3: "UNKN", 4: "BOOL", 5: "UNKN"} {
		if got := EncodingName(e); got != name {
			t.Errorf("encoding %d: %s", e, got)
		}
	}
	for l, name := range map[uint32]string{0: "static", 1: "global", 2: "extern", 3: "(unknown)"} {
		if got := LinkageName(l); got != name {
			t.Errorf("linkage %d: %s", l, got)
		}
	}
}
