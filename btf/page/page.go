// Package page draws the layouts of structs and unions: as one HTML page that
// needs nothing else, with a search box and members to unfold, as a page that
// compares two files, and as an SVG picture of one struct.
//
//	page.go     the pages
//	page.html, page.css, page.js  what all pages have in common; the data goes into it as JSON
//	data.go     types as numbers and texts
//	classes.go  kinds of members, and their colours
//	compare.go  two files
//	svg.go      one picture
//
// Names are data: whatever they contain, they stand on the page as text.
//
// The stable API is package btflite. What it does not use of this package may change.
package page

import (
	"bytes"
	_ "embed" // of page.html
	"encoding/json"
	"errors"
	"io"

	"github.com/btflite/btflite/btf/view"
	"github.com/btflite/btflite/internal/message"
)

//go:embed page.html
var template []byte

//go:embed page.css
var style []byte

//go:embed page.js
var script []byte

// Options say how layouts are drawn. The zero value is good for most machines.
type Options struct {
	// Line is the size of a cache line in bytes; 0 is 64.
	Line int
	// Title is the name of what is shown: a file.
	Title string
	// Open is the id of the type that a page of Write shows when it is opened, one of
	// those that it is given; 0 is the one with most holes.
	Open uint32
	// Only says which types a comparison shows; nil shows those whose layouts
	// differ. part is "struct" or "union".
	Only func(part, name string) bool
}

func (o Options) line() int {
	if o.Line <= 0 {
		return 64
	}
	return o.Line
}

// ErrNotComposite is the error for a type that is neither a struct nor a union.
var ErrNotComposite = errors.New("only structs and unions have a layout")

// Write writes a page with the structs and unions that have the ids, and those
// that are members of them. The page takes some 300 bytes for each type, and 25
// for each member.
func Write(w io.Writer, v *view.View, ids []uint32, o Options) error {
	d := newData(o)
	s := d.side(v)
	for _, id := range ids {
		if err := s.add(id); err != nil {
			return err
		}
	}
	if err := s.finish(); err != nil {
		return err
	}
	d.listNames()
	if i, ok := s.index[o.Open]; ok {
		d.Open = i
	} else {
		d.Open = d.first(d.holes)
	}
	d.About = message.OneLine(o.Title) + ": " + d.count()
	return d.write(w)
}

// write writes the page with the data in its place. JSON as Go writes it has no
// "<", so nothing in it ends the script.
func (d *data) write(w io.Writer) error {
	text := func(b []byte) func(io.Writer) error {
		return func(w io.Writer) error { _, err := w.Write(b); return err }
	}
	rest := template
	for _, part := range []struct {
		place string
		write func(io.Writer) error
	}{{"/*STYLE*/", text(style)}, {"/*DATA*/", d.writeJSON}, {"/*SCRIPT*/", text(script)}} {
		head, tail, _ := bytes.Cut(rest, []byte(part.place))
		if _, err := w.Write(head); err != nil {
			return err
		}
		if err := part.write(w); err != nil {
			return err
		}
		rest = tail
	}
	_, err := w.Write(rest)
	return err
}

// writeJSON writes d as JSON, piece by piece: the types of a kernel take megabytes.
func (d *data) writeJSON(w io.Writer) error {
	small := *d
	small.Types, small.Strings = nil, nil
	b, err := json.Marshal(&small)
	if err != nil {
		return err
	}
	if _, err := w.Write(bytes.TrimSuffix(b, []byte(`"types":null,"strings":null}`))); err != nil {
		return err
	}
	if err := writeArray(w, `"types":[`, d.Types, "],"); err != nil {
		return err
	}
	return writeArray(w, `"strings":[`, d.Strings, "]}")
}

// pieceLen is how many elements writeArray writes at a time.
const pieceLen = 1 << 10

// writeArray writes before, the elements of list as JSON, and after.
func writeArray[T any](w io.Writer, before string, list []T, after string) error {
	for ; len(list) > 0; before = "," {
		n := min(len(list), pieceLen)
		b, err := json.Marshal(list[:n])
		if err != nil {
			return err
		}
		if _, err := io.WriteString(w, before); err != nil {
			return err
		}
		if _, err := w.Write(b[1 : len(b)-1]); err != nil { // without the brackets
			return err
		}
		list = list[n:]
	}
	if before == "," {
		before = ""
	}
	_, err := io.WriteString(w, before+after)
	return err
}
