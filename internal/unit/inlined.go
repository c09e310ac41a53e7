package unit

// inlined reads the functions that are inlined in those of the unit at u, which has
// just been walked, if anybody wants them.
func (in *Input) inlined(u *Unit) error {
	if u.Inline == nil {
		return nil
	}
	return u.Inline.Read(&u.Cursor, u.Funcs.S[u.from.funcs:])
}
