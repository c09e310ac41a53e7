package rawdata

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/btf/view"
	"github.com/btflite/btflite/test/testfile"
)

// load reads the types and the data that "btflite show" is compared with pahole on.
func load(t testing.TB) (*view.View, []byte) {
	t.Helper()
	const folder = "../show/testdata/"
	data := testfile.Read(t, folder+"records.btf")
	raw := testfile.Read(t, folder+"records.raw")
	b := btftest.Parse(t, data, nil)
	return view.New(b), raw
}

// printed is the text of the records of a class.
func printed(v *view.View, class, header string, data io.Reader, in Range) (string, error) {
	var out strings.Builder
	r := NewReader(data)
	if header != "" {
		h, err := r.Header(v, header)
		if err != nil {
			return "", err
		}
		if in.Seek, err = h.Number("data.offset"); err != nil {
			return "", err
		}
	}
	c, err := ParseClass(v, class)
	if err == nil {
		err = NewPrinter(&out, v, false).Print(r, c, in)
	}
	return out.String(), err
}

// TestErrors: errors for incomplete classes, headers and data.
func TestErrors(t *testing.T) {
	v, raw := load(t)
	record := func(kind, size byte) []byte { return []byte{kind, 0, 0, 0, 7, 0, size, 0} }
	for _, x := range []struct {
		class, header string
		data          []byte
		in            Range
		want          string
	}{
		{"nosuch", "", raw, Range{}, "no type nosuch with a size"},
		{"hdr(sizeof", "", raw, Range{}, "lacks a closing parenthesis"},
		{"hdr(sizeof=x)", "", raw, Range{}, "hdr has no member x"},
		{"fhdr(sizeof=data)", "", raw, Range{}, "member data of fhdr is not a number"},
		{"hdr(other=x)", "", raw, Range{}, "other is not an argument of a class"},
		{"hdr(type_enum=hdr)", "", raw, Range{}, "no enum hdr"},
		{"hdr(type,filter=size==1)", "", raw, Range{}, "filter size==1 is not MEMBER==VALUE"},
		{"hdr(type==1)", "", raw, Range{}, "filter type==1 is not MEMBER==VALUE"},
		{"hdr(type,type==A)", "", raw, Range{}, "A is neither a number nor in an enum"},
		{"hdr", "nosuch", raw, Range{}, "no type nosuch"},
		{"hdr", "hdr", raw, Range{}, "hdr has no member data.offset"},
		{"hdr", "fhdr", raw[:10], Range{}, "EOF"},
		{"hdr", "", raw, Range{Seek: 1 << 40}, "records are to begin at byte 1099511627776"},
		{"hdr(sizeof)", "", record(1, 7), Range{}, "the record at byte 0 says that it has 7 bytes; hdr alone has 8"},
		{"hdr(sizeof)", "", record(1, 9), Range{}, "it ends within the record at byte 0, which has 9 bytes"},
	} {
		_, err := printed(v, x.class, x.header, bytes.NewReader(x.data), x.in)
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: error %v, want %q", x.class, err, x.want)
		}
	}
}

// TestShortRecord: members that a record is too short for are zero, also if the record
// before it was longer.
func TestShortRecord(t *testing.T) {
	v, _ := load(t)
	data := append([]byte{9, 0, 0, 0, 1, 1, 16, 0, 1, 2, 3, 4, 5, 6, 7, 8}, 5, 0, 0, 0, 7, 0, 10, 0, 0xff, 0xff)
	got, err := printed(v, "hdr(sizeof,type,type_enum=ev_type,type==SHORT)", "", bytes.NewReader(data), Range{})
	const want = "{\n\t.header = {\n\t\t.type = EV_REC_SHORT,\n\t\t.misc = 7,\n\t\t.size = 10,\n\t},\n\t.k = { -1, 0, 0, 0 },\n\t.m = {\n\t\t.l = 0,\n\t},\n},\n"
	if err != nil || got != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}

// TestBigEndian: numbers and bit-fields of the other byte order.
func TestBigEndian(t *testing.T) {
	b := btftest.New()
	b.BigEndian = true
	b.Add("u32", btf.Info(btf.KindInt, 0, false), 4, 32)
	b.Add("s", btf.Info(btf.KindStruct, 3, true), 8, b.Str("a"), 1, 3<<24, b.Str("b"), 1, 29<<24|3, b.Str("c"), 1, 32)
	blob := b.Blob(t)
	got, err := printed(view.New(blob), "s", "", strings.NewReader("\xe0\x00\x00\x05\x00\x00\x01\x02"), Range{})
	if want := "{\n\t.a = 7,\n\t.b = 5,\n\t.c = 258,\n},\n"; err != nil || got != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}

// TestNoControlCharacters: strings in data do not reach a terminal as they are.
func TestNoControlCharacters(t *testing.T) {
	v, _ := load(t)
	got, err := printed(v, "ev_rec_foo", "", io.MultiReader(bytes.NewReader(make([]byte, 16)), strings.NewReader(strings.Repeat("\x1b[2J\x9b", 1000))), Range{})
	if err != nil || !strings.Contains(got, `\x1b[2J\x9b`) || strings.Contains(got, "\x1b") || strings.Contains(got, "\x9b") {
		t.Errorf("%.80q, %v", got, err)
	}
}

