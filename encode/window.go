package encode

import "github.com/btflite/btflite/mmapelf"

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
	f.elf.PrefetchRange(s.Offset+w.fetched, n)
	w.fetched += n
}

// released keeps track of how much of the mapping has been given back: what
// lies before the last committed unit is not needed again.
type released struct {
	info, abbrev, loclists uint64
	ahead                  window // of .debug_loclists
}

// releaseStep is how much is given back at a time, in bytes.
const releaseStep = 256 << 10

// advance gives back what lies before unit u, which has been committed.
func (d *released) advance(f *file, u *unit) {
	if s := f.infoSec; s != nil && u.hdr.End()-d.info >= releaseStep && len(u.hdr.Data) > 0 {
		f.elf.ReleaseRange(s.Offset+d.info, u.hdr.End()-d.info)
		d.info = u.hdr.End()
		if s := f.abbrevSec; s != nil && u.hdr.AbbrevOff > d.abbrev {
			f.elf.ReleaseRange(s.Offset+d.abbrev, u.hdr.AbbrevOff-d.abbrev)
			d.abbrev = u.hdr.AbbrevOff
		}
	}
	s := f.loclistsSec
	if s == nil {
		return
	}
	for i := len(u.params.S) - 1; i >= 0; i-- {
		p := &u.params.S[i]
		if p.LocKind != locList {
			continue
		}
		at := uint64(p.LocOff)
		if at >= d.loclists+releaseStep {
			f.elf.ReleaseRange(s.Offset+d.loclists, at-d.loclists)
			d.loclists = at
		}
		d.ahead.advance(f, s, at)
		return
	}
}
