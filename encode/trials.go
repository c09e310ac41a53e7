package encode

import (
	"context"
	"errors"
	"fmt"

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
	t := trial{merge: make([]bool, len(inputs))}
	if opt.Verbose != nil {
		quiet := opt
		quiet.Verbose, quiet.Warn, quiet.FuncLeftOut, quiet.Progress, quiet.Exact = nil, nil, nil, nil, false
		if out, err := untilKnown(ctx, inputs, quiet, &t, s); err == nil {
			out.Close()
		}
		opt.Jobs = 1
	}
	return untilKnown(ctx, inputs, opt, &t, s)
}

// untilKnown runs until t has all that is to be known.
func untilKnown(ctx context.Context, inputs []mmapelf.Source, opt Options, t *trial, s *Session) (*Output, error) {
	for {
		out, err := encodeAll(ctx, inputs, opt, t, s)
		if !errors.Is(err, errUnsorted) && !errors.Is(err, errMerge) {
			return out, err
		}
	}
}

// trial is what earlier attempts have found out about the inputs: rather than
// look first for what almost no file has, it is noticed on the way.
type trial struct {
	sortRelocs bool   // errUnsorted
	merge      []bool // by file: errMerge
}

// errUnsorted says that relocations need an index.
var errUnsorted = errors.New("relocations of .debug_info are not in order")

// stopped is an error once the run is to end.
func (r *run) stopped() error {
	if err := r.ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", r.path, err)
	}
	return nil
}
