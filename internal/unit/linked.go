package unit

// ReadLinked walks the unit that Start has found, from p on, and settles its references, as far
// as neither options nor other units matter: Settle does the rest, when the unit record that
// is made of the tables is read. The unit does not refer to others.
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

// Apart says why the unit that ReadLinked has read cannot be told without its DIEs or
// other units; "" if it can.
func (r *Reader) Apart() string {
	switch {
	case len(r.cross.S) > 0 || len(r.NeedTypes) > 0 || len(r.stubs) > 0 || len(r.group.imports.S) > 0:
		return "it refers to other units"
	case len(r.Unit.Unencodable.nodes) > 0 || r.Unit.Unencodable.voids && r.Unit.misplacedVoids():
		return "it has types that BTF has no kind for"
	}
	return ""
}

// Place sets the section of a variable at an address. It reports whether variables
// there are wanted.
func (in *Input) Place(v *Var, addr uint64) bool {
	sec := in.sectionOf(addr)
	if sec == nil {
		return false
	}
	v.Section, v.SecOff, v.Extra = sec.Index, addr-sec.Addr, sec.Extra
	return true
}
