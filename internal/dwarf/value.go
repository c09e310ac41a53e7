package dwarf

// Value is the value of an attribute as it stands in the DIE.
type Value struct {
	// U is, for blocks and expressions, offset<<32 | length with the offset in the unit; for
	// inline strings, the offset in the unit; for DW_FORM_LLVM_addrx_offset, offset<<32 | index;
	// otherwise the number (DW_FORM_sdata and DW_FORM_implicit_const sign-extended to 64 bits). Of
	// DW_FORM_data16 it has 8 bytes.
	U    uint64
	Form Form // DW_FORM_indirect is resolved
}

// Values holds the values of one DIE, by the numbers of a plan. Only those whose bit is in the
// mask that Decode returns are meaningful; the others are from earlier DIEs.
type Values [MaxValues]Value

// Numeric returns the value as a number by the rules of pahole:
// constants, flags and addresses count, all other forms are 0.
func (v *Value) Numeric() uint64 {
	switch v.Form {
	case FormAddr, FormData1, FormData2, FormData4, FormData8, FormSdata, FormUdata,
		FormImplicitConst, FormFlag, FormFlagPresent:
		return v.U
	}
	return 0
}

// Block returns the offset in the unit and the length of a block or expression. ok is false for
// other forms.
func (v *Value) Block() (off, n int, ok bool) {
	switch v.Form {
	case FormBlock, FormBlock1, FormBlock2, FormBlock4, FormExprloc:
		return int(v.U >> 32), int(v.U & 0xffffffff), true
	}
	return 0, 0, false
}

// Expr is Block for the place of a variable or a parameter in a unit of a DWARF version. Since DWARF
// 4, an expression has a form of its own. pahole takes no other block for a place, although Go
// writes some.
func (v *Value) Expr(version uint16) (off, n int, ok bool) {
	if version >= 4 && v.Form != FormExprloc {
		return 0, 0, false
	}
	return v.Block()
}

// Place returns the offset in b where value v of a DIE begins. a is the DIE's abbreviation, and
// its attributes are at b[p:]. Place returns -1 if the DIE does not have the value, or has it in
// another form than a number. Callers look for relocations at that offset.
func (t *Abbrevs) Place(a *Abbrev, b []byte, p int, v int) int {
	ops := t.ops[a.prog&^crossProg:]
	for i, o := range ops {
		switch {
		case o.code == opEnd:
			return -1
		case o.slot == uint8(v) && (o.code == opFixed || o.code == opULEB):
			// The program up to here ends where the value begins.
			before := Abbrevs{ops: append(append([]op(nil), ops[:i]...), op{code: opEnd}), consts: t.consts, unitFormat: t.unitFormat, forms: t.forms}
			var vals Values
			next, _ := before.Decode(&Abbrev{}, b, p, &vals)
			return next
		}
	}
	return -1
}

