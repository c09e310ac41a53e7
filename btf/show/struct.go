package show

import (
	"slices"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
)

// maxIndent is how deep structs are written out: deeper ones contain themselves.
const maxIndent = 64

// form is where the text of a struct stands.
type form struct {
	indent    int    // tabs before its closing brace
	typeWidth int    // columns for the types of its members
	nameWidth int    // columns for their names
	base      uint64 // bytes: its offset in the outermost one
	inUnion   bool   // it is, or is in, a union
	packed    bool   // it lies where its type does not belong
	relative  bool   // offsets begin at 0 in each inner struct
	top       bool   // it is the outermost one
	footer    bool   // the numbers follow the members
}

// inner is the form of a struct in f.
func (p *Printer) inner(f form, base uint64) form {
	if f.relative {
		base = 0
	}
	f.indent++
	f.typeWidth -= 8
	f.base = base
	f.top, f.footer, f.packed = false, false, false
	return f
}

// at is f for what lies at the offset.
func (f form) at(base uint64) form {
	f.base = base
	return f
}

// composite adds a struct or union from its keyword to its closing brace and
// attributes. It returns where the brace is.
func (p *Printer) composite(t view.Type, f form) (brace int) {
	l := p.lays.Of(t)
	defer p.lays.Done(l)
	return p.laidOut(l, f)
}

// laidOut is composite for a layout.
func (p *Printer) laidOut(l *view.Layout, f form) (brace int) {
	p.uncounted = 0
	t := l.Type
	if t.Kind() == btf.KindUnion {
		p.text("union ")
	} else {
		p.text("struct ")
	}
	if name := t.Name(); len(name) > 0 {
		p.name(name)
		p.text(" ")
	}
	p.text("{\n")
	at := p.at
	for i := range l.Rows {
		r := &l.Rows[i]
		if f.indent > 2*maxIndent || p.over() || !p.held && p.full() {
			return p.pos()
		}
		if p.opt.Quiet {
			notes{p}.forcing(l, i, f)
			p.member(l, i, f)
			continue
		}
		notes{p}.gap(l, i, f)
		p.boundary(f.base+r.Byte, f.indent+1)
		p.member(l, i, f)
		notes{p}.lastStruct(l, i, f)
		if t.Kind() == btf.KindUnion {
			p.at = at
		}
	}
	if (f.top || f.footer) && t.Kind() == btf.KindStruct && !p.opt.Quiet {
		p.footer(l, f)
	}
	p.tabs(f.indent)
	brace = p.pos()
	p.text("}")
	if (l.Packed || f.packed) && !p.opt.NoPacked {
		p.text(" __attribute__((__packed__))")
	}
	before := len(p.buf)
	p.aligned(l.Align)
	p.uncounted = len(p.buf) - before
	return brace
}

// boundary notes the cache line that a member at the offset is in, if it is a new
// one.
func (p *Printer) boundary(offset uint64, indent int) {
	n := offset / p.line
	if n <= p.at {
		return
	}
	p.at = n
	p.tabs(indent)
	p.text("/* --- cacheline ")
	p.number(n, 0)
	p.text(" boundary (")
	p.number(n*p.line, 0)
	p.text(" bytes)")
	if ago := offset - n*p.line; ago > 0 {
		p.text(" was ")
		p.count(ago, "byte")
		p.text(" ago")
	}
	p.text(" --- */\n")
}

// count adds "1 byte" or "2 bytes".
func (p *output) count(n uint64, word string) {
	p.number(n, 0)
	p.text(" ")
	p.text(word)
	if n != 1 {
		p.text("s")
	}
}

// member adds the line, or lines, of a member.
func (p *Printer) member(l *view.Layout, i int, f form) {
	r := &l.Rows[i]
	p.tabs(f.indent + 1)
	start := p.pos()
	width := f.typeWidth + 1 + f.nameWidth
	whole := false
	if column := p.column(r.TypeID, f); column != nil {
		p.buf = append(p.buf, column...)
		p.name(r.Name())
	} else if t := r.Type(); unnamed(t) {
		whole = true
		start = p.anonymous(t, r, f)
	} else {
		d := declaration{name: r.Name(), form: f.at(f.base + r.Byte), misplaced: r.Misplaced, flexible: i == len(l.Rows)-1 && i > 0 && !f.inUnion}
		p.declare(t, &d, 0)
	}
	bits := len(p.buf)
	if r.Bits != 0 {
		p.text(":")
		p.number(uint64(r.Bits), 0)
	}
	bits = len(p.buf) - bits
	p.aligned(r.Align)
	p.text(";")
	if p.opt.Quiet {
		p.text("\n")
		return
	}
	if whole {
		n := width + 1 - (p.pos() - start - bits - p.uncounted)
		if n == 0 {
			n = 1
		}
		p.pad(p.pos(), n)
	} else {
		p.pad(start, width)
		p.text(" ")
	}
	p.place(r, f.base)
}

// place adds the comment with offset and size of a member.
func (p *Printer) place(r *view.Row, base uint64) {
	const five = 100_000
	if at := base + r.Byte; at < five && r.Size < five && r.Bits == 0 && !p.opt.Hex {
		p.text("/*             */\n")
		b := p.buf[len(p.buf)-len("             */\n"):]
		digits(b[1:6], at)
		digits(b[7:12], r.Size)
		return
	}
	number := p.number
	if p.opt.Hex {
		number = p.hex
	}
	p.text("/* ")
	number(base+r.Byte, 5)
	if r.Bits != 0 {
		p.text(":")
		number(uint64(r.Bit), 2)
		p.text(" ")
		number(r.Size, 2)
	} else {
		p.text(" ")
		number(r.Size, 5)
	}
	p.text(" */\n")
}

