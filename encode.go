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
	"github.com/btflite/btflite/mmapelf"
)

// maxJobs bounds Options.Jobs, as math.MaxInt for "as many as there can be".
const maxJobs = 1024

// Encode encodes the DWARF of the inputs into one BTF, and checks it. The caller
// closes the Result. Errors are of type *Error, except those about wrong Options. An
// input without debug information is ErrNoDWARF. When ctx is done, Encode ends
// soon, with an error that wraps that of ctx.
func Encode(ctx context.Context, in []Source, o Options) (r *Result, err error) {
	if err := o.check(in); err != nil {
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
	o.Jobs = min(o.Jobs, maxJobs)
	out, err := encode.RunSources(ctx, below, o.below(r))
	if err != nil {
		return nil, asError(err, in)
	}
	work := finish.Work{Distil: o.Distil, Order: o.Order.sorter(), Jobs: o.Jobs, Lenient: o.AllowRefused}
	if o.Base != nil {
		work.Base, work.Kernel = o.Base.blob, o.Base.kernel
	}
	if r.encoded, err = work.Output(ctx, below, out); err != nil {
		return nil, asError(err, in)
	}
	if err := r.take(ctx, &work, in); err != nil {
		r.Close()
		return nil, asError(err, in)
	}
	if err := ctx.Err(); err != nil {
		r.Close()
		return nil, &Error{File: in[0].Path, Err: err}
	}
	return r, nil
}

// sorter is the sorter of the order, nil for types as they come.
func (o Order) sorter() finish.Sorter {
	switch o {
	case Canonical:
		return order.CanonicalWithMap
	case ByName:
		return order.ByNameWithMap
	}
	return nil
}

// check refuses options that cannot be.
func (o *Options) check(in []Source) error {
	switch {
	case len(in) == 0:
		return errors.New("btflite: no inputs")
	case len(o.Lang) > 0 && len(o.LangExclude) > 0:
		return errors.New("btflite: both Lang and LangExclude")
	case o.Marks && (!o.AllowRefused || o.Distil):
		return errors.New("btflite: Marks are for reading: they take AllowRefused, and exclude Distil")
	case o.Distil && o.Base == nil:
		return errors.New("btflite: Distil without a Base")
	case o.Distil && o.ExtraVars:
		return errors.New("btflite: ExtraVars with Distil: the types have other ids in each kernel")
	case o.ExtraVars && o.Features&encode.GlobalVar != 0:
		return errors.New("btflite: ExtraVars with the feature global_var, which has all variables in BTF already")
	case o.Distil && o.inlines():
		return errors.New("btflite: Inline with Distil: the types have other ids in each kernel")
	case len(in) > 1 && o.inlines():
		return errors.New("btflite: Inline with several inputs: sites are offsets in the sections of one file")
	case o.Libbpf > Libbpf18:
		return fmt.Errorf("btflite: there is no release %d of libbpf", o.Libbpf)
	case o.Order < AsEncoded || o.Order > ByName:
		return fmt.Errorf("btflite: there is no order %d", o.Order)
	}
	return nil
}

// inlines reports whether sites of inlined functions are asked for.
func (o *Options) inlines() bool { return o.Inline || o.Features&encode.Inline != 0 }

// dedup is how equal types are found.
func (o *Options) dedup() encode.Dedup {
	if o.Exact {
		return encode.DedupExact
	}
	return encode.DedupAuto
}

// purpose is what the output is for.
func (o *Options) purpose() encode.Purpose {
	switch {
	case o.Marks:
		return encode.ForReaders
	case o.AllowRefused:
		return encode.LikePahole
	}
	return encode.ForKernel
}

// below are the options of package encode, which adds to r the functions that are
// left out.
func (o *Options) below(r *Result) encode.Options {
	e := encode.Options{
		Features: cmp.Or(o.Features, DefaultFeatures), Jobs: o.Jobs, Lang: o.Lang, LangExclude: o.LangExclude, CUExclude: o.CUExclude,
		NamePrefix: o.NamePrefix, WholeBitfields: o.WholeBitfields, For: o.purpose(), MemoryLimit: o.MemoryLimit, Dedup: o.dedup(), ExtraVars: o.ExtraVars, Inline: o.Inline,
		DebugDir: o.DebugDir, Libbpf: o.Libbpf, Progress: o.Progress, Functions: o.Functions,
		FuncSkipped: func(name, reason string) { r.Skipped = append(r.Skipped, Skipped{name, reason}) },
	}
	if o.Base != nil {
		e.Base = o.Base.base
	}
	return e
}

// take fills r from what is finished.
func (r *Result) take(ctx context.Context, work *finish.Work, in []Source) (err error) {
	e := r.encoded
	switch {
	case work.Distil && e.Size > 0:
		if r.BTF, r.DistilledBase, err = work.DistilBase(ctx, e); err != nil {
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
