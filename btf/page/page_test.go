package page

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/btf/view"
)

// sample has a struct with holes, bit-fields, a nested struct and a nested union
// without a name, one of many cache lines, a union, and one whose names try to
// become part of the page. second is the same with some changes.
func sample(t testing.TB, second bool) *view.View {
	t.Helper()
	b := btftest.New()
	add := func(name string, k btf.Kind, vlen uint32, flag bool, third uint32, extra ...uint32) uint32 {
		return b.Add(name, btf.Info(k, vlen, flag), third, extra...)
	}
	i := add("int", btf.KindInt, 0, false, 4, 1<<24|32)
	c := add("char", btf.KindInt, 0, false, 1, 1<<24|8)
	add("long int", btf.KindInt, 0, false, 8, 1<<24|64)
	buf := add("", btf.KindArray, 0, false, 0, c, i, 4096)
	head := add("list_head", btf.KindStruct, 2, false, 16, b.Str("next"), i+6, 0, b.Str("prev"), i+6, 64)
	inner := add("", btf.KindUnion, 2, false, 8, b.Str("ptr"), i+6, 0, b.Str("small"), i, 0)
	ptr := add("", btf.KindPtr, 0, false, head) // i+6
	proto := add("", btf.KindFuncProto, 2, false, 0, b.Str("it"), ptr, 0, 0)
	fn := add("", btf.KindPtr, 0, false, proto)
	size, at := uint32(48), uint32(320)
	if second {
		size, at = 56, 384
	}
	add("item", btf.KindStruct, 6, true, size, b.Str("kind"), i, 3<<24, b.Str("low"), i, 5<<24|3,
		b.Str("list"), head, 64, 0, inner, 192, b.Str("cb"), fn, 256, b.Str("last"), c, at)
	add("big", btf.KindStruct, 2, false, 4112, b.Str("head"), head, 0, b.Str("buf"), buf, 128)
	add("</script><b>&\"'", btf.KindUnion, 1, false, 4, b.Str("<img src=x onerror=alert(1)>\x1b[31m\xff"), i, 0)
	if second {
		add("only_here", btf.KindStruct, 1, false, 4, b.Str("a"), i, 0)
	}
	return view.New(b.Blob(t))
}

// ids lists all structs and unions with names.
func ids(v *view.View) (ids []uint32) {
	for t := range v.All() {
		if t.IsComposite() && len(t.Name()) > 0 {
			ids = append(ids, t.ID)
		}
	}
	return ids
}

// dataOf is the data of a page as the script reads it.
func dataOf(t *testing.T, html []byte) (d struct {
	About   string
	Open    int
	Classes [][]any
	List    []int
	Types   [][]any
	Strings []string
	Sides   []string
}) {
	t.Helper()
	_, rest, ok := bytes.Cut(html, []byte(`<script type="application/json" id="data">`))
	text, _, end := bytes.Cut(rest, []byte("</script>"))
	if !ok || !end {
		t.Fatal("the page has no data")
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatalf("data: %v", err)
	}
	return d
}

// lines tells a type of the data, a line for each part.
func lines(strings []string, typ []any) (out []string) {
	e := typ[3].([]any)
	for ; len(e) > 0; e = e[entryWidth:] {
		name := [...]string{"(padding)", "(hole)"}
		n := int(e[0].(float64))
		text := ""
		if n < 0 {
			text = name[n+2]
		} else {
			text = strings[n]
		}
		line, _ := json.Marshal([]any{text, strings[int(e[1].(float64))], e[2], e[3], e[4], e[5], e[6]})
		out = append(out, string(line))
	}
	return out
}

