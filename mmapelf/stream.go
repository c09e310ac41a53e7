package mmapelf

import (
	"runtime/debug"
	"sync"
)

// Stream expands a compressed section that is read more or less in order. A
// goroutine expands it ahead of its readers, into an address range as long as the
// section, and the readers drop the part that they have read. So memory depends on
// the distance between the two, not on the size of the section. Readers index the
// range like the section itself; Need says when they may.
//
// If a reader goes back to a part that was dropped, the section is expanded again
// from its start, and nothing is dropped any more: a file with an unusual order
// costs memory, but never gives a wrong byte.
type Stream struct {
	f   *File
	s   *Section
	c   *codec
	mem []byte

	mu      sync.Mutex
	cond    sync.Cond
	started bool
	closed  bool
	done    bool           // the end of the stream has been checked, or err is set
	ready   int            // bytes expanded, from the start
	want    int            // bytes that readers have asked for, from the start
	dropped int            // bytes given back, from the start
	dropTo  int            // where Drop was last told
	pins    map[int]uint64 // lowest offset in use, by reader
	keep    bool           // drop nothing any more
	err     error
	crash   any // a panic while expanding, for the readers
}

// streamAhead is how far a section is expanded ahead of its readers,
// streamStep how much at a time, in bytes.
const (
	streamAhead = 1 << 20
	streamStep  = 128 << 10
)

// Stream prepares a compressed section for reading in order; nil if s is
// stored as it is. It must be closed, before the File.
func (f *File) Stream(s *Section) (*Stream, error) {
	c, err := f.codec(s)
	if c == nil || err != nil {
		return nil, err
	}
	mem, err := f.reserve(s, c.size)
	if err != nil {
		return nil, err
	}
	st := &Stream{f: f, s: s, c: c, mem: mem, pins: make(map[int]uint64)}
	st.cond.L = &st.mu
	return st, nil
}

// Bytes is the range of the whole section. Only what Need has promised holds
// the section's contents, until it is dropped. It is valid until the File is
// closed.
func (st *Stream) Bytes() []byte { return st.mem }

// Need waits until the n bytes at off are expanded, or as many as the section has.
// It returns how many bytes from the section's start are expanded. All bytes that
// a reader has asked for stay until Unpin is called for this reader, which is a
// number of the caller's choice. The error is a *FormatError of the compressed
// stream.
func (st *Stream) Need(reader int, off, n uint64) (ready uint64, err error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.closed {
		return 0, st.f.errorf(st.s.label(), st.s.Offset, "read after its end")
	}
	off = min(off, uint64(len(st.mem)))
	end := int(off + min(n, uint64(len(st.mem))-off))
	if low, ok := st.pins[reader]; !ok || off < low {
		st.pins[reader] = off
	}
	if !st.started {
		st.started = true
		go st.run()
	}
	if end > st.want {
		st.want = end
		st.cond.Broadcast()
	}
	for !st.done && (st.ready < end || end == len(st.mem)) {
		st.cond.Wait()
	}
	if st.crash != nil {
		panic(st.crash)
	}
	if st.err != nil && (st.ready < end || end == len(st.mem)) {
		return 0, st.err
	}
	if off < uint64(st.dropped) {
		if err := st.restore(); err != nil {
			return 0, err
		}
	}
	return uint64(st.ready), nil
}

// restore expands the part that was dropped again. From then on nothing is dropped.
func (st *Stream) restore() error {
	x, err := st.f.expander(st.s, st.c)
	if err != nil {
		return err
	}
	defer x.close()
	if err := x.fill(st.mem[:st.dropped]); err != nil {
		return err
	}
	st.dropped, st.keep = 0, true
	return nil
}

// Unpin ends a reader's use of all that it has asked for.
func (st *Stream) Unpin(reader int) {
	st.mu.Lock()
	delete(st.pins, reader)
	st.mu.Unlock()
}

// Drop says that bytes before off are not needed again, except bytes that a reader
// has asked for and not unpinned.
func (st *Stream) Drop(off uint64) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.dropTo = max(st.dropTo, int(min(off, uint64(len(st.mem)))))
	to := min(st.dropTo, st.ready)
	for _, low := range st.pins {
		to = min(to, int(low))
	}
	to -= to % dropUnit
	if to > st.dropped && !st.keep {
		dropPages(st.mem[st.dropped:to])
		st.dropped = to
	}
}

// dropUnit is the unit in bytes in which memory is given back: a multiple of all page
// sizes in use.
const dropUnit = 64 << 10

// run expands the section until all is there or the Stream is closed.
func (st *Stream) run() {
	debug.SetPanicOnFault(true) // a file may be cut short while it is mapped
	var x *expander
	st.mu.Lock()
	defer func() {
		if x != nil {
			x.close()
		}
		st.done = true
		st.cond.Broadcast()
		st.mu.Unlock()
	}()
	st.expand(func() (err error) {
		x, err = st.f.expander(st.s, st.c)
		return err
	})
	for st.err == nil && st.ready < len(st.mem) {
		for !st.closed && st.ready >= st.want+streamAhead {
			st.cond.Wait()
		}
		if st.closed {
			return
		}
		to := min(st.ready+streamStep, len(st.mem))
		st.expand(func() error { return x.fill(st.mem[st.ready:to]) })
		if st.err == nil {
			st.ready = to
			st.cond.Broadcast()
		}
	}
	if st.err == nil {
		st.expand(x.atEnd)
	}
}

// expand calls fn without the lock and keeps its error.
func (st *Stream) expand(fn func() error) {
	st.mu.Unlock()
	var err error
	defer func() {
		x := recover()
		st.mu.Lock()
		st.err = err
		if x != nil {
			st.crash = x
			st.err = st.f.errorf(st.s.label(), st.s.Offset, "cannot be read")
		}
	}()
	err = fn()
}

// Close ends the expansion and gives the memory back; Bytes must not be read
// any more.
func (st *Stream) Close() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.closed = true
	st.cond.Broadcast()
	for st.started && !st.done {
		st.cond.Wait()
	}
	if len(st.mem) >= minReserve {
		dropPages(st.mem)
	}
}
