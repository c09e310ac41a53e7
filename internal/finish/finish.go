// Package finish makes an encoder's output ready for use: it sorts the types,
// checks that a kernel takes them, and distils the base.
package finish

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/distill"
	"github.com/btflite/btflite/btf/lower"
	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/message"
	"github.com/btflite/btflite/internal/workers"
	"github.com/btflite/btflite/mmapelf"
)

// How much memory it takes to sort BTF, and to lower it, as multiples of its size.
const (
	sortShare  = 5 // measured, 4.3 for a kernel
	lowerShare = 3 // the records, and the result
)

// Output makes an Encoded of the output for the inputs. If the output must not be used,
// Output closes it and returns an error. If the base is to be distilled, DistilBase sorts
// the types, not Output. When ctx is done, Output ends soon with its error.
func (w *Work) Output(ctx context.Context, in []mmapelf.Source, out *encode.Output) (*Encoded, error) {
	e, err := w.finish(ctx, in, out)
	if err != nil {
		out.Close()
		return nil, err
	}
	return e, nil
}

func (w *Work) finish(ctx context.Context, in []mmapelf.Source, out *encode.Output) (*Encoded, error) {
	began := time.Now()
	paths := make([]string, len(in))
	for i := range in {
		paths[i] = in[i].Path
	}
	names := message.Inputs(paths)
	data, write, sides := out.Bytes(), out.Write, [...][]byte{out.Extra(), out.Inline()}
	var lost lower.Report
	err := ctx.Err()
	for _, step := range []struct {
		name   string
		memory int // a multiple of the size of the BTF
		do     Sorter
	}{{"sort", sortShare, w.Order}, {"lower", lowerShare, w.lowering(len(data) > 0, &lost)}} {
		size := len(data) + len(sides[0]) + len(sides[1])
		if step.do == nil || w.Distil || size == 0 {
			continue
		}
		if err == nil {
			err = out.CheckMemory(step.memory * size)
		}
		if err == nil {
			data, err = w.rewritten(ctx, data, sides[:], step.do)
		}
		if err == nil {
			write, err = WriteBytes(data), out.Stats.Count(data)
		}
		out.Stats.Phases = append(out.Stats.Phases, encode.Phase{Name: step.name, Time: time.Since(began)})
		began = time.Now()
	}
	if err != nil {
		return nil, message.NamingFile([]string{names}, err)
	}
	rules := w.rulesFor(names, out)
	var warning *Warning
	now := rules
	if w.Distil { // it is lowered later, and then checked again
		now.rules.Kernel = kernelFor(out)
	}
	check := func() { warning, err = w.check(ctx, now, data, w.Base) }
	if w.Ready == nil || w.Distil || len(data) == 0 || w.Jobs < 2 {
		check()
	} else {
		workers.Both(check, func() { w.Ready(write) })
	}
	if err != nil {
		return nil, err
	}
	extra, extraWarning, err := w.extra(ctx, rules, "extra variables", sides[0], data)
	if err != nil {
		return nil, err
	}
	inlined, inlineWarning, err := w.extra(ctx, rules, "inlined functions", sides[1], data)
	if err != nil {
		return nil, err
	}
	out.Stats.Phases = append(out.Stats.Phases, encode.Phase{Name: "check", Time: time.Since(began)})
	return &Encoded{Stats: out.Stats, Size: int64(len(data)), Lead: out.Lead, Warning: cmp.Or(warning, extraWarning, inlineWarning), Mismatch: w.mismatch(out, data), Lowered: lost,
		Data: data, Write: write, Extra: extra, Inline: inlined, rules: rules, close: out.Close}, nil
}

// extra checks side BTF, which is split from the output main, which is split from w.Base. Both
// are in their final order, and may be empty.
func (w *Work) extra(ctx context.Context, rules outputRules, what string, extra, main []byte) (x Extra, warning *Warning, err error) {
	if len(extra) == 0 {
		return x, nil, nil
	}
	x = Extra{Data: extra, Base: w.Base}
	if len(main) > 0 {
		if x.Base, err = btf.ParseShared(main, w.Base); err != nil {
			return x, nil, message.NamingFile([]string{rules.names}, err)
		}
	}
	if warning, err = w.check(ctx, rules, x.Data, x.Base); err != nil {
		err = fmt.Errorf("%s: %w", what, err)
	}
	return x, warning, err
}

// mismatch says why the base is from another kernel than the input of out, whose split BTF
// is data; "" if there is no sign of that.
func (w *Work) mismatch(out *encode.Output, data []byte) string {
	if w.Kernel == nil || w.Base == nil {
		return ""
	}
	own, err := btf.ParseShared(data, w.Base)
	if err != nil {
		own = nil // there is nothing to encode
	}
	return w.Kernel.Mismatch(out.Origin, own)
}

// DistilBase returns the BTF over a distilled base, and that base, both checked. It sets
// e.Size and e.Below. When ctx is done, it ends soon with its error.
func (w *Work) DistilBase(ctx context.Context, e *Encoded) (own, below []byte, err error) {
	split, err := btf.ParseShared(e.Data, w.Base)
	if err != nil {
		return nil, nil, err
	}
	base, split, err := distill.Split(ctx, split)
	if err == nil && w.Order != nil {
		split, _, err = w.Order(ctx, split)
	}
	if err != nil {
		return nil, nil, err
	}
	if w.Lower != nil {
		if base, _, err = lower.Lower(base, *w.Lower); err != nil {
			return nil, nil, err
		}
		if split, e.Lowered, err = lower.Lower(split, *w.Lower); err != nil {
			return nil, nil, err
		}
	}
	own, below = split.Encode(), base.Encode()
	for _, part := range []struct {
		data []byte
		base *btf.Blob
	}{{below, nil}, {own, base}} {
		if part.base == nil && len(base.Off) == 0 {
			continue // the module refers to no type of vmlinux, and its base has none
		}
		if _, err := w.check(ctx, e.rules, part.data, part.base); err != nil {
			return nil, nil, err
		}
	}
	e.Size, e.Below = int64(len(own)), int64(len(below))
	return own, below, e.Stats.Count(own)
}

// WriteBytes returns a function that writes data.
func WriteBytes(data []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}
}
