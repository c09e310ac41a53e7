package show

import (
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
)

// gap adds the notes on what is unused before row i.
func (w *typeWriter) gap(l *view.Layout, i int, f form) {
	r := &l.Rows[i]
	in := f.indent + 1
	noted := false
	blank := func() {
		if !noted {
			w.text("\n")
			noted = true
		}
	}
	if i > 0 {
		noted = w.noted
	}
	w.noted = false
	if r.BitHole > 0 {
		blank()
		w.tabs(in)
		w.text("/* XXX ")
		w.count(r.BitHole, "bit")
		w.text(" hole, try to pack */\n")
	}
	if r.Hole > 0 {
		blank()
		w.tabs(in)
		w.text("/* XXX ")
		w.count(r.Hole, "byte")
		w.text(" hole, try to pack */\n")
	}
	if i > 0 && l.Type.Kind() == btf.KindStruct {
		w.forcing(l, i, f)
		switch combined(l, i) {
		case -1:
			blank()
			w.tabs(in)
			w.text("/* Bitfield combined with previous fields */\n")
		case 1:
			blank()
			w.tabs(in)
			w.text("/* Bitfield combined with next fields */\n")
		}
	}
	if noted {
		w.text("\n")
	}
}

// forcing adds the line of C that puts the bit-field at row i where it is.
func (w *typeWriter) forcing(l *view.Layout, i int, f form) {
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
		w.text("\n")
		w.tabs(f.indent + 1)
		w.text("/* Force alignment to the next boundary: */\n")
	}
	w.tabs(f.indent + 1)
	w.declare(r.Type(), &declaration{form: f}, 0) // without a name
	t, written := r.Type(), w.opt.Expand && !w.opt.Pointers
	if written {
		t = t.Behind(btf.Typedefs)
	}
	if t.IsEnum() && (written || !t.HasName()) {
		w.text(" ") // the others are padded
	}
	w.text(":")
	w.number(size, 0)
	w.text(";\n")
}

// combined compares row i, which is not the first, with the row before it, and reports whether a
// bit-field in one of them shares bytes with the other rows: -1 with rows before i, 1 with row i
// and later ones, 0 with none. As in pahole, a row that goes back counts as -1, bit-field or not:
// static members of DWARF 4 do in BTF. Behind a row without a size nothing is combined.
func combined(l *view.Layout, i int) int {
	r, last := &l.Rows[i], &l.Rows[i-1]
	switch {
	case last.Size == 0:
		return 0
	case r.Byte < last.Byte:
		return -1
	case r.Bits == 0 && last.Bits == 0:
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

// lastStruct notes the unused bytes in row i, which is a struct.
func (w *typeWriter) lastStruct(l *view.Layout, i int, f form) {
	if l.Type.Kind() == btf.KindUnion {
		return
	}
	s := w.lays.Summary(l.Rows[i].TypeID)
	n := 0
	item := func() {
		if n == 0 {
			w.text("\n")
			w.tabs(f.indent + 1)
			w.text("/* XXX last struct has ")
		} else {
			w.text(", ")
		}
		n++
	}
	if s.Flexible {
		item()
		w.text("a flexible array")
	}
	if s.Embedded {
		item()
		w.text("embedded flexible array(s)")
	}
	if s.Padding > 0 {
		item()
		w.count(uint64(s.Padding), "byte")
		w.text(" of padding")
	}
	if s.BitPadding > 0 {
		item()
		w.count(uint64(s.BitPadding), "bit")
		w.text(" of padding")
	}
	if s.Holes > 0 {
		item()
		w.count(uint64(s.Holes), "hole")
	}
	if s.BitHoles > 0 {
		item()
		w.count(uint64(s.BitHoles), "bit hole")
	}
	if n > 0 {
		w.text(" */\n")
		w.noted = i < len(l.Rows)-1
	}
}
