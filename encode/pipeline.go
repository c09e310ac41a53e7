package encode

import (
	"errors"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/internal/debuginfo"
)

// pipeline runs the units of one file. Workers read units side by side, each into a
// workspace. The worker that finishes the next unit in file order commits it, and the
// units after it that are ready. All other units wait for a commit, so it does only what has
// to be done in order with other commits. The remainder, keep, is done in order too, but beside
// the commits of later units.
type pipeline struct {
	f          *input
	workspaces []workspace
	free       []*workspace // without a unit; the last one was used last, so it is in the CPU's caches
	ring       []*workspace // the other workspaces, by sequence number of their units

	mu         sync.Mutex // for the fields from free on
	maxBusy    int        // how many workspaces may have a unit: all, and fewer when memory is scarce
	cond       sync.Cond
	off        uint64 // of the next unit header in .debug_info
	nextRead   int    // sequence number of the next unit to read
	nextCommit int    // sequence number of the next unit to commit
	nextKeep   int    // sequence number of the next unit to finish (keep), after its commit
	committing bool   // a worker commits
	keeping    bool   // a worker finishes units
	err        error  // why reading ends before the last unit
	passage    debuginfo.Passage
}

// Each worker has two workspaces. A few more let the workers read ahead of a unit that
// takes long or waits for another one.
const (
	workspacesPerWorker = 2
	extraWorkspaces     = 2
)

// encodeUnits reads and commits all units.
func (f *input) encodeUnits() error {
	jobs := max(f.opt.Jobs, 1)
	workspaces := 1
	if jobs > 1 {
		workspaces = workspacesPerWorker*jobs + extraWorkspaces
	}
	p := &pipeline{f: f, ring: make([]*workspace, workspaces), maxBusy: startUnits(f.opt, workspaces)}
	p.workspaces = f.run.session.takeWorkspaces(workspaces, f.run.limit)
	for i := range p.workspaces {
		p.free = append(p.free, &p.workspaces[i])
		p.workspaces[i].reader.In = &f.Input
	}
	f.run.readInlined(p.workspaces)
	p.cond.L = &p.mu
	if workspaces > 1 {
		f.run.useLess = p.useLess
	}
	defer func() {
		f.run.useLess = nil
		f.run.session.giveWorkspaces(p.workspaces)
	}()
	if jobs == 1 {
		old := debug.SetPanicOnFault(true)
		defer debug.SetPanicOnFault(old)
		p.work()
		return p.err
	}
	var wg sync.WaitGroup
	var crash atomic.Value
	for range jobs {
		wg.Add(1)
		go func() {
			defer wg.Done()
			debug.SetPanicOnFault(true)
			defer func() {
				if x := recover(); x != nil {
					crash.CompareAndSwap(nil, asWorkerPanic(x, ""))
					p.mu.Lock()
					p.err = errors.New("worker failed")
					p.cond.Broadcast()
					p.mu.Unlock()
				}
			}()
			p.work()
		}()
	}
	wg.Wait()
	if x := crash.Load(); x != nil {
		panic(x)
	}
	return p.err
}

// work reads units until there are none left.
func (p *pipeline) work() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		// Until the index type of arrays is known, units are read one by one, because the
		// first unit with an int decides it.
		for p.err == nil && p.off < uint64(len(p.f.File.Info)) &&
			(p.busy() >= p.maxBusy || p.nextRead > p.nextCommit && p.f.run.arrayIndex.Load() == 0) {
			p.cond.Wait()
		}
		if p.err == nil {
			if p.err = p.f.run.stopped(); p.err != nil {
				p.cond.Broadcast()
			}
		}
		if p.err != nil || p.off >= uint64(len(p.f.File.Info)) {
			p.freeUnused()
			return
		}
		s := p.free[len(p.free)-1]
		p.free = p.free[:len(p.free)-1]
		p.ring[p.nextRead%len(p.ring)] = s
		s.reset()
		s.reader.Cursor.Seq = p.nextRead
		p.take(s)
		p.nextRead++
		if n := p.f.opt.CULimit; n > 0 && p.nextRead >= n && p.f.merge == nil {
			p.off = uint64(len(p.f.File.Info))
		}
		p.unlocked(func() { p.f.readWorkspace(s) })
		s.ready = true
		if !p.holdCommits() {
			p.commitReady()
			p.keepCommitted()
		}
	}
}

// commitReady commits units in order, as long as the next one has been read. It does nothing if
// another worker does that.
func (p *pipeline) commitReady() {
	if p.committing {
		return
	}
	p.committing = true
	for p.err == nil && p.nextCommit < p.nextRead {
		s := p.ring[p.nextCommit%len(p.ring)]
		if !s.ready {
			break
		}
		var err error
		p.unlocked(func() { err = p.f.commitUnit(s) })
		s.ready = false
		if err == nil {
			p.nextCommit++
		} else if p.err == nil {
			p.err = err
		}
		p.cond.Broadcast()
	}
	p.committing = false
}

