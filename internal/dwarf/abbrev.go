package dwarf

// Abbreviations are compiled, not interpreted. GCC writes one table of 100 to
// 300 abbreviations for each unit and almost every DIE of a kernel has only
// fixed-size attributes, so a table is turned once per unit into records that
// answer the three questions of the walk without looking at forms again:
//
//   - how many bytes does the DIE have (Abbrev.Size, if Fixed),
//   - where in it are the few wanted values (Abbrev.Slots, if Direct),
//   - and, for all other DIEs, which bytes to skip and to capture (a program
//     of ops in which neighbouring skips are merged).

// NumSlots is the number of direct values of an abbreviation.
const NumSlots = 5

// Slot locates a direct value: the first bytes at Off in the unit's byte order,
// as many as Mask covers, and Const added. Absent values have Mask and Const 0.
type Slot struct {
	Mask  uint32
	Const uint16
	Off   uint16
}

// PlainOff is the highest Off of the slots of a Plain member.
const PlainOff = 24

// Abbrev is a compiled abbreviation. Its 64 bytes are a cache line of the
// table: the walk looks at one for each DIE, and those of a unit are to stay in
// the first-level cache.
type Abbrev struct {
	Size     uint32 // bytes of all attributes, if Fixed
	Present  uint32 // wanted values that the abbreviation has, as bits
	NameBase uint32 // to be added to slot 0, a name; 0 if there is none
	prog     uint32 // first op in Abbrevs.ops; crossProg
	Tag      Tag
	Class    Class
	Children bool
	Fixed    bool // Size is right for every DIE
	Inline   bool // Direct but for an inline name in front: slots and Size count from behind it
	Direct   bool // Fixed, and Slots hold all wanted values (a name is DW_FORM_strp with 32-bit offset or absent)
	Plain    bool // a member that is Direct or Inline, at an offset below 65536, no bit-field and has no children; slots 0 to 2 are at PlainOff or before
	Slots    [NumSlots]Slot
}

// abbrevBytes is the size of an Abbrev.
const abbrevBytes = 64

// crossProg is the bit of Abbrev.prog for Cross.
const crossProg = 1 << 31

// Cross says that a wanted value is a reference that may leave the unit.
func (a *Abbrev) Cross() bool { return a.prog&crossProg != 0 }

// Abbrevs is the compiled table of one unit; its memory is reused by Compile.
type Abbrevs struct {
	tab    []Abbrev          // by code; Tag 0 = no such code
	sparse map[uint64]Abbrev // codes that are too far out for tab
	ops    []op
	consts []int64
	cross  bool
	work   uint64 // see Work

	sec       []byte
	off       uint64
	version   uint16
	addrSize  uint8
	dwarf64   bool
	bigEndian bool
	nameBase  uint32
	forms     [numForms]formSize // of the standard forms
}

// numForms is above the numbers of all standard forms.
const numForms = 0x30

// formSize is what a form is to compile: see formShape and Abbrev.Cross.
type formSize struct {
	n     uint8
	kind  shape
	cross bool
}

func (t *Abbrevs) formSize(f Form) formSize {
	n, kind := t.formShape(f)
	switch f {
	case FormRefAddr, FormGNURefAlt, FormRefSup4, FormRefSup8, FormGNUStrpAlt, FormStrpSup:
		return formSize{uint8(n), kind, true}
	}
	return formSize{uint8(n), kind, false}
}

// Bytes is about how much memory the table takes.
func (t *Abbrevs) Bytes() int {
	return abbrevBytes*cap(t.tab) + 8*cap(t.ops) + 8*cap(t.consts) + 128*len(t.sparse)
}

// Cross reports whether an abbreviation, used or not, has a reference by
// section offset (DW_FORM_ref_addr), a reference or name in a supplementary
// file, or imports a unit: its units cannot be understood one by one.
func (t *Abbrevs) Cross() bool { return t.cross }

