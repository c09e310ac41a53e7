package show

import (
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/blocks"
	"github.com/btflite/btflite/btf/view"
)

// composite adds a struct or union from its keyword to its closing brace and
// attributes. It returns where the brace is. A forward declaration has no members.
func (w *typeWriter) composite(t view.Type, f form) (brace int) {
	l := w.lays.Of(t)
	defer w.lays.Done(l)
	return w.laidOut(l, f)
}

// laidOut is composite for a layout.
func (w *typeWriter) laidOut(l *view.Layout, f form) (brace int) {
	w.uncounted = 0
	t := l.Type
	if isUnion(t) {
		w.text("union ")
	} else {
		w.text("struct ")
	}
	if name := t.Name(); len(name) > 0 {
		w.name(name)
		w.text(" ")
	}
	w.text("{\n")
	w.packing.mark(l)
	w.gaps.note(l)
	at := w.at
	if f.indent > maxIndent && w.to.Err == nil {
		w.to.Err = errTooDeep
	}
	for i := range l.Rows {
		r := &l.Rows[i]
		if w.to.Err != nil || len(w.buf) >= blocks.Size && (w.over() || w.full()) {
			break
		}
		if w.opt.Quiet {
			w.forcing(l, i, f)
			w.member(l, i, f)
			continue
		}
		if r.Hole|r.BitHole == 0 && r.Bits == 0 && (i == 0 || l.Rows[i-1].Bits == 0 && l.Rows[i-1].Byte <= r.Byte) {
			if i > 0 && w.noted {
				w.text("\n")
			}
			w.noted = false
		} else {
			w.gap(l, i, f)
		}
		if f.base+r.Byte >= (w.at+1)*w.lays.CacheLine {
			w.boundary(f.base+r.Byte, f.indent+1)
		}
		if !w.plainMember(r, &f) {
			w.member(l, i, f)
		}
		if r.Kind() == btf.KindStruct {
			w.packing.markMember(l, r)
			w.lastStruct(l, i, f)
		}
		if t.Kind() == btf.KindUnion {
			w.at = at
		}
	}
	if (f.top || f.footer) && !isUnion(t) && !w.opt.Quiet {
		w.footer(l, f)
	}
	w.tabs(f.indent)
	brace = w.pos()
	w.text("}")
	if w.packing.has(l) && !w.opt.NoPacked {
		w.text(" __attribute__((__packed__))")
	}
	before := len(w.buf)
	w.aligned(l.Align)
	w.uncounted = len(w.buf) - before
	return brace
}

// boundary notes that a member at the offset begins another cache line than w.at.
func (w *typeWriter) boundary(offset uint64, indent int) {
	n := offset / w.lays.CacheLine
	w.at = n
	w.tabs(indent)
	w.text("/* --- cacheline ")
	w.number(n, 0)
	w.text(" boundary (")
	w.number(n*w.lays.CacheLine, 0)
	w.text(" bytes)")
	if ago := offset - n*w.lays.CacheLine; ago > 0 {
		w.text(" was ")
		w.count(ago, "byte")
		w.text(" ago")
	}
	w.text(" --- */\n")
}

// member adds the line, or lines, of a member.
func (w *typeWriter) member(l *view.Layout, i int, f form) {
	r := &l.Rows[i]
	w.tabs(f.indent + 1)
	start := w.pos()
	width := f.typeWidth + 1 + f.nameWidth
	whole := false
	if r.IsBase() && !w.opt.Compile { // C++ declares no such member
		w.text("/* ")
		name := w.pos()
		w.typeName(r.Type())
		w.pad(name, f.typeWidth)
		w.text(" <ancestor>; */")
	} else if text := w.columns.text(r.Slot, r.TypeID, f.typeWidth); text != nil {
		w.buf = append(w.buf, text...)
		w.name(r.Name())
	} else if t := r.Type(); unnamed(t) {
		whole = true
		start = w.anonymous(t, r, f)
	} else {
		d := declaration{name: r.Name(), form: f.at(f.base + r.Byte), flexible: i == len(l.Rows)-1 && i > 0 && !f.inUnion}
		w.declare(t, &d, 0)
	}
	bits := len(w.buf)
	if r.Bits != 0 {
		w.text(":")
		w.number(uint64(r.Bits), 0)
	}
	bits = len(w.buf) - bits
	w.aligned(r.Align)
	if !r.IsBase() || w.opt.Compile {
		w.text(";")
	}
	if w.opt.Quiet || f.bare {
		w.text("\n")
		return
	}
	if whole {
		n := width + 1 - (w.pos() - start - bits - w.uncounted)
		if n == 0 {
			n = 1
		}
		w.pad(w.pos(), n)
	} else {
		w.pad(start, max(width, 0)) // unlike the columns before it, this is not a width of printf
		w.text(" ")
	}
	w.place(r, f.base)
}

