package unit

// ReadLinked walks the unit that Start has found, from p on. It resolves only what
// depends neither on options nor on other units. A unit record is made of these tables,
// and whoever reads the record calls Settle. The unit must not refer to others.
func (r *Reader) ReadLinked(p int) error {
	if err := r.walk(p); err != nil {
		return err
	}
	r.Unit.Facts.Hides = len(r.Unit.Types.Order.S) == 0 && hides(&r.Cursor, p)
	r.linkRefs()
	if err := r.linkOldBits(); err != nil {
		return err
	}
	r.oldBits.Reset()
	return r.Cursor.Err
}

// Apart says why a unit record cannot replace the unit that ReadLinked has read; "" if it
// can.
func (r *Reader) Apart() string {
	switch {
	case len(r.cross.S) > 0 || len(r.NeedTypes) > 0 || len(r.stubs) > 0 || len(r.group.imports.S) > 0:
		return "it refers to other units"
	case len(r.Unit.Unencodable.nodes) > 0 || r.Unit.Unencodable.voids && r.Unit.misplacedVoids():
		return "it has types that BTF has no kind for"
	}
	return ""
}

// Place sets the section of a variable from its address. It reports whether variables of
// that section are wanted.
func (in *Input) Place(v *Var, addr uint64) bool {
	sec := in.sectionOf(addr)
	if sec == nil {
		return false
	}
	v.Section, v.SecOff, v.Extra = sec.Index, addr-sec.Addr, sec.Extra
	return true
}
