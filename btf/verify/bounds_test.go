package verify

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
)

// eachKind is BTF with every kind; the names that may be missing are missing.
func eachKind() *blob {
	b := start()
	b.add("u", btf.KindUnion, 1, false, 8, b.Str("m"), tInt, 0)
	b.add("e", btf.KindEnum, 2, false, 4, b.Str("E"), 0, b.Str("F"), 1)
	b.add("e64", btf.KindEnum64, 1, false, 8, b.Str("G"), 0, 0)
	b.add("", btf.KindPtr, 0, false, tStruct)
	b.add("", btf.KindArray, 0, false, 0, tInt, tInt, 2)
	b.add("f", btf.KindFwd, 0, false, 0)
	b.add("t", btf.KindTypedef, 0, false, tInt)
	b.add("", btf.KindVolatile, 0, false, tInt)
	b.add("", btf.KindConst, 0, false, tInt)
	b.add("", btf.KindRestrict, 0, false, 7)
	b.add("fn", btf.KindFunc, 0, false, tProto)
	v := b.add("v", btf.KindVar, 0, false, tInt, 0)
	b.add(".data", btf.KindDatasec, 1, false, 4, v, 0, 4)
	b.add("fl", btf.KindFloat, 0, false, 4)
	b.add("dt", btf.KindDeclTag, 0, false, tStruct, 1)
	b.add("tt", btf.KindTypeTag, 0, false, tInt)
	return b
}

// TestNamesAndIDsBeyondTheEnd: every level refuses the first name offset or type id after
// the end, in any kind, at the type that has it.
func TestNamesAndIDsBeyondTheEnd(t *testing.T) {
	levels := []Rules{{}, {Level: Boot}, {Level: Readable}}
	b := eachKind()
	for _, rules := range levels {
		if n, err := Check(b.Encode(false), nil, rules); err != nil || n != int(b.N) {
			t.Fatalf("%+v: %d types, %v", rules, n, err)
		}
	}
	at := 0
	for id := uint32(1); id <= b.N; id++ {
		size := 3 + btf.ExtraWords(btf.InfoKind(b.Words[at+1]), btf.InfoVlen(b.Words[at+1]))
		r := b.Words[at : at+size]
		try := func(what string, word *uint32, v uint32) {
			was := *word
			*word = v
			for _, rules := range levels {
				for _, big := range []bool{false, true} {
					_, err := Check(b.Encode(big), nil, rules)
					var f *Fault
					if !errors.As(err, &f) || f.ID != id || f.Level != Readable {
						t.Errorf("[%d] %s, %s %d, %+v: %v", id, btf.InfoKind(r[1]), what, v, rules, err)
					}
				}
			}
			*word = was
		}
		btf.EachName(r, func(off *uint32) { try("name", off, uint32(len(b.Strings))) })
		btf.EachRef(r, func(ref *uint32) { try("type", ref, b.N+1) })
		btf.EachRef(r, func(ref *uint32) { try("type", ref, 1<<32-1) })
		at += size
	}
}

// TestCutRecords: types that end inside of a record are refused by every level.
func TestCutRecords(t *testing.T) {
	b := eachKind()
	begins := map[int]bool{0: true}
	for at := 0; at < len(b.Words); {
		at += 3 + btf.ExtraWords(btf.InfoKind(b.Words[at+1]), btf.InfoVlen(b.Words[at+1]))
		begins[at] = true
	}
	all := b.Words
	for n := range all {
		if begins[n] {
			continue
		}
		b.Words = all[:n]
		for _, level := range []Level{Load, Boot, Readable} {
			_, err := Check(b.Encode(false), nil, Rules{Level: level})
			if err == nil || !strings.Contains(err.Error(), "record goes beyond the type section") && !strings.Contains(err.Error(), "does not exist") {
				t.Errorf("%d words, level %d: %v", n, level, err)
			}
		}
	}
	for k, want := range map[btf.Kind]string{0: "unknown kind 0", btf.KindLocsec: "", btf.KindLocsec + 1: "unknown kind 23", 127: "unknown kind 127"} {
		b := newBlob()
		b.add("x", k, 0, false, 4)
		if _, err := Check(b.Encode(false), nil, Rules{Level: Readable}); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("kind %d: %v", k, err)
		}
	}
}

