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
	if s.sec == nil || at+fetchStep <= w.fetched || at >= s.sec.Size || w.fetched >= s.sec.Size {
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
