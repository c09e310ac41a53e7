package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/verify"
	"github.com/btflite/btflite/encode"
)

// What is to be written is checked first: a file is replaced only by BTF that a
// kernel takes, of Linux 7.2 or 7.0.

// strict is what holds for types of C. Linux 7.0 is the last release that takes no
// layout section, no long vlen, and no tags behind other modifiers; what it takes,
// the later ones do.
var strict = verify.Rules{Kernel: verify.Release{Major: 7}}

// checkEncoded judges data, which is the encoder's output for the inputs of these
// names as it is to be written, over f.base if it is split BTF. A kernel refuses the names, and at times the
// layouts, of other languages: pahole writes them all the same, so that is a
// warning, as is everything if f.lenient says so. For such BTF an error is only
// what no reader could understand.
func checkEncoded(names string, out *encode.Output, data []byte, base *btf.Blob, f *finish) (warning string, err error) {
	if len(data) == 0 {
		return "", nil
	}
	rules := strict
	rules.Workers = f.jobs
	rules.PointerSize = out.PointerSize
	if rules.PointerSize != 4 {
		rules.PointerSize = 8
	}
	refused, unreadable := verify.CheckBoth(data, base, rules)
	foreign := out.Foreign != ""
	switch {
	case refused == nil:
		return "", nil
	case !foreign && !f.lenient:
		return "", fmt.Errorf("%s: nothing written: a kernel would refuse the %w; %s", names, refused, f.wayOut(refused, unreadable))
	case unreadable != nil:
		return "", fmt.Errorf("%s: nothing written: %w", names, unreadable)
	}
	warning = fmt.Sprintf("%s: warning: a kernel refuses the %v", names, refused)
	if foreign {
		warning += "; try --lang_exclude=" + out.Foreign
	}
	return warning, nil
}

// wayOut says what to do about BTF that a kernel refuses and, unless unreadable
// is nil, all others too.
func (f *finish) wayOut(refused, unreadable error) string {
	anyway := "--verify=warn writes it all the same"
	var fault *verify.Fault
	switch {
	case unreadable != nil:
		return "no program could read it; please report it"
	case f.globals && errors.As(refused, &fault) && fault.Overlaps():
		return "--extra_vars in place of the feature global_var gives all variables, and valid BTF; " + anyway
	}
	return anyway
}

// checkMerged judges the outcome of merging BTF. What a kernel refuses is an
// error, unless it refuses one of the inputs too: the BTF of BPF objects is
// not meant for kernels as it is. What has no types stays so: libbpf reads that.
func checkMerged(data []byte, inputs []*btf.Blob, base *btf.Blob) error {
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
