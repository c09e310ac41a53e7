package show

import (
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
)

// columns are the texts of types as they stand before the names of members, once many are printed: most types have several members, and all their texts
// are equal.
type columns struct {
	of   [3][]column // by how deep the struct of the member is, and by type id
	text []byte
}

// column is a part of columns.text.
type column struct {
	at   uint32
	size uint16
	done bool // it is known; one without a text depends on the member
}

// longestColumn is the most bytes of a text that is kept.
const longestColumn = 200

// column is the text of the type with the id, if it does not depend on the member; else
// nil.
func (p *Printer) column(id uint32, f form) []byte {
	all, depth := &p.columns, (typeWidth-f.typeWidth)/8
	if p.opt.Expand || p.opt.Pointers || depth < 0 || depth >= len(all.of) || typeWidth-f.typeWidth != 8*depth {
		return nil
	}
	if id >= uint32(len(all.of[depth])) {
		return nil
	}
	c := &all.of[depth][id]
	if !c.done {
		c.done = true
		if t := p.v.Type(id); isPlain(t) {
			start := len(p.buf)
			p.declare(t, &declaration{form: f}, 0)
			if n := len(p.buf) - start; n <= longestColumn && !p.over() {
				c.at, c.size = uint32(len(all.text)), uint16(n)
				all.text = append(all.text, p.buf[start:]...)
			}
			p.buf = p.buf[:start]
		}
	}
	if c.size == 0 {
		return nil
	}
	return all.text[c.at:][:c.size]
}

// isPlain tells whether t stands before the name of its member, with all that it says.
func isPlain(t view.Type) bool {
	for range view.MaxDepth {
		switch t.Kind() {
		case btf.KindConst:
			t = t.Target()
		case btf.KindArray:
			return false
		case btf.KindPtr:
			of := t.Target()
			return of.Kind() != btf.KindFuncProto && !unnamed(of)
		default:
			return !unnamed(t)
		}
	}
	return false
}
