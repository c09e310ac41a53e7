package show

import (
	"bytes"
	"slices"
	"strings"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
)

// expanded adds the type of a typedef, and a comment with its name and the names of the
// typedefs on the way.
func (w *typeWriter) expanded(t view.Type, d *declaration, depth int) {
	w.text("/* typedef ")
	w.name(t.Name())
	t = t.Target()
	for range view.MaxDepth {
		if t.Kind() != btf.KindTypedef {
			break
		}
		w.text(" -> ")
		w.name(t.Name())
		t = t.Target()
	}
	w.text(" */ ")
	d.inside, d.stay = true, true
	w.declare(t, d, depth+1)
}

// named adds the name of t and the declared name.
func (w *typeWriter) named(t view.Type, d *declaration) {
	start, tag := w.pos(), len(t.Keyword())
	w.typeName(t)
	w.pad(start+tag, d.typeWidth-tag)
	w.text(" ")
	if w.opt.Pointers && w.opt.Expand && !d.inside && (t.Kind() == btf.KindStruct || t.IsEnum()) && len(d.name) > 0 {
		w.text(" ") // it could be written out, but is not
	}
	w.name(d.name)
}

// declare adds a type and a name.
func (w *typeWriter) declare(t view.Type, d *declaration, depth int) {
	if depth > view.MaxDepth {
		w.text("...")
		return
	}
	stay := d.stay
	d.stay = false
	switch {
	case !w.opt.Pointers:
		d.expand = w.opt.Expand
	case !stay:
		t = w.follow(t, d)
		w.open[t.ID]++
		w.declareType(t, d, depth)
		w.open[t.ID]--
		return
	}
	w.declareType(t, d, depth)
}

// declareType is declare for the type at the end of a chain of pointers, if pointers are followed.
func (w *typeWriter) declareType(t view.Type, d *declaration, depth int) {
	switch t.Kind() {
	case btf.KindPtr:
		w.declarePointer(t, d)
		return
	case btf.KindArray:
		w.array(t, d, depth)
		return
	case btf.KindConst:
		w.declareConst("const ", t.Target(), d, depth)
		return
	case btf.KindTypeTag:
		if k, text := t.Mark(); k == btf.MarkQualifier {
			w.declareConst(strings.TrimPrefix(string(appendPrintable(nil, text))+" ", " "), t.Target(), d, depth)
			return
		}
		if d.stars > 0 && isTag(t) && t.Target().Kind() != btf.KindVoid {
			w.declareConst("", t.Target(), d, depth) // pahole takes it for a modifier without a word
			return
		}
	case btf.KindStruct, btf.KindUnion, btf.KindEnum, btf.KindEnum64, btf.KindFwd:
		if w.opt.expands(t, d) || unnamed(t) {
			w.writtenOut(t, d, d.base, " ")
			return
		}
	case btf.KindTypedef:
		if d.expand {
			w.expanded(t, d, depth)
			return
		}
	case btf.KindFuncProto:
		if d.stars > 0 {
			w.declareFunc(t, d, " (")
			return
		}
	}
	w.named(t, d)
}

// expands reports whether the contents of t are printed where its name would do. For unions, only
// the option Expand decides. A forward declaration has no members; its contents are printed if
// pointers lead to it.
func (o *Options) expands(t view.Type, d *declaration) bool {
	switch {
	case t.Kind() == btf.KindUnion:
		return o.Expand
	case t.Kind() == btf.KindFwd && t.Flag():
		return o.Expand && d.stars > 0
	case t.Kind() == btf.KindFwd:
		return o.Pointers && d.expand
	}
	return d.expand && (t.Kind() == btf.KindStruct || t.IsEnum())
}

// declarePointer is declare for a pointer.
func (w *typeWriter) declarePointer(t view.Type, d *declaration) {
	of := pointee(t)
	switch {
	case of.Kind() == btf.KindFuncProto:
		w.declareFunc(of, d, " (*")
	case unnamed(of):
		d.typeWidth -= 8
		d.relative = true
		w.writtenOut(of, d, 0, " * ")
	default:
		w.named(t, d)
	}
}

// pointee returns the type that the pointer t leads to. It leaves out type tags before a function.
func pointee(t view.Type) view.Type {
	of := t.Target()
	to := of
	for range view.MaxDepth {
		if !isTag(to) {
			break
		}
		to = to.Target()
	}
	if to.Kind() == btf.KindFuncProto {
		return to
	}
	return of
}

// isTag reports whether t is a type tag of the source, and not a mark.
func isTag(t view.Type) bool {
	k, _ := t.Mark()
	return t.Kind() == btf.KindTypeTag && k == btf.NoMark
}

