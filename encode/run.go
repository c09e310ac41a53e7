package encode

import (
	"context"
	"errors"
	"fmt"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/compactstate"
	"github.com/btflite/btflite/internal/debuginfo"
	"github.com/btflite/btflite/mmapelf"
)

// Run encodes the DWARF of the inputs into one BTF. It takes their units in order. The
// result does not depend on Options.Jobs.
func Run(paths []string, opt Options) (*Output, error) {
	inputs := make([]mmapelf.Source, len(paths))
	for i, p := range paths {
		inputs[i].Path = p
	}
	return RunSources(context.Background(), inputs, opt)
}

// RunSources is Run for inputs of any kind. It stops when ctx ends. For an input in
// memory, it searches separate debug files only in places that do not depend on the
// input's own path.
func RunSources(ctx context.Context, inputs []mmapelf.Source, opt Options) (*Output, error) {
	return runPlan(ctx, inputs, opt, nil)
}

// A run is planned before it starts. For each file, a first look at its abbreviations and
// relocations decides how to read it (input.open): whether its units refer to each other,
// whether there are unit records, and whether relocations need an index. One question can
// be answered only after all units: do they disagree about a type (disagree.go)? It
// matters with DedupAuto, and over a base only with libbpf 1.7's rules: with others there is
// no pahole whose bytes these could be, and merging unit by unit leaves fewer types. If they
// disagree, a second phase reads the same inputs again, for the batch algorithm.

// runPlan runs the phases that the options ask for.
func runPlan(ctx context.Context, inputs []mmapelf.Source, opt Options, s *Session) (*Output, error) {
	if q := opt.Functions; q != nil && q.Tell == nil {
		opt.Functions = nil // nothing would receive the answers
	}
	only, fixed := streaming, opt.Dedup != DedupAuto || opt.Base != nil && opt.Libbpf != Libbpf17
	if opt.Dedup == DedupExact {
		only = batch
	}
	if opt.Verbose != nil {
		opt.Jobs = 1
		if !fixed { // the lines are written once, in the phase that makes the result
			quiet := opt
			quiet.Verbose, quiet.Warn, quiet.FuncSkipped, quiet.Functions, quiet.Progress = nil, nil, nil, nil, nil
			out, last, err := askFirst(ctx, inputs, quiet, s)
			if err == nil {
				out.Close()
			}
			only, fixed = last, true
		}
	}
	if fixed {
		return encodeAll(ctx, inputs, opt, only, s)
	}
	out, _, err := askFirst(ctx, inputs, opt, s)
	return out, err
}

// askFirst runs the phases of DedupAuto. last is the phase that made the result.
func askFirst(ctx context.Context, inputs []mmapelf.Source, opt Options, s *Session) (out *Output, last phase, err error) {
	if out, err = encodeAll(ctx, inputs, opt, asking, s); out != nil || err != nil {
		return out, streaming, err
	}
	var refused *refusal
	if out, err = encodeAll(ctx, inputs, opt, batch, s); errors.As(err, &refused) {
		out, err = encodeAll(ctx, inputs, opt, streaming, s)
		return out, streaming, err
	}
	return out, batch, err
}

// encodeAll runs one phase. After the phase asking, out and err are nil if units
// disagree.
func encodeAll(ctx context.Context, inputs []mmapelf.Source, opt Options, ph phase, s *Session) (*Output, error) {
	padding := opt.Verbose != nil || opt.Functions != nil // which tell things while units are read
	out, err := encodeOnce(ctx, inputs, opt, ph, s, padding)
	if errors.Is(err, errPadding) {
		out, err = encodeOnce(ctx, inputs, opt, ph, s, true)
	}
	return out, err
}

// encodeOnce is encodeAll with or without symbols of padding.
func encodeOnce(ctx context.Context, inputs []mmapelf.Source, opt Options, ph phase, s *Session, padding bool) (out *Output, err error) {
	r := newRun(ctx, opt, ph, s)
	r.funcs.padding = padding
	r.path = inputs[0].Path
	defer func() {
		if out == nil {
			r.free()
			if s != nil {
				s.dropSet() // an error may have left it half changed
			}
		}
	}()
	if s == nil && opt.Base == nil {
		r.limit.Set(arena.Bounds{Stop: ctx.Err}) // until the size of the inputs is known
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
		if len(f.File.Info) == 0 {
			continue
		}
		r.stats.DebugInfo += uint64(len(f.File.Info))
		r.reserve(f)
		if r.records.names != nil {
			r.records.names.Forget()
		}
		r.clock.lap("open, symbols")
		err = f.encode()
		if serr := f.waitSymbols(); serr != nil {
			err = serr
		}
		if errors.Is(err, errDisagree) {
			return nil, nil
		}
		if err != nil {
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
	if ph == asking && r.disagree() {
		return nil, nil
	}
	return r.finish()
}

// newRun makes a run over inputs that are not open yet.
func newRun(ctx context.Context, opt Options, ph phase, s *Session) *run {
	r := &run{ctx: ctx, opt: opt, phase: ph, session: s}
	r.budget = budget{limit: s.takeLimit(), opt: &r.opt, stop: ctx.Err}
	return r
}

func (f *input) encode() error {
	if f.merge != nil {
		if err := f.File.OpenAlt(); err != nil {
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
	defer f.File.EndStreams()
	if err := f.encodeUnits(); err != nil {
		return err
	}
	if err := f.finishTypes(); err != nil || f.merge == nil {
		return err
	}
	return f.finishMerged()
}

// recoverCrash is deferred by Run. It turns panics into errors.
func (r *run) recoverCrash(err *error) {
	x := recover()
	if x == nil {
		return
	}
	w := asWorkerPanic(x, "")
	path := r.path
	if e, ok := w.value.(arena.Exhausted); ok && r.opt.MemoryLimit != 0 {
		*err = r.exhausted(e.Used)
	} else if s, ok := w.value.(arena.Stopped); ok {
		*err = fmt.Errorf("%s: %w", path, s.Err)
	} else if IsFault(w.value) {
		*err = fmt.Errorf("%s:%s %w", path, w.unit, ErrChanged)
	} else {
		*err = &Crash{File: path, Unit: w.unit, Value: w.value, Site: w.site}
	}
}

// EncodeSource is RunSources for one file.
func (s *Session) EncodeSource(in mmapelf.Source) (*Output, error) {
	return runPlan(context.Background(), []mmapelf.Source{in}, s.opt, s)
}
