package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
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
	"github.com/btflite/btflite/internal/fullcircle"
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

// circleFeatures are the features that C can express: no tags, and no variables, which
// need values.
const circleFeatures = encode.Float | encode.Enum64 | encode.EncodeForce | encode.ConsistentFunc | encode.OptimizedFunc

func (f *fullcircleCommand) run(c *cli, words []string) error {
	if len(words) != 1 {
		return &usageError{what: "fullcircle takes one file", lacksWord: len(words) == 0}
	}
	file, err := elfInput(words[0])
	if err != nil {
		return err
	}
	words = []string{file}
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
	origin, err := fullcircle.OriginOf(words[0])
	if err != nil {
		return message.NamingFile(words, err)
	}
	source, object := filepath.Join(dir, "types.c"), filepath.Join(dir, "types.o")
	if err := writeC(source, before, origin.PointerSize()); err != nil {
		return message.NamingFile(words, err)
	}
	if f.keep != "" {
		if err := f.keepC(c, source, words); err != nil {
			return err
		}
	}
	cc, err := origin.Compiler(f.cc, before)
	if err != nil {
		return message.NamingFile(words, err)
	}
	if err := cc.Compile(c.guard.run, source, object); err != nil {
		return message.NamingFile(words, err)
	}
	after, done, err := circleBTF(object)
	if err != nil {
		return err
	}
	defer done()
	os.RemoveAll(dir) // a closed pipe ends the process, so this comes before any output
	lost, err := f.compare(c, before, after)
	if err != nil || !lost {
		return err
	}
	if origin.Several {
		c.warn(fmt.Sprintf("note: units of the file are by gcc and by clang, which name numbers differently: compiled by %s", message.OneLine(cc.Words[0])))
	}
	if cc.Instead != "" {
		c.warn(fmt.Sprintf("note: compiled by %s: there is no %s, which made the file", message.OneLine(cc.Words[0]), cc.Instead))
	}
	return printedFailure{exitFailure}
}

// circleBTF returns the BTF of a file with DWARF, valid until done is called.
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
func writeC(file string, b *btf.Blob, pointerSize int) error {
	o := dump.COptions{Strict: true, Again: true, PointerSize: pointerSize}
	for x := range funcs.New(view.New(b)).All() {
		o.Stubs = append(o.Stubs, x.ID)
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	err = dump.C(w, b, o)
	return errors.Join(err, w.Flush(), out.Close())
}

// keepC copies the C to the file of --keep.
func (f *fullcircleCommand) keepC(c *cli, source string, inputs []string) error {
	to, err := c.resolveTarget(f.keep, inputs)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	return to.write(c.guard, finish.WriteBytes(text))
}

// compare prints the differences. It separates what C cannot say from what was lost.
func (f *fullcircleCommand) compare(c *cli, before, after *btf.Blob) (lost bool, err error) {
	out := newLineWriter(c.stdout)
	known, explained := fullcircle.NewReasons(before), map[string]int{}
	_, err = diff.Compare(before, after, diff.Options{}, func(d *diff.Difference) error {
		if why := known.Of(d); why != "" {
			explained[why]++
			return nil
		}
		lost = true
		for _, l := range d.Lines() {
			out.line(message.OneLine(l))
		}
		return out.err
	})
	if err != nil {
		return false, stdoutError(err)
	}
	for _, why := range slices.Sorted(maps.Keys(explained)) {
		if !c.quiet {
			out.line(fmt.Sprintf("not in C, %s: %s", countOf(explained[why], "difference"), why))
		}
	}
	return lost, stdoutError(out.flush())
}