// op is one step of a capture program.
type op struct {
	code opCode
	slot uint8  // value index
	arg  uint16 // bytes to skip or to read
	form Form
}

type opCode uint8

const (
	opSkip       opCode = iota // arg bytes
	opFixed                    // read arg (1, 2, 4, 8) bytes
	opFixed3                   // read 3 bytes
	opConst                    // arg indexes consts (implicit_const, flag_present)
	opULEB                     // read
	opSLEB                     // read
	opString                   // offset of an inline string
	opBlock                    // arg = width of the length, 0 = ULEB; value = offset<<32 | length
	opSkipLEB                  // skip a LEB128 number
	opSkipString               // skip an inline string
	opSkipBlock                // as opBlock
	opIndirect                 // form in the data; slot 0xff = not wanted
	opEnd
)

const notWanted = 0xff

// Lookup returns the abbreviation with the code, nil if there is none.
func (t *Abbrevs) Lookup(code uint64) *Abbrev {
	if code < uint64(len(t.tab)) {
		if a := &t.tab[code]; a.Tag != 0 {
			return a
		}
		return nil
	}
	if a, ok := t.sparse[code]; ok {
		return &a
	}
	return nil
}

// Dense is the table by code for codes below its length; an entry with Tag 0
// is no abbreviation. It is valid until the next Compile.
func (t *Abbrevs) Dense() []Abbrev { return t.tab }

// Work is how many bytes of .debug_abbrev the calls of Compile have read since
// Work was called last.
func (t *Abbrevs) Work() uint64 {
	n := t.work
	t.work = 0
	return n
}

// Forget makes the next Compile read its table, for a section of another file.
func (t *Abbrevs) Forget() { t.sec = nil }

