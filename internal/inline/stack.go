package inline

import "github.com/btflite/btflite/internal/dwarf"

// machine runs one expression.
type machine struct {
	env    *Env
	stack  [4]term
	n      int
	nested int
	why    Reason

	done   bool  // at is a whole place, or the place of a piece
	at     Place // once done
	pieces bool  // there has been a DW_OP_piece
	parts  int
	first  Place // of the first piece
	total  uint64
}

// sort is the sort of a value, without its offset.
type sort uint8

const (
	ofNothing  sort = iota // a constant
	ofRegister             // a register
	ofMemory               // what is at a register and an offset
	ofProgram              // the place of the program in memory
)

// term is a value on the stack: its sort, plus off. For ofMemory, the value is the memory
// at off, and nothing is added to it.
type term struct {
	off   uint64
	reg   uint32
	sort  sort
	width uint8 // of so many bytes only is the value right; 0 for all
}

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

// top is the uppermost value, or nil.
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
	case v.sort == ofMemory:
		return m.fail(Computed)
	}
	v.off += n
	return true
}

// binary runs an operation on two values. One must be a constant; for a difference, the
// second.
func (m *machine) binary(code uint8) bool {
	if m.n < 2 {
		return m.fail(BadExpression)
	}
	a, b := m.stack[m.n-2], m.stack[m.n-1]
	m.n--
	if a.sort == ofNothing && code != dwarf.OpMinus {
		a, b = b, a
	}
	if b.sort != ofNothing || b.width != 0 {
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

// mask keeps the low bytes of the uppermost value.
func (m *machine) mask(bits uint64) bool {
	v := m.top()
	if v.sort == ofNothing {
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
	if v.sort == ofMemory && m.env.Format.BigEndian && v.width != width {
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
	case v.sort == ofProgram:
		return m.fail(FixedMemory)
	case v.sort != ofRegister || v.width != 0 && v.width < m.env.Format.AddrSize:
		return m.fail(Computed)
	}
	v.sort, v.width = ofMemory, uint8(n)
	return true
}

// entryValue pushes the value of an expression at the call of the function.
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
		return m.push(term{sort: ofRegister, reg: p.Reg})
	case Missing:
		return m.fail(p.Why)
	}
	return m.fail(EntryValue) // memory may have changed
}

// inRegister says that the value is in a register.
func (m *machine) inRegister(reg uint64) bool {
	if m.n > 0 || reg >= uint64(FrameBase) {
		return m.fail(Computed)
	}
	m.done, m.at = true, Place{Kind: Register, Reg: uint32(reg)}
	return true
}

// stackValue says that the uppermost value is the one that is asked for.
func (m *machine) stackValue() bool {
	v := m.top()
	if v == nil {
		return m.fail(BadExpression)
	}
	p := Place{Value: v.off, Reg: v.reg, Width: v.width}
	if p.Width == 0 {
		p.Width = m.env.Format.AddrSize // of what is on the stack
	}
	switch v.sort {
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
	m.n, m.done, m.at = 0, true, p
	return true
}

// implicitValue is a value that stands in the expression.
func (m *machine) implicitValue(b []byte) bool {
	if m.n > 0 || len(b) == 0 || len(b) > maxConst {
		return m.fail(Computed)
	}
	m.done, m.at = true, constBytes(b, m.env.Format.BigEndian)
	return true
}

// constBytes is the constant that the bytes of a value are.
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

// piece ends the place of the next n bytes of the value.
func (m *machine) piece(n uint64) bool {
	if !m.done && m.n == 0 {
		return m.fail(InPieces) // these bytes are nowhere
	}
	p := m.memory()
	if p.Kind == Missing {
		return m.fail(p.Why)
	}
	m.n, m.done, m.pieces = 0, false, true
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

// joined is the place of a value whose first an bytes are at a and whose other bn bytes
// are at b.
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

// memory returns the finished place, or else the memory at the top value.
func (m *machine) memory() Place {
	if m.done {
		return m.at
	}
	v := m.top()
	if v == nil {
		return missing(BadExpression)
	}
	switch {
	case m.n > 1, v.width != 0 && v.width < m.env.Format.AddrSize:
		m.fail(Computed)
	case v.sort == ofRegister:
		return Place{Kind: Memory, Reg: v.reg, Value: v.off}
	case v.sort == ofMemory:
		m.fail(Computed)
	default:
		m.fail(FixedMemory)
	}
	return missing(m.why)
}

// result is the place when all operations have been run.
func (m *machine) result() Place {
	if !m.pieces {
		return m.memory()
	}
	if m.done || m.n > 0 {
		return missing(InPieces)
	}
	p := m.first
	p.Width, p.Exact = uint8(m.total), true
	return p
}
