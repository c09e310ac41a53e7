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
// function. list says that it is the first one of several: compilers write the entry's location
// first. The expression is valid until the next call. ok is false if it is missing or cannot be
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

// A unit record keeps only the expressions of a parameter's location that can change the
// result of Analyze, without their ranges of addresses.

// MaxEntry is the length in bytes of the longest expression that is kept.
const MaxEntry = 0xff

// Condense appends to the slice to the expressions that matter, each after its length in a byte,
// as LocEntries has them. Whatever the parameter's type and the options are, Analyze
// gets the same result from them. An expression that changes nothing is dropped; if it is the
// first, an empty one stands in its place. Condense reports false if an expression is too long to
// keep.
func Condense(to []byte, exprs [][]byte, f dwarf.ExprFormat) ([]byte, bool) {
	one, two := Param{Reg: -1}, Param{Reg: -1}
	size := uint64(f.AddrSize)
	narrow := locDecoder{p: &one, format: f, addrSize: size}
	wide := locDecoder{p: &two, format: f, addrSize: size, twoRegs: true, wantPieces: true}
	for n, x := range exprs {
		before, beforeWide := one, two
		if !narrow.expr(x, n) || !wide.expr(x, n) {
			break // nothing counts from here on
		}
		changes := one != before || two != beforeWide
		switch {
		case changes && len(x) > MaxEntry:
			return to, false
		case changes:
			to = append(append(to, byte(len(x))), x...)
		case n == 0:
			to = append(to, 0)
		}
	}
	return to, true
}

// Expressions calls fn with each expression of the location of p, in order.
func (e *Functions) Expressions(p *Param, fn func(expr []byte)) {
	switch p.LocKind {
	case LocExpr:
		if off, n := uint64(p.LocOff), uint64(p.LocLen); off+n <= uint64(len(e.Exprs)) {
			fn(e.Exprs[off:][:n])
		}
	case LocList:
		l := dwarf.NewLocList(e.Lists.Data, uint64(p.LocOff), e.Format)
		for x, ok := l.Next(); ok; x, ok = l.Next() {
			fn(x)
		}
	}
}