// Decode reads the attributes at b[p:] by the program of a, which must be of t. It returns the offset
// after them and the bits of the values that it has set in out, or -1 if b ends first.
func (t *Abbrevs) Decode(a *Abbrev, b []byte, p int, out *Values) (next int, present uint32) {
	present = a.Present
	ops := t.ops[a.prog&^crossProg:]
	for i := range ops {
		o := &ops[i] // a copy would read all fields
		if uint(p) > uint(len(b)) {
			return -1, 0
		}
		switch o.code {
		case opSkip:
			p += int(o.arg)
		case opFixed:
			v, ok := t.fixed(b, p, int(o.arg))
			if !ok {
				return -1, 0
			}
			out[o.slot] = Value{v, o.form}
			p += int(o.arg)
		case opFixed3:
			if len(b)-p < 3 {
				return -1, 0
			}
			v := uint64(b[p]) | uint64(b[p+1])<<8 | uint64(b[p+2])<<16
			if t.bigEndian {
				v = uint64(b[p+2]) | uint64(b[p+1])<<8 | uint64(b[p])<<16
			}
			out[o.slot] = Value{v, o.form}
			p += 3
		case opSmall:
			out[o.slot] = Value{uint64(o.arg), o.form}
		case opConst:
			out[o.slot] = Value{uint64(t.consts[o.arg]), o.form}
		case opULEB:
			v, n := t.number(b, p, int(o.arg))
			if n < 0 {
				return -1, 0
			}
			out[o.slot] = Value{v, o.form}
			p = n
		case opSLEB:
			v, n := SLEB(b, p)
			if n < 0 {
				return -1, 0
			}
			out[o.slot] = Value{uint64(v), o.form}
			p = n
		case opSkipLEB:
			for {
				if p >= len(b) {
					return -1, 0
				}
				p++
				if b[p-1] < 0x80 {
					break
				}
			}
			p += int(o.arg)
		case opString, opSkipString:
			if o.code == opString {
				out[o.slot] = Value{uint64(p), o.form}
			}
			for {
				if p >= len(b) {
					return -1, 0
				}
				p++
				if b[p-1] == 0 {
					break
				}
			}
		case opBlock, opSkipBlock:
			q, n, ok := t.blockLen(b, p, int(o.arg))
			if !ok || n > uint64(len(b)-q) {
				return -1, 0
			}
			if o.code == opBlock {
				out[o.slot] = Value{uint64(q)<<32 | n, o.form}
			}
			p = q + int(n)
		case opIndirect:
			var v Value
			if v, p = t.value(FormIndirect, b, p); p < 0 {
				return -1, 0
			}
			if o.slot != notWanted {
				out[o.slot] = v
				present |= 1 << o.slot
			}
		case opEnd:
			if uint(p) > uint(len(b)) {
				return -1, 0
			}
			return p, present
		}
	}
	return -1, 0 // no abbreviation of this table
}

// fixed reads 1, 2, 4 or 8 bytes.
func (t *Abbrevs) fixed(b []byte, p, n int) (uint64, bool) {
	if len(b)-p < n {
		return 0, false
	}
	return fixedUint(b[p:p+n], t.bigEndian), true
}

// number reads an unsigned LEB128 number, and the offset of after bytes that follows it, if after is not
// 0. It returns where they end.
func (t *Abbrevs) number(b []byte, p, after int) (v uint64, next int) {
	if v, next = ULEB(b, p); after == 0 || next < 0 {
		return v, next
	}
	offset, ok := t.fixed(b, next, after)
	if !ok {
		return 0, -1
	}
	return offset<<32 | min(v, 1<<32-1), next + after
}

// blockLen reads the length of a block and returns the offset after it.
func (t *Abbrevs) blockLen(b []byte, p, width int) (int, uint64, bool) {
	if width == 0 {
		n, q := ULEB(b, p)
		return q, n, q >= 0
	}
	n, ok := t.fixed(b, p, width)
	return p + width, n, ok
}

// value reads a value of a form that is known only now, and returns where it ends; -1 if
// b ends first, or if the form cannot stand here.
func (t *Abbrevs) value(form Form, b []byte, p int) (v Value, next int) {
	if form == FormIndirect {
		f, q := ULEB(b, p)
		form, p = Form(f), q
		if p < 0 || f > 0xffff || form == FormIndirect || form == FormImplicitConst {
			return v, -1
		}
	}
	n, kind := t.formShape(form)
	one := Abbrevs{unitFormat: t.unitFormat}
	switch kind {
	case shapeUnknown:
		return v, -1
	case shapeFixed:
		one.ops = one.appendFixed(nil, 0, form, n, 0)
	default:
		one.ops = []op{variableOp(kind, form, 0, n)}
	}
	one.ops = append(one.ops, op{code: opEnd})
	var vals Values
	next, _ = one.Decode(&Abbrev{}, b, p, &vals)
	return vals[0], next
}
