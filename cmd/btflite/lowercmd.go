package main

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/lower"
	"github.com/btflite/btflite/btf/verify"
	"github.com/btflite/btflite/internal/elfwrite"
	"github.com/btflite/btflite/internal/expand"
	"github.com/btflite/btflite/internal/finish"
	"github.com/btflite/btflite/internal/loadbtf"
	"github.com/btflite/btflite/internal/message"
	"github.com/spf13/cobra"
)

// lowerCommand is "btflite lower".
type lowerCommand struct {
	opt     lower.Options // --for, --kernel, --enum64
	bases   []string
	lenient bool // --verify=warn
}

func newLowerCommand(c *cli) *cobra.Command {
	var l lowerCommand
	cmd := &cobra.Command{
		Use: "lower [OPTION...] --kernel=RELEASE IN OUT",
		Long: `Write the BTF of IN, raw BTF or an ELF file with .BTF, to OUT as raw BTF in
which other things take the place of those that Linux RELEASE does not know,
or that programs of its time do not. Type ids stay. If OUT is IN, the BTF is
replaced in the file.`,
		Example: `  btflite lower --kernel=5.15 vmlinux vmlinux-5.15.btf
  btflite lower --kernel=6.1 --btf_base=vmlinux module.ko module.ko
  btflite lower --for=reader --kernel=5.10 vmlinux.btf old.btf`,
		RunE: func(_ *cobra.Command, args []string) error { return l.run(c, args) },
	}
	s := under(cmd, groupOutput)
	s.release(&l.opt.Kernel, "kernel", "the Linux `RELEASE` that is to take the result")
	s.value(func(v string) error { l.opt.Reader = v == "reader"; return nil }, "for", "",
		"`WHOM`: kernel (default), reader of its time", words("kernel", "reader"))
	s.value(func(v string) error { l.opt.Unions = v == "union"; return nil }, "enum64", "",
		"`FORM` of values over 32 bits: cut, union", words("cut", "union"))
	s.bases(&l.bases, "btf_base", "IN is split over `BASE`, or a chain")
	addVerify(cmd, &l.lenient, always)
	return cmd
}

func (l *lowerCommand) run(c *cli, words []string) error {
	switch {
	case len(words) != 2:
		return &usageError{what: "lower takes the names of an input and an output file", lacksWord: len(words) < 2}
	case l.opt.Kernel == (verify.Release{}):
		return usagef("no release; give --kernel=RELEASE")
	case l.opt.Unions && !l.opt.Reader:
		return usagef("--enum64=union is for --for=reader: a kernel needs the enumerations")
	}
	in := words[:1]
	o, err := openOver(c, l.bases, in, words[1], nil)
	if err != nil {
		return err
	}
	f := lowered{path: in[0], to: o.out}
	if err := o.out.refuseInputs(in); err != nil {
		if f.path == dash {
			return err
		}
		f.same, f.read = true, statAll(in)[0]
		if k := expand.Of(readKind(f.path)); k != nil {
			return fmt.Errorf("%s: is compressed by %s, and its BTF cannot be replaced; write to another file", message.OneLine(f.path), k.Name)
		}
	}
	return o.files.With(f.path, func(raw loadbtf.Raw) error {
		if f.same && raw.Base != nil && o.base != nil {
			return fmt.Errorf("%s: its .BTF builds upon its .BTF.base, whose place --btf_base would take; leave that out, or write to another file", message.OneLine(f.path))
		}
		if f.Blob, err = o.files.Parse(f.path, &raw, o.base); err != nil {
			return err
		}
		if f.raw = &raw; o.base != nil {
			raw.Base = nil // base has its place
		}
		return l.write(c, &f)
	})
}

// lowered is a file whose BTF is lowered.
type lowered struct {
	path string
	raw  *loadbtf.Raw
	*btf.Blob
	to   *target
	same bool        // that is the file itself
	read os.FileInfo // the file before it was read, if it is the same
}

// inPlace tells whether the BTF is replaced in an ELF file.
func (f *lowered) inPlace() bool { return f.same && f.raw.Source.Path != "" }

// write lowers and writes the BTF of f.
func (l *lowerCommand) write(c *cli, f *lowered) error {
	w := finish.Work{Base: f.Base, Lower: &l.opt, Lenient: l.lenient,
		Rules: verify.Rules{PointerSize: f.raw.PointerSize, Loaded: f.raw.BPF, Distilled: f.raw.Base != nil}}
	given := finish.Given{Name: f.path, BTF: f.Blob}
	b, lost, err := w.Lowered(given)
	if err != nil {
		return message.NamingFile([]string{f.path}, err)
	}
	data := b.Encode()
	if err := c.checkMerged(&w, []finish.Given{given}, data); err != nil {
		return err
	}
	c.warnLowered(f.path, l.opt.Kernel, lost)
	if f.inPlace() {
		return l.replace(c, f, b)
	}
	if f.same {
		now, err := os.Stat(f.path)
		if err == nil {
			err = elfwrite.MayReplace(now, f.read)
		}
		if err != nil {
			return inPlaceError(f.path, err, nil)
		}
	}
	return f.to.write(c.guard, finish.WriteBytes(data))
}

// replace puts the lowered BTF into the section .BTF of its ELF file. If the file has a distilled
// base, replace lowers that too.
func (l *lowerCommand) replace(c *cli, f *lowered, b *btf.Blob) error {
	sections := []elfwrite.Section{loweredSection(loadbtf.SectionBTF, b)}
	if f.raw.Base != nil {
		w := finish.Work{Lower: &l.opt, Lenient: l.lenient}
		given := finish.Given{Name: f.path, BTF: f.Base}
		below, _, err := w.Lowered(given)
		if err == nil {
			_, err = w.Merged([]finish.Given{given}, below.Encode())
		}
		if err != nil {
			return message.NamingFile([]string{f.path}, err)
		}
		sections = append(sections, loweredSection(loadbtf.SectionBTFBase, below))
	} else if bytes.Equal(b.Encode(), f.raw.BTF) {
		return nil
	}
	err := c.guard.protect(func() error { return c.putSections(f.path, f.read, sections, func(string) error { return nil }) })
	return inPlaceError(f.path, err, func() string { return "write to another file" })
}

// loweredSection is a section with the BTF b. In a linked kernel, the section cannot get shorter.
// So the header grows to fill it, and not the strings: BTF that is split from b counts string
// offsets from the end of b's strings.
func loweredSection(name string, b *btf.Blob) elfwrite.Section {
	s := bytesSection(name, b.Encode())
	s.Fill = func(w io.Writer, n int64) error {
		more := n - s.Size
		if more%4 != 0 {
			return fmt.Errorf("section %s has %d bytes more than the BTF needs, not a multiple of 4", name, more)
		}
		long := *b
		long.Form.HeaderLen = uint32(b.Form.Len()-len(b.Form.Layout)) + uint32(more)
		return finish.WriteBytes(long.Encode())(w)
	}
	return s
}

// warnLowered warns of what BTF has lost because it was lowered.
func (c *cli) warnLowered(path string, to verify.Release, lost lower.Report) {
	for _, text := range finish.LossTexts(to, lost) {
		c.warn(message.OneLine(path) + ": note: " + text)
	}
}
