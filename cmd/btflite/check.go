package main

import (
	"errors"
	"fmt"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/verify"
)

// What is to be written is checked first: a file is replaced only by BTF that a
// kernel takes, of Linux 7.2 or older.

// strict is what holds for types of C.
var strict = verify.Rules{BeforeLinux72: true}

// checkEncoded judges data, which is the encoder's output as it is to be written,
// over base if it is split BTF, with as many goroutines as jobs says. A
// kernel refuses the names, and at times the layouts, of other languages:
// pahole writes them all the same, so that is a warning. For such BTF an error
// is only what no reader could understand.
func checkEncoded(path string, out *encode.Output, data []byte, base *btf.Blob, jobs int) (warning string, err error) {
	if len(data) == 0 {
		return "", nil
	}
	rules := strict
	rules.Workers = jobs
	rules.PointerSize = out.PointerSize
	if rules.PointerSize != 4 {
		rules.PointerSize = 8
	}
	refused, unreadable := verify.CheckBoth(data, base, rules)
	switch {
	case refused == nil:
		return "", nil
	case out.Foreign == "":
		return "", fmt.Errorf("%s: nothing written: a kernel would refuse the %w", oneLine(path), refused)
	case unreadable != nil:
		return "", fmt.Errorf("%s: nothing written: %w", oneLine(path), unreadable)
	}
	return fmt.Sprintf("%s: warning: a kernel refuses the %v; try --lang_exclude=%s", oneLine(path), refused, out.Foreign), nil
}

// checkMerged judges the outcome of merging BTF. What a kernel refuses is an
// error, unless it refuses one of the inputs too: the BTF of BPF objects is
// not meant for kernels as it is.
func checkMerged(data []byte, inputs []*btf.Blob, base *btf.Blob) error {
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
