package callconv

import "github.com/btflite/btflite/internal/dwarf"

// Origin is the function of the unit that f takes its name from: its abstract origin,
// or the declaration that it completes; nil if there is none.
func (e *Functions) Origin(f *Func) *Func {
	if o := e.funcAt(f.Origin); o != nil {
		return o
	}
	return e.funcAt(f.Spec)
}

// Location returns the expression for parameter p of function i at the entry of the
// function, and whether it is the first of several: compilers write the entry's location
// first. It is valid until the next call. ok is false if it is missing or cannot be
// read.
func (e *Functions) Location(i uint32, p *Param) (expr []byte, list, ok bool) {
	switch p.LocKind {
	case LocExpr:
		off, n := uint64(p.LocOff), uint64(p.LocLen)
		if off+n > uint64(len(e.Exprs)) {
			return nil, false, false
		}
		return e.Exprs[off:][:n], false, true
	case LocEntries:
		off, n := uint64(p.LocOff), uint64(p.LocLen)
		if n == 0 || off+n > uint64(len(e.Entries)) {
			return nil, true, false
		}
		b := e.Entries[off:][:n]
		size := int(b[0])
		if size == 0 || size >= len(b) { // Condense has dropped the expression
			return nil, true, false
		}
		return b[1:][:size], size+1 < len(b), true
	case LocList:
		if len(e.Formats) > 0 {
			e.useFormat(i)
		}
		data, off := e.Lists.Data, uint64(p.LocOff)
		if t := e.Lists.Reloc; t != nil && e.Format.Version < 5 && off < uint64(len(data)) {
			// Without its relocations an entry at the start of a section looks
			// like the end of the list.
			b := append(e.Lists.buf[:0], data[off:min(off+firstEntry, uint64(len(data)))]...)
			e.Lists.buf = b
			first := t.Search(0, off)
			if t.Apply(b, off, first, t.Search(first, off+uint64(len(b)))) != nil {
				return nil, true, false
			}
			data, off = b, 0
		}
		l := dwarf.NewLocList(data, off, e.Format)
		expr, ok = l.Next()
		return expr, true, ok
	}
	return nil, false, false
}

// firstEntry is how many bytes of a list with relocations are read: an entry with an
// expression of one operation takes less.
const firstEntry = 128
