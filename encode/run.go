package encode

import (
	"context"
	"errors"
	"fmt"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/compactstate"
	"github.com/btflite/btflite/internal/debuginfo"
	"github.com/btflite/btflite/internal/unit"
	"github.com/btflite/btflite/mmapelf"
)

// Run encodes the DWARF of the inputs into one BTF. The inputs' units are
// taken in order; the result does not depend on Options.Jobs.
func Run(paths []string, opt Options) (*Output, error) {
	inputs := make([]mmapelf.Source, len(paths))
	for i, p := range paths {
		inputs[i].Path = p
	}
	return RunSources(context.Background(), inputs, opt)
}

// RunSources is Run for inputs of any kind, until ctx ends it. An input in memory
// has no files beside it: what it says of its debug files counts only as far as it
// leads to places that do not depend on the input's own.
func RunSources(ctx context.Context, inputs []mmapelf.Source, opt Options) (*Output, error) {
	return runTrials(ctx, inputs, opt, nil)
}

// runTrials runs until nothing is found out about the inputs any more. With
// Options.Verbose that has to be so before a line is written.
func runTrials(ctx context.Context, inputs []mmapelf.Source, opt Options, s *Session) (*Output, error) {
	if q := opt.Functions; q != nil && q.Tell == nil {
		opt.Functions = nil // there is nobody to tell
	}
	t := trial{merge: make([]bool, len(inputs))}
	if opt.Verbose != nil {
		quiet := opt
		quiet.Verbose, quiet.Warn, quiet.FuncSkipped, quiet.Functions, quiet.Progress = nil, nil, nil, nil, nil
		if quiet.Dedup == DedupExact {
			quiet.Dedup = DedupStream // nothing is found out by it
		}
		if out, err := untilKnown(ctx, inputs, quiet, &t, s); err == nil {
			out.Close()
		}
		opt.Jobs = 1
	}
	t.exact = t.exact || opt.Dedup == DedupExact
	return untilKnown(ctx, inputs, opt, &t, s)
}

// untilKnown runs until t has all that is to be known.
func untilKnown(ctx context.Context, inputs []mmapelf.Source, opt Options, t *trial, s *Session) (*Output, error) {
	for {
		out, err := encodeAll(ctx, inputs, opt, t, s)
		switch {
		case errors.Is(err, errUnsorted), errors.Is(err, unit.ErrMerge), errors.Is(err, errByText), errors.Is(err, errDisagree):
		case err != nil && t.exact && opt.Dedup == DedupAuto && ctx.Err() == nil:
			t.exact, t.stream = false, true
		default:
			return out, err
		}
	}
}

func encodeAll(ctx context.Context, inputs []mmapelf.Source, opt Options, t *trial, s *Session) (out *Output, err error) {
	r := newRun(ctx, opt, t, s)
	r.path = inputs[0].Path
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
	r.funcs.states = compactstate.NewStates()
	if opt.Verbose != nil {
		r.raw = newRawTypes(&r.opt, &r.names)
	}
	r.names.SetPrefix(opt.NamePrefix)
	arena.Bind(r.limit, &r.extras)
	r.newInlining()
	for i := range inputs {
		r.path = inputs[i].Path
		f, err := r.openInput(&inputs[i])
		if err != nil {
			return nil, err
		}
		r.inputs = append(r.inputs, f)
		if len(f.Info) == 0 {
			continue
		}
		r.stats.DebugInfo += uint64(len(f.Info))
		r.reserve(f)
		if r.records.names != nil {
			r.records.names.Forget()
		}
		r.clock.lap("open, symbols")
		err = f.encode()
		if serr := f.waitSymbols(); serr != nil {
			err = serr
		}
		if err != nil {
			switch {
			case !t.sortRelocs && f.Unsorted():
				t.sortRelocs, err = true, errUnsorted
			case errors.Is(err, unit.ErrMerge):
				t.merge[i] = true
			case errors.Is(err, errByText):
				t.byText = true
			}
			return nil, err
		}
		if r.inline != nil {
			debuginfo.ReleaseLists(f.File)
		}
		r.clock.lap("compile units")
	}
	if r.total == 0 {
		return r.noUnits(inputs)
	}
	if r.disagree() {
		t.exact = true
		return nil, errDisagree
	}
	return r.finish()
}

// newRun is a run over inputs that are to be opened.
func newRun(ctx context.Context, opt Options, t *trial, s *Session) *run {
	r := &run{ctx: ctx, opt: opt, trial: t, session: s}
	r.budget = budget{limit: s.takeLimit(), opt: &r.opt, stop: ctx.Err}
	return r
}

func (r *run) free() {
	if s := r.session; s != nil && r.opt.Base != nil && !r.trial.exact {
		s.set = r.set
	} else if r.set != nil {
		r.set.Free()
	}
	r.set = nil
	r.extras.Free()
	r.inline.free()
	r.closeFiles()
	r.funcs.free()
}

func (f *input) encode() error {
	if f.merge != nil {
		if err := f.OpenAlt(); err != nil {
			return err
		}
		if err := f.plan(); err != nil {
			return err
		}
		if f.merge.dropped {
			f.run.stats.CUs += len(f.merge.Places)
			f.run.stats.CUsFiltered += len(f.merge.Places)
			return nil
		}
	}
	defer f.EndStreams()
	if err := f.encodeUnits(); err != nil {
		return err
	}
	if err := f.finishTypes(); err != nil || f.merge == nil {
		return err
	}
	return f.finishMerged()
}

// errUnsorted says that relocations need an index.
var errUnsorted = errors.New("relocations of .debug_info are not in order")

// recoverCrash is deferred by Run: it turns panics into errors.
func (r *run) recoverCrash(err *error) {
	x := recover()
	if x == nil {
		return
	}
	w := asWorkerPanic(x, "")
	path := r.path
	if e, ok := w.value.(arena.Exhausted); ok {
		*err = r.exhausted(e.Used)
	} else if s, ok := w.value.(arena.Stopped); ok {
		*err = fmt.Errorf("%s: %w", path, s.Err)
	} else if IsFault(w.value) {
		*err = fmt.Errorf("%s:%s the file was changed while it was read, or cannot be read", path, w.unit)
	} else {
		*err = &Crash{File: path, Unit: w.unit, Value: w.value, Site: w.site}
	}
}

// Encode is Run for one file.
func (s *Session) Encode(path string) (*Output, error) {
	return runTrials(context.Background(), []mmapelf.Source{{Path: path}}, s.opt, s)
}
