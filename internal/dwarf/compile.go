package dwarf

// Compile compiles the table at u.AbbrevOff of the .debug_abbrev section sec, by a plan.
// It does nothing if t has been compiled from the same offset, by the same plan, for a unit of the
// same version, address size, offset size and byte order. After a change of file, call Forget first.
// Direct name slots add nameBase to the offset in .debug_str. A damaged table is an *Error with the
// section and the offset in it.
func (t *Abbrevs) Compile(sec []byte, u *Unit, plan *Plan, nameBase uint32) error {
	format := unitFormat{u.Version, u.AddrSize, u.Dwarf64, u.BigEndian}
	if t.isIn(sec) && t.plan == plan && t.off == u.AbbrevOff && t.unitFormat == format && t.nameBase == nameBase {
		return nil
	}
	t.tab = append(t.tab[:0], Abbrev{})
	t.ops = t.ops[:0]
	t.consts = t.consts[:0]
	t.sparse, t.cross = nil, false
	if t.plan == nil || t.unitFormat != format {
		for f := range t.forms {
			t.forms[f] = format.formSize(Form(f))
		}
	}
	t.sec, t.plan, t.off, t.nameBase, t.unitFormat = nil, plan, u.AbbrevOff, nameBase, format
	if u.AbbrevOff >= uint64(len(sec)) {
		return &Error{Section: ".debug_abbrev", Offset: u.AbbrevOff, What: "abbreviation table beyond the section"}
	}
	c := abbrevCursor{b: sec, p: int(u.AbbrevOff)}
	defer func() { t.work += uint64(c.p) - u.AbbrevOff }()
	cache := t.Cache
	if cache != nil && (cache.plan != plan || cache.nameBase != nameBase) {
		cache = nil
	}
	var decl declaration
	for n := uint64(0); ; n++ {
		start := c.p
		code := c.uleb()
		if c.bad {
			break
		}
		if code == 0 {
			t.sec = sec
			return nil
		}
		var other Abbrev // one that the table has no place for
		a := &other
		dense := code < 4*n+1024 // the table takes no more than 4 places for each
		if dense {
			for uint64(len(t.tab)) <= code {
				t.tab = append(t.tab, Abbrev{})
			}
			if t.tab[code].Tag == 0 {
				a = &t.tab[code]
			}
		}
		end := 0
		if cache != nil {
			end = decl.read(sec, c.p, plan, format)
		}
		if e := cache.find(&decl, end); e != nil {
			t.reuse(a, e)
			c.p = end
		} else {
			before, first := t.cross, len(t.ops)
			t.cross = false
			if err := t.declare(a, code, &c, start); err != nil {
				return err
			}
			if c.bad {
				break
			}
			if end > 0 {
				cache.keep(&decl, a, t.ops[first:], t.cross)
			}
			t.cross = t.cross || before
		}
		if !dense {
			if t.sparse == nil {
				t.sparse = make(map[uint64]Abbrev)
			}
			if _, dup := t.sparse[code]; !dup {
				t.sparse[code] = other
			}
		}
	}
	return &Error{Section: ".debug_abbrev", Offset: uint64(c.p), What: "abbreviation table cut off"}
}

// declare compiles an abbreviation into a. The cursor is after its code, which is at offset start.
func (t *Abbrevs) declare(a *Abbrev, code uint64, c *abbrevCursor, start int) error {
	tag := c.uleb()
	children := c.u8()
	if c.bad {
		return nil
	}
	if tag == 0 || tag > 0xffff {
		return &Error{Section: ".debug_abbrev", Offset: uint64(start), What: "abbreviation " + utoa(code) + " has tag " + utoa(tag)}
	}
	if children > 1 { // DWARF 5, section 7.5.3: DW_CHILDREN_no or DW_CHILDREN_yes
		return &Error{Section: ".debug_abbrev", Offset: uint64(start), What: "abbreviation " + utoa(code) + " has children flag " + utoa(uint64(children))}
	}
	a.Tag = Tag(tag)
	a.Class = t.plan.class(a.Tag)
	a.Children = children != 0
	if a.Class == ClassImport {
		t.cross = true
	}
	if what := t.compile(a, c); what != "" {
		return &Error{Section: ".debug_abbrev", Offset: uint64(c.p), What: "abbreviation " + utoa(code) + ": " + what}
	}
	return nil
}

