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

// strict are the rules for types of C. Linux 7.0 is the last release that refuses a
// layout section, long vlen, and tags behind other modifiers. Later releases take
// everything that it takes.
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
	// Unreadable is the fault that keeps every program from reading the BTF, or nil.
	Unreadable error
	// Given tells that Err is about BTF that was read from an input, and not about what
	// was made of it.
	Given bool
}

func (r *Refused) Error() string {
	its := ""
	if r.Given {
		its = "input's "
	}
	return fmt.Sprintf("%s: nothing written: a kernel would refuse the %s%v", r.Names, its, r.Err)
}

func (r *Refused) Unwrap() error { return r.Err }

// judge is the set of rules for an output.
type judge struct {
	names   string // of the inputs
	foreign string // a language other than C that types are of; see encode.Output
	rules   verify.Rules
}

// judgeOf chooses the rules for the output of inputs with these names.
func (w *Work) judgeOf(names string, out *encode.Output) judge {
	j := judge{names, out.Foreign, strict}
	j.rules.Kernel = kernelFor(out)
	j.rules.Workers = w.Jobs
	j.rules.PointerSize = out.PointerSize
	if out.PointerSize != 4 {
		j.rules.PointerSize = 8
	}
	return j
}

// check judges data, the final output over base if it is split BTF. A kernel refuses the
// names, and sometimes the layouts, of languages other than C. pahole writes them
// nevertheless, so for files with such a language that is only a warning. With w.Lenient
// it is one for all files. What no reader could understand remains an error.
func (w *Work) check(ctx context.Context, j judge, data []byte, base *btf.Blob) (*Warning, error) {
	if len(data) == 0 {
		return nil, nil
	}
	j.rules.Stop = ctx.Err
	refused, unreadable := verify.CheckBoth(data, base, j.rules)
	if err := ctx.Err(); err != nil {
		return nil, message.NamingFile([]string{j.names}, err)
	}
	switch {
	case refused == nil:
		return nil, nil
	case j.foreign == "" && !w.Lenient:
		return nil, &Refused{Names: j.names, Err: refused, Unreadable: unreadable}
	case unreadable != nil:
		return nil, fmt.Errorf("%s: nothing written: %w", j.names, unreadable)
	}
	return &Warning{j.names, refused, j.foreign}, nil
}

// Given is BTF that was read from a file, and its name.
type Given struct {
	Name string
	BTF  *btf.Blob
}

// Merged judges data, which was made of the BTF of files over w.Base: by the rules of all
// kernels together, because what only later ones take comes from the files. Where one of
// these is refused, the error or the warning is about it and not about what became of it.
// What has no types stays so: libbpf reads that.
func (w *Work) Merged(inputs []Given, data []byte) (*Warning, error) {
	if !slices.ContainsFunc(inputs, func(in Given) bool { return len(in.BTF.Off) > 0 }) {
		return nil, nil
	}
	names := make([]string, len(inputs))
	for i := range inputs {
		names[i] = inputs[i].Name
	}
	ctx := context.Background()
	warning, err := w.check(ctx, judge{names: message.Inputs(names)}, data, w.Base)
	if warning == nil && err == nil {
		return nil, nil
	}
	for _, in := range inputs {
		own, fault := w.check(ctx, judge{names: message.OneLine(in.Name)}, in.BTF.Encode(), w.Base)
		switch {
		case err == nil && own != nil:
			return own, nil
		case err == nil || fault == nil || readable(err) != readable(fault):
			continue // it does not explain all
		}
		if refused := new(Refused); errors.As(fault, &refused) {
			refused.Given = true
		}
		return nil, fault
	}
	return warning, err
}

// readable tells of an error of check whether some program could read the BTF.
func readable(err error) bool {
	var refused *Refused
	return errors.As(err, &refused) && refused.Unreadable == nil
}
