package page

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/btf/view"
)

func TestSVG(t *testing.T) {
	v := sample(t, false)
	for _, id := range ids(v) {
		var svg bytes.Buffer
		if err := SVG(&svg, v, id, Options{}); err != nil {
			t.Fatal(err)
		}
		blocks := 0
		for d := xml.NewDecoder(&svg); ; {
			tok, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", v.Type(id).Name(), err)
			}
			if e, ok := tok.(xml.StartElement); ok && e.Name.Local == "title" {
				blocks++
			}
		}
		// big has the head and the first line of the buffer in one row, then a
		// note in place of the full lines.
		if want := map[string]int{"list_head": 2, "item": 9, "big": 5, "</script><b>&\"'": 1}[string(v.Type(id).Name())]; blocks != want {
			t.Errorf("%s: %d blocks, want %d", v.Type(id).Name(), blocks, want)
		}
	}
	if err := SVG(io.Discard, v, v.Named("int")[0], Options{}); !errors.Is(err, ErrNotComposite) {
		t.Errorf("an int: %v", err)
	}
}

// TestPictureSaysAll: a picture has a legend, the colours of pages, both schemes, what is
// in members without names, and numbers as pages have them.
func TestPictureSaysAll(t *testing.T) {
	v := sample(t, false)
	for name, want := range map[string][]string{
		"item": {">ptr<", ">small<", ">or<", "integer", ">pointer<", "pointer to a function", ">struct<", ">hole<", ">padding<", "48 bytes"},
		"big":  {"4,112 bytes", "array", "more lines of buf"},
	} {
		var svg bytes.Buffer
		if err := SVG(&svg, v, v.Named(name)[0], Options{}); err != nil {
			t.Fatal(err)
		}
		text := svg.String()
		for _, w := range append(want, "@media (prefers-color-scheme: dark)") {
			if !strings.Contains(text, w) {
				t.Errorf("%s: no %q in the picture:\n%s", name, w, text)
			}
		}
		for _, bad := range []string{"anonymous", ">union<", "4112"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s: %q is in the picture", name, bad)
			}
		}
		// The legend has what is drawn, in the colours that pages have.
		for k, c := range classes {
			used := strings.Contains(text, fmt.Sprintf(`class="m k%d"`, k))
			if used != strings.Contains(text, fmt.Sprintf(" .k%d { fill: hsl(%d 60%% 76%%) }", k, c.hue)) || used != strings.Contains(text, ">"+c.name+"<") {
				t.Errorf("%s: %s: drawn %v, and not so in the legend or the style", name, c.name, used)
			}
		}
	}
	for _, want := range []string{"--fill: 76%", "--sat: 60%", "--fill: 30%", "--sat: 42%"} {
		if !bytes.Contains(style, []byte(want)) {
			t.Errorf("pages have other colours: no %q", want)
		}
	}
	// A member of size 0 after all others has a name, and adds no row.
	b := btftest.New()
	b.Add("int", btf.Info(btf.KindInt, 0, false), 4, 1<<24|32)
	b.Add("", btf.Info(btf.KindArray, 0, false), 0, 1, 1, 0)
	b.Add("", btf.Info(btf.KindArray, 0, false), 0, 1, 1, 16)
	id := b.Add("flexible", btf.Info(btf.KindStruct, 3, false), 64, b.Str("mark"), 2, 0, b.Str("all"), 3, 0, b.Str("rest"), 2, 512)
	blob := b.Blob(t)
	var svg bytes.Buffer
	if err := SVG(&svg, view.New(blob), id, Options{}); err != nil {
		t.Fatal(err)
	}
	if text := svg.String(); strings.Count(text, `class="bar"`) != 1 || !strings.Contains(text, ">rest<") || strings.Contains(text, ">mark<") || strings.Count(text, `class="z"`) != 2 {
		t.Errorf("members of size 0:\n%s", text)
	}
}

// TestPictureEnds: the frame of the last line ends with the type, and text is not drawn on
// hatching.
func TestPictureEnds(t *testing.T) {
	v := sample(t, false) // item has 48 bytes
	var svg bytes.Buffer
	if err := SVG(&svg, v, v.Named("item")[0], Options{Line: 32}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`y="44" width="820.00"`, `y="104" width="410.00"`, `<text class="over" `, ".over { stroke: #14171b }"} {
		if !strings.Contains(svg.String(), want) {
			t.Errorf("no %q in\n%s", want, &svg)
		}
	}
}

// TestLines: a cache line of 32 bytes gives twice as many rows.
func TestLines(t *testing.T) {
	v := sample(t, false)
	for line, want := range map[int]int{0: 1, 16: 3, 32: 2} {
		var svg bytes.Buffer
		if err := SVG(&svg, v, v.Named("item")[0], Options{Line: line}); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(svg.String(), `class="bar"`); n != want {
			t.Errorf("lines of %d bytes: %d rows, want %d", line, n, want)
		}
	}
}
