package unit

// inlined reads the functions that are inlined in those of the unit that was walked last, if
// anybody wants them.
func (r *Reader) inlined() error {
	if r.Unit.Inline == nil {
		return nil
	}
	return r.Unit.Inline.Read(&r.Cursor, r.Unit.Funcs.S[r.from.funcs:])
}
