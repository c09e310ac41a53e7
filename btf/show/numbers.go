package show

import "github.com/btflite/btflite/btf/view"

// footer adds the numbers of a struct.
func (w *typeWriter) footer(l *view.Layout, f form) {
	in := f.indent + 1
	w.text("\n")
	w.note(in, "/* size: ", l.Size, "")
	lines := (l.Size + w.lays.CacheLine - 1) / w.lays.CacheLine
	if l.Size == 1 && len(l.Rows) == 0 {
		lines = 0 // an empty class of C++ or Rust
	}
	w.note(0, ", cachelines: ", lines, "")
	w.note(0, ", members: ", uint64(len(l.Rows)), " */\n")
	if l.Holes > 0 || l.BitHoles > 0 {
		if l.SumMembers > 0 {
			w.note(in, "/* sum members: ", l.SumMembers, "")
			if l.Holes > 0 {
				w.note(0, ", holes: ", uint64(l.Holes), "")
				w.note(0, ", sum holes: ", l.SumHoles, "")
			}
			w.text(" */\n")
		}
		if l.SumBits > 0 {
			w.note(in, "/* sum bitfield members: ", l.SumBits, " bits")
			if l.BitHoles > 0 {
				w.note(0, ", bit holes: ", uint64(l.BitHoles), "")
				w.note(0, ", sum bit holes: ", l.SumBitHoles, " bits */\n")
			} else {
				w.note(0, " (", l.SumBits/8, " bytes) */\n")
			}
		}
	}
	if l.Padding > 0 {
		w.note(in, "/* padding: ", uint64(l.Padding), " */\n")
	}
	w.inMembers(l, in)
	if l.BitPadding > 0 {
		w.note(in, "/* bit_padding: ", uint64(l.BitPadding), " bits */\n")
	}
	if l.Forced > 0 && !w.opt.NoAligned {
		w.note(in, "/* forced alignments: ", uint64(l.Forced), "")
		if l.ForcedHoles > 0 {
			w.note(0, ", forced holes: ", uint64(l.ForcedHoles), "")
			w.note(0, ", sum forced holes: ", l.SumForcedHoles, "")
		}
		w.text(" */\n")
	}
	w.flexibles(l, in)
	if last := (f.base + l.Size) % w.lays.CacheLine; last != 0 {
		w.note(in, "/* last cacheline: ", last, " bytes */\n")
	}
	if w.opt.Biggest {
		w.biggest(l, in)
	}
}

// inMembers adds the sums of what is unused in members that are structs.
func (w *typeWriter) inMembers(l *view.Layout, in int) {
	n := 0
	item := func(what string, t view.Tally, unit string) {
		if t.Members == 0 {
			return
		}
		if n == 0 {
			w.tabs(in)
			w.text("/* member types with ")
		} else {
			w.text(", ")
		}
		n++
		w.note(0, what+": ", uint64(t.Members), "")
		w.note(0, ", total: ", t.Sum, unit)
	}
	item("holes", l.InHoles, "")
	item("bit holes", l.InBitHoles, "")
	unit := " bits"
	if l.InBitPadding.Sum == 1 {
		unit = " bit"
	}
	item("bit paddings", l.InBitPadding, unit)
	if n > 0 {
		w.text(" */\n")
	}
	if l.InPadding.Members > 0 {
		w.note(in, "/* paddings: ", uint64(l.InPadding.Members), "")
		w.note(0, ", sum paddings: ", l.InPadding.Sum, " */\n")
	}
}

// flexibles adds how many members have flexible arrays.
func (w *typeWriter) flexibles(l *view.Layout, in int) {
	switch {
	case l.InEnd > 0:
		w.note(in, "/* flexible array members: end: ", uint64(l.InEnd), "")
		if l.InMiddle > 0 {
			w.note(0, ", middle: ", uint64(l.InMiddle), "")
		}
	case l.InMiddle > 0:
		w.note(in, "/* flexible array members: middle: ", uint64(l.InMiddle), "")
	default:
		return
	}
	w.text(" */\n")
}

// biggest adds which number has the most bytes.
func (w *typeWriter) biggest(l *view.Layout, in int) {
	if w.bigs == nil {
		w.bigs = &bigs{w.lays, uint64(w.v.PointerSize()), map[uint32]*big{}}
	}
	w.bigs.find(l.Type)
	b := w.bigs.of(l.Rows) // rows may be in another order than the members of the type
	if b == nil {
		return
	}
	w.tabs(in)
	w.text("/* first biggest size base type member: ")
	if b.NameOff == 0 {
		w.text("(null)") // pahole gives printf a NULL string
	}
	w.name(b.Name())
	w.note(0, " ", b.Byte, "")
	w.note(0, " ", b.Size, " */\n")
}
