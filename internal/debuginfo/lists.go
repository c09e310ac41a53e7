package debuginfo

// lists returns the section with the unit's location lists.
func (p *Position) lists() (*section, []byte) {
	f := p.File
	if p.Hdr.Version >= 5 {
		return &f.inOrder.loclists, f.Loclists
	}
	return &f.inOrder.loc, f.Loc
}

// listMargin is how many bytes are asked for after the start of a location list. Nearly
// all lists are shorter.
const listMargin = 16 << 10

// ExpandsLists reports whether the unit's location lists are expanded when they are asked
// for.
func (p *Position) ExpandsLists() bool {
	s, _ := p.lists()
	return s.stream != nil
}

// LocationLists returns the section with the unit's location lists. With used, the unit
// has lists from offset low on, and the last one begins at high: the section is expanded
// so far that these can be read. more returns more of it than the first have bytes; it is
// nil if data is all.
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
