package btf_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	. "github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
)

// layoutHex is the layout section that pahole 1.32 writes over libbpf 1.8, and
// layoutSample what it makes of struct s { int a, b; }; int f(struct s *p), as seen.
const (
	layoutHex = "00000000 04000000 00000000 0c000000 000c0000 000c0000 00080000 00000000 00000000 00000000" +
		"00000000 00000000 00000000 00080000 04000000 000c0000 00000000 04000000 00000000 000c0000"
	layoutSample = "9feb0100 20000000 00000000 60000000 b0000000 0f000000 60000000 50000000" +
		"01000000 02000004 08000000 03000000 02000000 00000000 05000000 02000000" +
		"20000000 07000000 00000001 04000000 20000001 00000000 00000002 01000000" +
		"00000000 0100000d 02000000 0b000000 03000000 0d000000 0000000c 04000000" +
		layoutHex + "00730061006200696e740070006600"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestLayoutIsThatOfLibbpf(t *testing.T) {
	if got, want := Layout(), unhex(t, layoutHex); !bytes.Equal(got, want) {
		t.Errorf("got\n%x, want\n%x", got, want)
	}
	sample := unhex(t, layoutSample)
	b := MustParse(t, sample, nil)
	if !bytes.Equal(b.Form.Layout, Layout()) || b.Form.HeaderLen != 32 || len(b.Off) != 5 {
		t.Errorf("read %+v, %d types", b.Form, len(b.Off))
	}
	b.Form = WithLayout()
	if got := b.Encode(); !bytes.Equal(got, sample) {
		t.Errorf("got\n%x, want\n%x", got, sample)
	}
	b.Form = LongHeader
	if got := b.Encode(); len(got) != 143 || got[4] != 32 || !bytes.Equal(got[24:32], make([]byte, 8)) || got[16] != 0x60 {
		t.Errorf("without a layout: %x", got)
	}
	b.Form = Form{}
	if got := b.Encode(); len(got) != 135 || got[4] != 24 {
		t.Errorf("with the short header: %x", got)
	}
}

// TestFormIsKept: BTF that was read is written with the same header and layout section,
// in both byte orders.
func TestFormIsKept(t *testing.T) {
	for _, big := range []bool{false, true} {
		for _, f := range []Form{{}, {HeaderLen: 24}, {HeaderLen: 28}, {HeaderLen: 31}, LongHeader, {HeaderLen: 33}, {HeaderLen: 100}, WithLayout(),
			{HeaderLen: 40, Layout: Layout()}, {Layout: Layout()[:4]}, {Layout: append(Layout(), 1, 2, 3, 4)}} {
			blob := everyKind(t, big)
			blob.Form = f
			data := blob.Encode()
			o := Order(big)
			if len(data) != f.Len()+4*len(blob.Words)+len(blob.Strings) || o.Uint32(data[4:]) != headerLen(f) {
				t.Errorf("%+v: %d bytes, header of %d", f, len(data), o.Uint32(data[4:]))
			}
			b, err := Parse(data, nil)
			if err != nil {
				t.Errorf("%+v: %v", f, err)
				continue
			}
			if again := b.Encode(); !bytes.Equal(again, data) || !bytes.Equal(b.Form.Layout, f.Layout) || b.Form.HeaderLen != headerLen(f) {
				t.Errorf("%+v: read as %+v, written\n%x, want\n%x", f, b.Form, again, data)
			}
			if b.Sum() != everyKind(t, big).Sum() {
				t.Errorf("%+v: the sum is another one", f)
			}
			clear(data)
			if !bytes.Equal(b.Form.Layout, f.Layout) {
				t.Errorf("%+v: the layout is shared with the data", f)
			}
		}
	}
}

func TestJoinForms(t *testing.T) {
	long := append(LongLayout(), 4, 4, 0, 0)
	for _, c := range []struct {
		in     []Form
		header uint32
		layout []byte
	}{
		{[]Form{{}}, 24, nil},
		{[]Form{{}, {HeaderLen: 24}}, 24, nil},
		{[]Form{{}, LongHeader}, 32, nil},
		{[]Form{WithLayout(), {}}, 32, Layout()},
		{[]Form{{HeaderLen: 40}, {Layout: long}, WithLayout()}, 40, long},
	} {
		var blobs []*Blob
		for _, f := range c.in {
			blobs = append(blobs, &Blob{Form: f})
		}
		if f := JoinForms(blobs); headerLen(f) != c.header || !bytes.Equal(f.Layout, c.layout) {
			t.Errorf("%+v: %+v", c.in, f)
		}
	}
}

// unknownKinds is a blob with records of kinds that this package does not know, by
// the layout section.
func unknownKinds(t testing.TB, big bool, layout []byte) []byte {
	t.Helper()
	types := []uint32{
		1, Info(KindInt, 0, false), 4, 1<<24 | 32,
		0, Info(23, 2, false), 4, 8, 1, 2, // a kind to come
		0, Info(KindPtr, 0, false), 4,
		5, Info(KindTypedef, 0, false), 1,
		0, Info(24, 1, false), 0, 2, // another one
		5, Info(127, 0, true), 0,
		0, Info(23, 0, false), 4, 8,
		0, Info(KindPtr, 0, false), 8,
	}
	strs := "\x00int\x00t\x00"
	f := Form{Layout: layout}
	d := f.AppendHeader(nil, big, uint32(4*len(types)), uint32(len(strs)))
	d = AppendWords(d, big, types)
	return append(append(d, layout...), strs...)
}

// laterLayout describes kinds up to 127.
func laterLayout() []byte {
	l := append(LongLayout(), 4, 4, 0, 0, 0, 4, 0, 0)
	return append(l, make([]byte, 4*(128-25))...)
}

// headerLen is the length of the header without the layout section.
func headerLen(f Form) uint32 { return uint32(f.Len() - len(f.Layout)) }

func TestUnknownKindsAreSkippedByTheLayout(t *testing.T) {
	for _, big := range []bool{false, true} {
		b := MustParse(t, unknownKinds(t, big, laterLayout()), nil)
		if want := []Skipped{{23, 2}, {24, 1}, {127, 1}}; !slices.Equal(b.Skipped, want) {
			t.Errorf("skipped %v, want %v", b.Skipped, want)
		}
		if len(b.Off) != 8 || b.Kind(2) != KindVoid || b.Kind(4) != KindTypedef || b.Name(b.Record(4)[0]) != "t" || b.Record(8)[2] != 8 {
			t.Errorf("%d types: %v", len(b.Off), b.Words)
		}
		if _, err := b.WithoutSkipped(); err != nil {
			t.Fatal(err)
		}
		known, _ := b.WithoutSkipped()
		want := "[1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED\n[2] PTR '(anon)' type_id=3\n[3] TYPEDEF 't' type_id=1\n[4] PTR '(anon)' type_id=4\n"
		if text := btftest.Text(known); text != want {
			t.Errorf("left\n%s, want\n%s", text, want)
		}
		again, err := Parse(known.Encode(), nil)
		if err != nil || again.BigEndian != big || !bytes.Equal(again.Form.Layout, laterLayout()) {
			t.Errorf("what is left: %v", err)
		}
	}
}

// TestUnknownKindsOverABase: split BTF without a layout section uses its base's, but not
// the section of a base below that.
func TestUnknownKindsOverABase(t *testing.T) {
	base := everyKind(t, false)
	split := func() []byte {
		d := AppendHeader(nil, false, 8*4, 0)
		return AppendWords(d, false, []uint32{0, Info(23, 1, false), 4, 8, 1, 0, Info(KindPtr, 0, false), 1})
	}
	if _, err := Parse(split(), base); err == nil || !strings.Contains(err.Error(), "unknown kind 23 at offset 0") {
		t.Errorf("over a base without a layout: %v", err)
	}
	base.Form.Layout = laterLayout()
	b, err := Parse(split(), base)
	if err != nil || len(b.Skipped) != 1 || len(b.Off) != 2 {
		t.Errorf("over one with a layout: %v", err)
	}
	middle := MustParse(t, AppendHeader(nil, false, 0, 0), base)
	if _, err := Parse(split(), middle); err == nil {
		t.Error("the layout of the base of the base counts")
	}
}

// TestHostileLayouts: a wrong or impossible layout section is an error where it is
// needed, and only there.
func TestHostileLayouts(t *testing.T) {
	with := func(kind int, bytes ...byte) []byte {
		l := laterLayout()
		copy(l[4*kind:], bytes)
		return l
	}
	for _, c := range []struct {
		name   string
		layout []byte
		want   string
	}{
		{"known kinds have their own sizes", with(int(KindInt), 255, 255, 255, 255), ""},
		{"flags are not looked at", with(23, 4, 4, 255, 255), ""},
		{"none for a kind", laterLayout()[:4*24], "unknown kind 24 at offset 64, which the layout section does not describe"},
		{"none at all", nil, "unknown kind 23 at offset 16"},
		{"one entry", laterLayout()[:4], "does not describe"},
		{"odd size", with(23, 6, 4), "does not describe"},
		{"odd size of elements", with(23, 4, 3), "does not describe"},
		{"more than there is", with(127, 252, 252), "truncated KIND_127 at offset 80"},
		{"the greatest record", with(23, 252, 252), "truncated KIND_23 at offset 16"},
	} {
		for _, big := range []bool{false, true} {
			_, err := Parse(unknownKinds(t, big, c.layout), nil)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s: error %v, want %q", c.name, err, c.want)
			}
		}
	}
	d := unknownKinds(t, false, laterLayout())
	binary.LittleEndian.PutUint32(d[32+16+4:], Info(23, MaxVlen, false))
	if _, err := Parse(d, nil); err == nil || !strings.Contains(err.Error(), "truncated KIND_23") {
		t.Errorf("the greatest vlen: %v", err)
	}
	for k := range Kind(NumKinds) {
		if n, ok := UnknownWords(LongLayout(), k, 3); !ok || n != 3+ExtraWords(k, 3) {
			t.Errorf("kind %d: %d words by the layout, %d by its shape", k, n, 3+ExtraWords(k, 3))
		}
	}
}

