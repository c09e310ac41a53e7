package encode

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/compactstate"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/names"
	"github.com/btflite/btflite/mmapelf"
)

// ErrNoDwarf is the error for an input that was built without debug
// information, or stripped of it.
var ErrNoDwarf = errors.New("no DWARF debug information (.debug_info)")

// run is the state of one encoding: everything that outlives a unit.
type run struct {
	ctx     context.Context
	opt     Options
	limit   *arena.Limit
	session *Session // nil: of this run alone
	files   []*file
	lead    int // see Output.Lead

	trial *trial
	names names.Table

	set      *dedup.Set
	funcs    *compactstate.FuncTable
	states   *compactstate.States
	funcName []dedup.Name // by function table entry
	vars     compactstate.Vars
	extras   compactstate.ExtraVars
	foreign  string        // see Output
	hides    bool          // see unit.hides
	raw      *rawTypes     // nil without Options.Verbose
	intID    atomic.Uint32 // the Set's int that indexes arrays, 0 until known

	annScratch []compactstate.Annotation
	stats      Stats
	path       string // of the input that is, or was, read
	total      uint64 // bytes of .debug_info of all inputs
	mapped     uint64 // bytes of the inputs
	unchecked  uint64 // bytes of .debug_info since the last look at the memory
	memoryStep uint64 // when to look again
	nameBytes  uint64 // of the largest .debug_str
	done       atomic.Uint64
	clock      clock
}

func encodeAll(ctx context.Context, inputs []mmapelf.Source, opt Options, t *trial, s *Session) (out *Output, err error) {
	r := &run{ctx: ctx, opt: opt, limit: s.takeLimit(), trial: t, session: s, path: inputs[0].Path}
	defer func() {
		if err != nil {
			r.free()
			if s != nil {
				s.dropSet() // whatever state it is in
			}
		}
	}()
	if s == nil && opt.Base == nil {
		r.limit.Set(arena.Bounds{Stop: ctx.Err}) // until it is known how much is to be read
	} else {
		r.limitArena()
	}
	defer r.recoverCrash(&err)
	r.clock.start()
	if err := r.newSet(); err != nil {
		return nil, err
	}
	r.states = compactstate.NewStates()
	if opt.Verbose != nil {
		r.raw = r.newRawTypes()
	}
	r.names.SetPrefix(opt.NamePrefix)
	arena.Bind(r.limit, &r.extras)
	for i := range inputs {
		r.path = inputs[i].Path
		f, err := r.openFile(&inputs[i])
		if err != nil {
			return nil, err
		}
		r.files = append(r.files, f)
		if len(f.info) == 0 {
			continue
		}
		r.total += uint64(len(f.info))
		r.stats.DebugInfo += uint64(len(f.info))
		r.reserve(f)
		r.clock.lap("open, symbols")
		err = f.encode()
		if serr := f.waitSymbols(); serr != nil {
			err = serr
		}
		if err != nil {
			switch {
			case f.unsorted():
				t.sortRelocs, err = true, errUnsorted
			case errors.Is(err, errMerge):
				t.merge[i] = true
			}
			return nil, err
		}
		r.clock.lap("compile units")
	}
	if r.total == 0 {
		return r.noUnits(inputs)
	}
	return r.finish()
}

func (r *run) free() {
	if s := r.session; s != nil && r.opt.Base != nil && !r.opt.Exact {
		s.set = r.set
	} else if r.set != nil {
		r.set.Free()
	}
	r.set = nil
	r.extras.Free()
	r.closeFiles()
}

// intern adds a name that does not come with a type to the strings.
func (r *run) intern(t dedup.Name) (dedup.Name, error) { return r.set.Intern(t) }

// pipeline runs the units of one file: workers read them side by side, each
// into a slot; whoever finishes the unit that is next in order commits it and
// those behind it that are ready.
type pipeline struct {
	f     *file
	slots []slot
	free  []*slot // the slots that hold no unit; the last one, used last, is in caches
	ring  []*slot // the others, by sequence number of their units

	mu         sync.Mutex
	cond       sync.Cond
	off        uint64 // of the next unit header
	reloc      int    // first relocation that is not of an earlier unit
	next       int    // sequence number of the next unit to read
	commit     int    // sequence number of the next unit to commit
	committing bool
	err        error
	info       window
	abbrev     window
	lists      window // .debug_loclists
	relocs     window // the relocations of .debug_info
	strs       window // .debug_str of a relocatable file
}

