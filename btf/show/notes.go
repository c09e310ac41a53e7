package show

import (
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
)

// note adds one line of a comment at the indentation.
func (p *Printer) note(indent int, what string, n uint64, rest string) {
	p.tabs(indent)
	p.text(what)
	p.number(n, 0)
	p.text(rest)
}

// gap adds the notes on what is unused before row i.
func (p *Printer) gap(l *view.Layout, i int, f form) {
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
func (p *Printer) forcing(l *view.Layout, i int, f form) {
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
	p.typeColumn(r, f)
	p.text(":")
	p.number(size, 0)
	p.text(";\n")
}

// combined tells whether a bit-field at row i, which is not the first, or before
// it shares bytes with others: -1 with those before row i, 1 with row i and those
// behind, 0 with none.
func combined(l *view.Layout, i int) int {
	r, last := &l.Rows[i], &l.Rows[i-1]
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
	case r.Byte < last.Byte || last.Bits == 0:
		return -1
	}
	return 0
}

// typeColumn adds the type of a bit-field, for one without a name.
func (p *Printer) typeColumn(r *view.Row, f form) {
	p.declare(r.Type(), &declaration{form: f}, 0)
}

// lastStruct notes what is unused in the struct that row i is.
func (p *Printer) lastStruct(l *view.Layout, i int, f form) {
	t := l.Rows[i].Type()
	if t.Kind() != btf.KindStruct || l.Type.Kind() == btf.KindUnion {
		return
	}
	s := p.lays.Summary(t)
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

// footer adds the numbers of a struct.
func (p *Printer) footer(l *view.Layout, f form) {
	p.text("\n")
	in := f.indent + 1
	p.note(in, "/* size: ", l.Size, "")
	lines := (l.Size + p.line - 1) / p.line
	if l.Size == 1 && len(l.Rows) == 0 {
		lines = 0 // see view.Row
	}
	p.note(0, ", cachelines: ", lines, "")
	p.note(0, ", members: ", uint64(len(l.Rows)), " */\n")
	if l.Holes > 0 || l.BitHoles > 0 {
		if l.SumMembers > 0 {
			p.note(in, "/* sum members: ", l.SumMembers, "")
			if l.Holes > 0 {
				p.note(0, ", holes: ", uint64(l.Holes), "")
				p.note(0, ", sum holes: ", l.SumHoles, "")
			}
			p.text(" */\n")
		}
		if l.SumBits > 0 {
			p.note(in, "/* sum bitfield members: ", l.SumBits, " bits")
			if l.BitHoles > 0 {
				p.note(0, ", bit holes: ", uint64(l.BitHoles), "")
				p.note(0, ", sum bit holes: ", l.SumBitHoles, " bits */\n")
			} else {
				p.note(0, " (", l.SumBits/8, " bytes) */\n")
			}
		}
	}
	if l.Padding > 0 {
		p.note(in, "/* padding: ", uint64(l.Padding), " */\n")
	}
	p.inMembers(l, in)
	if l.BitPadding > 0 {
		p.note(in, "/* bit_padding: ", uint64(l.BitPadding), " bits */\n")
	}
	if l.Forced > 0 && !p.opt.NoAligned {
		p.note(in, "/* forced alignments: ", uint64(l.Forced), "")
		if l.ForcedHoles > 0 {
			p.note(0, ", forced holes: ", uint64(l.ForcedHoles), "")
			p.note(0, ", sum forced holes: ", l.SumForcedHoles, "")
		}
		p.text(" */\n")
	}
	p.flexibles(l, in)
	if last := (f.base + l.Size) % p.line; last != 0 {
		p.note(in, "/* last cacheline: ", last, " bytes */\n")
	}
}

// inMembers adds the sums of what is unused in members that are structs.
func (p *Printer) inMembers(l *view.Layout, in int) {
	n := 0
	item := func(what string, t view.Tally, unit string) {
		if t.Members == 0 {
			return
		}
		if n == 0 {
			p.tabs(in)
			p.text("/* member types with ")
		} else {
			p.text(", ")
		}
		n++
		p.note(0, what+": ", uint64(t.Members), "")
		p.note(0, ", total: ", t.Sum, unit)
	}
	item("holes", l.InHoles, "")
	item("bit holes", l.InBitHoles, "")
	unit := " bits"
	if l.InBitPadding.Sum == 1 {
		unit = " bit"
	}
	item("bit paddings", l.InBitPadding, unit)
	if n > 0 {
		p.text(" */\n")
	}
	if l.InPadding.Members > 0 {
		p.note(in, "/* paddings: ", uint64(l.InPadding.Members), "")
		p.note(0, ", sum paddings: ", l.InPadding.Sum, " */\n")
	}
}

// flexibles adds how many members have flexible arrays.
func (p *Printer) flexibles(l *view.Layout, in int) {
	switch {
	case l.InEnd > 0:
		p.note(in, "/* flexible array members: end: ", uint64(l.InEnd), "")
		if l.InMiddle > 0 {
			p.note(0, ", middle: ", uint64(l.InMiddle), "")
		}
	case l.InMiddle > 0:
		p.note(in, "/* flexible array members: middle: ", uint64(l.InMiddle), "")
	default:
		return
	}
	p.text(" */\n")
}
