package pack

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/btflite/btflite/internal/expand"
	"github.com/btflite/btflite/internal/workers"
	"github.com/btflite/btflite/internal/xzfile"
)

// Files that xz has written with several threads, as in Debian's packages, have blocks that can be
// expanded by themselves, and an index of these blocks.

// maxBlock bounds a block that is kept on the disk, in bytes. xz -9 has blocks of 192 MiB.
const maxBlock = 256 << 20

// blocked reads the index of xz that lies in the package from at on. It returns nil if the xz is to
// be read as a stream: it has one block, or no index that can be read, whose error the stream gives.
func (w *walk) blocked(at, size int64) (*xzfile.File, error) {
	if w.file == nil || size <= 0 {
		return nil, nil
	}
	x, err := xzfile.Open(io.NewSectionReader(w.file, at, size), size)
	if err != nil || len(x.Blocks) < 2 {
		return nil, nil
	}
	for _, b := range x.Blocks {
		if b.Len > maxBlock {
			return nil, nil
		}
	}
	whole := meter{limits: w.meter.limits, in: w.meter.in + size}
	return x, whole.expand(x.Len)
}

// blockPipe reads what workers have expanded, block by block in their order.
type blockPipe struct {
	w     *walk
	x     *xzfile.File
	slots *os.File // each worker has room bytes of it
	room  int64
	full  []chan error // of each worker: the next block is there
	free  []chan bool  // of each worker: its block has been read
	stop  chan bool    // closed when nobody reads any more

	next int       // block
	now  io.Reader // what is left of the block before, or nil
	err  error
}

// parallel calls use with what x expands to. Its workers expand blocks side by side into a file
// without a name, where each has room for one block: in memory they would be the largest part of
// the program.
func (w *walk) parallel(x *xzfile.File, use func(io.Reader) error) error {
	room := int64(0)
	for _, b := range x.Blocks {
		room = max(room, b.Len)
	}
	jobs := max(1, min(w.jobs, len(x.Blocks)))
	slots, err := w.temp()
	if err != nil {
		return err
	}
	defer slots.Close()
	p := &blockPipe{w: w, x: x, slots: slots, room: room, full: make([]chan error, jobs), free: make([]chan bool, jobs), stop: make(chan bool)}
	for i := range jobs {
		p.full[i], p.free[i] = make(chan error, 1), make(chan bool, 1)
	}
	workers.Do(jobs+1, func(k int) {
		if k < jobs {
			p.fill(k)
			return
		}
		defer close(p.stop)
		err = use(p)
	})
	return err
}

// fill is a worker: it expands each block that is its turn, when the one before has been read.
func (p *blockPipe) fill(k int) {
	failed := errors.New("a worker has failed")
	defer func() {
		if failed != nil { // by a panic, which the caller of Do sees once all have ended
			p.tell(k, failed)
		}
	}()
	r := p.x.NewBlockReader(expand.MaxWindow)
	for i := k; i < len(p.x.Blocks); i += len(p.full) {
		err := expandBlock(p.slots, int64(k)*p.room, r, i)
		if p.w.sparing {
			r = p.x.NewBlockReader(expand.MaxWindow) // without a dictionary until it is used
			debug.FreeOSMemory()                     // some milliseconds for each block, which takes a hundred times as long
		}
		if !p.tell(k, err) || err != nil {
			break
		}
		select {
		case <-p.free[k]:
		case <-p.stop:
		}
	}
	failed = nil
}

// tell says that the next block of worker k is there, or why it is not. It reports false if nobody
// reads any more.
func (p *blockPipe) tell(k int, err error) bool {
	select {
	case <-p.stop:
		return false
	case p.full[k] <- err:
		return true
	}
}

// expandBlock expands block i into a file at an offset.
func expandBlock(to *os.File, at int64, r *xzfile.BlockReader, i int) error {
	if err := r.Block(i); err != nil {
		return err
	}
	_, err := io.CopyBuffer(io.NewOffsetWriter(to, at), struct{ io.Reader }{r}, make([]byte, bufferSize))
	return err
}