// withSections makes BTF with these fields in the header: 12 bytes of types and 3 of
// strings, in a body of size bytes.
func withSections(hdrLen, size int, fields ...uint32) []byte {
	f := append(fields, make([]uint32, 6)...)
	d := btftest.Header{Len: uint32(hdrLen), TypeOff: f[0], TypeLen: f[1], StrOff: f[2], StrLen: f[3], LayoutOff: f[4], LayoutLen: f[5]}.Encode(false)
	if len(fields) > 6 {
		d[32] = byte(fields[6])
	}
	body := btf.AppendWords(nil, false, []uint32{1, btf.Info(btf.KindFwd, 0, false), 0})
	body = append(body, make([]byte, 64)...)
	return append(d, body[:size]...)
}

// TestSections: sections fill the data after the header, in any order, each byte once.
func TestSections(t *testing.T) {
	for _, c := range []struct {
		name   string
		hdrLen int
		size   int
		fields []uint32 // types, strings, layout: offset and length
		want   string   // "" where the sections are right
	}{
		{"types, strings", 24, 15, []uint32{0, 12, 12, 3}, ""},
		{"strings first", 24, 15, []uint32{4, 11, 0, 4}, "does not end with the data"},
		{"strings first, longer header", 32, 16, []uint32{4, 12, 0, 4, 0, 0}, ""},
		{"gap", 32, 16, []uint32{0, 12, 13, 3, 0, 0}, "string section starts at 13, not at 12"},
		{"overlap", 32, 16, []uint32{0, 12, 11, 5, 0, 0}, "string section starts at 11, not at 12"},
		{"beyond", 32, 16, []uint32{0, 12, 12, 5, 0, 0}, "goes beyond the data"},
		{"no layout has no offset", 32, 16, []uint32{0, 12, 12, 4, 3, 0}, ""},
		{"to the end", 32, 16, []uint32{0, 12, 12, 4, 0, 0}, ""},
		{"byte left", 32, 16, []uint32{0, 12, 12, 3, 0, 0}, "1 bytes belong to no section"},
		{"layout between", 32, 20, []uint32{0, 12, 16, 4, 12, 4}, ""},
		{"layout last", 32, 20, []uint32{0, 12, 12, 4, 16, 4}, ""},
		{"layout not aligned", 32, 20, []uint32{0, 12, 12, 3, 15, 5}, "layout section 15+5 is not aligned"},
		{"layout of odd length", 32, 21, []uint32{0, 12, 12, 4, 16, 5}, "layout section 16+5 is not aligned"},
		{"types of odd length", 24, 15, []uint32{0, 11, 11, 4}, "type section 0+11 is not aligned"},
		{"types at an odd offset", 32, 15, []uint32{3, 12, 0, 3, 0, 0}, "type section 3+12 is not aligned"},
		{"strings not at the end", 24, 16, []uint32{0, 12, 12, 3}, "does not end with the data, at 16"},
		{"offset and length wrap", 24, 15, []uint32{0, 12, 12, 0xffffffff}, "does not end with the data"},
		{"header of 8 bytes", 8, 0, nil, "no data behind it"},
		{"header of 12 bytes", 12, 5, []uint32{0}, "does not end with the data"},
		{"unknown byte", 36, 15, []uint32{0, 12, 12, 3, 0, 0, 1}, "unknown non-zero byte at offset 32"},
		{"zero bytes", 36, 15, []uint32{0, 12, 12, 3, 0, 0, 0}, ""},
	} {
		d := withSections(c.hdrLen, c.size, c.fields...)
		_, err := parseSections(d, nil)
		if c.want == "" && err != nil && !strings.Contains(err.Error(), "strings:") || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	d := withSections(24, 15, 0, 12, 12, 3)
	for n := range d {
		if _, err := parseSections(d[:n], nil); err == nil {
			t.Errorf("%d of %d bytes: no error", n, len(d))
		}
	}
	d[4] = 7
	if _, err := parseSections(d, nil); err == nil || !strings.Contains(err.Error(), "bad length 7") {
		t.Errorf("header of 7 bytes: %v", err)
	}
	d[4] = byte(len(d) + 1)
	if _, err := parseSections(d, nil); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("bad length %d", len(d)+1)) {
		t.Errorf("header longer than the data: %v", err)
	}
}

