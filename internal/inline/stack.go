package inline

import "github.com/btflite/btflite/internal/dwarf"

// machine runs one expression.
type machine struct {
	env    *Env
	stack  [4]term
	n      int    // terms on the stack
	nested int    // how deep expressions may still be in expressions
	why    Reason // once an operation has failed

	located bool   // at is the place of the value, or of a piece
	at      Place  // if located
	pieces  bool   // there has been a DW_OP_piece
	parts   int    // pieces so far
	first   Place  // of the pieces so far, joined
	total   uint64 // bytes of the pieces so far
}

// termKind is the kind of a term. Its offset is added to this.
type termKind uint8

const (
	ofNothing  termKind = iota // a constant
	ofRegister                 // a register
	ofMemory                   // what is at a register and an offset
	ofProgram                  // where the program is in memory
)

// term is a value on the stack: its kind, plus off. For ofMemory, the value is the memory
// at reg + off, and nothing is added to it.
type term struct {
	off   uint64
	reg   uint32
	kind  termKind
	width uint8 // only so many low bytes of the value are right; 0: all
}

// fail ends the expression: the value has no place.
func (m *machine) fail(why Reason) bool {
	m.why = why
	return false
}

func (m *machine) push(v term) bool {
	if m.n == len(m.stack) {
		return m.fail(Computed)
	}
	m.stack[m.n] = v
	m.n++
	return true
}

// top returns the term that was pushed last, or nil.
func (m *machine) top() *term {
	if m.n == 0 {
		return nil
	}
	return &m.stack[m.n-1]
}

// add adds to the uppermost value.
func (m *machine) add(n uint64) bool {
	v := m.top()
	switch {
	case v == nil:
		return m.fail(BadExpression)
	case v.kind == ofMemory:
		return m.fail(Computed)
	}
	v.off += n
	return true
}

// binary runs an operation on two values. One must be a constant; for DW_OP_minus, the
// second.
func (m *machine) binary(code uint8) bool {
	if m.n < 2 {
		return m.fail(BadExpression)
	}
	a, b := m.stack[m.n-2], m.stack[m.n-1]
	m.n--
	if a.kind == ofNothing && code != dwarf.OpMinus {
		a, b = b, a
	}
	if b.kind != ofNothing || b.width != 0 {
		return m.fail(Computed)
	}
	m.stack[m.n-1] = a
	switch code {
	case dwarf.OpPlus:
		return m.add(b.off)
	case dwarf.OpMinus:
		return m.add(-b.off)
	}
	return m.mask(b.off)
}

// mask runs DW_OP_and with a constant. For a value that is not a constant, bits must keep its low 1, 2
// or 4 bytes.
func (m *machine) mask(bits uint64) bool {
	v := m.top()
	if v.kind == ofNothing {
		v.off &= bits
		return true
	}
	width := uint8(0)
	switch bits {
	case 0xff:
		width = 1
	case 0xffff:
		width = 2
	case 0xffffffff:
		width = 4
	default:
		return m.fail(Computed)
	}
	if v.kind == ofMemory && m.env.Format.BigEndian && v.width != width {
		return m.fail(Computed)
	}
	if v.width == 0 || width < v.width {
		v.width = width
	}
	return true
}

// deref replaces the top value by the n bytes that it points to.
func (m *machine) deref(n uint64) bool {
	v := m.top()
	switch {
	case v == nil || n == 0 || n > 8:
		return m.fail(BadExpression)
	case v.kind == ofProgram:
		return m.fail(FixedMemory)
	case v.kind != ofRegister || v.width != 0 && v.width < m.env.Format.AddrSize:
		return m.fail(Computed)
	}
	v.kind, v.width = ofMemory, uint8(n)
	return true
}

// entryValue runs DW_OP_entry_value. The value of a register when the function was called is known
// only at a site where the function begins.
func (m *machine) entryValue(expr []byte) bool {
	if !m.env.AtEntry {
		return m.fail(EntryValue)
	}
	if m.nested == 0 {
		return m.fail(Computed)
	}
	p := m.env.place(expr, m.nested-1)
	switch p.Kind {
	case Register:
		return m.push(term{kind: ofRegister, reg: p.Reg})
	case Missing:
		return m.fail(p.Why)
	}
	return m.fail(EntryValue) // memory may have changed
}

// inRegister runs DW_OP_reg and DW_OP_regx: the value is in a register.
func (m *machine) inRegister(reg uint64) bool {
	if m.n > 0 || reg >= uint64(FrameBase) {
		return m.fail(Computed)
	}
	m.located, m.at = true, Place{Kind: Register, Reg: uint32(reg)}
	return true
}

