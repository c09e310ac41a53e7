package debuginfo

import "github.com/btflite/btflite/mmapelf"

// The large sections of the mapping are read once, in unit order. Each is asked for a
// little ahead of the readers, and released after the last committed unit. So resident
// memory does not grow with the file, and a small cgroup keeps its pages for sections
// that are read at random, .debug_str above all. The system's own read-ahead is off
// (adviseOn), because it may read megabytes around a page that is touched at random.

// window asks ahead for a section that is read in order.
type window struct {
	fetched uint64 // end of the part that has been asked for
}

// fetchStep is how many bytes of a section are asked for at a time.
const fetchStep = 512 << 10

// advance asks for the section up to one or two steps after offset at.
func (w *window) advance(s *section, at uint64) {
	if s.sec == nil || at+fetchStep <= w.fetched || at >= s.sec.Size || w.fetched >= s.sec.Size {
		return
	}
	w.fetched = max(w.fetched, at)
	n := min(fetchStep, s.sec.Size-w.fetched)
	s.file.PrefetchRange(s.sec.Offset+w.fetched, n)
	w.fetched += n
}

// section is a section that is read in order, and how to release it: as pages of the
// mapping, or of the range into which a compressed one is expanded. sec and stream are
// both nil for a section that is kept.
type section struct {
	file   *mmapelf.File
	sec    *mmapelf.Section
	stream *mmapelf.Stream
	given  uint64 // end of the part that has been released
}

// release releases the part before offset to.
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

// releaseBy releases the part before offset to, if that is a step or more.
func (s *section) releaseBy(step, to uint64) {
	if to >= s.given+step {
		s.release(to)
	}
}

// mappedAround is how many bytes around a touched page Linux maps if it has them in
// memory. So far before the end of the last release, pages may be back.
const mappedAround = 64 << 10

// need waits until n bytes at off of a section have been expanded, for the unit with
// sequence number seq. It keeps them until that unit is committed. It returns data up to
// some place after them, or to the end.
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