// Two slots for a worker, and some that let the workers get further ahead of a
// unit that takes long, or of one that is held up, before they wait for it.
const (
	slotsPerWorker = 2
	slotsMore      = 2
)

type slot struct {
	u     unit
	ready bool
}

func (f *file) encode() error {
	if f.merge != nil {
		if err := f.openAlt(); err != nil {
			return err
		}
		if err := f.plan(); err != nil {
			return err
		}
		if f.merge.dropped {
			f.run.stats.CUs += len(f.merge.units)
			f.run.stats.CUsFiltered += len(f.merge.units)
			return nil
		}
		f.shared.restart()
	}
	defer f.closeStreams()
	if err := f.encodeUnits(); err != nil {
		return err
	}
	if err := f.finishTypes(); err != nil || f.merge == nil {
		return err
	}
	return f.finishMerged()
}

// encodeUnits reads and commits all units.
func (f *file) encodeUnits() error {
	jobs := max(f.opt.Jobs, 1)
	slots := 1
	if jobs > 1 {
		slots = slotsPerWorker*jobs + slotsMore
	}
	p := &pipeline{f: f, slots: f.run.takeSlots(slots), ring: make([]*slot, slots)}
	for i := range p.slots {
		p.free = append(p.free, &p.slots[i])
	}
	p.cond.L = &p.mu
	defer func() {
		f.run.session.giveSlots(p.slots)
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
		// Before the array index type is known, units go one by one: the
		// first unit with an int decides it.
		for p.err == nil && p.off < uint64(len(p.f.info)) &&
			(len(p.free) == 0 || p.next > p.commit && p.f.run.intID.Load() == 0) {
			p.cond.Wait()
		}
		if p.err == nil {
			if p.err = p.f.run.stopped(); p.err != nil {
				p.cond.Broadcast()
			}
		}
		if p.err != nil || p.off >= uint64(len(p.f.info)) {
			return
		}
		s := p.free[len(p.free)-1]
		p.free = p.free[:len(p.free)-1]
		p.ring[p.next%len(p.ring)] = s
		u := &s.u
		u.reset()
		u.seq = p.next
		p.take(u)
		p.next++
		if n := p.f.opt.CULimit; n > 0 && p.next >= n && p.f.merge == nil {
			p.off = uint64(len(p.f.info))
		}
		p.unlocked(func() { p.f.read(u) })
		s.ready = true
		if p.committing {
			continue
		}
		p.committing = true
		for p.err == nil && p.commit < p.next {
			s := p.ring[p.commit%len(p.ring)]
			if !s.ready {
				break
			}
			var err error
			p.unlocked(func() {
				err = p.f.commitUnit(&s.u)
				p.released(&s.u)
			})
			s.ready = false
			p.free = append(p.free, s)
			p.commit++
			if err != nil && p.err == nil {
				p.err = err
			}
			p.cond.Broadcast()
		}
		p.committing = false
	}
}

// take gives u the next unit, or group of a merged file, to read.
func (p *pipeline) take(u *unit) {
	f := p.f
	if err := f.header(p.off, p.reloc, u); err != nil {
		// Units before this one are committed first: their errors count.
		u.hdr.Off = p.off
		u.fail = f.inFile(err)
		p.off = uint64(len(f.info))
		return
	}
	start := p.off
	p.off, p.reloc = u.hdr.End(), u.lastReloc
	if m := f.merge; m != nil {
		p.off = uint64(len(f.info))
		if end := m.groups[p.next].end; end < len(m.units) {
			p.off, p.reloc = m.units[end].off, m.units[end].reloc
		}
	}
	u.size = p.off - start
	p.info.advance(f, f.infoSec.sec, p.off)
	p.abbrev.advance(f, f.abbrevSec.sec, u.hdr.AbbrevOff)
}