// stackValue runs DW_OP_stack_value: the last term is the value itself, not its address.
func (m *machine) stackValue() bool {
	v := m.top()
	if v == nil {
		return m.fail(BadExpression)
	}
	p := Place{Value: v.off, Reg: v.reg, Width: v.width}
	if p.Width == 0 {
		p.Width = m.env.Format.AddrSize // of what is on the stack
	}
	switch v.kind {
	case ofNothing:
		p.Kind = Const
	case ofProgram:
		switch {
		case m.env.Relocatable:
			return m.fail(NoBase)
		case v.off < m.env.Base:
			p.Kind = Const
		default:
			p.Kind, p.Value = Address, v.off-m.env.Base
		}
	case ofMemory:
		p.Kind, p.Exact = Memory, m.env.Format.BigEndian
	case ofRegister:
		if p.Kind = Sum; v.off == 0 && v.reg != FrameBase {
			p.Kind = Register
		}
	}
	if m.n > 1 {
		return m.fail(Computed)
	}
	m.n, m.located, m.at = 0, true, p
	return true
}

// implicitValue runs DW_OP_implicit_value: the expression has the value's bytes.
func (m *machine) implicitValue(b []byte) bool {
	if m.n > 0 || len(b) == 0 || len(b) > maxConst {
		return m.fail(Computed)
	}
	m.located, m.at = true, constBytes(b, m.env.Format.BigEndian)
	return true
}

// constBytes returns the constant with the bytes b, at most eight.
func constBytes(b []byte, bigEndian bool) Place {
	p := Place{Kind: Const, Width: uint8(len(b)), Exact: true}
	for i := range b {
		c := b[len(b)-1-i]
		if bigEndian {
			c = b[i]
		}
		p.Value = p.Value<<8 | uint64(c)
	}
	return p
}

// piece runs DW_OP_piece: the operations before it describe the next n bytes of the value.
func (m *machine) piece(n uint64) bool {
	if !m.located && m.n == 0 {
		return m.fail(InPieces) // these bytes are nowhere
	}
	p := m.memory()
	if p.Kind == Missing {
		return m.fail(p.Why)
	}
	m.n, m.located, m.pieces = 0, false, true
	if n == 0 || n > maxParam || m.parts == 2 || p.Width != 0 && (p.Exact && uint64(p.Width) != n || uint64(p.Width) < n) {
		return m.fail(InPieces)
	}
	before := m.total
	m.total += n
	if m.parts++; m.parts == 1 {
		m.first = p
		return true
	}
	if p, ok := joined(m.first, before, p, n, &m.env.Format); ok {
		m.first = p
		return true
	}
	return m.fail(InPieces)
}

// joined returns the place of a value whose first an bytes are at a and whose other bn bytes
// are at b, if one Place can say that.
func joined(a Place, an uint64, b Place, bn uint64, f *dwarf.ExprFormat) (Place, bool) {
	word := uint64(f.AddrSize)
	switch {
	case a.Kind == Const && b.Kind == Const && an+bn <= maxConst:
		if f.BigEndian {
			a, an, b, bn = b, bn, a, an
		}
		low := a.Value & (^uint64(0) >> (64 - 8*an))
		return Place{Kind: Const, Value: low | b.Value<<(8*an)}, true
	case a.Kind == Register && b.Kind == Register && an == word && (bn == word || bn < word && !f.BigEndian):
		// Of a register, a piece that is shorter is its low part on little-endian
		// machines; on others that is up to each.
		return Place{Kind: Pair, Reg: a.Reg, Reg2: b.Reg}, true
	}
	return Place{}, false
}

// memory returns the place of the value or piece that has been described. Without an operation that
// says otherwise, the last term is its address.
func (m *machine) memory() Place {
	if m.located {
		return m.at
	}
	v := m.top()
	if v == nil {
		return missing(BadExpression)
	}
	switch {
	case m.n > 1, v.width != 0 && v.width < m.env.Format.AddrSize:
		m.fail(Computed)
	case v.kind == ofRegister:
		return Place{Kind: Memory, Reg: v.reg, Value: v.off}
	case v.kind == ofMemory:
		m.fail(Computed)
	default:
		m.fail(FixedMemory)
	}
	return missing(m.why)
}

// result returns the place once all operations have been run.
func (m *machine) result() Place {
	if !m.pieces {
		return m.memory()
	}
	if m.located || m.n > 0 {
		return missing(InPieces)
	}
	p := m.first
	p.Width, p.Exact = uint8(m.total), true
	return p
}
