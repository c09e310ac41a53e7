package stats

import (
	"bytes"
	"encoding/xml"
	"io"
	"testing"
	"unicode"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/btf/view"
	"github.com/btflite/btflite/test/testfile"
)

func info(k btf.Kind, vlen uint32) uint32 { return btf.Info(k, vlen, false) }

// sample is a base and BTF over it: a struct with two holes, padding and a
// definition in both, a function, an enum and a string that nothing uses.
func sample(t testing.TB) (low, up *btf.Blob) {
	b := btftest.New()
	i := b.Add("int", info(btf.KindInt, 0), 4, 1<<24|32)
	c := b.Add("char", info(btf.KindInt, 0), 1, 1<<24|8)
	s := b.Add("item", info(btf.KindStruct, 1), 4, b.Str("a"), i, 0)
	p := b.Add("", info(btf.KindPtr, 0), s)
	b.Add("unrelated", info(btf.KindInt, 0), 4, 32)
	low = b.Blob(t)

	b = btftest.Over(low)
	b.Add("item", info(btf.KindStruct, 4), 24, b.Str("a"), c, 0, b.Str("x"), i, 32, b.Str("y"), c, 64, b.Str("z"), i, 128)
	b.Add("item", info(btf.KindStruct, 1), 8, b.Str("x"), p, 0)
	b.Add("call", info(btf.KindFunc, 0), b.Add("", info(btf.KindFuncProto, 1), 0, b.Str("x"), p))
	b.Add("item", info(btf.KindEnum, 1), 4, b.Str("VALUE"), 7)
	b.Str("unused")
	return low, b.Blob(t)
}

func TestReport(t *testing.T) {
	_, up := sample(t)
	r := Of(view.New(up), 2)
	check(t, r)
	if r.Types != 5 || len(r.Largest) != 2 || r.Largest[0].ID != 6 || r.Largest[0].Bytes != 60 || r.Largest[0].StringBytes != 6 {
		t.Errorf("largest %+v", r.Largest)
	}
	if k := r.Kinds[0]; k != (Kind{"STRUCT", 2, 5, 84}) {
		t.Errorf("%+v", k)
	}
	unused := Strings{}
	for _, s := range r.Strings {
		if s.Of == ofUnused {
			unused = s
		}
	}
	if unused.Count != 1 || unused.Bytes != 7 {
		t.Errorf("%+v", r.Strings)
	}
	if x := r.Repeated; r.RepeatedNames != 1 || len(x) != 1 || x[0].Kind != "STRUCT" || x[0].Name != "item" || x[0].Count != 3 || x[0].InBase != 1 || x[0].Bytes != 84 {
		t.Errorf("%+v", x)
	}
	// item: 3 bytes before x, 7 before z, 4 at the end.
	if w := r.Waste; w.Structs != 1 || w.Bytes != 14 || w.Most[0].Holes != 2 || w.Most[0].HoleSize != 10 || w.Most[0].Padding != 4 || w.Holes[0].ID != 6 {
		t.Errorf("%+v", w)
	}
	// int, char, the pointer, and its target item, with their names and the name of
	// the member a.
	if b := r.Base; b == nil || b.Direct != 3 || b.Types != 4 || b.TypeBytes != 16+16+24+12 || b.StringBytes != 4+5+5+2 {
		t.Errorf("%+v", b)
	}
}

// check compares sums.
func check(t *testing.T, r *Report) {
	t.Helper()
	types, records, strings := uint32(0), uint64(0), uint64(0)
	for _, k := range r.Kinds {
		types += k.Types
		records += k.Bytes
	}
	for _, s := range r.Strings {
		strings += s.Bytes
	}
	if r.Base == nil && r.StringBytes > 0 {
		strings++ // the empty string
	}
	if types != r.Types || records != r.TypeBytes || strings != r.StringBytes || r.Bytes < btf.HeaderLen+records+strings {
		t.Errorf("%d types of %d, %d bytes of records of %d, %d of strings of %d", types, r.Types, records, r.TypeBytes, strings, r.StringBytes)
	}
}

func TestRepeatedWithoutBase(t *testing.T) {
	b := btftest.New()
	for range 3 {
		b.Add("twin", info(btf.KindStruct, 0), 0)
	}
	b.Add("twin", info(btf.KindUnion, 0), 0)
	r := Of(view.New(b.Blob(t)), 20)
	check(t, r)
	if len(r.Repeated) != 1 || r.Repeated[0].Count != 3 || r.RepeatedBytes != 24 || r.Base != nil {
		t.Errorf("%+v", r.Repeated)
	}
}

func TestFiles(t *testing.T) {
	data := testfile.Read(t, "../../testdata/small/small.btf")
	b := btftest.Parse(t, data, nil)
	r := Of(view.New(b), 20)
	check(t, r)
	if r.Bytes != uint64(len(data)) {
		t.Errorf("%d bytes of %d", r.Bytes, len(data))
	}
	b.Form = btf.WithLayout()
	if r := Of(view.New(b), 0); r.Bytes != uint64(len(b.Encode())) {
		t.Errorf("with a layout section %d bytes of %d", r.Bytes, len(b.Encode()))
	}
	if r := Of(view.New(b), 0); len(r.Largest)+len(r.Waste.Most) != 0 || r.Largest == nil {
		t.Error("empty lists have entries, or are nil")
	}
}

// TestSVG: the picture is XML, names are escaped, and no control character is in it.
func TestSVG(t *testing.T) {
	b := btftest.New()
	b.Add("<s>&\x1b[2J\"\u009b", btf.Info(btf.KindStruct, 2, false), 64, b.Str("m"), 2, 0, b.Str("n"), 2, 256)
	b.Add("int", btf.Info(btf.KindInt, 0, false), 4, 32)
	odd := b.Blob(t)
	low, up := sample(t)
	for _, blob := range []*btf.Blob{odd, low, up} {
		text := Of(view.New(blob), 20).SVG()
		d := xml.NewDecoder(bytes.NewReader(text))
		var err error
		for err == nil {
			_, err = d.Token()
		}
		if err != io.EOF {
			t.Errorf("%v in %s", err, text)
		}
		if i := bytes.IndexFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' }); i >= 0 {
			t.Errorf("control character: %q", text[i:min(len(text), i+20)])
		}
		if !bytes.Contains(text, []byte("Types, by kind")) {
			t.Errorf("%s", text)
		}
	}
}

func FuzzStats(f *testing.F) {
	low, up := sample(f)
	f.Add(up.Encode(), true)
	f.Add(low.Encode(), false)
	f.Fuzz(func(t *testing.T, data []byte, over bool) {
		base := low
		if !over {
			base = nil
		}
		b, err := btf.Parse(data, base)
		if err != nil {
			return
		}
		r := Of(view.New(b), 3)
		check(t, r)
		r.SVG()
	})
}