func TestWrite(t *testing.T) {
	v := sample(t, false)
	var html bytes.Buffer
	if err := Write(&html, v, v.Named("item"), Options{Title: "sample"}); err != nil {
		t.Fatal(err)
	}
	d := dataOf(t, html.Bytes())
	var names []string
	for _, i := range d.List {
		names = append(names, d.Strings[int(d.Types[i][0].(float64))])
	}
	if got := strings.Join(names, " "); got != "item list_head" {
		t.Errorf("the page lists %q", got)
	}
	want := `["kind","int:3",0,3,-1,-1,0]
["low","int:5",3,5,-1,-1,0]
["(hole)","",8,56,-1,-1,-1]
["list","struct list_head",64,128,1,1,3]
["","union (anonymous)",192,64,2,2,4]
["cb","void (*)(struct list_head *, ...)",256,64,-1,-1,2]
["last","char",320,8,-1,-1,0]
["(padding)","",328,56,-1,-1,-1]`
	if got := strings.Join(lines(d.Strings, d.Types[0]), "\n"); got != want {
		t.Errorf("(-want +got)\n%s", cmp.Diff(want, got))
	}
	// A member of struct list_head points to it.
	if got := lines(d.Strings, d.Types[1])[0]; got != `["next","struct list_head *",0,64,-1,1,1]` {
		t.Errorf("list_head: %s", got)
	}
}

// TestCovered: the parts of each struct cover it from end to end.
func TestCovered(t *testing.T) {
	v := sample(t, true)
	for x := range v.All() {
		if x.Kind() != btf.KindStruct {
			continue
		}
		end := uint64(0)
		for _, p := range layout(x) {
			if p.at != end {
				t.Errorf("%s: a part at bit %d, the one before ends at %d", x.Name(), p.at, end)
			}
			end = p.at + p.size
		}
		if end != 8*x.Size() {
			t.Errorf("%s: the parts end at bit %d of %d", x.Name(), end, 8*x.Size())
		}
	}
}

// TestNamesAreText: the contents of names do not become part of the page.
func TestNamesAreText(t *testing.T) {
	v := sample(t, false)
	var html bytes.Buffer
	if err := Write(&html, v, ids(v), Options{Title: "</title><script>x"}); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"<img", "</script><b>", "<script>x", "\x1b"} {
		if bytes.Contains(html.Bytes(), []byte(bad)) {
			t.Errorf("the page has %q", bad)
		}
	}
	if n := bytes.Count(html.Bytes(), []byte("</script>")); n != 2 {
		t.Errorf("the page ends %d scripts, it has 2", n)
	}
	dataOf(t, html.Bytes())
}