// FuzzRecords: no class and no data make the printer fail otherwise than by an error.
func FuzzRecords(f *testing.F) {
	v, raw := load(f)
	f.Add("hdr(sizeof,type,type_enum=ev_type+ev_user,filter=type==A)", raw[64:], true)
	f.Add("values", raw, false)
	f.Add("fhdr(sizeof=data.size,type=other.size)", raw, false)
	f.Fuzz(func(t *testing.T, class string, data []byte, header bool) {
		name := ""
		if header {
			name = "fhdr"
		}
		printed(v, class, name, bytes.NewReader(data), Range{Count: 100, Size: 1 << 12})
	})
}

// TestTextIsBounded: structs and unions that are in themselves, or twice in one that is twice in
// one and so on, without a byte of their own, end with text or an error: not with more and more
// text, nor with more and more time or stack.
func TestTextIsBounded(t *testing.T) {
	type add func(name string, size uint32, members ...btftest.Part) uint32
	twice := func(b *btftest.Builder, add add, n int, inner uint32, names ...string) uint32 {
		for range n {
			inner = add("", 0, b.Member(names[0], inner, 0), b.Member(names[1], inner, 0))
		}
		return inner
	}
	for _, x := range []struct {
		name, want string
		inner      func(b *btftest.Builder) uint32
	}{
		{"structs twice in each other", "more than 64 MiB", func(b *btftest.Builder) uint32 {
			return twice(b, b.Struct, 40, b.Struct("", 0, b.Member("m", 1, 0)), "m", "n")
		}},
		{"unnamed structs twice in each other", "more than 64 MiB", func(b *btftest.Builder) uint32 {
			return twice(b, b.Struct, 40, b.Struct("", 0, b.Member("m", 1, 0)), "", "")
		}},
		{"unnamed unions twice in each other", "more than 64 MiB", func(b *btftest.Builder) uint32 {
			return twice(b, b.Union, 40, b.Union("", 0), "", "")
		}},
		{"unnamed unions twice in each other, for each of many records", "more than 64 MiB", func(b *btftest.Builder) uint32 {
			return twice(b, b.Union, 18, b.Union("", 0), "", "")
		}},
		{"a struct in itself", "", func(b *btftest.Builder) uint32 { return b.Struct("s", 4, b.Member("m", b.N+1, 0)) }},
		{"an unnamed union in itself", "", func(b *btftest.Builder) uint32 { return b.Union("", 4, b.Member("", b.N+1, 0)) }},
		{"an unnamed union in another, and that in it", "", func(b *btftest.Builder) uint32 {
			b.Union("", 4, b.Member("", b.N+2, 0))
			return b.Union("", 4, b.Member("", b.N, 0))
		}},
	} {
		v := view.New(btftest.Build(t, nil, func(b *btftest.Builder) {
			b.Int("int", 4)
			b.Struct("user", 4, b.Member("m", x.inner(b), 0))
		}))
		c, err := ParseClass(v, "user")
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		began := time.Now()
		err = NewPrinter(&out, v, false).Print(NewReader(bytes.NewReader(make([]byte, 40000))), c, Range{})
		if took := time.Since(began); x.want == "" && err != nil || x.want != "" && (err == nil || !strings.Contains(err.Error(), x.want)) || took > time.Minute {
			t.Errorf("%s: %v, with %d bytes of text, after %v", x.name, err, out.Len(), took)
		}
		t.Logf("%s: %d bytes, %v", x.name, out.Len(), time.Since(began))
	}
}

// TestShortRecordsOfLongForms: records that are shorter than the struct of their kind take no longer than their text.
func TestShortRecordsOfLongForms(t *testing.T) {
	v := view.New(btftest.Build(t, nil, func(b *btftest.Builder) {
		u := b.Int("u32", 4)
		b.Struct("r", 4, b.Member("type", u, 0))
		b.Struct("long", maxRecord, b.Member("type", u, 0), b.Member("last", u, 8*(maxRecord-4)))
		b.Struct("short", 8, b.Member("type", u, 0), b.Member("last", u, 32))
		b.Enum("e", b.Value("LONG", 1), b.Value("SHORT", 2))
	}))
	const records = 10_000
	begun := time.Now()
	got, err := printed(v, "r(type=type,type_enum=e)", "", bytes.NewReader(bytes.Repeat([]byte{1, 0, 0, 0, 2, 0, 0, 0}, records)), Range{})
	want := "{\n\t.type = 1,\n\t.last = 0,\n},\n{\n\t.type = 2,\n\t.last = 0,\n},\n"
	if took := time.Since(begun); err != nil || got != strings.Repeat(want, records) || took > 5*time.Second {
		t.Errorf("%d bytes of text, %v, in %v", len(got), err, took)
	}
}
