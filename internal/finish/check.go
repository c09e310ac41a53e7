package finish

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/verify"
	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/message"
)

// Every output is checked before anyone can use it: either kernels take it, from
// Linux 7.0 on or what was asked for, or the caller learns why not.

// strict is what holds for types of C. Linux 7.0 is the last release that takes no
// layout section, no long vlen, and no tags behind other modifiers; what it takes,
// the later ones do.
var strict = verify.Rules{Kernel: verify.Release{Major: 7}}

// kernelFor is the oldest release by which to judge the output: the first that takes
// what was asked for.
func kernelFor(out *encode.Output) verify.Release {
	switch {
	case out.Inlined:
		return verify.Release{} // none yet
	case out.LongVlen:
		return verify.Release{Major: 7, Minor: 2}
	case out.Layout:
		return verify.Release{Major: 7, Minor: 1}
	}
	return strict.Kernel
}

// Refused is the error for BTF that a kernel would refuse.
type Refused struct {
	Names string // of the inputs
	Err   error  // what the kernel refuses, as a rule a *verify.Fault
	// Unreadable is what no other program could read either; nil for nothing.
	Unreadable error
}

func (r *Refused) Error() string {
	return fmt.Sprintf("%s: nothing written: a kernel would refuse the %v", r.Names, r.Err)
}

func (r *Refused) Unwrap() error { return r.Err }

// check judges data: the final output for the inputs of these names, over base if it
// is split BTF. A kernel refuses the names, and sometimes the layouts, of languages
// other than C. pahole writes them nevertheless, so for files with such a language
// that is only a warning. With w.Lenient it is one for all files. What no reader could
// understand remains an error.
func (w *Work) check(ctx context.Context, names string, out *encode.Output, data []byte, base *btf.Blob) (*Warning, error) {
	if len(data) == 0 {
		return nil, nil
	}
	rules := strict
	rules.Kernel = kernelFor(out)
	rules.Workers, rules.Stop = w.Jobs, ctx.Err
	rules.PointerSize = out.PointerSize
	if rules.PointerSize != 4 {
		rules.PointerSize = 8
	}
	refused, unreadable := verify.CheckBoth(data, base, rules)
	if err := ctx.Err(); err != nil {
		return nil, message.NamingFile([]string{names}, err)
	}
	switch {
	case refused == nil:
		return nil, nil
	case out.Foreign == "" && !w.Lenient:
		return nil, &Refused{names, refused, unreadable}
	case unreadable != nil:
		return nil, fmt.Errorf("%s: nothing written: %w", names, unreadable)
	}
	return &Warning{names, refused, out.Foreign}, nil
}

// CheckMerged judges the outcome of merging BTF. What a kernel refuses is an
// error, unless it refuses one of the inputs too: the BTF of BPF objects is
// not meant for kernels as it is. What has no types stays so: libbpf reads that.
func CheckMerged(data []byte, inputs []*btf.Blob, base *btf.Blob) error {
	if !slices.ContainsFunc(inputs, func(b *btf.Blob) bool { return len(b.Off) > 0 }) {
		return nil
	}
	refused, unreadable := verify.CheckBoth(data, base, strict)
	if refused == nil {
		return nil
	}
	for _, b := range inputs {
		if _, err := verify.Check(b.Encode(), base, strict); err != nil {
			return unreadable
		}
	}
	return errors.New("nothing written: a kernel would refuse the merged " + refused.Error())
}