// keepCommitted finishes the units that have been committed, unless another worker does that.
// While a commit is at work, no other unit can be committed, but units before it can be finished.
func (p *pipeline) keepCommitted() {
	if p.keeping {
		return
	}
	p.keeping = true
	for p.err == nil && p.nextKeep < p.nextCommit {
		s := p.ring[p.nextKeep%len(p.ring)]
		p.unlocked(func() {
			keep(p.f, s)
			p.released(s)
		})
		p.nextKeep++
		p.free = append(p.free, s)
		p.freeIdle()
		p.cond.Broadcast()
	}
	p.keeping = false
}

// busy returns how many workspaces have a unit.
func (p *pipeline) busy() int { return len(p.workspaces) - len(p.free) }

// useLess takes one workspace out of use, if there are others, and frees the memory of those that
// get no unit any more. It is called when memory is scarce.
func (p *pipeline) useLess() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.maxBusy = max(p.maxBusy-1, 1)
	p.freeIdle()
}

// freeIdle frees the memory of the free workspaces that get no unit, because only p.maxBusy may have
// one.
func (p *pipeline) freeIdle() {
	for i := range min(len(p.free), len(p.workspaces)-p.maxBusy) {
		p.free[i].free()
	}
}

// freeUnused frees the workspaces that have no unit, unless a session keeps them. A worker calls it
// when no unit is left to read, while other workers read the last ones. The system takes the memory
// back page by page, so one goroutine would need long for all workspaces at the end.
func (p *pipeline) freeUnused() {
	for p.f.run.session == nil && len(p.free) > 0 {
		s := p.free[len(p.free)-1]
		p.free = p.free[:len(p.free)-1]
		p.unlocked(s.free)
	}
}

// holdCommits reports whether commits have to wait, because a test wants them as late as possible.
func (p *pipeline) holdCommits() bool {
	return testProofs.lateCommits && len(p.free) > 0 && p.f.run.arrayIndex.Load() != 0 && p.off < uint64(len(p.f.File.Info))
}

// take reads the header of the next unit into u. In a merged file it takes the next
// group.
func (p *pipeline) take(u *workspace) {
	f := p.f
	if err := p.passage.Begin(f.File, p.off, &u.reader.Cursor); err != nil {
		// Units before this one are committed first: their errors come first.
		u.reader.Cursor.Hdr.Off = p.off
		u.err = f.File.InFile(err)
		p.off = uint64(len(f.File.Info))
		return
	}
	start := p.off
	p.off = u.reader.Cursor.Hdr.End()
	if m := f.merge; m != nil {
		p.off = uint64(len(f.File.Info))
		if end := m.groups[p.nextRead].End; end < len(m.Places) {
			p.off = m.Places[end].Off
		}
	}
	u.size = p.off - start
	p.passage.Ahead(&u.reader.Cursor, p.off)
}

// unlocked runs fn without the lock. It locks again even if fn panics.
func (p *pipeline) unlocked(fn func()) {
	p.mu.Unlock()
	defer p.mu.Lock()
	fn()
}

// released releases the pages before unit u, which has been committed.
func (p *pipeline) released(u *workspace) {
	for i := len(u.unit.Params.S) - 1; i >= 0; i-- {
		if x := &u.unit.Params.S[i]; x.LocKind == callconv.LocList {
			p.passage.Behind(&u.reader.Cursor, uint64(x.LocOff), true)
			return
		}
	}
	p.passage.Behind(&u.reader.Cursor, 0, false)
}

// finishTypes encodes the type units that no unit has referred to.
func (f *input) finishTypes() error {
	if !f.File.HasTypes() {
		return nil
	}
	t, err := f.File.Types()
	if err != nil {
		return err
	}
	unreached := t.Unreached()
	var u workspace
	u.init(f.run.limit)
	defer u.free()
	u.reader.In = &f.Input
	u.reader.Cursor.Seq = -1 // no workspace has this number
	var seeds []uint32
	for len(unreached) > 0 {
		seeds = seeds[:0]
		for len(unreached) > 0 && len(seeds) < typeBatch {
			if !t.IsReached(unreached[0]) { // an earlier batch may have referred to it
				seeds = append(seeds, unreached[0])
			}
			unreached = unreached[1:]
		}
		u.reset()
		u.err = f.readTypes(&u, seeds)
		err := f.commit(&u, func() error { return f.readTypes(&u, seeds) })
		if err != nil {
			return err
		}
		keep(f, &u)
	}
	return nil
}
