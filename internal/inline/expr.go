package inline

import "github.com/btflite/btflite/internal/dwarf"

// Expressions (DWARF 5, section 2.5 and 2.6) become places. An expression runs on a stack
// of values. A value is a constant, a register or the contents of memory, each with an
// offset, because BTF has no form for others. Operations, their number and the depth of
// the stack are bounded: compilers write short expressions for a parameter.

// maxOps is how many operations an expression may have, and maxNested how deep
// expressions are in expressions.
const (
	maxOps    = 64
	maxNested = 2
)

// Env has the facts that decide which place an expression stands for.
type Env struct {
	Format dwarf.ExprFormat
	// AddressAt is the address at an index of .debug_addr; nil for none.
	AddressAt func(index uint64) uint64
	// AtEntry says that the site begins where the function around it begins, so that
	// registers have the values that they had when that function was called.
	AtEntry bool
	// Base is the lowest address of code. Addresses from there on count from it, because
	// they move with the program. Smaller ones do not move.
	Base uint64
	// Relocatable says that addresses are not assigned yet.
	Relocatable bool
}

// Place returns the place for which an expression stands, or why there is none.
func (e *Env) Place(expr []byte) Place {
	// Most are a register, or a small constant.
	switch {
	case len(expr) == 1 && expr[0] >= dwarf.OpReg0 && expr[0] <= dwarf.OpReg31:
		return Place{Kind: Register, Reg: uint32(expr[0] - dwarf.OpReg0)}
	case len(expr) == 2 && expr[0] >= dwarf.OpLit0 && expr[0] <= dwarf.OpLit31 && expr[1] == dwarf.OpStackValue:
		return Place{Kind: Const, Value: uint64(expr[0] - dwarf.OpLit0), Width: e.Format.AddrSize}
	}
	return e.place(expr, maxNested)
}

func (e *Env) place(expr []byte, nested int) Place {
	if len(expr) == 0 {
		return missing(OptimizedOut)
	}
	m := machine{env: e, nested: nested}
	x := dwarf.NewExpr(expr, e.Format)
	var op dwarf.ExprOp
	for n := 0; x.Next(&op); n++ {
		if n == maxOps {
			return missing(Computed)
		}
		if !m.step(&op) {
			return missing(m.why)
		}
	}
	if x.Bad() {
		return missing(BadExpression)
	}
	return m.result()
}

// step runs an operation. If it returns false, m.why says why the value has no place.
func (m *machine) step(op *dwarf.ExprOp) bool {
	switch c := op.Code; {
	case c == dwarf.OpNop:
		return true
	case m.located && c != dwarf.OpPiece:
		return m.fail(Computed)
	}
	switch c := op.Code; {
	case c >= dwarf.OpLit0 && c <= dwarf.OpLit31:
		return m.push(term{off: uint64(c - dwarf.OpLit0)})
	case c >= dwarf.OpReg0 && c <= dwarf.OpReg31:
		return m.inRegister(uint64(c - dwarf.OpReg0))
	case c >= dwarf.OpBreg0 && c <= dwarf.OpBreg31:
		return m.push(term{kind: ofRegister, reg: uint32(c - dwarf.OpBreg0), off: op.A})
	case c >= dwarf.OpConst1u && c <= dwarf.OpConst8s || c == dwarf.OpConstu || c == dwarf.OpConsts:
		return m.push(term{off: op.A})
	}
	switch op.Code {
	case dwarf.OpRegx:
		return m.inRegister(op.A)
	case dwarf.OpBregx:
		if op.A >= uint64(FrameBase) {
			return m.fail(Computed)
		}
		return m.push(term{kind: ofRegister, reg: uint32(op.A), off: op.B})
	case dwarf.OpFbreg:
		return m.push(term{kind: ofRegister, reg: FrameBase, off: op.A})
	case dwarf.OpAddr:
		return m.push(term{kind: ofProgram, off: op.A})
	case dwarf.OpAddrx, dwarf.OpGNUAddrIndex:
		if m.env.AddressAt == nil {
			return m.fail(Computed)
		}
		return m.push(term{kind: ofProgram, off: m.env.AddressAt(op.A)})
	case dwarf.OpPlusUconst:
		return m.add(op.A)
	case dwarf.OpPlus, dwarf.OpMinus, dwarf.OpAnd:
		return m.binary(op.Code)
	case dwarf.OpDeref:
		return m.deref(uint64(m.env.Format.AddrSize))
	case dwarf.OpDerefSize:
		return m.deref(op.A)
	case dwarf.OpEntryValue, dwarf.OpGNUEntryValue:
		return m.entryValue(op.Block)
	case dwarf.OpStackValue:
		return m.stackValue()
	case dwarf.OpImplicitValue:
		return m.implicitValue(op.Block)
	case dwarf.OpPiece:
		return m.piece(op.A)
	case dwarf.OpImplicitPtr, dwarf.OpGNUImplicitPtr:
		return m.fail(ImplicitPtr)
	case dwarf.OpBitPiece:
		return m.fail(InPieces)
	}
	if op.Code >= dwarf.OpConstType && op.Code <= dwarf.OpReinterpret || op.Code >= dwarf.OpGNUConstType && op.Code <= dwarf.OpGNUReinterpret {
		return m.fail(Typed)
	}
	return m.fail(Computed)
}