func TestCompare(t *testing.T) {
	var html bytes.Buffer
	n, err := Compare(&html, sample(t, false), sample(t, true), [2]string{"old", "new"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := dataOf(t, html.Bytes())
	var got []string
	for _, i := range d.List {
		x, other := d.Types[i][4].([]any), "none"
		if k := int(x[0].(float64)); k >= 0 {
			other = d.Strings[int(d.Types[k][0].(float64))]
		}
		got = append(got, d.Strings[int(d.Types[i][0].(float64))]+" / "+other+": "+x[1].(string))
	}
	want := "item / item: grew by 8 bytes, 1 moved\nonly_here / none: new"
	if text := strings.Join(got, "\n"); text != want || n != 2 {
		t.Errorf("%d differ:\n%s\nwant:\n%s", n, text, want)
	}
	if n, err := Compare(io.Discard, sample(t, true), sample(t, true), [2]string{}, Options{}); n != 0 || err != nil {
		t.Errorf("a file differs from itself: %d, %v", n, err)
	}
}

// TestWhatIsShownFirst: the type with most holes, or that has changed most, or what was
// asked for.
func TestWhatIsShownFirst(t *testing.T) {
	v := sample(t, false)
	opened := func(o Options, ids ...uint32) string {
		var html bytes.Buffer
		if err := Write(&html, v, ids, o); err != nil {
			t.Fatal(err)
		}
		d := dataOf(t, html.Bytes())
		if len(d.Classes) != len(classes) {
			t.Errorf("the page has %d classes", len(d.Classes))
		}
		return d.About + "; " + d.Strings[int(d.Types[d.Open][0].(float64))]
	}
	list := v.Named("list_head", btf.KindStruct)[0]
	for _, tt := range [][2]string{
		{opened(Options{Title: "f"}, ids(v)...), "f: 3 structs and 1 union; item"},
		{opened(Options{Title: "f", Open: list}, ids(v)...), "f: 3 structs and 1 union; list_head"},
		{opened(Options{Title: "f"}, list), "f: 1 struct; list_head"},
	} {
		if tt[0] != tt[1] {
			t.Errorf("%q, want %q", tt[0], tt[1])
		}
	}
	// Types that grew come first: most members, then most bytes. Types of one file are last.
	make := func(second bool) *view.View {
		b := btftest.New()
		b.Add("int", btf.Info(btf.KindInt, 0, false), 4, 1<<24|32)
		for i, name := range []string{"one", "two", "bytes"} {
			n, size := uint32(1), uint32(4)
			if second && i < 2 {
				n += uint32(i) + 1
				size = 4 * n
			} else if second {
				size = 4000
			}
			var members []uint32
			for k := range n {
				members = append(members, b.Str(string('a'+rune(k))), 1, 32*k)
			}
			b.Add(name, btf.Info(btf.KindStruct, n, false), size, members...)
		}
		if second {
			b.Add("huge", btf.Info(btf.KindStruct, 1, false), 1<<30, b.Str("x"), 1, 0)
		}
		return view.New(b.Blob(t))
	}
	for only, want := range map[string]string{
		"one two bytes huge": "a and b: 4 structs differ; two", "one bytes huge": "a and b: 3 structs differ; one",
		"bytes huge": "a and b: 2 structs differ; bytes", "huge": "a and b: 1 struct differs; huge",
	} {
		var html bytes.Buffer
		n, err := Compare(&html, make(false), make(true), [2]string{"a", "b"}, Options{Only: func(_, name string) bool { return slices.Contains(strings.Fields(only), name) }})
		if err != nil || n != len(strings.Fields(only)) {
			t.Fatal(n, err)
		}
		d := dataOf(t, html.Bytes())
		if got := d.About + "; " + d.Strings[int(d.Types[d.Open][0].(float64))]; got != want {
			t.Errorf("%s: %q, want %q", only, got, want)
		}
	}
}

// TestHostile: types that contain or take each other over and over end, and so do
// long names.
func TestHostile(t *testing.T) {
	b := btftest.New()
	long := b.Str(strings.Repeat("n", 60_000))
	for i := range uint32(300) { // type 1 + i: a struct of two of the next
		b.Add("", btf.Info(btf.KindStruct, 2, false), 0, 0, i+2, 0, 0, i+2, 0)
	}
	p := b.Add("", btf.Info(btf.KindFuncProto, 2, false), 302, long, 302, long, 303)
	b.Add("", btf.Info(btf.KindPtr, 0, false), p)
	b.Add("", btf.Info(btf.KindPtr, 0, false), p)
	top := b.Add("top", btf.Info(btf.KindStruct, 3, false), 1<<32-1, 0, 1, 0, long, 302, 1<<31, long, 303, 7)
	v := view.New(b.Blob(t))
	var html, svg bytes.Buffer
	if err := Write(&html, v, []uint32{top}, Options{}); err != nil {
		t.Fatal(err)
	}
	if err := SVG(&svg, v, top, Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := Compare(&html, v, sample(t, false), [2]string{}, Options{}); err != nil {
		t.Fatal(err)
	}
	if html.Len()+svg.Len() > 1<<20 {
		t.Errorf("%d and %d bytes", html.Len(), svg.Len())
	}
}

// TestUnused: the page hatches exactly the holes and padding that "btflite show" prints.
func TestUnused(t *testing.T) {
	views := []*view.View{sample(t, false), sample(t, true)}
	if path := os.Getenv("BTFLITE_BTF"); path != "" {
		views = append(views, view.New(btftest.Read(t, path, nil)))
	}
	for _, v := range views {
		layouts, n := view.NewLayouts(v), 0
		for x := range v.All() {
			if x.Kind() != btf.KindStruct || x.Vlen() == 0 {
				continue
			}
			l, got, last := layouts.Of(x), uint64(0), uint64(0)
			for _, p := range layout(x) {
				switch {
				case p.kind != 0:
					got += p.size
				case p.at < last: // members that overlap: there is no rule for what is between
					got |= 1 << 63
				default: // an empty class: nothing to pahole, a byte on the page
					if in := p.m.Type().Resolved(); in.IsComposite() && in.Vlen() == 0 && in.Size() == 1 {
						got |= 1 << 63
					}
				}
				last = p.at
			}
			want := 8*(l.SumHoles+l.Padding) + l.SumBitHoles + l.BitPadding
			layouts.Done(l)
			if got != want && got>>40 == 0 {
				t.Errorf("type %d %s: %d bits are hatched, %d are holes and padding", x.ID, x.Name(), got, want)
			}
			n++
		}
		t.Logf("%d structs", n)
	}
}

// hostilePage draws all of v as a page and as pictures, and tells what is wrong with them.
func hostilePage(t testing.TB, v *view.View) {
	t.Helper()
	var all []uint32
	for x := range v.Composites(false) {
		all = append(all, x.ID)
	}
	var html bytes.Buffer
	if err := Write(&html, v, all, Options{Title: "m"}); err != nil {
		return
	}
	parts := bytes.Count(html.Bytes(), []byte("<script"))
	if bytes.Count(html.Bytes(), []byte("</script")) != parts || hasControl(html.Bytes()) || bytes.Contains(html.Bytes(), []byte("</a>")) {
		t.Error("a name reaches the page as it is")
	}
	for i, id := range all {
		if i == 3 {
			break
		}
		var svg bytes.Buffer
		if err := SVG(&svg, v, id, Options{}); err == nil && hasControl(svg.Bytes()) {
			t.Error("a control character reaches the picture")
		}
	}
}

// hasControl reports whether text has a character that is not shown, but for the ends of
// lines.
func hasControl(text []byte) bool {
	return bytes.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.C, r) && r != '\n' && r != '\t' })
}