// maxConsts is how many constants op.arg can address.
const maxConsts = 1 << 16

// maxDirect is the highest Off of a slot, and the highest Size of an abbreviation that is
// Direct or Inline.
const maxDirect = 0xff00

// compile compiles the attribute list at the cursor into a, and its program into t.ops. It returns
// what is wrong, or "". At the end of the section, it returns "" with the cursor bad.
func (t *Abbrevs) compile(a *Abbrev, c *abbrevCursor) string {
	uses := &t.plan.uses[a.Class]
	ops := t.ops
	if uint64(len(ops)) >= crossProg {
		return "too many attributes"
	}
	a.prog = uint32(len(ops))
	a.Fixed, a.Direct = true, true
	size := 0 // bytes of the fixed-size attributes so far
	first := true
	inline := false // an inline name comes first
	rest := true    // all values but an inline name at the start are direct
	pending := 0    // bytes to skip that the program does not skip yet
	b := c.b
	for {
		var attr, f uint64
		if p := uint(c.p); p+1 < uint(len(b)) && p < uint(len(b)) && b[p]|b[p+1] < 0x80 {
			attr, f = uint64(b[p]), uint64(b[p+1])
			c.p = int(p + 2)
		} else {
			attr, f = c.uleb(), c.uleb()
			if c.bad {
				return ""
			}
		}
		if attr == 0 && f == 0 {
			break
		}
		if attr < uint64(len(uses)) && uses[attr].value < 0 && f < numForms {
			// Half of all attributes: unused, with a fixed size.
			if fs := &t.forms[f]; fs.plain {
				first = false
				size += int(fs.n)
				pending += int(fs.n)
				continue
			}
		}
		if f > 0xffff {
			return "form " + utoa(f)
		}
		form := Form(f)
		var implicit int64
		if form == FormImplicitConst {
			implicit = c.sleb()
			if c.bad {
				return ""
			}
		}
		var u use
		if attr < uint64(len(uses)) {
			u = uses[attr]
		} else {
			u = t.plan.useBeyond(a.Class, attr)
		}
		if u.value >= 0 {
			if a.Present>>u.value&1 != 0 {
				u = unused // the abbreviation repeats the attribute: the first one counts
			} else {
				a.Present |= 1 << u.value
			}
		}
		v := int(u.value)
		if first && u.slot == SlotName && form == FormString {
			inline = true
		}
		first = false
		var fs formSize
		if form < numForms {
			fs = t.forms[form]
		} else {
			fs = t.formSize(form)
		}
		n, kind := int(fs.n), fs.kind
		if fs.cross {
			t.cross = true
			if v >= 0 {
				a.prog |= crossProg
			}
		}
		if kind == shapeUnknown {
			return "unknown form " + utoa(f)
		}
		if v >= 0 && u.slot < 0 {
			a.Direct, rest = false, false
		}
		if kind == shapeFixed {
			if u.slot >= 0 && !t.direct(a, u, form, n, size, implicit) {
				a.Direct, rest = false, false
			}
			size += n
			if v < 0 {
				pending += n
				continue
			}
			ops = appendSkip(ops, pending)
			pending = 0
			ops = t.appendFixed(ops, v, form, n, implicit)
			continue
		}
		a.Fixed, a.Direct = false, false
		if u.slot != SlotName || !inline {
			rest = false
		}
		ops = append(appendSkip(ops, pending), variableOp(kind, form, v, n))
		pending = 0
		if kind == shapeIndirect && v >= 0 {
			a.Present &^= 1 << v // known only when the form is read
		}
	}
	t.ops = append(appendSkip(ops, pending), op{code: opEnd})
	if len(t.consts) > maxConsts {
		return "too many constants"
	}
	a.finish(size, inline && rest)
	return ""
}

// finish sets the fields that depend on all attributes. size is the number of bytes of all that have
// a fixed size. inline says that an inline name comes first, and that all other values are direct.
func (a *Abbrev) finish(size int, inline bool) {
	a.Size = uint32(size)
	a.Inline = inline && size <= maxDirect
	a.Direct = a.Direct && size <= maxDirect
	a.Plain = a.Class == ClassMember && (a.Direct || a.Inline) && !a.Children && a.Present&bit(VBitSize, VDataBitOffset) == 0 &&
		a.Slots[SlotMemberLoc].Mask <= 0xffff && a.Slots[SlotName].Off == 0 && a.Slots[SlotType].Mask == 1<<32-1 &&
		max(a.Slots[SlotType].Off, a.Slots[SlotMemberLoc].Off) <= PlainOff
}

