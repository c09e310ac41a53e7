package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/verify"
	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/elfwrite"
	"github.com/btflite/btflite/internal/finish"
	"github.com/btflite/btflite/internal/job"
	"github.com/btflite/btflite/internal/loadbtf"
	"github.com/btflite/btflite/internal/message"
	"github.com/btflite/btflite/mmapelf"
	"github.com/spf13/cobra"
)

// Tests replace runEncode, newSession, setSections and checkSet, which call the packages
// below.
var (
	runEncode = func(paths []string, o *job.Options) (*finish.Encoded, error) {
		return o.Run(context.Background(), mmapelf.Paths(paths...))
	}
	newSession  = func(o *job.Options) session { return job.NewSession(o) }
	setSections = elfwrite.Set
	checkSet    = elfwrite.Check
)

// session has the methods of job.Session that the command calls, so that tests can replace it.
type session interface {
	Encode(path string) (*finish.Encoded, error)
	Close()
}

// openBase reads the base of an encoding from files, each split from those before it.
func openBase(paths []string) (*job.Base, error) {
	return job.OpenBase(context.Background(), btfFiles, mmapelf.Paths(paths...))
}

// wayOut adds advice to err if a kernel would refuse the BTF. features are the features
// of the encoding.
func wayOut(err error, features encode.Features) error {
	var r *finish.Refused
	if !errors.As(err, &r) {
		return err
	}
	const anyway = "--verify=warn writes it all the same"
	var fault *verify.Fault
	switch {
	case r.Unreadable != nil && r.Given:
		return fmt.Errorf("%w; no program could read it", err)
	case r.Unreadable != nil:
		return fmt.Errorf("%w; no program could read it; please report it", err)
	case features&encode.GlobalVar != 0 && errors.As(r.Err, &fault) && fault.Overlaps():
		return fmt.Errorf("%w; --extra_vars in place of the feature global_var gives all variables, and valid BTF; %s", err, anyway)
	case excluding(r.Foreign) != "":
		return fmt.Errorf("%w; %s leaves out the types of other languages than C; %s", err, excluding(r.Foreign), anyway)
	}
	return fmt.Errorf("%w; %s", err, anyway)
}

// writeMerged verifies data, which was made from the BTF of inputs over base, and writes
// it to out.
func (c *cli) writeMerged(out *target, inputs []finish.Given, base *btf.Blob, data []byte, lenient bool) error {
	if err := c.checkMerged(&finish.Work{Base: base, Lenient: lenient}, inputs, data); err != nil {
		return err
	}
	return out.write(c.guard, finish.WriteBytes(data))
}

// checkMerged verifies data, which was made from the BTF of inputs.
func (c *cli) checkMerged(w *finish.Work, inputs []finish.Given, data []byte) error {
	warning, err := w.Merged(inputs, data)
	if err != nil {
		return wayOut(err, 0)
	}
	if text := refusedText(warning); text != "" {
		c.warn(text)
	}
	return nil
}

// checkReadable returns an error if no reader can understand b, which was made from the BTF of the file and
// whose bytes are data. Whether kernels take it is not asked, as none will load it.
func checkReadable(path string, b *btf.Blob, data []byte) error {
	w := finish.Work{Lenient: true}
	_, err := w.Merged([]finish.Given{{Name: path, BTF: b}}, data)
	return err
}

// refusedText is the warning about BTF that is written although a kernel refuses it;
// "" for a nil w.
func refusedText(w *finish.Warning) string {
	if w == nil {
		return ""
	}
	if option := excluding(w.Foreign); option != "" {
		return w.String() + "; try " + option
	}
	return w.String()
}

// mismatchText is the warning about a base of another kernel.
func mismatchText(path, why string) string {
	return fmt.Sprintf("%s: warning: %s: the BTF fits neither kernel", message.OneLine(path), why)
}

// objectSuffix ends the names of objects.
const objectSuffix = ".o"

// sideWriter returns a function that writes the side file with that name: its BTF as it is or, if
// the name ends in ".o", as the section .BTF of an object that can be linked into a module,
// with the checksum of the BTF below it. input is an ELF file for the machine of the object.
func sideWriter(x *finish.Extra, name, input string) (func(io.Writer) error, error) {
	if !strings.HasSuffix(name, objectSuffix) {
		return finish.WriteBytes(x.Data), nil
	}
	to, err := elfwrite.TargetOf(input)
	if err != nil {
		return nil, err
	}
	return to.NewObject(bytesSection(loadbtf.SectionBTF, x.Data), bytesSection(loadbtf.SectionBaseSum, loadbtf.BaseNote(x.Base))).Write, nil
}

func bytesSection(name string, data []byte) elfwrite.Section {
	return elfwrite.Section{Name: name, Size: int64(len(data)), Write: finish.WriteBytes(data)}
}

func addVerify(cmd *cobra.Command, lenient *bool, settings ...setting) {
	under(cmd, groupOutput).value(func(v string) error { *lenient = v == "warn"; return nil }, "verify", "",
		"`MODE` for what kernels refuse: refuse, warn", append(settings, words("refuse", "warn"))...)
}
