package unit

// Read walks and links the unit that Start has found, from p on.
func (r *Reader) Read(p int) error {
	if err := r.walk(p); err != nil {
		return err
	}
	r.Unit.Facts.Hides = len(r.Unit.Types.Order.S) == 0 && hides(&r.Cursor, p)
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
