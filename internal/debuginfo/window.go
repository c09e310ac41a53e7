package debuginfo

import "github.com/btflite/btflite/mmapelf"

// How the mapping is read: the large sections go by once, in unit order.
// Each is asked for a little ahead of the readers and given back behind the
// last committed unit, so that resident memory does not grow with the file,
// and a small cgroup keeps its pages for what is read at random, .debug_str
// above all. The system's own read-ahead is off (adviseOn): around a page
// touched at random it may read megabytes.

// window asks for a section that is read in order.
type window struct {
	fetched uint64 // up to where the section has been asked for
}

// fetchStep is how much of a section is asked for at a time, in bytes.
const fetchStep = 512 << 10

// advance keeps one to two steps behind offset at coming in from the disk.
func (w *window) advance(s *section, at uint64) {
	if s.sec == nil || at+fetchStep <= w.fetched || at >= s.sec.Size {
		return
	}
	w.fetched = max(w.fetched, at)
	n := min(fetchStep, s.sec.Size-w.fetched)
	s.file.PrefetchRange(s.sec.Offset+w.fetched, n)
	w.fetched += n
}

// section is a section that is read in order, and how it is given back: as
// pages of the mapping, or of the range that a compressed one is expanded
// into. sec and stream are both nil for a section that is kept.
type section struct {
	file   *mmapelf.File
	sec    *mmapelf.Section
	stream *mmapelf.Stream
	given  uint64 // up to where it has been given back
}

// release gives back what lies before offset to.
func (s *section) release(to uint64) {
	switch {
	case to <= s.given:
		return
	case s.stream != nil:
		s.stream.Drop(to)
	case s.sec != nil:
		from := s.given - min(s.given, mappedAround)
		s.file.ReleaseRange(s.sec.Offset+from, to-from)
	}
	s.given = to
}

// mappedAround is how far around a page that is touched Linux maps what it has
// in memory, in bytes: so far behind the last release, pages are back again.
const mappedAround = 64 << 10

// need waits until n bytes at off of a section have been expanded, for the unit
// with a sequence number, and keeps them until that is committed. It returns how
// much of the section is there: data, up to some place behind them or the end.
func (s *section) need(seq int, data []byte, off, n uint64) ([]byte, error) {
	if s.stream == nil {
		return data, nil
	}
	ready, err := s.stream.Need(seq, off, n)
	return data[:ready], err
}

// unpin ends a unit's use of the section.
func (s *section) unpin(seq int) {
	if s.stream != nil {
		s.stream.Unpin(seq)
	}
}

// releaseStep is how much is given back at a time, in bytes. Each time stops
// the other workers for a moment, to have them forget the pages.
func (f *File) releaseStep() uint64 {
	if f.settings.Workers > 1 {
		return 512 << 10
	}
	return 256 << 10
}

// lists is the section that the unit's location lists are in.
func (c *Cursor) lists() (*section, []byte) {
	f := c.File
	if c.Hdr.Version >= 5 {
		return &f.inOrder.loclists, f.Loclists
	}
	return &f.inOrder.loc, f.Loc
}

// listMargin is how much of a section of location lists is asked for behind
// the start of a list, in bytes: more than nearly all lists have.
const listMargin = 16 << 10

// ExpandsLists reports whether the unit's location lists are expanded as they are
// asked for.
func (c *Cursor) ExpandsLists() bool {
	s, _ := c.lists()
	return s.stream != nil
}

// LocationLists is the section that the unit's location lists are in. With used,
// the unit has lists from offset low on, and the last one begins at high: the
// section is expanded so far that these can be read. more gives more of it than
// its first have bytes; nil if all of it is there.
func (c *Cursor) LocationLists(used bool, low, high uint64) (data []byte, more func(have int) ([]byte, error), err error) {
	s, all := c.lists()
	if s.stream == nil || !used {
		return all, nil, nil
	}
	data, err = s.need(c.Seq, all, low, high-low+listMargin)
	return data, c.moreLists(low), err
}

// moreLists is how more of the section of location lists is asked for: see
// LocationLists.
func (c *Cursor) moreLists(low uint64) func(have int) ([]byte, error) {
	return func(have int) ([]byte, error) {
		s, all := c.lists()
		return s.need(c.Seq, all, low, uint64(have)-low+listMargin)
	}
}

// Passage is one reading of a file's units in their order: it asks for the
// sections ahead of the readers and gives them back behind the last unit that is
// done. The zero value is at the start. Ahead and Behind may be called from
// different goroutines; each of them from one at a time.
type Passage struct {
	info, abbrev        window
	lists, relocs, strs window
}

// Ahead is called when the unit at c is about to be read; what is read next ends
// at offset to of .debug_info.
func (p *Passage) Ahead(c *Cursor, to uint64) {
	o := &c.File.inOrder
	p.info.advance(&o.info, to)
	p.abbrev.advance(&o.abbrev, c.Hdr.AbbrevOff)
}

// Behind is called when the unit at c is done with. list is where its last
// location list begins; ok is false if it has none.
func (p *Passage) Behind(c *Cursor, list uint64, ok bool) {
	f := c.File
	o, step := &f.inOrder, f.releaseStep()
	for _, s := range o.all() {
		s.unpin(c.Seq)
	}
	if len(c.Hdr.Data) > 0 && c.Hdr.End() >= o.info.given+step {
		o.info.release(c.Hdr.End())
	}
	if len(c.Hdr.Data) > 0 && c.Hdr.AbbrevOff >= o.abbrev.given+step {
		o.abbrev.release(c.Hdr.AbbrevOff)
	}
	if f.rel != nil {
		p.behindRelocs(c, step)
	}
	if s, _ := c.lists(); ok && (s.sec != nil || s.stream != nil) {
		if list >= s.given+step {
			s.release(list)
		}
		p.lists.advance(s, list)
	}
}

// behindRelocs is Behind for what only a relocatable file reads in order: the
// relocations of .debug_info, and .debug_str, in which each object has a part
// of its own.
func (p *Passage) behindRelocs(c *Cursor, step uint64) {
	rel := c.File.rel
	if s := &rel.inInfo; s.sec != nil {
		at := uint64(c.LastReloc) * uint64(rel.info.EntrySize())
		p.relocs.advance(s, at)
		if at >= s.given+step {
			s.release(at)
		}
	}
	if s := &rel.inStr; s.sec != nil && c.Reader.Low != ^uint32(0) {
		at := uint64(c.Reader.Low)
		p.strs.advance(s, at)
		if at >= s.given+step {
			s.release(at)
		}
	}
}

// Passed gives back .debug_info before the end of the unit at c, for who only
// looks through the units.
func (f *File) Passed(c *Cursor) {
	if s := &f.inOrder.info; c.Hdr.End() >= s.given+f.releaseStep() {
		s.release(c.Hdr.End())
	}
}

// Again says that the units will be read once more from the first one on.
func (f *File) Again() {
	f.inOrder.info.given = 0
	f.shared.restart()
}
