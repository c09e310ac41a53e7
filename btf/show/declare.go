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
func (p *Printer) expanded(t view.Type, d *declaration, depth int) {
	p.text("/* typedef ")
	p.name(t.Name())
	t = t.Target()
	for range view.MaxDepth {
		if t.Kind() != btf.KindTypedef {
			break
		}
		p.text(" -> ")
		p.name(t.Name())
		t = t.Target()
	}
	p.text(" */ ")
	d.inside, d.stay = true, true
	p.declare(t, d, depth+1)
}

// named adds the name of t and the declared name.
func (p *Printer) named(t view.Type, d *declaration) {
	start, tag := p.pos(), len(tagOf(t))
	p.typeName(t)
	p.pad(start+tag, d.typeWidth-tag)
	p.text(" ")
	if p.opt.Pointers && p.opt.Expand && !d.inside && (t.Kind() == btf.KindStruct || t.IsEnum() && len(d.name) > 0) {
		p.text(" ") // it could be written out, but is not
	}
	p.name(d.name)
}

// declare adds a type and a name.
func (p *Printer) declare(t view.Type, d *declaration, depth int) {
	if depth > view.MaxDepth {
		p.text("...")
		return
	}
	stay := d.stay
	d.stay = false
	switch {
	case !p.opt.Pointers:
		d.expand = p.opt.Expand
	case !stay:
		t = pointers{p}.follow(t, d)
		p.open[t.ID]++
		p.declareType(t, d, depth)
		p.open[t.ID]--
		return
	}
	p.declareType(t, d, depth)
}

// declareType is declare for the type at the end of a chain of pointers, if pointers are followed.
func (p *Printer) declareType(t view.Type, d *declaration, depth int) {
	switch t.Kind() {
	case btf.KindPtr:
		p.declarePointer(t, d)
		return
	case btf.KindArray:
		p.array(t, d, depth)
		return
	case btf.KindConst:
		p.declareConst("const ", t.Target(), d, depth)
		return
	case btf.KindTypeTag:
		if k, text := t.Mark(); k == btf.MarkQualifier {
			p.declareConst(strings.TrimPrefix(string(appendPrintable(nil, text))+" ", " "), t.Target(), d, depth)
			return
		}
		if d.stars > 0 && isTag(t) && t.Target().Kind() != btf.KindVoid {
			p.declareConst("", t.Target(), d, depth) // pahole takes it for a modifier without a word
			return
		}
	case btf.KindStruct, btf.KindUnion, btf.KindEnum, btf.KindEnum64, btf.KindFwd:
		if p.expands(t, d) || unnamed(t) {
			p.writtenOut(t, d, d.base, " ")
			return
		}
	case btf.KindTypedef:
		if d.expand {
			p.expanded(t, d, depth)
			return
		}
	case btf.KindFuncProto:
		if d.stars > 0 {
			p.declareFunc(t, d, " (")
			return
		}
	}
	p.named(t, d)
}

// expands reports whether the contents of t are printed where its name would do. For unions, only
// the option Expand decides. A forward declaration has no members; its contents are printed if
// pointers lead to it.
func (p *Printer) expands(t view.Type, d *declaration) bool {
	switch {
	case t.Kind() == btf.KindUnion:
		return p.opt.Expand
	case t.Kind() == btf.KindFwd && t.Flag():
		return p.opt.Expand && d.stars > 0
	case t.Kind() == btf.KindFwd:
		return p.opt.Pointers && d.expand
	}
	return d.expand && (t.Kind() == btf.KindStruct || t.IsEnum())
}

