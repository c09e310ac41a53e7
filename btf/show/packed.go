package show

import (
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
)

// isPacked reports whether l is packed, or is one of the structs that must be (mark).
func isPacked(must map[uint32]bool, l *view.Layout) bool { return l.Packed || must[l.Type.ID] }

// markPacked is mark for l and for its members.
func (p *Printer) markPacked(l *view.Layout) {
	p.mark(l)
	for i := range l.Rows {
		notes{p}.mark(l, &l.Rows[i])
	}
}

// mark notes structs that must be packed: a member of l is one and lies at an unaligned offset
// though l is neither packed nor must be, or l is a union whose size is not a multiple of their
// alignment. From here on pahole takes these structs as packed wherever they occur.
func (p *output) mark(l *view.Layout) {
	if l.Misplaced && !isPacked(p.packed, l) {
		p.markMisplaced(l)
	}
}

// markMisplaced marks l as packed or not. pahole does so before the types that l needs
// are printed.
func (p *output) markMisplaced(l *view.Layout) {
	if !l.Misplaced {
		return
	}
	for i := range l.Rows {
		if r := &l.Rows[i]; r.Misplaced {
			if of := r.Type().Resolved(); of.Kind() == btf.KindStruct {
				if p.packed == nil {
					p.packed = map[uint32]bool{}
				}
				p.packed[of.ID] = true
			}
		}
	}
}

// mark is mark for a member of l. pahole calls it after it has printed the member, for
// the note after that. It looks at structs in structs, but not at their members, and not
// at typedefs and arrays.
func (p notes) mark(l *view.Layout, r *view.Row) {
	if r.Odd() && l.Type.Kind() == btf.KindStruct {
		part := p.lays.Of(r.Type())
		p.Printer.mark(part)
		p.lays.Done(part)
	}
}
