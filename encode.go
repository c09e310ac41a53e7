package btflite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/btflite/btflite/btf/order"
	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/finish"
	"github.com/btflite/btflite/internal/job"
	"github.com/btflite/btflite/mmapelf"
)

// maxJobs bounds Options.Jobs: callers may give math.MaxInt for "as many as possible".
const maxJobs = 1024

// Encode encodes the DWARF of all inputs into one BTF, and checks it. The caller
// must close the Result. Errors are of type *Error, except those about wrong
// Options. If an input has no debug information, the error wraps ErrNoDWARF. When
// ctx is done, Encode returns soon, with an error that wraps the error of ctx.
func Encode(ctx context.Context, in []Source, o Options) (r *Result, err error) {
	if len(in) == 0 {
		return nil, errors.New("btflite: no inputs")
	}
	if in, err = checked(ctx, in...); err != nil {
		return nil, err
	}
	if unknown := o.Features &^ encode.KnownFeatures; unknown != 0 {
		return nil, fmt.Errorf("btflite: there are no features %#x", uint32(unknown))
	}
	if o.Order < AsEncoded || o.Order > ByName {
		return nil, fmt.Errorf("btflite: there is no order %d", o.Order)
	}
	if err := o.below(nil).Check(o.Base != nil, len(in)); err != nil {
		return nil, fmt.Errorf("btflite: %w", err)
	}
	if _, err := o.Base.read(); err != nil {
		return nil, err
	}
	// A file may be cut short while it is mapped.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer recovered(in[0].Path, &err, func() {
		if r != nil {
			r.Close()
			r = nil
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, &Error{File: in[0].Path, Err: err}
	}
	below := make([]mmapelf.Source, len(in))
	for i := range in {
		var done func()
		if below[i], done, err = in[i].below(ctx); err != nil {
			return nil, asError(err, in)
		}
		defer done()
	}
	r = new(Result)
	work := o.below(r)
	if r.encoded, err = work.Run(ctx, below); err != nil {
		return nil, asError(err, in)
	}
	if err := r.take(ctx, work, in); err != nil {
		r.Close()
		return nil, asError(err, in)
	}
	if err := ctx.Err(); err != nil {
		r.Close()
		return nil, &Error{File: in[0].Path, Err: err}
	}
	return r, nil
}

// sorter returns what sorts types into the order, nil for AsEncoded.
func (o Order) sorter() finish.Sorter {
	switch o {
	case Canonical:
		return order.Canonical
	case ByName:
		return order.ByName
	}
	return nil
}

// dedup returns the algorithm that finds equal types.
func (o *Options) dedup() encode.Dedup {
	if o.Exact {
		return encode.DedupExact
	}
	return encode.DedupAuto
}

// below returns the options for package job. Functions that get no FUNC are added to r.
func (o *Options) below(r *Result) *job.Options {
	j := &job.Options{
		Encode: encode.Options{
			Features: cmp.Or(o.Features, DefaultFeatures), Jobs: min(o.Jobs, maxJobs), Lang: o.Lang, LangExclude: o.LangExclude, CUExclude: o.CUExclude,
			NamePrefix: o.NamePrefix, WholeBitfields: o.WholeBitfields, MemoryLimit: o.MemoryLimit, Dedup: o.dedup(), ExtraVars: o.ExtraVars, Inline: o.Inline,
			DebugFiles: encode.DebugFiles{Dir: o.DebugDir, Find: o.FindDebug}, Libbpf: o.Libbpf, Progress: o.Progress, Functions: o.Functions,
			FuncSkipped: func(name, reason string) { r.Skipped = append(r.Skipped, Skipped{name, reason}) },
		},
		Distil: o.Distil, Order: o.Order.sorter(), Lenient: o.AllowRefused, Marks: o.Marks,
	}
	if o.Base != nil {
		j.Base = o.Base.opened
	}
	return j
}

// take fills r from what o has encoded and checked.
func (r *Result) take(ctx context.Context, o *job.Options, in []Source) (err error) {
	e := r.encoded
	switch {
	case o.Distil && e.Size > 0:
		if r.BTF, r.DistilledBase, err = o.DistilBase(ctx, e); err != nil {
			return err
		}
	default:
		r.BTF = e.Data
	}
	r.ExtraVars, r.Inline, r.Stats, r.Lead = e.Extra.Data, e.Inline.Data, e.Stats, e.Lead
	if e.Warning != nil {
		r.Warnings = append(r.Warnings, e.Warning.String())
	}
	if e.Mismatch != "" {
		r.Warnings = append(r.Warnings, in[e.Lead].Path+": "+e.Mismatch)
	}
	return nil
}