// declarePointer is declare for a pointer.
func (p *Printer) declarePointer(t view.Type, d *declaration) {
	of := pointee(t)
	switch {
	case of.Kind() == btf.KindFuncProto:
		p.declareFunc(of, d, " (*")
	case unnamed(of):
		d.typeWidth -= 8
		d.relative = true
		p.writtenOut(of, d, 0, " * ")
	default:
		p.named(t, d)
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
func (p *Printer) declareFunc(proto view.Type, d *declaration, before string) {
	start := p.pos()
	p.typeName(proto.Target())
	p.pad(start, d.typeWidth)
	p.text(before)
	p.name(d.name)
	p.text(")")
	p.params(proto)
}

// declareConst is declare for a const type, or for another qualifier that is written
// before its type. A struct gets the name of the type inside which it is written out.
func (p *Printer) declareConst(word string, t view.Type, d *declaration, depth int) {
	p.text(word)
	d.typeWidth -= len(word)
	d.inside = true
	switch {
	case t.Kind() == btf.KindVoid && d.stars > 0:
		start := p.pos()
		p.text("const void ") // pahole has const twice, as for arrays
		p.pad(start, d.typeWidth)
		p.text(" ")
		p.name(d.name)
	case unnamed(t) || p.expands(t, d):
		if d.typedef && t.IsComposite() {
			p.text("typedef ")
		}
		if !isUnion(t) {
			d.name = d.holder
		}
		d.constant, d.withFooter = true, d.top || d.footer
		p.writtenOut(t, d, d.base, " ")
	case t.Kind() == btf.KindTypedef:
		p.named(t, d)
	default:
		d.stay = true
		p.declare(t, d, depth+1)
	}
}

// writtenOut adds all of a type without a name, with the declared name after it.
func (p *Printer) writtenOut(t view.Type, d *declaration, base uint64, between string) {
	var attribute []byte
	pointed := d.stars > 0 && !d.constant && !d.elem
	if t.IsEnum() {
		p.enum(t, d.indent+1)
	} else {
		f := p.inner(d.form, base)
		f.footer = d.withFooter
		f.inUnion = f.inUnion || isUnion(t)
		f.bare = f.bare || pointed
		switch {
		case between == " * ":
			f.holder = append([]byte("* "), d.name...)
		case d.inside || d.constant:
			f.holder, f.typedef = d.name, d.constant && d.typedef
		}
		p.composite(t, f)
		if d.inside || between == " * " {
			attribute = slices.Clone(p.buf[len(p.buf)-p.uncounted:])
			p.buf = p.buf[:len(p.buf)-p.uncounted]
		}
	}
	if len(d.name) > 0 {
		p.text(between)
	}
	p.name(d.name)
	p.buf = append(p.buf, attribute...)
}

// array adds an array: its element type, with the name, and its dimensions.
func (p *Printer) array(t view.Type, d *declaration, depth int) {
	elem := t.Behind(btf.Arrays)
	d.inside, d.elem = true, true
	if _, n := t.Elem(); n == 0 && elem.Kind() == btf.KindConst { // pahole leaves this const out
		elem = elem.Target()
	}
	if text := (columns{p}).text(p.lays.Slot(elem.ID), elem.ID, d.typeWidth); text != nil {
		p.buf = append(p.buf, text...)
		p.name(d.name)
	} else {
		p.declare(elem, d, depth+1)
	}
	if p.opt.Flat {
		p.dimension(flat(t), d.flexible)
		return
	}
	for range view.MaxDepth {
		if t.Kind() != btf.KindArray {
			break
		}
		var n uint32
		t, n = t.Elem()
		p.dimension(uint64(n), d.flexible)
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

func (p *output) dimension(n uint64, flexible bool) {
	p.text("[")
	if n != 0 || !flexible {
		p.number(n, 0)
	}
	p.text("]")
}

// pointers follows pointers for declare.
type pointers struct{ *Printer }

// follow returns the type that the pointers of t lead to, or t if it is not a pointer.
// Each pointer becomes a star before the name of d. The type is written out, unless it
// is already being written out.
func (p pointers) follow(t view.Type, d *declaration) view.Type {
	n := 0
	for range view.MaxDepth {
		if t.Kind() != btf.KindPtr || t.TargetID() == 0 {
			break
		}
		t = t.Target()
		n++
	}
	d.expand = n > 0 && p.open[t.ID] == 0
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
