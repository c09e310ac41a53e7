// Package ctype writes types of BTF as text, in two forms:
//
//	pahole.go    Writer: as pahole and pfunct of pahole 1.32 spell types
//	declare.go   Declarer: as C declares what has the type
//
// Both take every blob that btf.Parse takes, and end on types that refer to
// themselves.
//
// The stable API is package btflite. What it does not use of this package may change.
package ctype

import (
	"strconv"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
)

// Style is a program whose spelling a Writer has.
type Style uint8

// The styles.
const (
	Pahole        Style = iota // types of members, as pahole prints them
	Pfunct                     // prototypes, as pfunct prints them
	PfunctUnnamed              // the same without the names of parameters
)

// Writer appends types to a text, as they are written before a declared name: "const char
// *". Every qualifier in front adds a blank after the type.
type Writer struct {
	Text  []byte
	Style Style
	// Escape appends a name; nil for names as they are.
	Escape func(dst, name []byte) []byte
	// Known, if it is not nil, appends the text of the type with the id, as Type does, if
	// it knows it.
	Known func(dst []byte, id uint32) (text []byte, ok bool)
	// Limit is the largest length of Text. A longer text is cut, and Cut is set.
	Limit int
	Cut   bool
}

// cut stands for the part that is left out: of a text that is too long, or of a type that
// refers to itself.
const cut = "..."

// Put appends s.
func (w *Writer) Put(s string) {
	if w.fits(len(s)) {
		w.Text = append(w.Text, s...)
	}
}

// Name appends a name.
func (w *Writer) Name(name []byte) {
	switch {
	case !w.fits(len(name)):
	case w.Escape != nil:
		w.Text = w.Escape(w.Text, name)
	default:
		w.Text = append(w.Text, name...)
	}
}

// fits reports whether there is room for n bytes, and cuts the text if there is none.
func (w *Writer) fits(n int) bool {
	if !w.Cut && len(w.Text)+n > w.Limit {
		w.Cut = true
		w.Text = append(w.Text, cut...)
	}
	return !w.Cut
}

// Type appends a type.
func (w *Writer) Type(t view.Type) { w.typ(t, 0) }

func (w *Writer) typ(t view.Type, depth int) {
	if depth > view.MaxDepth || w.Cut {
		w.Put(cut)
		return
	}
	depth++
	switch k := t.Kind(); k {
	case btf.KindVoid:
		w.Put("void")
	case btf.KindStruct, btf.KindUnion, btf.KindEnum, btf.KindEnum64, btf.KindFwd:
		w.Put(t.Keyword())
		w.Name(t.Name())
	case btf.KindFloat:
		if w.Style == Pahole && !t.View().Blob().Marked { // of DWARF, pahole knows no "single"
			w.Put("single ")
		}
		w.Name(t.Name())
	case btf.KindPtr:
		w.pointer(t.Target(), depth)
	case btf.KindConst:
		w.qualified("const ", "", t, depth)
	case btf.KindVolatile:
		w.qualified("volatile ", "", t, depth)
	case btf.KindRestrict:
		w.qualified("", " restrict", t, depth)
	case btf.KindTypeTag:
		w.tagged(t, depth)
	case btf.KindArray:
		elem, _ := t.Elem()
		w.typ(elem, depth)
	case btf.KindFuncProto:
		w.typ(t.Target(), depth)
		w.Put(" ()")
		w.params(t, depth, nil)
	default:
		w.Name(t.Name())
	}
}

// tagged is a type with a type tag, or one that BTF cannot say, as pahole spells it where
// it reads DWARF.
func (w *Writer) tagged(t view.Type, depth int) {
	switch k, text := t.Mark(); k {
	case btf.MarkQualifier:
		if len(text) > 0 {
			w.Name(text)
			w.qualified(" ", "", t, depth)
			return
		}
		w.typ(t.Target(), depth)
	case btf.MarkReference:
		w.pointed(t.Marked(), depth)
		w.Name(text)
	case btf.MarkMember:
		w.pointed(t.Marked(), depth)
		w.Name(text)
		w.Put("::*")
	case btf.MarkName:
		w.Name(text)
	default:
		w.typ(t.Target(), depth)
	}
}

// pointed writes the type that a reference leads to, and a blank. For an array it adds
// the dimensions, which pahole leaves out.
func (w *Writer) pointed(t view.Type, depth int) {
	w.typ(t, depth)
	w.Put(" ")
	for range view.MaxDepth {
		elem, n := t.Elem()
		if t.Kind() != btf.KindArray {
			break
		}
		w.Put("[" + strconv.FormatUint(uint64(n), 10) + "]")
		if t = elem; t.Kind() != btf.KindArray {
			w.Put(" ")
		}
	}
}

// qualified writes a type with a qualifier before or after it, and a blank. pfunct writes no
// blank where it leaves out the names of parameters.
func (w *Writer) qualified(before, behind string, t view.Type, depth int) {
	w.Put(before)
	w.typ(t.Target(), depth)
	w.Put(behind)
	if w.Style != PfunctUnnamed {
		w.Put(" ")
	}
}

// pointer writes a pointer to t. The const of a constant pointer comes after the star if
// something points to it; other constant types have it in front.
func (w *Writer) pointer(t view.Type, depth int) {
	if t.Kind() == btf.KindConst {
		if inner := t.Target(); inner.Kind() == btf.KindPtr {
			w.typ(inner, depth)
			w.Put(" const *")
			return
		}
	}
	w.typ(t, depth)
	w.Put(" *")
}

// Params appends the list of parameters of a prototype, in parentheses. before, if it
// is not nil, is called before each parameter.
func (w *Writer) Params(proto view.Type, before func(i int)) { w.params(proto, 0, before) }

func (w *Writer) params(proto view.Type, depth int, before func(i int)) {
	if depth > view.MaxDepth || w.Cut {
		w.Put(cut)
		return
	}
	n := proto.Vlen()
	if n == 0 || w.Style == Pahole && n == 1 && proto.Param(0).Variadic() {
		w.Put("(void)")
		return
	}
	w.Put("(")
	for i, p := range proto.Params() {
		if i > 0 {
			w.Put(", ")
		}
		if p.Variadic() && (w.Style == Pahole || i == n-1) {
			w.Put("...")
		} else {
			if before != nil {
				before(i)
			}
			w.param(p, depth+1)
		}
		if w.Cut {
			break
		}
	}
	w.Put(")")
}

// param is one parameter. Pointers to functions have the name inside.
func (w *Writer) param(p view.Param, depth int) {
	var name []byte
	if w.Style != PfunctUnnamed {
		name = p.Name()
	}
	if w.Known != nil && w.fits(0) {
		if text, ok := w.Known(w.Text, p.TypeID); ok {
			w.Text = text
			w.named(name)
			return
		}
	}
	t := p.Type()
	k := t.Kind()
	if k == btf.KindPtr && depth < view.MaxDepth {
		target := t.Target()
		if target.Kind() != btf.KindFuncProto {
			w.pointer(target, depth+1)
			w.named(name)
			return
		}
		w.typ(target.Target(), depth)
		w.Put(" (*")
		w.Name(name)
		w.Put(")")
		w.params(target, depth, nil)
		return
	}
	switch {
	case k == btf.KindFuncProto && w.Style != Pahole:
		w.typ(t.Target(), depth)
		w.Put(" ")
		w.Name(name)
		w.params(t, depth, nil)
	default:
		w.typ(t, depth)
		w.named(name)
	}
}

// named appends a blank and a name, if there is one.
func (w *Writer) named(name []byte) {
	if len(name) > 0 {
		w.Put(" ")
		w.Name(name)
	}
}
