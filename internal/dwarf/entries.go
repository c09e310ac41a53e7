package dwarf

// Entries steps over the DIEs of one unit in order, each before its children. It is for readers that
// look at few DIEs; the walk of package unit has a loop of its own:
//
//	for e.Next() {
//		if e.Abbrev == nil {
//			// the zero that ends children
//		} else if !e.Decode() { // or Pass, or Skip
//			break
//		}
//	}
//
// Next returns false after the last byte of the unit. If Entries cannot go on before, Fault says
// what is wrong with the DIE at Off. Set the first four fields; offsets count from the unit header.
type Entries struct {
	Abbrevs *Abbrevs
	Vals    *Values // where Decode puts values
	Data    []byte  // the unit
	Pos     int     // where Next goes on; after Next, where the attributes of the DIE are

	Off    int     // of the DIE
	Abbrev *Abbrev // of the DIE; nil for a zero
	Have   uint32  // bits of the values that Decode has read
	Fault  string  // "" if there is none
}

// Faults of DIEs.
const (
	FaultCutOff  = "DIE goes beyond the end of its unit"
	FaultNoCode  = "no abbreviation has its code"
	FaultSibling = "sibling reference does not lead forward"
	faultCode    = "abbreviation code cut off"
)

// Next reads the code of the DIE at Pos. It returns false at the end, and from a fault on.
func (e *Entries) Next() bool {
	p, b := e.Pos, e.Data
	if e.Fault != "" || p == len(b) {
		return false
	}
	if uint(p) > uint(len(b)) {
		return e.fail(FaultCutOff)
	}
	e.Off = p
	code := uint64(b[p])
	if p++; code >= 0x80 {
		if code, p = ULEB(b, e.Off); p < 0 {
			return e.fail(faultCode)
		}
	}
	e.Pos = p
	if tab := e.Abbrevs.tab; code < uint64(len(tab)) {
		if e.Abbrev = &tab[code]; e.Abbrev.Tag != 0 {
			return true
		}
	}
	if e.Abbrev = e.Abbrevs.Lookup(code); e.Abbrev == nil && code != 0 {
		return e.fail(FaultNoCode)
	}
	return true
}

// At is Next for the DIE at an offset of the unit.
func (e *Entries) At(off int) bool {
	e.Pos = off
	return e.Next()
}

func (e *Entries) fail(what string) bool {
	e.Fault = what
	return false
}

// Decode reads the attributes of the DIE.
func (e *Entries) Decode() bool {
	if e.Pos, e.Have = e.Abbrevs.Decode(e.Abbrev, e.Data, e.Pos, e.Vals); e.Pos < 0 {
		return e.fail(FaultCutOff)
	}
	return true
}

// Pass goes over the attributes of the DIE. It may change Vals.
func (e *Entries) Pass() bool {
	if a := e.Abbrev; a.Fixed {
		e.Pos += int(a.Size)
	} else if e.Pos, _ = e.Abbrevs.Decode(a, e.Data, e.Pos, e.Vals); e.Pos < 0 {
		return e.fail(FaultCutOff)
	}
	return true
}

// Skip goes over the DIE with its children, by DW_AT_sibling if the plan has it for the class.
func (e *Entries) Skip() bool {
	switch a := e.Abbrev; {
	case !a.Children:
		return e.Pass()
	case a.Present>>VSibling&1 == 0:
		return e.Pass() && e.SkipChildren()
	case !e.Decode():
		return false
	}
	to := e.Vals[VSibling].U
	if to <= uint64(e.Pos) || to > uint64(len(e.Data)) {
		return e.fail(FaultSibling)
	}
	e.Pos = int(to)
	return true
}

// SkipChildren goes over the children of the DIE whose attributes have been read.
func (e *Entries) SkipChildren() bool {
	off, a := e.Off, e.Abbrev
	b, tab := e.Data, e.Abbrevs.tab
	for depth := 1; depth > 0 && e.Fault == ""; {
		// Nearly all DIEs have a code of one byte and attributes of a fixed size.
		if p := e.Pos; uint(p) < uint(len(b)) && b[p] < 0x80 && int(b[p]) < len(tab) {
			if b[p] == 0 {
				e.Pos++
				depth--
				continue
			}
			if a := &tab[b[p]]; a.Fixed {
				e.Pos += 1 + int(a.Size)
				if a.Children {
					depth++
				}
				continue
			}
		}
		switch {
		case !e.Next():
			depth = 0
		case e.Abbrev == nil:
			depth--
		case !e.Pass():
		case e.Abbrev.Children:
			depth++
		}
	}
	e.Off, e.Abbrev = off, a
	return e.Fault == ""
}
