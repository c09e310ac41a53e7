package debuginfo

// releaseStep is how much is given back at a time, in bytes. Each time stops
// the other workers for a moment, to have them forget the pages.
func (f *File) releaseStep() uint64 {
	if f.settings.Workers > 1 {
		return 512 << 10
	}
	return 256 << 10
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

// Rewind says that the units will be read once more from the first one on.
func (f *File) Rewind() {
	f.inOrder.info.given = 0
	f.shared.restart()
}