func TestStrings(t *testing.T) {
	most := make([]byte, maxNameOffset+2)
	for _, c := range []struct {
		s          []byte
		alone, own string // what is wrong, without and with a base
	}{
		{nil, "empty section", ""}, {[]byte{0}, "", ""}, {[]byte{0, 'a'}, "no NUL", "no NUL"}, {[]byte("a\x00"), "the first is not empty", ""},
		{most[:maxNameOffset+1], "", ""}, {most, "at most", "at most"},
	} {
		for split, want := range map[bool]string{false: c.alone, true: c.own} {
			if err := checkStrings(c.s, split); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%d bytes, split %v: %v, want %q", len(c.s), split, err, want)
			}
		}
	}
}

// TestLegalNames: the bytes of a name, and how many there may be.
func TestLegalNames(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	for _, c := range []struct {
		s                   string
		identifier, section bool
	}{
		{"", false, false}, {"\x00", false, false}, {"a\x00", true, true}, {"a", true, true}, // a name of the base has no NUL here
		{"_\x00", true, true}, {".\x00", true, true}, {"9\x00", false, true}, {"a9\x00", true, true}, {"a b\x00", false, true},
		{"a\x01\x00", false, false}, {"a\x7f\x00", false, false}, {"a~\x00", false, true}, {" \x00", false, true},
		{"\xc0\x00", true, true}, {"\xd7\x00", false, true}, {"\xf7\x00", false, true}, {"\xff\x00", true, true},
		{"\xbf\x00", false, true}, {"\xa0\x00", false, true}, {"\x9f\x00", false, false},
		{"z\x00", true, true}, {"Z\x00", true, true}, {"A\x00", true, true}, {"@\x00", false, true}, {"[\x00", false, true},
		{"`\x00", false, true}, {"{\x00", false, true}, {"a0\x00", true, true}, {"a/\x00", false, true}, {"a:\x00", false, true},
		{x(maxName) + "\x00", true, true}, {x(maxName+1) + "\x00", false, false},
	} {
		if got := isIdentifier([]byte(c.s)); got != c.identifier {
			t.Errorf("%.20q of %d bytes: identifier %v", c.s, len(c.s), got)
		}
		if got := isSectionName([]byte(c.s)); got != c.section {
			t.Errorf("%.20q of %d bytes: section name %v", c.s, len(c.s), got)
		}
	}
}

// TestMembers: a member may end with its struct, and not after it.
func TestMembers(t *testing.T) {
	for _, c := range []struct {
		what      string
		size, off uint32
		kflag, ok bool
	}{
		{"int at the end", 8, 32, false, true}, {"int behind the end", 8, 33, false, false}, {"int beyond it", 7, 32, false, false},
		{"int at the end", 8, 32, true, true}, {"int not at a byte", 9, 33, true, false},
		{"bit-field at the end", 4, 31 | 1<<24, true, true}, {"bit-field behind the end", 4, 31 | 2<<24, true, false},
		{"bit-field of all bits", 4, 32 << 24, true, true}, {"bit-field of more", 8, 33 << 24, true, false},
	} {
		b := newBlob()
		b.add("int", btf.KindInt, 0, false, 4, 1<<24|32)
		b.add("s", btf.KindStruct, 1, c.kflag, c.size, b.Str("m"), 1, c.off)
		if _, err := Check(b.Encode(false), nil, Rules{}); (err == nil) != c.ok {
			t.Errorf("%s, struct of %d: %v", c.what, c.size, err)
		}
	}
	for n, ok := range map[uint32]bool{0: true, 1: true, 1<<30 - 1: true, 1 << 30: false, 1<<32 - 1: false} {
		b := newBlob()
		b.add("int", btf.KindInt, 0, false, 4, 1<<24|32)
		b.add("", btf.KindArray, 0, false, 0, 1, 1, n)
		if _, err := Check(b.Encode(false), nil, Rules{}); (err == nil) != ok {
			t.Errorf("array of %d: %v", n, err)
		}
	}
}

