package dwarf

// Attributes that encoding has no use for.
const (
	atStmtList = 0x10
	atDeclFile = 0x3a
	atDeclLine = 0x3b
	atRanges   = 0x55
)

// Decl is where a DIE says that it is declared.
type Decl struct {
	Line    uint64 // DW_AT_decl_line; 0 if it does not say
	File    uint64 // DW_AT_decl_file, if HasFile
	HasFile bool
	Ranges  bool // DW_AT_ranges: its code is in several places
	// LineTable is DW_AT_stmt_list of a unit DIE, if HasLines.
	LineTable uint64
	HasLines  bool
}

// Decls reads what Abbrevs leaves out. Its memory serves one unit after the other.
// The zero value has no table.
type Decls struct {
	sec   []byte
	off   uint64
	lists []uint32 // by code: 1 + where in sec the list of attributes is
	t     Abbrevs  // for its format only
}

// maxDeclCode is the highest code of an abbreviation that Decls knows. Compilers
// number them from 1.
const maxDeclCode = 1 << 16

// Index finds the abbreviations of u in the .debug_abbrev section sec, which Compile
// has accepted. It reports whether sec has all of them.
func (d *Decls) Index(sec []byte, u *Unit) bool {
	format := unitFormat{u.Version, u.AddrSize, u.Dwarf64, u.BigEndian}
	if d.off == u.AbbrevOff && d.t.unitFormat == format && len(d.sec) == len(sec) && len(sec) > 0 && &d.sec[0] == &sec[0] {
		return true
	}
	d.sec, d.off, d.t.unitFormat, d.lists = sec, u.AbbrevOff, format, d.lists[:0]
	c := abbrevCursor{b: sec, p: int(min(u.AbbrevOff, uint64(len(sec))))}
	for {
		code := c.uleb()
		if code == 0 && !c.bad {
			return true
		}
		c.uleb()
		c.u8()
		if c.bad {
			d.sec = nil
			return false
		}
		if code <= maxDeclCode && uint64(c.p) < 1<<32-1 {
			for uint64(len(d.lists)) <= code {
				d.lists = append(d.lists, 0)
			}
			if d.lists[code] == 0 {
				d.lists[code] = uint32(c.p) + 1
			}
		}
		for {
			at, form := c.uleb(), c.uleb()
			if Form(form) == FormImplicitConst {
				c.sleb()
			}
			if at == 0 && form == 0 || c.bad {
				break
			}
		}
	}
}

// Forget ends the use of a table, for a section of another file.
func (d *Decls) Forget() { d.sec, d.lists = nil, d.lists[:0] }

// Read reads the DIE at off of the unit b; false if it cannot be read.
func (d *Decls) Read(b []byte, off int) (x Decl, ok bool) {
	if off < 0 || off > len(b) {
		return x, false
	}
	code, p := ULEB(b, off)
	if p < 0 || code >= uint64(len(d.lists)) || d.lists[code] == 0 {
		return x, false
	}
	c := abbrevCursor{b: d.sec, p: int(d.lists[code]) - 1}
	for {
		at, form := c.uleb(), c.uleb()
		if c.bad || form > 0xffff {
			return x, false
		}
		if at == 0 && form == 0 {
			return x, true
		}
		var v uint64
		if Form(form) == FormImplicitConst {
			v = uint64(c.sleb())
		} else if v, p, ok = d.t.number(b, p, Form(form)); !ok {
			return x, false
		}
		switch at {
		case atDeclFile:
			x.File, x.HasFile = v, true
		case atDeclLine:
			x.Line = v
		case atRanges:
			x.Ranges = true
		case atStmtList:
			x.LineTable, x.HasLines = v, true
		}
	}
}

// number reads a value of any form at b[p:]: its number, if it is one, and where it
// ends.
func (t *Abbrevs) number(b []byte, p int, form Form) (v uint64, next int, ok bool) {
	n, kind := t.formShape(form)
	switch kind {
	case shapeFixed:
		if len(b)-p < n {
			return 0, 0, false
		}
		switch n {
		case 1, 2, 4, 8:
			v, _ = t.fixed(b, p, n)
		}
		return v, p + n, true
	case shapeULEB:
		if form == FormSdata {
			s, q := SLEB(b, p)
			return uint64(s), q, q >= 0
		}
		v, q := ULEB(b, p)
		return v, q, q >= 0
	case shapeString:
		for ; p < len(b); p++ {
			if b[p] == 0 {
				return 0, p + 1, true
			}
		}
		return 0, 0, false
	case shapeBlock:
		q, k, ok := t.blockLen(b, p, n)
		if !ok || k > uint64(len(b)-q) {
			return 0, 0, false
		}
		return 0, q + int(k), true
	case shapeIndirect:
		q, _ := t.indirect(op{slot: notWanted}, b, p, nil)
		return 0, q, q >= 0
	}
	return 0, 0, false
}
