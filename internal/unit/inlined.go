package unit

// inlined reads the inlined functions of the unit that was walked last, if they are
// wanted.
func (r *Reader) inlined() error {
	if r.Unit.Inline == nil {
		return nil
	}
	return r.Unit.Inline.Read(&r.Cursor, r.Unit.Funcs.S[r.from.funcs:])
}