// unlocked runs fn without the lock, and takes it again even if fn panics.
func (p *pipeline) unlocked(fn func()) {
	p.mu.Unlock()
	defer p.mu.Lock()
	fn()
}

// read does all of a unit that needs no order. Errors are kept in u.fail.
func (f *file) read(u *unit) {
	if u.fail != nil {
		return
	}
	defer f.locate(u)
	if err := f.readUnit(u); err != nil {
		u.fail = err
	}
}

func (f *file) readUnit(u *unit) error {
	switch {
	case len(u.seeds) > 0:
		return f.readSeeds(u)
	case f.merge != nil:
		return f.readGroup(u)
	case u.hdr.IsType():
		f.sawTypes.Store(true)
		return nil
	}
	p, skip, err := f.startUnit(u)
	switch {
	case err == nil && u.skeleton != nil:
		return f.readSplit(u)
	case err == nil && u.abbrevs.Cross():
		err = errMerge
	}
	if err != nil || skip {
		return err
	}
	if err := f.walk(u, p); err != nil {
		return err
	}
	u.hides = len(u.types.Order.S) == 0 && f.hides(u, p)
	if u.reader.Bad {
		return f.unitError(u, "a name lies beyond .debug_str")
	}
	if err := f.link(u); err != nil {
		return err
	}
	return f.resolveUnit(u, f)
}

// resolveUnit judges the functions of a linked unit and looks its types up.
// symbols is the file with the symbol table: f, or that of which f is a .dwo.
func (f *file) resolveUnit(u *unit, symbols *file) error {
	if err := symbols.waitSymbols(); err != nil {
		return err
	}
	if err := f.needLists(u); err != nil {
		return err
	}
	f.logTypes(u)
	f.functions(u)
	if u.relocFail != nil {
		return f.unitError(u, u.relocFail.Error())
	}
	f.run.set.Resolve(&u.types)
	return nil
}

// commitUnit merges a unit that has been read. It is called in file order.
func (f *file) commitUnit(u *unit) error {
	r := f.run
	if u.fail != nil {
		return u.fail
	}
	defer f.locate(u)
	if r.names.Overflow() {
		return f.unitError(u, "over 1 GiB of names")
	}
	if f.opt.Progress != nil {
		f.opt.Progress(r.done.Add(u.size), r.total)
	}
	switch {
	case u.hdr.IsType() && len(u.seeds) == 0 && f.merge == nil:
		return nil // read with the units that lead there
	case f.merge == nil && len(u.seeds) == 0:
		u.units = 1
	}
	r.stats.CUs += u.units
	r.stats.CUsFiltered += u.unitsFiltered
	if r.unchecked += u.size + memoryStep/16; r.unchecked >= r.memoryStep {
		r.unchecked = 0
		if err := r.checkMemory(0); err != nil {
			return err
		}
	}
	if u.filtered {
		r.stats.CUsFiltered++
		f.logFiltered(u)
		return nil
	}
	for {
		err := r.set.Commit(&u.types)
		if errors.Is(err, dedup.ErrAlias) {
			// A name of the unit has another token: read it again, with
			// the alias in force.
			hdr, first, last, size := u.hdr, u.firstReloc, u.lastReloc, u.size
			u.reset()
			u.hdr, u.firstReloc, u.lastReloc, u.size = hdr, first, last, size
			if err := f.readUnit(u); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return f.unitError(u, err.Error())
		}
		break
	}
	if r.foreign == "" && u.foreign != 0 {
		r.foreign = langName(u.foreign)
	}
	for _, i := range u.needTypes {
		f.types.reached[i] = true
	}
	r.raw.committed(u)
	f.flushLog(u)
	r.countLeftOut(u)
	r.hides = r.hides || u.hides
	r.stats.DIEs += u.dies
	r.stats.TypesIn += uint64(len(u.types.Order.S))
	if r.intID.Load() == 0 && u.firstInt != 0 {
		r.intID.Store(u.types.ID.S[u.firstInt-1])
	}
	if f.merge != nil {
		return f.takeMerged(u)
	}
	if err := f.saveStates(u); err != nil {
		return err
	}
	return f.saveVars(u)
}
