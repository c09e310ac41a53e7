package show

import (
	"math/bits"

	"github.com/btflite/btflite/btf/view"
)

// footer adds the numbers of a struct.
func (p *Printer) footer(l *view.Layout, f form) {
	n := numbers{p, l, f.indent + 1}
	n.add(f)
}

// numbers is the footer of a struct in work.
type numbers struct {
	*Printer
	l  *view.Layout
	in int // tabs before each line
}

func (p *numbers) add(f form) {
	l, in := p.l, p.in
	p.text("\n")
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
	p.inMembers()
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
	p.flexibles()
	if last := (f.base + l.Size) % p.line; last != 0 {
		p.note(in, "/* last cacheline: ", last, " bytes */\n")
	}
	if p.opt.Biggest {
		p.biggest()
	}
}

// inMembers adds the sums of what is unused in members that are structs.
func (p *numbers) inMembers() {
	l, in := p.l, p.in
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
func (p *numbers) flexibles() {
	l, in := p.l, p.in
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

// biggest adds which number has the most bytes.
func (p *numbers) biggest() {
	p.findBiggest(p.l.Type)
	b := p.biggestOf(p.l.Rows) // rows may be in another order than the members of the type
	if b == nil {
		return
	}
	p.tabs(p.in)
	p.text("/* first biggest size base type member: ")
	if b.NameOff == 0 {
		p.text("(null)") // pahole gives printf a NULL string
	}
	p.name(b.Name())
	p.note(0, " ", b.Byte, "")
	p.note(0, " ", b.Size, " */\n")
}

// biggestOf finds the first of the biggest members, as pahole does. Those that are structs have
// been looked at. Of an array only an element counts, but an array in an inner struct counts as a
// whole. What has more bytes than a word in an inner struct is named by the member around it. Sizes
// up to the next power of two are equal. The search stops at the first member of the size of a word.
func (p *numbers) biggestOf(rows []view.Row) (b *big) {
	word := uint64(p.v.PointerSize())
	for i := range rows {
		m, of := &big{Row: rows[i]}, rows[i].Type().Innermost()
		switch in := p.bigs[of.ID]; {
		case !of.IsComposite():
			m.elem = of.Size()
		case in == nil:
			continue // it has no number
		case in.Size <= word:
			m.Row, m.elem = in.Row, in.Size
		default:
			m.elem = in.Size
		}
		if b == nil || bits.Len64(m.elem) > bits.Len64(b.elem) {
			b = m
		}
		if b.elem >= word {
			break
		}
	}
	return b
}

// findBiggest finds the biggest number of t. It looks at the structs inside t first. It keeps a list
// of them in place of calling itself, because structs may be nested deeper than the stack allows.
func (p *numbers) findBiggest(t view.Type) {
	if p.bigs == nil {
		p.bigs = map[uint32]*big{}
	}
	type partly struct {
		view.Type
		member int // the first one that has not been looked at
	}
	var open []partly
	enter := func(t view.Type) {
		if _, ok := p.bigs[t.ID]; !ok && t.IsComposite() {
			p.bigs[t.ID] = nil // it may contain itself
			open = append(open, partly{t, 0})
		}
	}
	for enter(t); len(open) > 0; {
		in := &open[len(open)-1]
		if in.member < in.Vlen() {
			in.member++
			enter(in.Member(in.member - 1).Type().Innermost())
			continue
		}
		l := p.lays.Of(in.Type)
		p.bigs[in.ID] = p.biggestOf(l.Rows)
		p.lays.Done(l)
		open = open[:len(open)-1]
	}
}
