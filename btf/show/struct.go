package show

import (
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/blocks"
	"github.com/btflite/btflite/btf/view"
)

// composite adds a struct or union from its keyword to its closing brace and
// attributes. It returns where the brace is. A forward declaration has no members.
func (p *Printer) composite(t view.Type, f form) (brace int) {
	l := p.lays.Of(t)
	defer p.lays.Done(l)
	return p.laidOut(l, f)
}

// laidOut is composite for a layout.
func (p *Printer) laidOut(l *view.Layout, f form) (brace int) {
	p.uncounted = 0
	t := l.Type
	if isUnion(t) {
		p.text("union ")
	} else {
		p.text("struct ")
	}
	if name := t.Name(); len(name) > 0 {
		p.name(name)
		p.text(" ")
	}
	p.text("{\n")
	p.mark(l)
	p.Gaps.note(l)
	at := p.at
	if f.indent > maxIndent && p.to.Err == nil {
		p.to.Err = errTooDeep
	}
	for i := range l.Rows {
		r := &l.Rows[i]
		if p.to.Err != nil || len(p.buf) >= blocks.Size && (p.over() || p.full()) {
			break
		}
		if p.opt.Quiet {
			notes{p}.forcing(l, i, f)
			p.member(l, i, f)
			continue
		}
		if r.Hole|r.BitHole == 0 && r.Bits == 0 && (i == 0 || l.Rows[i-1].Bits == 0 && l.Rows[i-1].Byte <= r.Byte) {
			notes{p}.noGap(i)
		} else {
			notes{p}.gap(l, i, f)
		}
		if f.base+r.Byte >= (p.at+1)*p.line {
			p.boundary(f.base+r.Byte, f.indent+1)
		}
		if !p.plainMember(r, &f) {
			p.member(l, i, f)
		}
		if r.Kind() == btf.KindStruct {
			notes{p}.mark(l, r)
			notes{p}.lastStruct(l, i, f)
		}
		if t.Kind() == btf.KindUnion {
			p.at = at
		}
	}
	if (f.top || f.footer) && !isUnion(t) && !p.opt.Quiet {
		p.footer(l, f)
	}
	p.tabs(f.indent)
	brace = p.pos()
	p.text("}")
	if isPacked(p.packed, l) && !p.opt.NoPacked {
		p.text(" __attribute__((__packed__))")
	}
	before := len(p.buf)
	p.aligned(l.Align)
	p.uncounted = len(p.buf) - before
	return brace
}

// boundary notes that a member at the offset begins another cache line than p.at.
func (p *Printer) boundary(offset uint64, indent int) {
	n := offset / p.line
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

// member adds the line, or lines, of a member.
func (p *Printer) member(l *view.Layout, i int, f form) {
	r := &l.Rows[i]
	p.tabs(f.indent + 1)
	start := p.pos()
	width := f.typeWidth + 1 + f.nameWidth
	whole := false
	if r.IsBase() && !p.opt.Compile {
		notes{p}.ancestor(r, f)
	} else if text := (columns{p}).text(r.Slot, r.TypeID, f.typeWidth); text != nil {
		p.buf = append(p.buf, text...)
		p.name(r.Name())
	} else if t := r.Type(); unnamed(t) {
		whole = true
		start = p.anonymous(t, r, f)
	} else {
		d := declaration{name: r.Name(), form: f.at(f.base + r.Byte), flexible: i == len(l.Rows)-1 && i > 0 && !f.inUnion}
		p.declare(t, &d, 0)
	}
	bits := len(p.buf)
	if r.Bits != 0 {
		p.text(":")
		p.number(uint64(r.Bits), 0)
	}
	bits = len(p.buf) - bits
	p.aligned(r.Align)
	if !r.IsBase() || p.opt.Compile {
		p.text(";")
	}
	if p.opt.Quiet || f.bare {
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
		p.pad(start, max(width, 0)) // unlike the columns before it, this is not a width of printf
		p.text(" ")
	}
	p.place(r, f.base)
}

// plainMember adds the line of a member that has nothing special: no bits, no
// alignment, a type that always has the same text, a name of printable ASCII. It tells
// whether r is one; else it adds nothing.
func (p *Printer) plainMember(r *view.Row, f *form) bool {
	at := f.base + r.Byte
	if uint64(r.Bits)|r.Align != 0 || at >= five || r.Size >= five || p.opt.Hex || f.bare {
		return false
	}
	text := columns{p}.text(r.Slot, r.TypeID, f.typeWidth)
	if text == nil {
		return false
	}
	b := appendTabs(p.buf, f.indent+1)
	start := len(b)
	b, ok := p.v.Blob().AppendPlain(append(b, text...), r.NameOff)
	if !ok {
		return false
	}
	b = append(b, ';')
	b = append(b, spaces[:max(start+f.typeWidth+1+f.nameWidth-len(b), 0)]...)
	p.buf = appendPlace(append(b, ' '), at, r.Size)
	return true
}

// place adds the comment with offset and size of a member.
func (p *Printer) place(r *view.Row, base uint64) {
	if at := base + r.Byte; at < five && r.Size < five && r.Bits == 0 && !p.opt.Hex {
		p.buf = appendPlace(p.buf, at, r.Size)
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

// enum adds an enum from its keyword to its closing brace.
func (p *Printer) enum(t view.Type, indent int) {
	p.text("enum ")
	if name := t.Name(); len(name) > 0 {
		p.name(name)
		p.text(" ")
	}
	p.text("{\n")
	longest := 0
	for _, e := range t.Values() {
		longest = max(longest, len(e.Name()))
	}
	for _, e := range t.Values() {
		p.tabs(indent)
		p.text("\t")
		start := p.pos()
		p.name(e.Name())
		p.pad(start, longest)
		p.text(" = ")
		if p.opt.Hex {
			p.hex(uint64(e.Value), 0)
		} else if e.Value < 0 && t.Flag() {
			p.text("-")
			p.number(uint64(-e.Value), 0)
		} else {
			p.number(uint64(e.Value), 0)
		}
		p.text(",\n")
	}
	p.tabs(indent)
	p.text("}")
	if t.Size() != 4 {
		p.text(" __attribute__((__packed__))")
	}
}
