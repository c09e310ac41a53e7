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

// Every output is checked before anyone can use it: either kernels from Linux 7.0 on
// take it (or from the release that the options need), or the caller learns why not.

// strict are the rules for types of C. Linux 7.0 is the last release that refuses a
// layout section, a long vlen, and tags after other modifiers. Later releases take
// everything that 7.0 takes.
var strict = verify.Rules{Kernel: verify.Release{Major: 7}}

// kernelFor returns the release whose rules the output must meet: the first one that takes
// the options of the encoding.
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
	// Given says that Err is about BTF that was read from an input, not about the
	// output.
	Given bool
	// To is the release that the BTF was lowered to, "" if it was not.
	To string
	// Foreign are the languages that types come from, beside C; see encode.Output.
	Foreign []uint16
}

func (r *Refused) Error() string {
	if fault := new(verify.Fault); r.To != "" && errors.As(r.Err, &fault) && fault.Needs != (verify.Release{}) {
		return fmt.Sprintf("%s: nothing written: it cannot be lowered to Linux %s: %v", r.Names, r.To, fault)
	}
	its := ""
	if r.Given {
		its = "input's "
	}
	return fmt.Sprintf("%s: nothing written: a kernel would refuse the %s%v", r.Names, its, r.Err)
}

func (r *Refused) Unwrap() error { return r.Err }

// outputRules are the rules for an output.
type outputRules struct {
	names   string   // of the inputs
	foreign []uint16 // languages other than C that types come from; see encode.Output
	rules   verify.Rules
	to      string // the release that the output was lowered to, "" if it was not
}

// rulesFor chooses the rules for the output of inputs with these names.
func (w *Work) rulesFor(names string, out *encode.Output) outputRules {
	r := outputRules{names: names, foreign: out.Foreign, rules: strict}
	if r.rules.Kernel = kernelFor(out); w.Lower != nil {
		r.rules.Kernel, r.to = w.Lower.Kernel, w.Lower.Kernel.String()
	}
	r.rules.Workers = w.Jobs
	r.rules.PointerSize = out.PointerSize
	if out.PointerSize != 4 {
		r.rules.PointerSize = 8
	}
	return r
}

// check verifies data, the final output, over base if it is split BTF. A kernel refuses names,
// and sometimes layouts, of languages other than C. pahole writes them nevertheless, so for
// files with such a language this is only a warning, unless the output was lowered: pahole lowers
// nothing, and who names a kernel wants what that kernel takes. With w.Lenient it is a warning for
// all files. BTF that no reader can understand is always an error.
func (w *Work) check(ctx context.Context, r outputRules, data []byte, base *btf.Blob) (*Warning, error) {
	if len(data) == 0 {
		return nil, nil
	}
	r.rules.Stop = ctx.Err
	refused, unreadable := verify.CheckBoth(data, base, r.rules)
	if err := ctx.Err(); err != nil {
		return nil, message.NamingFile([]string{r.names}, err)
	}
	switch {
	case refused == nil:
		return nil, nil
	case (len(r.foreign) == 0 || r.to != "") && !w.Lenient:
		return nil, &Refused{Names: r.names, Err: refused, Unreadable: unreadable, To: r.to, Foreign: r.foreign}
	case unreadable != nil:
		return nil, fmt.Errorf("%s: nothing written: %w", r.names, unreadable)
	}
	return &Warning{r.names, refused, r.foreign}, nil
}

// Given is BTF that was read from a file, and its name.
type Given struct {
	Name string
	BTF  *btf.Blob
}

// Merged verifies data, which was made from the BTF of files over w.Base. It accepts what any
// kernel takes, because the files have it already. If one of the files is refused, the error
// or warning is about the file and not about data. Data without types needs no check: libbpf
// reads it.
func (w *Work) Merged(inputs []Given, data []byte) (*Warning, error) {
	if !slices.ContainsFunc(inputs, func(in Given) bool { return len(in.BTF.Off) > 0 }) {
		return nil, nil
	}
	names := make([]string, len(inputs))
	for i := range inputs {
		names[i] = inputs[i].Name
	}
	ctx := context.Background()
	rules := outputRules{names: message.Inputs(names), rules: w.Rules}
	if w.Lower != nil {
		rules.rules.Kernel, rules.rules.Reader, rules.to = w.Lower.Kernel, w.Lower.Reader, w.Lower.Kernel.String()
	}
	warning, err := w.check(ctx, rules, data, w.Base)
	if warning == nil && err == nil {
		return nil, nil
	}
	for _, in := range inputs {
		own, fault := w.check(ctx, outputRules{names: message.OneLine(in.Name), rules: w.Rules}, in.BTF.Encode(), w.Base)
		switch {
		case err == nil && own != nil:
			return own, nil
		case err == nil || fault == nil || readable(err) != readable(fault):
			continue // the file does not explain the error
		}
		if refused := new(Refused); errors.As(fault, &refused) {
			refused.Given = true
		}
		return nil, fault
	}
	return warning, err
}

// readable reports whether some program could read the BTF, by an error of check.
func readable(err error) bool {
	var refused *Refused
	return errors.As(err, &refused) && refused.Unreadable == nil
}
