package callconv

import "github.com/btflite/btflite/internal/dwarf"

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

// entries takes expressions that Condense has kept.
func (d *locDecoder) entries(b []byte) {
	for n := 0; len(b) > 0; n++ {
		size := int(b[0])
		if b = b[1:]; size > len(b) || !d.expr(b[:size], n) || d.done() {
			return
		}
		b = b[size:]
	}
}

// relocated makes d read the list at offset off of a .debug_loc with relocations,
// which decide where a list ends. It copies and relocates a part of the section that
// mostly suffices, because d mostly reads one entry, and a larger part if the list
// goes on.
func (l *Lists) relocated(d *locDecoder, off uint64) {
	before := *d.p
	for size := uint64(128); ; size *= 4 {
		for off+size > uint64(len(l.Data)) && l.extend() {
		}
		if off >= uint64(len(l.Data)) {
			return
		}
		l.buf = append(l.buf[:0], l.Data[off:min(off+size, uint64(len(l.Data)))]...)
		first := l.Reloc.Search(0, off)
		end := off + uint64(len(l.buf))
		if err := l.Reloc.Apply(l.buf, off, first, l.Reloc.Search(first, end)); err != nil {
			l.err = err
			return
		}
		if d.list(l.buf, 0) || end == uint64(len(l.Data)) {
			return
		}
		*d.p = before
	}
}

// locDecoder takes the expressions of one parameter's location in order.
type locDecoder struct {
	p          *Param
	format     dwarf.ExprFormat
	addrSize   uint64
	twoRegs    bool // the value takes two registers
	wantPieces bool // the pieces matter too, not only the register
}

// done reports whether no later expression can change the result.
func (d *locDecoder) done() bool { return d.p.Reg >= 0 && !(d.twoRegs && d.wantPieces) }

// isConst reports whether an operation pushes a constant, as far as pahole knows.
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

// expr takes expression number n of the location, from 0. It reports whether it could decode
// the expression; if not, later ones do not count.
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
	case d.twoRegs:
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
