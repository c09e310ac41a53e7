package debuginfo

// releaseStep returns how many bytes are released at a time. Each release stops the other
// workers for a moment, because their CPUs must drop the pages too.
func (f *File) releaseStep() uint64 {
	if f.settings.Workers > 1 {
		return 512 << 10
	}
	return 256 << 10
}

// Passage is one reading of a file's units in order. It asks for the sections ahead of
// the readers, and releases them after the last finished unit. The zero value is at the
// start. Ahead and Behind may be called from different goroutines, but each from only one
// at a time.
type Passage struct {
	info, abbrev        window
	lists, relocs, strs window
}

// Ahead is called before the unit at c is read. to is the end of that reading in
// .debug_info.
func (ps *Passage) Ahead(c *Cursor, to uint64) {
	o := &c.File.inOrder
	ps.info.advance(&o.info, to)
	ps.abbrev.advance(&o.abbrev, c.Hdr.AbbrevOff)
}

// Behind is called after the unit at c is finished. list is where its last location list
// begins; ok is false if it has none.
func (ps *Passage) Behind(c *Cursor, list uint64, ok bool) {
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
		ps.behindRelocs(c, step)
	}
	if s, _ := c.lists(); ok && (s.sec != nil || s.stream != nil) {
		if list >= s.given+step {
			s.release(list)
		}
		ps.lists.advance(s, list)
	}
}

// behindRelocs is Behind for sections that only relocatable files read in order: the
// relocations of .debug_info, and .debug_str, where each object has its own part.
func (ps *Passage) behindRelocs(c *Cursor, step uint64) {
	rel := c.File.rel
	if s := &rel.inInfo; s.sec != nil {
		at := uint64(c.LastReloc) * uint64(rel.info.EntrySize())
		ps.relocs.advance(s, at)
		if at >= s.given+step {
			s.release(at)
		}
	}
	if s := &rel.inStr; s.sec != nil && c.Reader.Low != ^uint32(0) {
		at := uint64(c.Reader.Low)
		ps.strs.advance(s, at)
		if at >= s.given+step {
			s.release(at)
		}
	}
}

// Passed releases .debug_info up to the end of the unit at c, for a first look through
// the units.
func (f *File) Passed(c *Cursor) {
	if s := &f.inOrder.info; c.Hdr.End() >= s.given+f.releaseStep() {
		s.release(c.Hdr.End())
	}
}

// Rewind prepares to read the units again from the first one on.
func (f *File) Rewind() {
	f.inOrder.info.given = 0
	f.shared.restart()
}