// TestNothingHidden: names with characters that browsers do not show, or that turn the
// text around, have escapes on the page and in pictures.
func TestNothingHidden(t *testing.T) {
	b := btftest.New()
	b.Add("int", btf.Info(btf.KindInt, 0, false), 4, 1<<24|32)
	id := b.Add("s\x7f\u009b\u202e", btf.Info(btf.KindStruct, 1, false), 4, b.Str("m\u0085"), 1, 0)
	v := view.New(b.Blob(t))
	var html, svg bytes.Buffer
	if err := errors.Join(Write(&html, v, []uint32{id}, Options{Title: "t\u202e"}), SVG(&svg, v, id, Options{})); err != nil {
		t.Fatal(err)
	}
	for _, text := range [][]byte{html.Bytes(), svg.Bytes()} {
		if hasControl(text) || !bytes.Contains(text, []byte(`u009b`)) || !bytes.Contains(text, []byte(`u202e`)) {
			t.Errorf("a name has what is not shown: %.200q", text)
		}
	}
}

// TestMutants: pages of what was made from good files to be bad ones.
func TestMutants(t *testing.T) {
	var seeds [][]byte
	for _, name := range []string{"plain", "bits", "types"} {
		seeds = append(seeds, btftest.Read(t, "../show/testdata/"+name+".btf", nil).Encode())
	}
	btftest.Mutants(t, 100, seeds, func(b *btf.Blob) { hostilePage(t, view.New(b)) })
}

// FuzzPage: whatever btf.Parse takes becomes a page, or an error.
func FuzzPage(f *testing.F) {
	for _, name := range []string{"plain", "bits", "types"} {
		f.Add(btftest.Read(f, "../show/testdata/"+name+".btf", nil).Encode())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := btf.Parse(data, nil)
		if err != nil || len(data) > 1<<13 {
			return
		}
		hostilePage(t, view.New(b))
	})
}
