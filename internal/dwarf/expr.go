package dwarf

import "encoding/binary"

// DWARF expressions (DWARF 5, sections 2.5 and 7.7). An expression is a run of
// operations, each one byte and operands whose sizes the byte determines. An
// unknown byte therefore ends decoding: where its operands stop cannot be
// known.

// ExprFormat has the facts that the encoding of an expression depends on. They come from
// the unit header and the file.
type ExprFormat struct {
	Version   uint16 // DWARF version of the unit
	AddrSize  uint8  // bytes of an address: 1, 2, 4 or 8
	Dwarf64   bool   // section offsets have 8 bytes
	BigEndian bool
	Split     bool // of a .dwo file: location lists before DWARF 5 have the form of the GNU extension
}

// ExprOp is one operation of an expression.
type ExprOp struct {
	Code uint8  // DW_OP_ value
	A, B uint64 // operands in order, signed ones sign-extended; 0 if absent
	// Block is the operand that is a run of bytes: the inner expression of
	// DW_OP_entry_value, the value of DW_OP_implicit_value and
	// DW_OP_const_type. It aliases the expression.
	Block []byte
}

// Expr steps through the operations of one expression. It is a plain value
// that allocates nothing; copying it keeps the position.
type Expr struct {
	data []byte
	off  int
	f    ExprFormat
	bad  bool
}

// NewExpr returns an Expr at the first operation of data, which it aliases.
func NewExpr(data []byte, f ExprFormat) Expr { return Expr{data: data, f: f} }

// Bad reports whether decoding stopped at an unknown operation or at one that
// the expression's end cuts off, and not at the end.
func (x *Expr) Bad() bool { return x.bad }

// Offset returns the position of the next operation in the expression or, after decoding
// has failed, of the operation that failed.
func (x *Expr) Offset() int { return x.off }

// Next decodes the next operation into op and reports whether there was one.
func (x *Expr) Next(op *ExprOp) bool {
	if x.bad || x.off >= len(x.data) {
		return false
	}
	code := x.data[x.off]
	s := opShapes[code]
	if s[0] == argNone { // most operations by far
		op.Code, op.A, op.B, op.Block = code, 0, 0, nil
		x.off++
		return true
	}
	p := x.off + 1
	op.Code, op.B, op.Block = code, 0, nil
	op.A, p = x.operand(s[0], p, op)
	if p >= 0 && s[1] != argNone {
		op.B, p = x.operand(s[1], p, op)
	}
	if p < 0 {
		x.bad = true
		return false
	}
	x.off = p
	return true
}

// operand reads the operand of kind k at p and returns it and the position after it, or a
// negative position if it cannot be read.
func (x *Expr) operand(k uint8, p int, op *ExprOp) (uint64, int) {
	switch k {
	case argU1, argU2, argU4, argU8:
		return x.fixed(p, 1<<(k-argU1))
	case argS1, argS2, argS4, argS8:
		n := 1 << (k - argS1)
		v, q := x.fixed(p, n)
		shift := 64 - 8*n
		return uint64(int64(v<<shift) >> shift), q
	case argULEB:
		return ULEB(x.data, p)
	case argSLEB:
		v, q := SLEB(x.data, p)
		return uint64(v), q
	case argAddr:
		return x.fixed(p, int(x.f.AddrSize))
	case argOffset:
		n := 4
		switch {
		case x.f.Version <= 2 && (op.Code == OpImplicitPtr || op.Code == OpGNUImplicitPtr):
			n = int(x.f.AddrSize)
		case x.f.Dwarf64:
			n = 8
		}
		return x.fixed(p, n)
	case argBlock, argBlock1:
		var n uint64
		if k == argBlock {
			n, p = ULEB(x.data, p)
		} else {
			n, p = x.fixed(p, 1)
		}
		if p < 0 || n > uint64(len(x.data)-p) {
			return 0, -1
		}
		end := p + int(n)
		op.Block = x.data[p:end:end]
		return n, end
	}
	return 0, -1
}

// Static is the address that an expression starts with: the sum of Value and Extra.
type Static struct {
	Indexed bool   // Value is an index into .debug_addr in place of the address
	Value   uint64 // operand of the first operation
	Extra   uint64 // operand of a DW_OP_plus_uconst, if that is the only other operation
}

// StaticAddress reads an expression that starts with DW_OP_addr or with an index of an address. It
// reports false for all others, and for addresses of 1 or 2 bytes. It ignores operations after the
// address, except for Extra.
func StaticAddress(expr []byte, f ExprFormat) (s Static, ok bool) {
	x := NewExpr(expr, f)
	var op ExprOp
	if !x.Next(&op) {
		return s, false
	}
	switch op.Code {
	case OpAddr:
		ok = f.AddrSize == 4 || f.AddrSize == 8
	case OpAddrx, OpGNUAddrIndex:
		s.Indexed, ok = true, true
	}
	if s.Value = op.A; !ok || x.Offset() == len(expr) {
		return s, ok
	}
	if x.Next(&op) && op.Code == OpPlusUconst && x.Offset() == len(expr) {
		s.Extra = op.A
	}
	return s, ok
}

// fixed reads an unsigned integer of n bytes at p.
func (x *Expr) fixed(p, n int) (uint64, int) {
	if n > len(x.data)-p {
		return 0, -1
	}
	return fixedUint(x.data[p:p+n], x.f.BigEndian), p + n
}

// fixedUint decodes b, which has 1, 2, 4 or 8 bytes; other lengths give 0.
func fixedUint(b []byte, bigEndian bool) uint64 {
	if bigEndian {
		switch len(b) {
		case 1:
			return uint64(b[0])
		case 2:
			return uint64(binary.BigEndian.Uint16(b))
		case 4:
			return uint64(binary.BigEndian.Uint32(b))
		case 8:
			return binary.BigEndian.Uint64(b)
		}
		return 0
	}
	switch len(b) {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	case 8:
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}
