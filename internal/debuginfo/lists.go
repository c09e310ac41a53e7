package debuginfo

// lists is the section that the unit's location lists are in.
func (p *Position) lists() (*section, []byte) {
	f := p.File
	if p.Hdr.Version >= 5 {
		return &f.inOrder.loclists, f.Loclists
	}
	return &f.inOrder.loc, f.Loc
}

// listMargin is how much of a section of location lists is asked for behind
// the start of a list, in bytes: more than nearly all lists have.
const listMargin = 16 << 10

// ExpandsLists reports whether the unit's location lists are expanded as they are
// asked for.
func (p *Position) ExpandsLists() bool {
	s, _ := p.lists()
	return s.stream != nil
}

// LocationLists is the section that the unit's location lists are in. With used,
// the unit has lists from offset low on, and the last one begins at high: the
// section is expanded so far that these can be read. more gives more of it than
// its first have bytes; nil if all of it is there.
func (p *Position) LocationLists(used bool, low, high uint64) (data []byte, more func(have int) ([]byte, error), err error) {
	s, all := p.lists()
	if s.stream == nil || !used {
		return all, nil, nil
	}
	data, err = s.need(p.Seq, all, low, high-low+listMargin)
	return data, func(have int) ([]byte, error) {
		return s.need(p.Seq, all, low, uint64(have)-low+listMargin)
	}, err
}