// Read implements io.Reader.
func (p *blockPipe) Read(b []byte) (int, error) {
	for p.err == nil {
		if p.now != nil {
			if n, err := p.now.Read(b); n > 0 || err != io.EOF {
				return n, err
			}
			p.now = nil
			p.free[(p.next-1)%len(p.free)] <- true
		}
		if p.next == len(p.x.Blocks) {
			p.err = io.EOF
			break
		}
		k := p.next % len(p.full)
		if err := <-p.full[k]; err != nil {
			p.err = err
			break
		}
		block := &p.x.Blocks[p.next]
		p.w.meter.in += block.Size
		p.now = io.NewSectionReader(p.slots, int64(k)*p.room, block.Len)
		p.next++
	}
	return 0, p.err
}

// search looks for a file from the end of an archive on.
type search struct {
	format tailFormat
	likely func(name string, size int64, head []byte) bool
	found  bool // likely has accepted a file, and visit was called for it and all behind it
}

const (
	// searchedPart and searchedBytes bound how much is looked at from the end: one block in four,
	// and so many bytes.
	searchedPart  = 4
	searchedBytes = 2 << 30
	// beginning is how much is looked at first. Debian's System.map, which comes before a kernel at
	// the beginning, has 4 MB.
	beginning = 8 << 20
)

// last looks for the file in the last blocks of x. It keeps what it has expanded in a file without
// a name, at the offset that it has in the archive, less the offset of the first block that it may
// look at.
func (w *walk) last(x *xzfile.File) error {
	soon, err := w.inFirstBlock(x)
	if err != nil || soon {
		return err
	}
	first := len(x.Blocks)
	for first > 0 && x.Len-x.Blocks[first-1].From <= searchedBytes && (len(x.Blocks)-first+1)*searchedPart <= len(x.Blocks)+searchedPart-1 {
		first--
	}
	if first == len(x.Blocks) {
		return nil
	}
	file, err := w.temp()
	if err != nil {
		return err
	}
	defer file.Close()
	t := tail{tailFormat: w.search.format, file: file, from: x.Blocks[first].From, end: x.Len, begin: x.Len, likely: w.search.likely, left: w.meter.limits.Entries}
	readers := make([]*xzfile.BlockReader, max(w.jobs, 1)) // one for each worker, with its dictionary
	for k := range readers {
		readers[k] = x.NewBlockReader(expand.MaxWindow)
	}
	for have := len(x.Blocks); have > first; {
		n := min(len(readers), have-first)
		errs := make([]error, n)
		workers.Do(n, func(k int) {
			i := have - n + k
			errs[k] = expandBlock(file, x.Blocks[i].From-t.from, readers[k], i)
		})
		for k, err := range errs {
			if err != nil {
				return fmt.Errorf("xz: %w", err)
			}
			w.meter.in += x.Blocks[have-n+k].Size
		}
		have -= n
		at, err := t.search(x.Blocks[have].From)
		if err != nil {
			return err
		}
		if at >= 0 {
			w.search.found = true
			clear(readers)
			return t.walk(w, &punchingReader{r: io.NewSectionReader(file, at-t.from, t.end-at), file: file, at: at - t.from})
		}
	}
	return nil
}

// inFirstBlock tells whether the file is at the beginning, so that a walk from there will soon find
// it.
func (w *walk) inFirstBlock(x *xzfile.File) (yes bool, err error) {
	r := x.NewBlockReader(expand.MaxWindow)
	if err := r.Block(0); err != nil {
		return false, fmt.Errorf("xz: %w", err)
	}
	kept := &errorReader{io.LimitReader(r, beginning), func(damage error) error { err = damage; return damage }}
	one := walk{info: w.info, meter: &meter{limits: w.meter.limits, in: w.meter.in + x.Blocks[0].Size}, visit: func(f *File) error {
		head := make([]byte, headSize)
		n, _ := io.ReadFull(f, head)
		if w.search.likely(f.Name, f.Size, head[:n]) {
			yes = true
			return ErrStop
		}
		return nil
	}}
	_ = w.search.format.walk(&one, kept) // the block may end anywhere
	return yes, err
}