// plainMember adds the line of a member that has nothing special: no bits, no
// alignment, a type that always has the same text, a name of printable ASCII. It tells
// whether r is one; else it adds nothing.
func (w *typeWriter) plainMember(r *view.Row, f *form) bool {
	at := f.base + r.Byte
	if uint64(r.Bits)|r.Align != 0 || at >= five || r.Size >= five || w.opt.Hex || f.bare {
		return false
	}
	text := w.columns.text(r.Slot, r.TypeID, f.typeWidth)
	if text == nil {
		return false
	}
	b := appendTabs(w.buf, f.indent+1)
	start := len(b)
	b, ok := w.v.Blob().AppendPlain(append(b, text...), r.NameOff)
	if !ok {
		return false
	}
	b = append(b, ';')
	b = append(b, spaces[:max(start+f.typeWidth+1+f.nameWidth-len(b), 0)]...)
	w.buf = appendPlace(append(b, ' '), at, r.Size)
	return true
}

// place adds the comment with offset and size of a member.
func (w *typeWriter) place(r *view.Row, base uint64) {
	if at := base + r.Byte; at < five && r.Size < five && r.Bits == 0 && !w.opt.Hex {
		w.buf = appendPlace(w.buf, at, r.Size)
		return
	}
	number := w.number
	if w.opt.Hex {
		number = w.hex
	}
	w.text("/* ")
	number(base+r.Byte, 5)
	if r.Bits != 0 {
		w.text(":")
		number(uint64(r.Bit), 2)
		w.text(" ")
		number(r.Size, 2)
	} else {
		w.text(" ")
		number(r.Size, 5)
	}
	w.text(" */\n")
}

func (w *typeWriter) aligned(n uint64) {
	if n != 0 && !w.opt.NoAligned {
		w.text(" __attribute__((__aligned__(")
		w.number(n, 0)
		w.text(")))")
	}
}

// anonymous adds a member whose type is written out, up to its name. It returns
// where the closing brace is.
func (w *typeWriter) anonymous(t view.Type, r *view.Row, f form) (brace int) {
	if t.IsEnum() {
		w.enum(t, f.indent+1)
		brace, w.uncounted = w.pos()-1, 0
	} else {
		f = f.inner(f.base + r.Byte)
		f.inUnion = f.inUnion || t.Kind() == btf.KindUnion
		brace = w.composite(t, f)
	}
	if r.NameOff != 0 {
		w.text(" ")
		w.name(r.Name())
	}
	return brace
}

// enum adds an enum from its keyword to its closing brace.
func (w *typeWriter) enum(t view.Type, indent int) {
	w.text("enum ")
	if name := t.Name(); len(name) > 0 {
		w.name(name)
		w.text(" ")
	}
	w.text("{\n")
	longest := 0
	for _, e := range t.Values() {
		longest = max(longest, len(e.Name()))
	}
	for _, e := range t.Values() {
		w.tabs(indent)
		w.text("\t")
		start := w.pos()
		w.name(e.Name())
		w.pad(start, longest)
		w.text(" = ")
		if w.opt.Hex {
			w.hex(uint64(e.Value), 0)
		} else if e.Value < 0 && t.Flag() {
			w.text("-")
			w.number(uint64(-e.Value), 0)
		} else {
			w.number(uint64(e.Value), 0)
		}
		w.text(",\n")
	}
	w.tabs(indent)
	w.text("}")
	if t.Size() != 4 {
		w.text(" __attribute__((__packed__))")
	}
}