// Compile reads the table at u.AbbrevOff of the .debug_abbrev section sec.
// A table that was compiled for the unit before is kept if the offset and the
// shape of the unit are the same. Direct name slots add nameBase to the offset
// in .debug_str.
func (t *Abbrevs) Compile(sec []byte, u *Unit, nameBase uint32) error {
	if t.sec != nil && t.off == u.AbbrevOff && t.version == u.Version && t.addrSize == u.AddrSize &&
		t.dwarf64 == u.Dwarf64 && t.bigEndian == u.BigEndian && t.nameBase == nameBase && len(t.sec) == len(sec) {
		return nil
	}
	t.tab = append(t.tab[:0], Abbrev{})
	t.ops = t.ops[:0]
	t.consts = t.consts[:0]
	t.sparse, t.cross = nil, false
	t.sec, t.nameBase = nil, nameBase
	t.off, t.version, t.addrSize, t.dwarf64, t.bigEndian = u.AbbrevOff, u.Version, u.AddrSize, u.Dwarf64, u.BigEndian
	for f := range t.forms {
		t.forms[f] = t.formSize(Form(f))
	}
	if u.AbbrevOff >= uint64(len(sec)) {
		return &Error{Section: ".debug_abbrev", Offset: u.AbbrevOff, What: "abbreviation table beyond the section"}
	}
	c := abbrevCursor{b: sec, p: int(u.AbbrevOff)}
	defer func() { t.work += uint64(c.p) - u.AbbrevOff }()
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
		tag := c.uleb()
		children := c.u8()
		if c.bad {
			break
		}
		if tag == 0 || tag > 0xffff {
			return &Error{Section: ".debug_abbrev", Offset: uint64(start), What: "abbreviation " + utoa(code) + " has tag " + utoa(tag)}
		}
		if children > 1 { // DWARF 5, section 7.5.3: DW_CHILDREN_no or DW_CHILDREN_yes
			return &Error{Section: ".debug_abbrev", Offset: uint64(start), What: "abbreviation " + utoa(code) + " has children flag " + utoa(uint64(children))}
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
		a.Tag = Tag(tag)
		a.Class = classOf(a.Tag)
		a.Children = children != 0
		if a.Class == ClassImport {
			t.cross = true
		}
		if what := t.compile(a, &c); what != "" {
			return &Error{Section: ".debug_abbrev", Offset: uint64(c.p), What: "abbreviation " + utoa(code) + ": " + what}
		}
		if c.bad {
			break
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

// compile reads the attribute list behind the cursor into a. It returns what
// is wrong, or "".
func (t *Abbrevs) compile(a *Abbrev, c *abbrevCursor) string {
	plan := &uses[a.Class]
	ops := t.ops
	if uint64(len(ops)) >= crossProg {
		return "too many attributes"
	}
	a.prog = uint32(len(ops))
	a.Fixed, a.Direct = true, true
	size := 0 // bytes so far, while Fixed
	first := true
	inline := false // an inline name comes first
	rest := true    // all but an inline name in front is direct
	pending := 0    // bytes of unwanted attributes not yet in the program
	for {
		var attr, f uint64
		if b := c.b[c.p:]; len(b) > 1 && b[0]|b[1] < 0x80 {
			attr, f = uint64(b[0]), uint64(b[1])
			c.p += 2
		} else {
			attr, f = c.uleb(), c.uleb()
			if c.bad {
				return ""
			}
		}
		if attr == 0 && f == 0 {
			break
		}
		if attr < uint64(len(plan)) && plan[attr].value < 0 && f < numForms {
			// Half of all: of no use, and of one size.
			if fs := t.forms[f]; fs.kind == shapeFixed && !fs.cross && Form(f) != FormImplicitConst {
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
		u := unused
		switch {
		case attr < uint64(len(plan)):
			u = plan[attr]
		case attr == atGNUAnnotation:
			u = annotations[a.Class]
		case attr == atGNUDwoName:
			u = dwoNames[a.Class]
		case attr == atGNUDwoID && a.Class == ClassUnit:
			u = use{VDwoID, -1}
		case attr == atGNUAddrBase && a.Class == ClassUnit:
			u = use{VAddrBase, -1}
		}
		if u.value >= 0 {
			if a.Present>>u.value&1 != 0 {
				u = unused // again
			} else {
				a.Present |= 1 << u.value
			}
		}
		v := int(u.value)
		if first && v == VName && u.slot == 0 && form == FormString {
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
			if u.slot >= 0 && !t.direct(a, int(u.slot), v, form, n, size, implicit) {
				a.Direct, rest = false, false
			}
			size += n
			if v < 0 {
				pending += n
				continue
			}
			ops = appendSkip(ops, pending)
			pending = 0
			switch {
			case form == FormImplicitConst || form == FormFlagPresent:
				if form == FormFlagPresent {
					implicit = 1
				}
				if len(t.consts) > 0xffff {
					return "too many constants"
				}
				t.consts = append(t.consts, implicit)
				ops = append(ops, op{opConst, uint8(v), uint16(len(t.consts) - 1), form})
			case n == 3:
				ops = append(ops, op{opFixed3, uint8(v), 3, form})
			case n == 16:
				ops = append(ops, op{opFixed, uint8(v), 8, form}, op{code: opSkip, arg: 8})
			default:
				ops = append(ops, op{opFixed, uint8(v), uint16(n), form})
			}
			continue
		}
		a.Fixed, a.Direct = false, false
		if v != VName || !inline {
			rest = false
		}
		ops = appendSkip(ops, pending)
		pending = 0
		o := op{slot: notWanted, form: form, arg: uint16(n)}
		if v >= 0 {
			o.slot = uint8(v)
		}
		switch kind {
		case shapeULEB:
			o.code = opULEB
			if form == FormSdata {
				o.code = opSLEB
			}
			if v < 0 {
				o.code = opSkipLEB
			}
		case shapeString:
			o.code = opString
			if v < 0 {
				o.code = opSkipString
			}
		case shapeBlock:
			o.code = opBlock
			if v < 0 {
				o.code = opSkipBlock
			}
		case shapeIndirect:
			o.code = opIndirect
			if v >= 0 {
				a.Present &^= 1 << v // known only when the form is read
			}
		}
		ops = append(ops, o)
	}
	t.ops = append(appendSkip(ops, pending), op{code: opEnd})
	a.Size = uint32(size)
	a.Inline = inline && rest && size <= 0xff00
	if size > 0xff00 {
		a.Direct = false
	}
	a.Plain = a.Class == ClassMember && (a.Direct || a.Inline) && !a.Children && a.Present&bit(VBitSize, VDataBitOffset) == 0 &&
		a.Slots[2].Mask <= 0xffff && max(a.Slots[0].Off, a.Slots[1].Off, a.Slots[2].Off) <= PlainOff
	return ""
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

// direct fills a slot of a; false if the form does not fit one.
func (t *Abbrevs) direct(a *Abbrev, slot, v int, form Form, n, off int, implicit int64) bool {
	if off > 0xff00 {
		return false
	}
	s := &a.Slots[slot]
	switch form {
	case FormImplicitConst:
		if implicit < 0 || implicit > 0xffff || v == VName || v == VType || v == VOrigin || v == VLocation {
			return false
		}
		s.Const = uint16(implicit)
		return true
	case FormFlagPresent:
		s.Const = 1
		return v != VName && v != VType
	case FormStrp:
		if v != VName || n != 4 {
			return false
		}
		a.NameBase = t.nameBase
	case FormRef1, FormRef2, FormRef4:
		if v != VType && v != VSibling && v != VOrigin {
			return false
		}
	case FormSecOffset:
		if v != VLocation || n != 4 {
			return false
		}
	case FormData1, FormData2, FormData4, FormFlag:
		if v == VName || v == VType || v == VOrigin || v == VLocation {
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

type shape uint8

const (
	shapeUnknown shape = iota
	shapeFixed
	shapeULEB
	shapeString
	shapeBlock // n = width of the length, 0 = ULEB
	shapeIndirect
)

// formShape gives the size of a form in bytes, or how to find it.
func (t *Abbrevs) formShape(f Form) (int, shape) {
	osz := 4
	if t.dwarf64 {
		osz = 8
	}
	switch f {
	case FormFlagPresent, FormImplicitConst:
		return 0, shapeFixed
	case FormData1, FormFlag, FormRef1, FormStrx1, FormAddrx1:
		return 1, shapeFixed
	case FormData2, FormRef2, FormStrx2, FormAddrx2:
		return 2, shapeFixed
	case FormStrx3, FormAddrx3:
		return 3, shapeFixed
	case FormData4, FormRef4, FormStrx4, FormAddrx4, FormRefSup4:
		return 4, shapeFixed
	case FormData8, FormRef8, FormRefSig8, FormRefSup8:
		return 8, shapeFixed
	case FormData16:
		return 16, shapeFixed
	case FormAddr:
		return int(t.addrSize), shapeFixed
	case FormStrp, FormSecOffset, FormLineStrp, FormStrpSup, FormGNURefAlt, FormGNUStrpAlt:
		return osz, shapeFixed
	case FormRefAddr:
		if t.version == 2 {
			return int(t.addrSize), shapeFixed
		}
		return osz, shapeFixed
	case FormUdata, FormSdata, FormRefUdata, FormStrx, FormAddrx, FormLoclistx, FormRnglistx, FormGNUAddrIndex, FormGNUStrIndex:
		return 0, shapeULEB
	case FormString:
		return 0, shapeString
	case FormBlock1:
		return 1, shapeBlock
	case FormBlock2:
		return 2, shapeBlock
	case FormBlock4:
		return 4, shapeBlock
	case FormBlock, FormExprloc:
		return 0, shapeBlock
	case FormIndirect:
		return 0, shapeIndirect
	}
	return 0, shapeUnknown
}

// abbrevCursor reads .debug_abbrev with a sticky error.
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
