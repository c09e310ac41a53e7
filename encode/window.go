package encode

import (
	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/mmapelf"
)

// How the mapping is read: the large sections go by once, in unit order.
// Each is asked for a little ahead of the readers and given back behind the
// last committed unit, so that resident memory does not grow with the file,
// and a small cgroup keeps its pages for what is read at random, .debug_str
// above all. The system's own read-ahead is off (openFile): around a page
// touched at random it may read megabytes.

// window asks for a section that is read in order.
type window struct {
	fetched uint64 // up to where the section has been asked for
}

// fetchStep is how much of a section is asked for at a time, in bytes.
const fetchStep = 512 << 10

// advance keeps one to two steps behind offset at coming in from the disk.
func (w *window) advance(f *file, s *mmapelf.Section, at uint64) {
	if s == nil || at+fetchStep <= w.fetched || at >= s.Size {
		return
	}
	w.fetched = max(w.fetched, at)
	n := min(fetchStep, s.Size-w.fetched)
	f.dwarf.PrefetchRange(s.Offset+w.fetched, n)
	w.fetched += n
}

// section is a section that is read in order, and how it is given back: as
// pages of the mapping, or of the range that a compressed one is expanded
// into. Both are nil for a section that is kept.
type section struct {
	sec    *mmapelf.Section
	stream *mmapelf.Stream
	given  uint64 // up to where it has been given back
}

// release gives back what lies before offset to.
func (s *section) release(f *file, to uint64) {
	switch {
	case to <= s.given:
		return
	case s.stream != nil:
		s.stream.Drop(to)
	case s.sec != nil:
		from := s.given - min(s.given, mappedAround)
		f.dwarf.ReleaseRange(s.sec.Offset+from, to-from)
	}
	s.given = to
}

// mappedAround is how far around a page that is touched Linux maps what it has
// in memory, in bytes: so far behind the last release, pages are back again.
const mappedAround = 64 << 10

// need waits until n bytes at off of a section have been expanded, for unit u,
// and keeps them until that is committed. It returns how much of the section
// is there: data, up to some place behind them or the end.
func (s *section) need(u *unit, data []byte, off, n uint64) ([]byte, error) {
	if s.stream == nil {
		return data, nil
	}
	ready, err := s.stream.Need(u.seq, off, n)
	return data[:ready], err
}

// unpin ends a unit's use of the section.
func (s *section) unpin(u *unit) {
	if s.stream != nil {
		s.stream.Unpin(u.seq)
	}
}

// lists is the section that the unit's location lists are in.
func (f *file) lists(u *unit) (*section, []byte) {
	if u.hdr.Version >= 5 {
		return &f.loclistsSec, f.loclists
	}
	return &f.locSec, f.loc
}

// listMargin is how much of a section of location lists is asked for behind
// the start of a list, in bytes: more than nearly all lists have.
const listMargin = 16 << 10

// needLists waits for the location lists of the unit's parameters.
func (f *file) needLists(u *unit) error {
	s, data := f.lists(u)
	u.env.Lists.Reset(data, nil)
	if s.stream == nil {
		return nil
	}
	low, high := ^uint64(0), uint64(0)
	for i := range u.params.S {
		if x := &u.params.S[i]; x.LocKind == callconv.LocList {
			low, high = min(low, uint64(x.LocOff)), max(high, uint64(x.LocOff))
		}
	}
	if low > high {
		return nil
	}
	ready, err := s.need(u, data, low, high-low+listMargin)
	if err != nil {
		return err
	}
	u.env.Lists.Reset(ready, func(have int) ([]byte, error) { return s.need(u, data, low, uint64(have)-low+listMargin) })
	return nil
}

// releaseStep is how much is given back at a time, in bytes. Each time stops
// the other workers for a moment, to have them forget the pages.
func (f *file) releaseStep() uint64 {
	if f.opt.Jobs > 1 {
		return 512 << 10
	}
	return 256 << 10
}

// released gives back what lies before unit u, which has been committed.
func (p *pipeline) released(u *unit) {
	f := p.f
	for _, s := range []*section{&f.infoSec, &f.abbrevSec, &f.locSec, &f.loclistsSec} {
		s.unpin(u)
	}
	if len(u.hdr.Data) > 0 && u.hdr.End() >= f.infoSec.given+f.releaseStep() {
		f.infoSec.release(f, u.hdr.End())
	}
	if len(u.hdr.Data) > 0 && u.hdr.AbbrevOff >= f.abbrevSec.given+f.releaseStep() {
		f.abbrevSec.release(f, u.hdr.AbbrevOff)
	}
	if f.rel != nil {
		p.releasedRel(u)
	}
	s, _ := f.lists(u)
	if s.sec == nil && s.stream == nil {
		return
	}
	for i := len(u.params.S) - 1; i >= 0; i-- {
		x := &u.params.S[i]
		if x.LocKind != callconv.LocList {
			continue
		}
		at := uint64(x.LocOff)
		if at >= s.given+f.releaseStep() {
			s.release(f, at)
		}
		p.lists.advance(f, s.sec, at)
		return
	}
}

// releasedRel is released for what only a relocatable file reads in order: the
// relocations of .debug_info, and .debug_str, in which each object has a part
// of its own.
func (p *pipeline) releasedRel(u *unit) {
	f := p.f
	if s := &f.rel.inInfo; s.sec != nil {
		at := uint64(u.lastReloc) * uint64(f.rel.info.EntrySize())
		p.relocs.advance(f, s.sec, at)
		if at >= s.given+f.releaseStep() {
			s.release(f, at)
		}
	}
	if s := &f.rel.inStr; s.sec != nil && u.reader.Low != ^uint32(0) {
		at := uint64(u.reader.Low)
		p.strs.advance(f, s.sec, at)
		if at >= s.given+f.releaseStep() {
			s.release(f, at)
		}
	}
}
