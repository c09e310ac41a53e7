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
// start. Begin and Behind may be called from different goroutines, but each from only one
// at a time.
type Passage struct {
	info, abbrev        window
	lists, relocs, strs window
	last                nearby // where the relocations of the last unit end
}

// Begin reads the header of the unit at off into c, as File.Header does. It looks for the unit's
// relocations where the relocations of the last unit end, which another cursor has read. If it looked
// from c's own last unit on, it would read pages that have been released, and they would stay in memory.
func (ps *Passage) Begin(f *File, off uint64, c *Cursor) error {
	c.nearUnit = ps.last
	err := f.Header(off, c)
	ps.last = c.nearUnit
	return err
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
	for _, s := range f.inOrder.all() {
		s.unpin(c.Seq)
	}
	if f.rel != nil {
		ps.aheadRelocs(c)
	}
	f.Passed(c)
	if s, _ := c.lists(); ok && (s.sec != nil || s.stream != nil) {
		s.releaseBy(f.releaseStep(), list)
		ps.lists.advance(s, list)
	}
}

// aheadRelocs is Ahead for sections that only relocatable files read in order: the relocations
// of .debug_info, and .debug_str, where each object has its own part. It is called after the unit at
// c is finished, because only its reading finds the places.
func (ps *Passage) aheadRelocs(c *Cursor) {
	rel := c.File.rel
	if rel.inInfo.sec != nil {
		ps.relocs.advance(&rel.inInfo, rel.behind(c))
	}
	if rel.inStr.sec != nil && c.Reader.Low != ^uint32(0) {
		ps.strs.advance(&rel.inStr, uint64(c.Reader.Low))
	}
}

// behind returns the end of the relocations of the unit at c.
func (r *relocs) behind(c *Cursor) uint64 { return uint64(c.LastReloc) * uint64(r.info.EntrySize()) }

// release releases the sections of aheadRelocs in steps, up to what the unit at c has read.
func (r *relocs) release(c *Cursor, step uint64) {
	if r.inInfo.sec != nil {
		r.inInfo.releaseBy(step, r.behind(c))
	}
	if r.inStr.sec != nil && c.Reader.Low != ^uint32(0) {
		r.inStr.releaseBy(step, uint64(c.Reader.Low))
	}
}

// Passed releases what has been read up to the unit at c: .debug_info, its relocations and
// strings, and .debug_abbrev, which is a quarter of a file with unit records. A first look through
// the units calls it for each of them.
func (f *File) Passed(c *Cursor) {
	step := f.releaseStep()
	if len(c.Hdr.Data) > 0 {
		f.inOrder.info.releaseBy(step, c.Hdr.End())
		f.inOrder.abbrev.releaseBy(step, c.Hdr.AbbrevOff)
	}
	if f.rel != nil {
		f.rel.release(c, step)
	}
}

// Rewind prepares to read the units again from the first one on.
func (f *File) Rewind() {
	f.inOrder.info.given, f.inOrder.abbrev.given = 0, 0
	if f.rel != nil {
		f.rel.inInfo.given, f.rel.inStr.given = 0, 0
	}
	f.shared.restart()
}