// TestSkippedThatIsReferredTo: without it, the type that refers to it would say
// something else.
func TestSkippedThatIsReferredTo(t *testing.T) {
	d := unknownKinds(t, false, laterLayout())
	binary.LittleEndian.PutUint32(d[32+4*12:], 5) // the PTR
	b := MustParse(t, d, nil)
	if _, err := b.WithoutSkipped(); err == nil || !strings.Contains(err.Error(), "PTR [3] refers to a type of a kind that is not known") {
		t.Errorf("error %v", err)
	}
}

// TestLongVlen: a record has any number of elements that 24 bits hold.
func TestLongVlen(t *testing.T) {
	for _, n := range []uint32{65535, 65536, 70000, 1000000} {
		for _, k := range []Kind{KindStruct, KindUnion, KindEnum, KindEnum64, KindFuncProto, KindDatasec} {
			b := NewBuilder(n%2 == 0, nil)
			i := b.Add("int", Info(KindInt, 0, false), 4, 1<<24|32)
			v := b.Add("v", Info(KindVar, 0, false), i, 0)
			name := b.Str("x")
			extra := make([]uint32, 0, 3*n)
			element := map[Kind][]uint32{KindStruct: {name, i, 0}, KindUnion: {name, i, 0}, KindEnum: {name, 7}, KindEnum64: {name, 7, 1},
				KindFuncProto: {name, i}, KindDatasec: {v, 8, 4}}[k]
			for range n {
				extra = append(extra, element...)
			}
			b.Add("", Info(k, n, false), 1, extra...)
			blob := MustBlob(t, b)
			again, err := Parse(blob.Encode(), nil)
			if err != nil {
				t.Fatal(fmt.Errorf("%v of %d: %w", k, n, err))
			}
			if r := again.Record(3); r.Vlen() != n || r.Kind() != k || len(r) != 3+len(extra) {
				t.Errorf("%v of %d: vlen %d, %d words", k, n, r.Vlen(), len(r))
			}
		}
	}
}