// appendFixed adds the ops that read value v, which has n bytes in the DIE. A value that the
// abbreviation has (implicit) has none.
func (t *Abbrevs) appendFixed(ops []op, v int, form Form, n int, implicit int64) []op {
	switch {
	case form == FormImplicitConst || form == FormFlagPresent:
		if form == FormFlagPresent {
			implicit = 1
		}
		if implicit >= 0 && implicit <= 0xffff {
			return append(ops, op{opSmall, uint8(v), uint16(implicit), form})
		}
		t.consts = append(t.consts, implicit)
		return append(ops, op{opConst, uint8(v), uint16(len(t.consts) - 1), form})
	case n == 3:
		return append(ops, op{opFixed3, uint8(v), 3, form})
	case n == 16:
		return append(ops, op{opFixed, uint8(v), 8, form}, op{code: opSkip, arg: 8})
	}
	return append(ops, op{opFixed, uint8(v), uint16(n), form})
}

// variableOp returns the op that reads value v, or skips it if v is negative. The data
// says how many bytes the value has. n comes from formShape.
func variableOp(kind shape, form Form, v, n int) op {
	read, skip := opULEB, opSkipLEB
	switch kind {
	case shapeULEB:
		if form == FormSdata {
			read = opSLEB
		}
	case shapeString:
		read, skip = opString, opSkipString
	case shapeBlock:
		read, skip = opBlock, opSkipBlock
	case shapeIndirect:
		read, skip = opIndirect, opIndirect
	}
	if v < 0 {
		return op{code: skip, slot: notWanted, arg: uint16(n), form: form}
	}
	return op{code: read, slot: uint8(v), arg: uint16(n), form: form}
}

// appendSkip adds the ops that skip n bytes.
func appendSkip(ops []op, n int) []op {
	for n > 0 {
		k := min(n, 0xffff)
		ops = append(ops, op{code: opSkip, arg: uint16(k)})
		n -= k
	}
	return ops
}

// direct fills the slot of a value of n bytes at offset off. It reports false if a slot cannot have
// the value: its form has another kind or size, or it is too far from the start.
func (t *Abbrevs) direct(a *Abbrev, u use, form Form, n, off int, implicit int64) bool {
	if off > maxDirect {
		return false
	}
	s, kind := &a.Slots[u.slot], t.plan.kinds[a.Class][u.value]
	switch form {
	case FormImplicitConst:
		if implicit < 0 || implicit > 0xffff || kind != aNumber {
			return false
		}
		s.Const = uint16(implicit)
		return true
	case FormFlagPresent:
		s.Const = 1
		return kind == aNumber
	case FormStrp:
		if kind != aName || n != 4 {
			return false
		}
		a.NameBase = t.nameBase
	case FormRef1, FormRef2, FormRef4:
		if kind != aReference {
			return false
		}
	case FormSecOffset:
		if kind != aLocation || n != 4 {
			return false
		}
	case FormData1, FormData2, FormData4, FormFlag:
		if kind != aNumber {
			return false
		}
	default:
		return false
	}
	s.Off = uint16(off)
	switch n {
	case 1:
		s.Mask = 0xff
	case 2:
		s.Mask = 0xffff
	case 4:
		s.Mask = 0xffffffff
	}
	return true
}

// abbrevCursor reads .debug_abbrev. If a number is cut off, bad is set and stays so; the caller
// checks it after a few numbers.
type abbrevCursor struct {
	b   []byte
	p   int
	bad bool
}

func (c *abbrevCursor) u8() byte {
	if c.p >= len(c.b) {
		c.bad = true
		return 0
	}
	c.p++
	return c.b[c.p-1]
}

func (c *abbrevCursor) uleb() uint64 {
	if c.p < len(c.b) {
		if x := c.b[c.p]; x < 0x80 {
			c.p++
			return uint64(x)
		}
	}
	v, n := ULEB(c.b, c.p)
	if n < 0 {
		c.bad = true
		return 0
	}
	c.p = n
	return v
}

func (c *abbrevCursor) sleb() int64 {
	v, n := SLEB(c.b, c.p)
	if n < 0 {
		c.bad = true
		return 0
	}
	c.p = n
	return v
}
