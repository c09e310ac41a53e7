package show

import (
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
)

// packing knows the structs that must be packed, though their own layouts do not tell.
type packing struct {
	lays *view.Layouts
	must map[uint32]bool
}

// has reports whether l is packed, or must be.
func (p *packing) has(l *view.Layout) bool { return l.Packed || p.must[l.Type.ID] }

// markAll is mark for l and for its members.
func (p *packing) markAll(l *view.Layout) {
	p.mark(l)
	for i := range l.Rows {
		p.markMember(l, &l.Rows[i])
	}
}

// mark notes structs that must be packed: a member of l is one and lies at an unaligned offset
// though l is neither packed nor must be, or l is a union whose size is not a multiple of their
// alignment. From here on pahole takes these structs as packed wherever they occur.
func (p *packing) mark(l *view.Layout) {
	if l.Misplaced && !p.has(l) {
		p.markMisplaced(l)
	}
}

// markMisplaced marks l as packed or not. pahole does so before the types that l needs
// are printed.
func (p *packing) markMisplaced(l *view.Layout) {
	if !l.Misplaced {
		return
	}
	for i := range l.Rows {
		if r := &l.Rows[i]; r.Misplaced {
			if of := r.Type().Resolved(); of.Kind() == btf.KindStruct {
				p.must[of.ID] = true
			}
		}
	}
}

// markMember is mark for a member of l. pahole calls it after it has printed the member, for
// the note after that. It looks at structs in structs, but not at their members, and not
// at typedefs and arrays.
func (p *packing) markMember(l *view.Layout, r *view.Row) {
	if r.Odd() && l.Type.Kind() == btf.KindStruct {
		part := p.lays.Of(r.Type())
		p.mark(part)
		p.lays.Done(part)
	}
}
