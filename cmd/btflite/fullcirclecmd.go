package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/btflite/btflite"
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/diff"
	"github.com/btflite/btflite/btf/dump"
	"github.com/btflite/btflite/btf/funcs"
	"github.com/btflite/btflite/btf/view"
	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/finish"
	"github.com/btflite/btflite/internal/message"
)

// fullcircleCommand is "btflite fullcircle".
type fullcircleCommand struct {
	cc   []string // --cc
	keep string   // --keep
}

func newFullcircleCommand(c *cli) *cobra.Command {
	var f fullcircleCommand
	cmd := &cobra.Command{
		Use: "fullcircle [OPTION...] FILE",
		Long: `Encode FILE, an object or module with DWARF, write its types and functions as C,
compile that by the compiler that made FILE, encode the result, and print what
differs. Nothing is what should. Status 0: nothing was lost but what C cannot
say, 1: something was, 2: there is no answer.`,
		Example: `  btflite fullcircle fs/xfs/xfs.ko
  btflite fullcircle --cc='gcc -m32' file.o`,
		RunE:        func(_ *cobra.Command, args []string) error { return f.run(c, args) },
		Annotations: map[string]string{troubleKey: ""},
	}
	s := under(cmd, groupReport)
	s.value(f.setCompiler, "cc", "", "compile by `PROGRAM`, which may have options", noFiles)
	s.file(&f.keep, "keep", "", "write the C to `OUT`")
	return cmd
}

func (f *fullcircleCommand) setCompiler(v string) error {
	if f.cc = strings.Fields(v); len(f.cc) == 0 {
		return usagef("empty name of a program")
	}
	return nil
}

// circleFeatures are what C can say: no tags, and no variables, which need values.
const circleFeatures = encode.Float | encode.Enum64 | encode.EncodeForce | encode.ConsistentFunc | encode.OptimizedFunc

func (f *fullcircleCommand) run(c *cli, words []string) error {
	if len(words) != 1 {
		return usagef("fullcircle takes one file")
	}
	words, err := elfInputs(words, false)
	if err != nil {
		return err
	}
	if err := checkInputs(words); err != nil {
		return err
	}
	if why := notToEncode(words[0]); why != "" {
		return fmt.Errorf("%s: %s", message.OneLine(words[0]), why)
	}
	dir, err := c.guard.tempFolder("btflite-fullcircle-")
	if err != nil {
		return message.NamingFile(nil, err)
	}
	defer os.RemoveAll(dir)
	before, done, err := circleBTF(words[0])
	if err != nil {
		return err
	}
	defer done()
	source, object := filepath.Join(dir, "types.c"), filepath.Join(dir, "types.o")
	if err := writeC(source, before); err != nil {
		return message.NamingFile(words, err)
	}
	if f.keep != "" {
		if err := f.keepC(c, source, words); err != nil {
			return err
		}
	}
	cc := &compiler{f.cc}
	if f.cc == nil {
		made, machine, err := producer(words[0])
		if err == nil {
			cc, err = findCompiler(cmp.Or(made, guessProducer(before)), machine)
		}
		if err != nil {
			return message.NamingFile(words, err)
		}
	}
	if err := cc.compile(c.guard, source, object); err != nil {
		return message.NamingFile(words, err)
	}
	after, done, err := circleBTF(object)
	if err != nil {
		return err
	}
	defer done()
	os.RemoveAll(dir) // before a line is printed: a closed pipe ends the process
	return f.compare(c, before, after)
}

// circleBTF is the BTF of a file with DWARF, valid until done is called.
func circleBTF(file string) (b *btf.Blob, done func(), err error) {
	got, err := btflite.Encode(context.Background(), btflite.Paths(file), btflite.Options{Features: circleFeatures, AllowRefused: true})
	if err != nil {
		return nil, nil, err
	}
	if len(got.BTF) == 0 {
		got.Close()
		return nil, nil, fmt.Errorf("%s: its DWARF has no types", message.OneLine(file))
	}
	if b, err = btf.ParseShared(got.BTF, nil); err != nil {
		got.Close()
		return nil, nil, message.NamingFile([]string{file}, err)
	}
	return b, got.Close, nil
}

// writeC writes all types and functions as C.
func writeC(file string, b *btf.Blob) error {
	o := dump.COptions{PackedUnions: true}
	for x := range funcs.New(view.New(b)).All() {
		o.Stubs = append(o.Stubs, x.ID)
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	err = dump.C(w, b, o)
	uses(w, b)
	return errors.Join(err, w.Flush(), out.Close())
}

// cWords is the name of a number in C.
var cWords = pattern{text: `^[A-Za-z_][A-Za-z_0-9 ]*$`}

// uses declares a variable for each number, and for each struct and union that is only
// declared: compilers leave out those that nothing uses.
func uses(w io.Writer, b *btf.Blob) {
	v := view.New(b)
	tags := map[string]int{}
	for t := range v.All() {
		switch t.Kind() {
		case btf.KindStruct, btf.KindUnion, btf.KindEnum, btf.KindEnum64, btf.KindFwd:
			tags[string(t.Name())]++
		}
	}
	for t := range v.All() {
		name := t.Name()
		switch k := t.Kind(); {
		case !cWords.get().Match(name):
		case (k == btf.KindInt || k == btf.KindFloat) && string(name) != arraySize:
			fmt.Fprintf(w, "%s btflite_%d;\n", name, t.ID)
		case k == btf.KindFwd && tags[string(name)] == 1:
			fmt.Fprintf(w, "%s %s *btflite_%d;\n", map[bool]string{false: "struct", true: "union"}[t.Flag()], name, t.ID)
		}
	}
}

// keepC copies the C to the file of --keep.
func (f *fullcircleCommand) keepC(c *cli, source string, inputs []string) error {
	to, err := c.resolveTarget(f.keep)
	if err != nil {
		return err
	}
	if err := to.refuseInputs(inputs); err != nil {
		return err
	}
	text, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	return to.write(c.guard, finish.WriteBytes(text))
}

// compare prints what differs. What C cannot say is told apart from what was lost.
func (f *fullcircleCommand) compare(c *cli, before, after *btf.Blob) error {
	out := newLineWriter(c.stdout)
	known := newCircleReasons(before)
	lost, explained := 0, map[string]int{}
	_, err := diff.Compare(before, after, diff.Options{}, func(d *diff.Difference) error {
		if why := known.reason(d); why != "" {
			explained[why]++
			return nil
		}
		lost++
		for _, l := range d.Lines() {
			out.line(message.OneLine(l))
		}
		return out.err
	})
	if err != nil {
		return err
	}
	for _, why := range slices.Sorted(maps.Keys(explained)) {
		if !c.quiet {
			out.line(fmt.Sprintf("not in C, %s: %s", countOf(explained[why], "difference"), why))
		}
	}
	if err := out.flush(); err != nil {
		return stdoutError(err)
	}
	if lost > 0 {
		return verdict{exitFailure}
	}
	return nil
}