// TestIntBits: bits and their offset fit the size, and 128 bits.
func TestIntBits(t *testing.T) {
	for _, c := range []struct {
		size, data uint32
		ok         bool
	}{
		{4, 32, true}, {4, 33, false}, {4, 8<<16 | 24, true}, {4, 8<<16 | 25, false}, {16, 128, true}, {17, 129, false}, {16, 1<<16 | 128, false},
		{1, 1<<24 | 8, true}, {1, 2<<24 | 8, true}, {1, 4<<24 | 8, true}, {1, 3<<24 | 8, false}, {1, 8<<24 | 8, false},
	} {
		b := newBlob()
		b.add("i", btf.KindInt, 0, false, c.size, c.data)
		if _, err := Check(b.Encode(false), nil, Rules{}); (err == nil) != c.ok {
			t.Errorf("%d bytes, %#x: %v", c.size, c.data, err)
		}
	}
}

// TestDescription: a difference of two types of one name is described by the way to it,
// with void on either side.
func TestDescription(t *testing.T) {
	for _, c := range []struct {
		x, y uint32 // what members point to
		want string
	}{
		{tInt, tInt, ""}, {0, 0, ""}, {tInt, 0, "void"}, {0, tInt, "void"},
	} {
		b := start()
		px := b.add("", btf.KindPtr, 0, false, c.x)
		py := b.add("", btf.KindPtr, 0, false, c.y)
		sx := b.add("s", btf.KindStruct, 1, false, 8, b.Str("m"), px, 0)
		sy := b.add("s", btf.KindStruct, 1, false, 8, b.Str("m"), py, 0)
		blob := btftest.Parse(t, b.Encode(false), nil)
		got := difference(blob, sx, sy, new(1000))
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("[%d] and [%d]: %q", c.x, c.y, got)
		}
		if c.want != "" {
			first, second := strings.Index(got, "void"), strings.Index(got, "INT")
			if first < 0 || second < 0 || (first < second) != (c.x == 0) {
				t.Errorf("[%d] and [%d] in order: %q", c.x, c.y, got)
			}
		}
	}
}