func (p *Printer) aligned(n uint64) {
	if n != 0 && !p.opt.NoAligned {
		p.text(" __attribute__((__aligned__(")
		p.number(n, 0)
		p.text(")))")
	}
}

// anonymous adds a member whose type is written out, up to its name. It returns
// where the closing brace is.
func (p *Printer) anonymous(t view.Type, r *view.Row, f form) (brace int) {
	if t.IsEnum() {
		p.enum(t, f.indent+1)
		brace, p.uncounted = p.pos()-1, 0
	} else {
		f = p.inner(f, f.base+r.Byte)
		f.inUnion = f.inUnion || t.Kind() == btf.KindUnion
		brace = p.composite(t, f)
	}
	if r.NameOff != 0 {
		p.text(" ")
		p.name(r.Name())
	}
	return brace
}

// unnamed tells whether t is written out where it is used: it has no name to
// stand for it.
func unnamed(t view.Type) bool { return (t.IsComposite() || t.IsEnum()) && !t.HasName() }

// declaration is a name to be declared.
type declaration struct {
	name []byte
	form
	flexible   bool // it is the flexible array of a struct
	misplaced  bool // its type belongs to other offsets
	array      bool // of an array: attributes stand behind the name
	withFooter bool // the numbers of a struct that is written out follow
}

// expanded adds what a typedef stands for, and a comment with its name and those
// of the typedefs that it leads to.
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
	p.declare(t, d, depth+1)
}

// named adds the name of t and that of what is declared.
func (p *Printer) named(t view.Type, d *declaration) {
	start, width := p.pos(), d.typeWidth
	p.typeName(t)
	switch t.Kind() {
	case btf.KindStruct:
		start, width = start+len("struct "), width-len("struct ")
	case btf.KindUnion:
		start, width = start+len("union "), width-len("union ")
	case btf.KindEnum, btf.KindEnum64:
		start, width = start+len("enum "), width-len("enum ")
	}
	p.pad(start, width)
	p.text(" ")
	p.name(d.name)
}

// declare adds a type and a name.
func (p *Printer) declare(t view.Type, d *declaration, depth int) {
	if depth > view.MaxDepth {
		p.text("...")
		return
	}
	switch t.Kind() {
	case btf.KindPtr:
		p.declarePointer(t, d)
		return
	case btf.KindArray:
		p.array(t, d, depth)
		return
	case btf.KindConst:
		p.declareConst(t.Target(), d, depth)
		return
	case btf.KindStruct, btf.KindUnion, btf.KindEnum, btf.KindEnum64:
		if p.opt.Expand && d.indent < maxIndent || unnamed(t) {
			p.writtenOut(t, d, d.base, " ")
			return
		}
	case btf.KindTypedef:
		if p.opt.Expand {
			p.expanded(t, d, depth)
			return
		}
	}
	p.named(t, d)
}

// declarePointer is declare for a pointer.
func (p *Printer) declarePointer(t view.Type, d *declaration) {
	start, of := p.pos(), t.Target()
	switch {
	case of.Kind() == btf.KindFuncProto:
		p.typeName(of.Target())
		p.pad(start, d.typeWidth)
		p.text(" (*")
		p.name(d.name)
		p.text(")")
		p.params(of)
	case unnamed(of):
		d.typeWidth -= 8
		d.relative = true
		p.writtenOut(of, d, 0, " * ")
	default:
		p.named(t, d)
	}
}

// declareConst is declare for what is const.
func (p *Printer) declareConst(t view.Type, d *declaration, depth int) {
	if _, n := t.Elem(); t.Kind() != btf.KindArray || n != 0 || !d.flexible {
		p.text("const ")
		d.typeWidth -= len("const ")
	}
	switch {
	case unnamed(t) || p.opt.Expand && (t.IsComposite() || t.IsEnum()) && d.indent < maxIndent:
		d.name = nil
		d.withFooter = true
		p.writtenOut(t, d, d.base, "")
	case t.Kind() == btf.KindTypedef:
		p.named(t, d)
	default:
		p.declare(t, d, depth+1)
	}
}

// writtenOut adds all of a type without a name, with the name behind it.
func (p *Printer) writtenOut(t view.Type, d *declaration, base uint64, between string) {
	var attribute []byte
	if t.IsEnum() {
		p.enum(t, d.indent+1)
	} else {
		f := p.inner(d.form, base)
		f.footer, f.packed = d.withFooter, d.misplaced && !d.array
		f.inUnion = f.inUnion || t.Kind() == btf.KindUnion
		p.composite(t, f)
		if d.array && p.uncounted > 0 {
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

// array adds an array: what it is made of, with the name, and its dimensions.
func (p *Printer) array(t view.Type, d *declaration, depth int) {
	elem := t
	for range view.MaxDepth {
		if elem.Kind() != btf.KindArray {
			break
		}
		elem, _ = elem.Elem()
	}
	d.array = true
	if column := p.column(elem.ID, d.form); column != nil {
		p.buf = append(p.buf, column...)
		p.name(d.name)
	} else {
		p.declare(elem, d, depth+1)
	}
	if p.opt.Flat {
		n := uint64(1)
		for range view.MaxDepth {
			if t.Kind() != btf.KindArray {
				break
			}
			of, k := t.Elem()
			t, n = of, n*uint64(k)
		}
		p.dimension(n, d.flexible)
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

func (p *output) dimension(n uint64, flexible bool) {
	p.text("[")
	if n != 0 || !flexible {
		p.number(n, 0)
	}
	p.text("]")
}