// declareFunc is declare for a function that the stars in the name lead to, or one that
// is in the text before the name.
func (w *typeWriter) declareFunc(proto view.Type, d *declaration, before string) {
	start := w.pos()
	w.typeName(proto.Target())
	w.pad(start, d.typeWidth)
	w.text(before)
	w.name(d.name)
	w.text(")")
	w.params(proto)
}

// declareConst is declare for a const type, or for another qualifier that is written
// before its type. A struct gets the name of the type inside which it is written out.
func (w *typeWriter) declareConst(word string, t view.Type, d *declaration, depth int) {
	w.text(word)
	d.typeWidth -= len(word)
	d.inside = true
	switch {
	case t.Kind() == btf.KindVoid && d.stars > 0:
		start := w.pos()
		w.text("const void ") // pahole has const twice, as for arrays
		w.pad(start, d.typeWidth)
		w.text(" ")
		w.name(d.name)
	case unnamed(t) || w.opt.expands(t, d):
		if d.typedef && t.IsComposite() {
			w.text("typedef ")
		}
		if !isUnion(t) {
			d.name = d.holder
		}
		d.constant, d.withFooter = true, d.top || d.footer
		w.writtenOut(t, d, d.base, " ")
	case t.Kind() == btf.KindTypedef:
		w.named(t, d)
	default:
		d.stay = true
		w.declare(t, d, depth+1)
	}
}

// writtenOut adds all of a type without a name, with the declared name after it.
func (w *typeWriter) writtenOut(t view.Type, d *declaration, base uint64, between string) {
	var attribute []byte
	pointed := d.stars > 0 && !d.constant && !d.elem
	if t.IsEnum() {
		w.enum(t, d.indent+1)
	} else {
		f := d.form.inner(base)
		f.footer = d.withFooter
		f.inUnion = f.inUnion || isUnion(t)
		f.bare = f.bare || pointed
		switch {
		case between == " * ":
			f.holder = append([]byte("* "), d.name...)
		case d.inside || d.constant:
			f.holder, f.typedef = d.name, d.constant && d.typedef
		}
		w.composite(t, f)
		if d.inside || between == " * " {
			attribute = slices.Clone(w.buf[len(w.buf)-w.uncounted:])
			w.buf = w.buf[:len(w.buf)-w.uncounted]
		}
	}
	if len(d.name) > 0 {
		w.text(between)
	}
	w.name(d.name)
	w.buf = append(w.buf, attribute...)
}

// array adds an array: its element type, with the name, and its dimensions.
func (w *typeWriter) array(t view.Type, d *declaration, depth int) {
	elem := t.Behind(btf.Arrays)
	d.inside, d.elem = true, true
	if _, n := t.Elem(); n == 0 && elem.Kind() == btf.KindConst { // pahole leaves this const out
		elem = elem.Target()
	}
	if text := w.columns.text(w.lays.Slot(elem.ID), elem.ID, d.typeWidth); text != nil {
		w.buf = append(w.buf, text...)
		w.name(d.name)
	} else {
		w.declare(elem, d, depth+1)
	}
	for range view.MaxDepth {
		if t.Kind() != btf.KindArray {
			break
		}
		of, n := t.Elem()
		dimension := uint64(n)
		if w.opt.Flat {
			dimension = flat(t)
		}
		w.text("[")
		if dimension != 0 || !d.flexible {
			w.number(dimension, 0)
		}
		w.text("]")
		if t = of; w.opt.Flat {
			break
		}
	}
}

// flat is the number of elements in all dimensions of an array. As in pahole, it begins anew after a
// dimension without elements that is not the first one.
func flat(t view.Type) uint64 {
	of, first := t.Elem()
	n := uint64(first)
	for range view.MaxDepth {
		if of.Kind() != btf.KindArray {
			break
		}
		var k uint32
		of, k = of.Elem()
		if n == 0 && first != 0 {
			n = 1
		}
		n *= uint64(k)
	}
	return n
}

// follow returns the type that the pointers of t lead to, or t if it is not a pointer.
// Each pointer becomes a star before the name of d. The type is written out, unless it
// is already being written out.
func (w *typeWriter) follow(t view.Type, d *declaration) view.Type {
	n := 0
	for range view.MaxDepth {
		if t.Kind() != btf.KindPtr || t.TargetID() == 0 {
			break
		}
		t = t.Target()
		n++
	}
	d.expand = n > 0 && w.open[t.ID] == 0
	if n > 0 {
		d.name, d.stars = starred(n, d.name), d.stars+n
		d.inside, d.elem = true, false
	}
	return t
}

// starred returns the name after n stars.
func starred(n int, name []byte) []byte {
	return append(bytes.Repeat([]byte("*"), n), name...)
}