// TestDifference: each way in which two records of one name differ.
func TestDifference(t *testing.T) {
	type record struct {
		k     btf.Kind
		vlen  uint32
		kflag bool
		third uint32
		words []uint32
	}
	const a, b = 1, 3 // the strings are "a" and "b"
	for _, c := range []struct {
		x, y record
		want string
	}{
		{record{btf.KindStruct, 1, false, 8, []uint32{a, 1, 0}}, record{btf.KindStruct, 1, false, 8, []uint32{a, 1, 0}}, ""},
		{record{btf.KindStruct, 0, false, 8, nil}, record{btf.KindStruct, 0, false, 9, nil}, "size 8, 9"},
		{record{btf.KindStruct, 1, false, 8, []uint32{a, 1, 0}}, record{btf.KindStruct, 0, false, 8, nil}, "1 elements, 0"},
		{record{btf.KindStruct, 0, false, 8, nil}, record{btf.KindStruct, 0, true, 8, nil}, "kind_flag"},
		{record{btf.KindStruct, 0, false, 8, nil}, record{btf.KindUnion, 0, false, 8, nil}, `STRUCT [3], UNION [4]`},
		{record{btf.KindUnion, 2, false, 8, []uint32{a, 1, 0, a, 1, 0}}, record{btf.KindUnion, 2, false, 8, []uint32{a, 1, 0, b, 1, 0}}, `element 1: "a", "b"`},
		{record{btf.KindUnion, 2, false, 8, []uint32{a, 1, 0, b, 1, 0}}, record{btf.KindUnion, 2, false, 8, []uint32{a, 1, 0, b, 1, 16}}, `"b": bits at 0x0, 0x10`},
		{record{btf.KindStruct, 1, false, 8, []uint32{0, 1, 0}}, record{btf.KindStruct, 1, false, 8, []uint32{0, 2, 0}}, "element 0: encoding 0x20, 0x1000020"},
		{record{btf.KindEnum, 1, false, 4, []uint32{a, 1}}, record{btf.KindEnum, 1, false, 4, []uint32{a, 2}}, `"a": another value`},
		{record{btf.KindEnum, 2, false, 4, []uint32{a, 1, b, 1}}, record{btf.KindEnum, 2, false, 4, []uint32{a, 1, b, 2}}, `"b": another value`},
		{record{btf.KindEnum64, 1, false, 8, []uint32{a, 2, 0}}, record{btf.KindEnum64, 1, false, 8, []uint32{a, 1, 0}}, `"a": another value`},
		{record{btf.KindEnum64, 1, false, 8, []uint32{a, 1, 0}}, record{btf.KindEnum64, 1, false, 8, []uint32{a, 1, 1}}, `"a": another value`},
		{record{btf.KindArray, 0, false, 0, []uint32{1, 1, 2}}, record{btf.KindArray, 0, false, 0, []uint32{1, 1, 3}}, "elements 2, 3"},
		{record{btf.KindArray, 0, false, 0, []uint32{1, 1, 2}}, record{btf.KindArray, 0, false, 0, []uint32{2, 1, 2}}, "element: encoding 0x20, 0x1000020"},
		{record{btf.KindFuncProto, 0, false, 1, nil}, record{btf.KindFuncProto, 0, false, 2, nil}, "returns: encoding 0x20, 0x1000020"},
		{record{btf.KindFuncProto, 1, false, 1, []uint32{a, 1}}, record{btf.KindFuncProto, 1, false, 1, []uint32{a, 2}}, `"a": encoding 0x20, 0x1000020`},
		{record{btf.KindPtr, 0, false, 1, nil}, record{btf.KindPtr, 0, false, 2, nil}, "refers to: encoding 0x20, 0x1000020"},
	} {
		bl := newBlob()
		bl.Str("a")
		bl.Str("b")
		bl.add("", btf.KindInt, 0, false, 4, 32)
		bl.add("", btf.KindInt, 0, false, 4, 1<<24|32)
		bl.add("", c.x.k, c.x.vlen, c.x.kflag, c.x.third, c.x.words...)
		bl.add("", c.y.k, c.y.vlen, c.y.kflag, c.y.third, c.y.words...)
		blob := btftest.Parse(t, bl.Encode(false), nil)
		if got := difference(blob, 3, 4, new(1000)); got != c.want {
			t.Errorf("%+v and %+v: %q, want %q", c.x, c.y, got, c.want)
		}
	}
}

// TestFaultText: the words of a fault for its type.
func TestFaultText(t *testing.T) {
	long := strings.Repeat("n", maxQuoted)
	for want, f := range map[string]Fault{
		"BTF header: x":                                     {Rule: "header: x"},
		"BTF type [1] INT (anon): x":                        {ID: 1, Kind: btf.KindInt, Rule: "x"},
		`BTF type [1] INT "a\n" x`:                          {ID: 1, Kind: btf.KindInt, Name: "a\n", Rule: "x", bare: true},
		`BTF type [1] INT "` + long + `": x`:                {ID: 1, Kind: btf.KindInt, Name: long, Rule: "x"},
		`BTF type [1] INT "` + long + `"... (129 bytes): x`: {ID: 1, Kind: btf.KindInt, Name: long + "n", Rule: "x"},
	} {
		if got := f.Error(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if bytes.Contains([]byte((&Fault{}).Error()), []byte("type [")) {
		t.Error("a fault without a type names one")
	}
}

// TestManyDuplicates: definitions of one name that differ only far away, if at all, do not take longer the more there are.
func TestManyDuplicates(t *testing.T) {
	const definitions, way = 30_000, maxPairs
	b := btftest.New()
	ends := [2]uint32{b.Fwd("f"), b.Fwd("g")}
	for range way { // two chains beside each other
		ends = [2]uint32{b.Const(ends[0]), b.Const(ends[1])}
	}
	b.Typedef("t", ends[0])
	for range definitions {
		b.Typedef("t", ends[1])
	}
	begun := time.Now()
	list := Duplicates(b.Blob(t))
	if len(list) != 1 || len(list[0].Differences) != definitions || list[0].Differences[0] != "" {
		t.Errorf("%d names, the first with %d definitions", len(list), len(list[0].IDs))
	}
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}
