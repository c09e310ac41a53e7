package unit

// Read walks and links the unit that Start has found, from p on.
func (r *Reader) Read(p int) error {
	if err := r.walk(p); err != nil {
		return err
	}
	r.Unit.Facts.LacksTypes = len(r.Unit.Types.Order.S) == 0 && lacksTypes(&r.Cursor, p)
	return r.link()
}

// ReadSplit is Read for a unit of a .dwo or .dwp file.
func (r *Reader) ReadSplit(p int) error {
	if err := r.walk(p); err != nil {
		return err
	}
	// All type units of a .dwo belong to this unit, even those to which nothing refers.
	// In a .dwp file their owner is unknown.
	t, err := r.Cursor.File.Types()
	if err != nil {
		return err
	}
	for i := range t.All() {
		r.NeedTypes = append(r.NeedTypes, uint32(i))
	}
	err = r.link()
	r.NeedTypes = r.NeedTypes[:0] // they are indexes in an index that is closed
	return err
}

// ReadLinked walks the unit that Start has found, from p on. It resolves only what
// depends neither on options nor on other units. A unit record is made of these tables,
// and whoever reads the record calls Settle. The unit must not refer to others.
func (r *Reader) ReadLinked(p int) error {
	if err := r.walk(p); err != nil {
		return err
	}
	r.Unit.Facts.LacksTypes = len(r.Unit.Types.Order.S) == 0 && lacksTypes(&r.Cursor, p)
	r.linkRefs()
	if err := r.linkOldBits(); err != nil {
		return err
	}
	r.oldBits.Reset()
	return r.Cursor.Err
}

// NoRecord says why a unit record cannot replace the unit that ReadLinked has read; "" if it
// can.
func (r *Reader) NoRecord() string {
	switch {
	case len(r.cross.S) > 0 || len(r.NeedTypes) > 0 || len(r.stubs) > 0 || len(r.group.imports.S) > 0:
		return "it refers to other units"
	case len(r.Unit.Unencodable.nodes) > 0 || r.Unit.Unencodable.voids && r.Unit.misplacedVoids():
		return "it has types that BTF has no kind for"
	}
	return ""
}

// link reads the inlined functions, turns DIE offsets into Refs, reads the type units
// that the unit refers to, and settles the result.
func (r *Reader) link() error {
	if err := r.inlined(); err != nil {
		return err
	}
	r.linkRefs()
	if len(r.NeedTypes) > 0 {
		r.addPart(r.Cursor.Hdr.Off)
		if err := r.readTypes(nil); err != nil {
			return err
		}
	}
	return r.Settle()
}

// inlined reads the inlined functions of the unit that was walked last, if they are
// wanted.
func (r *Reader) inlined() error {
	if r.Unit.Inline == nil {
		return nil
	}
	return r.Unit.Inline.Read(&r.Cursor, r.Unit.Funcs.S[r.from.funcs:])
}
