package callconv

import (
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/dwarf"
)

// locate sets size and location of p, whose source type is t.
func (e *Functions) locate(p *Param, t dedup.Ref, args *argRegs) {
	p.Size = e.Types.typeSize(t)
	limit := 2 * e.Types.AddrSize
	if args.one {
		limit = e.Types.AddrSize
	}
	if int(p.Size) > limit {
		p.Flags |= ParamInMemory
	}
	if p.LocKind == LocNone {
		return
	}
	d := locDecoder{p: p, format: e.Format, addrSize: uint64(e.Types.AddrSize)}
	d.two = int(p.Size) > e.Types.AddrSize && !args.one
	d.full = e.TrueSignature && e.Clang
	switch p.LocKind {
	case LocExpr:
		off, n := uint64(p.LocOff), uint64(p.LocLen)
		if off+n <= uint64(len(e.Exprs)) {
			d.expr(e.Exprs[off:][:n], 0)
		}
	case LocEntries:
		off, n := uint64(p.LocOff), uint64(p.LocLen)
		if off+n <= uint64(len(e.Entries)) {
			d.entries(e.Entries[off:][:n])
		}
	case LocList:
		if e.Lists.Reloc != nil && e.Format.Version < 5 {
			e.Lists.relocated(&d, uint64(p.LocOff))
			break
		}
		// Relocated or not: in lists of DWARF 5 addresses are stepped over,
		// and no relocation changes the length of anything.
		before := *p
		for !d.list(e.Lists.Data, uint64(p.LocOff)) && e.Lists.extend() {
			*p = before
		}
	}
}

// list reads the location list at offset off of a section. It reports false if the
// section ended inside the list.
func (d *locDecoder) list(section []byte, off uint64) bool {
	l := dwarf.NewLocList(section, off, d.format)
	for n := 0; ; n++ {
		// A broken list counts as far as it could be read.
		x, ok := l.Next()
		if !ok || !d.expr(x, n) || d.done() {
			return l.Err() == nil
		}
	}
}

// locDecoder takes the expressions of one parameter's location in order.
type locDecoder struct {
	p        *Param
	format   dwarf.ExprFormat
	addrSize uint64
	two      bool // the value takes two registers
	full     bool // pieces matter, not only the register
}

// done reports whether no later entry can change the outcome.
func (d *locDecoder) done() bool { return d.p.Reg >= 0 && !(d.two && d.full) }

func isConst(op uint8) bool {
	return op >= dwarf.OpLit0 && op <= dwarf.OpLit31 || op == dwarf.OpConstu || op == dwarf.OpConsts
}

// setReg sets the register unless an earlier expression did. op is one of 32 operations
// from first on.
func (d *locDecoder) setReg(op, first uint8) {
	if d.p.Reg < 0 {
		d.p.Reg = int8(op - first)
	}
}

// expr takes expression number n. It reports whether the expression could be
// decoded; if not, nothing after it counts.
func (d *locDecoder) expr(b []byte, n int) bool {
	var op [2]dwarf.ExprOp // the first two operations
	var rest dwarf.ExprOp
	count, stackValue := 0, false
	x := dwarf.NewExpr(b, d.format)
	for {
		o := &rest
		if count < 2 {
			o = &op[count]
		}
		if !x.Next(o) {
			break
		}
		if count > 0 && o.Code == dwarf.OpStackValue {
			stackValue = true
		}
		count++
	}
	if x.Bad() {
		return false
	}
	switch {
	case count == 0:
	case count == 1:
		d.single(&op[0], n, false)
	case count == 2 && stackValue:
		d.single(&op[0], n, true)
	case isConst(op[0].Code):
		if n == 0 {
			d.p.Flags |= ParamConstant
		}
	case d.two:
		d.pieces(b)
	case n == 0 && op[0].Code >= dwarf.OpReg0 && op[0].Code <= dwarf.OpReg31:
		d.setReg(op[0].Code, dwarf.OpReg0)
	case n == 0 && op[0].Code >= dwarf.OpBreg0 && op[0].Code <= dwarf.OpBreg31 && stackValue:
		d.setReg(op[0].Code, dwarf.OpBreg0)
	}
	return true
}

// single takes an expression of one operation, with or without a
// DW_OP_stack_value after it.
func (d *locDecoder) single(op *dwarf.ExprOp, n int, stackValue bool) {
	switch c := op.Code; {
	case c == dwarf.OpEntryValue || c == dwarf.OpGNUEntryValue:
		if len(op.Block) == 1 && op.Block[0] >= dwarf.OpReg0 && op.Block[0] <= dwarf.OpReg31 {
			d.setReg(op.Block[0], dwarf.OpReg0)
		}
	case n != 0:
	case c >= dwarf.OpReg0 && c <= dwarf.OpReg31:
		d.setReg(c, dwarf.OpReg0)
	case c >= dwarf.OpBreg0 && c <= dwarf.OpBreg31:
		if stackValue {
			d.setReg(c, dwarf.OpBreg0)
		}
	case c == dwarf.OpFbreg:
		d.p.Flags |= ParamOnStack
	case isConst(c):
		d.p.Flags |= ParamConstant
	}
}

// pieces takes an expression that describes the value in pieces.
func (d *locDecoder) pieces(b []byte) {
	var op dwarf.ExprOp
	x := dwarf.NewExpr(b, d.format)
	for off, i := uint64(0), 0; x.Next(&op); i++ {
		switch {
		case op.Code == dwarf.OpPiece && i == 0:
			off = op.A
		case op.Code == dwarf.OpPiece:
			if off < d.addrSize {
				d.p.PieceFirst |= 1 << off
			} else if off < 2*d.addrSize {
				d.p.PieceSecond |= 1 << (off - d.addrSize)
			}
			off += op.A
		case op.Code >= dwarf.OpReg0 && op.Code <= dwarf.OpReg31:
			d.setReg(op.Code, dwarf.OpReg0)
		}
	}
}
