package show

import (
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
)

// notes adds what stands between members.
type notes struct{ *Printer }

// noGap is gap for a row behind the row before it, with nothing unused between them, and no bit-fields.
func (p notes) noGap(i int) {
	if i > 0 && p.noted {
		p.text("\n")
	}
	p.noted = false
}

// gap adds the notes on what is unused before row i.
func (p notes) gap(l *view.Layout, i int, f form) {
	r := &l.Rows[i]
	in := f.indent + 1
	noted := false
	blank := func() {
		if !noted {
			p.text("\n")
			noted = true
		}
	}
	if i > 0 {
		noted = p.noted
	}
	p.noted = false
	if r.BitHole > 0 {
		blank()
		p.tabs(in)
		p.text("/* XXX ")
		p.count(r.BitHole, "bit")
		p.text(" hole, try to pack */\n")
	}
	if r.Hole > 0 {
		blank()
		p.tabs(in)
		p.text("/* XXX ")
		p.count(r.Hole, "byte")
		p.text(" hole, try to pack */\n")
	}
	if i > 0 && l.Type.Kind() == btf.KindStruct {
		p.forcing(l, i, f)
		switch combined(l, i) {
		case -1:
			blank()
			p.tabs(in)
			p.text("/* Bitfield combined with previous fields */\n")
		case 1:
			blank()
			p.tabs(in)
			p.text("/* Bitfield combined with next fields */\n")
		}
	}
	if noted {
		p.text("\n")
	}
}

// forcing adds the line of C that puts the bit-field at row i where it is.
func (p notes) forcing(l *view.Layout, i int, f form) {
	if i == 0 || l.Type.Kind() != btf.KindStruct {
		return
	}
	r, last := &l.Rows[i], &l.Rows[i-1]
	if r.Bits == 0 || r.BitHole == 0 {
		return
	}
	size := r.BitHole
	if r.Byte != last.Byte {
		size = 0
		p.text("\n")
		p.tabs(f.indent + 1)
		p.text("/* Force alignment to the next boundary: */\n")
	}
	p.tabs(f.indent + 1)
	p.declare(r.Type(), &declaration{form: f}, 0) // without a name
	t, written := r.Type(), p.opt.Expand && !p.opt.Pointers
	if written {
		t = t.Behind(btf.Typedefs)
	}
	if t.IsEnum() && (written || !t.HasName()) {
		p.text(" ") // the others are padded
	}
	p.text(":")
	p.number(size, 0)
	p.text(";\n")
}

// combined compares row i, which is not the first, with the row before it, and reports whether a
// bit-field in one of them shares bytes with the other rows: -1 with rows before i, 1 with row i
// and later ones, 0 with none. A row that goes back counts as -1, bit-field or not, as in pahole:
// static members of DWARF 4 do in BTF.
func combined(l *view.Layout, i int) int {
	r, last := &l.Rows[i], &l.Rows[i-1]
	if r.Byte < last.Byte {
		return -1
	}
	if r.Bits == 0 && last.Bits == 0 {
		return 0
	}
	end := last.Byte + last.Size
	for j := i - 1; last.Bits != 0 && j >= 0 && l.Rows[j].Bits != 0 && l.Rows[j].Byte == last.Byte; j-- {
		end = last.Byte + l.Rows[j].Size
	}
	switch {
	case r.Byte >= end:
		return 0
	case r.Byte > last.Byte:
		return 1
	case last.Bits == 0:
		return -1
	}
	return 0
}

// lastStruct notes the unused bytes in the struct of row i.
func (p notes) lastStruct(l *view.Layout, i int, f form) {
	if l.Rows[i].Kind() != btf.KindStruct || l.Type.Kind() == btf.KindUnion {
		return
	}
	s := p.lays.SummaryOf(l.Rows[i].TypeID)
	n := 0
	item := func() {
		if n == 0 {
			p.text("\n")
			p.tabs(f.indent + 1)
			p.text("/* XXX last struct has ")
		} else {
			p.text(", ")
		}
		n++
	}
	if s.Flexible {
		item()
		p.text("a flexible array")
	}
	if s.Embedded {
		item()
		p.text("embedded flexible array(s)")
	}
	if s.Padding > 0 {
		item()
		p.count(uint64(s.Padding), "byte")
		p.text(" of padding")
	}
	if s.BitPadding > 0 {
		item()
		p.count(uint64(s.BitPadding), "bit")
		p.text(" of padding")
	}
	if s.Holes > 0 {
		item()
		p.count(uint64(s.Holes), "hole")
	}
	if s.BitHoles > 0 {
		item()
		p.count(uint64(s.BitHoles), "bit hole")
	}
	if n > 0 {
		p.text(" */\n")
		if i == len(l.Rows)-1 {
			p.noted = false
		} else {
			p.noted = true
		}
	}
}

// ancestor adds a base class. That is not a member that C++ would declare, and stands in
// a comment.
func (p notes) ancestor(r *view.Row, f form) {
	p.text("/* ")
	start := p.pos()
	p.typeName(r.Type())
	p.pad(start, f.typeWidth)
	p.text(" <ancestor>; */")
}
