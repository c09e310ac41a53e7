package callconv

import "github.com/btflite/btflite/internal/dwarf"

// A unit record keeps only the expressions of a parameter's location that can change the
// result of Analyze, without their ranges of addresses.

// MaxEntry is the length in bytes of the longest expression that is kept.
const MaxEntry = 0xff

// Condense appends to to the expressions that matter, each after its length in a byte,
// as LocEntries has them. Whatever the parameter's type and the options are, Analyze
// gets the same result. An expression that changes nothing is dropped, or empty if it
// is the first. Condense reports false if an expression is too long to keep.
func Condense(to []byte, exprs [][]byte, f dwarf.ExprFormat) ([]byte, bool) {
	one, two := Param{Reg: -1}, Param{Reg: -1}
	size := uint64(f.AddrSize)
	narrow := locDecoder{p: &one, format: f, addrSize: size}
	wide := locDecoder{p: &two, format: f, addrSize: size, two: true, full: true}
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
