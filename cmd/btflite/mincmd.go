package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/core"
	"github.com/btflite/btflite/internal/findbase"
	"github.com/btflite/btflite/internal/finish"
	"github.com/btflite/btflite/internal/message"
)

// minCommand is "btflite min": the part of kernels' BTF that programs need.
type minCommand struct {
	output     string // -o
	kernels    []string
	bases      []string // --btf_base
	perProgram bool
	report     string

	programs []*minProgram // also those that cannot be read
	names    core.Names
	find     *findbase.Finder // with the bases that are given
	failed   struct{ programs, kernels int }
	lacking  int // kernels in which relocations find nothing
}

// minProgram is a BPF object.
type minProgram struct {
	path string
	rel  string        // where its files are to be, below a folder
	prog *core.Program // nil if it cannot be read
	err  error         // why
}

func newMinCommand(c *cli) *cobra.Command {
	m := &minCommand{names: core.Names{}}
	cmd := &cobra.Command{
		Use: "min [OPTION...] --btf=KERNEL -o OUT PROGRAM...",
		Long: `Write the part of a kernel's BTF that the CO-RE relocations of BPF objects need,
for kernels that have no BTF of their own, as bpftool gen min_core_btf does. OUT
is a file; with several kernels it is a folder, with a file for each.`,
		Example: `  btflite min --btf=5.4.0-42-generic.btf -o min.btf tool.bpf.o
  btflite min --btf=archive -o min --report=missing.json *.bpf.o`,
		RunE: func(_ *cobra.Command, args []string) error { return m.run(c, args) },
	}
	s := under(cmd, groupOutput)
	s.file(&m.output, "output", "o", "write to the file `OUT`, or below the folder")
	s.bases(&m.kernels, "btf", "BTF of a `KERNEL`, or of a folder; repeatable")
	s.bases(&m.bases, "btf_base", "KERNEL is split over `BASE`, or a chain")
	s.toggle(&m.perProgram, "per_program", "", "a file for each program, below the folder OUT")
	under(cmd, groupReport).file(&m.report, "report", "", "write what is not found, as JSON, to `FILE`")
	return cmd
}

func (m *minCommand) run(c *cli, words []string) error {
	switch {
	case m.output == "":
		return usagef("no output; give -o OUT")
	case len(m.kernels) == 0:
		return usagef("no kernel; give --btf=KERNEL")
	}
	if err := checkNames(words); err != nil {
		return err
	}
	words = withoutRepeats(words)
	kernels, err := findMinKernels(m.kernels)
	if err != nil {
		return err
	}
	m.programs = make([]*minProgram, len(words))
	dirs := make([]string, len(words))
	for i, w := range words {
		dirs[i] = filepath.Dir(w)
	}
	for i, rel := range relNames(words, dirs) {
		m.programs[i] = &minProgram{path: words[i], rel: rel}
	}
	plan, err := m.place(c, kernels)
	if err != nil {
		return err
	}
	if m.find = findbase.New(btfFiles, ""); len(m.bases) > 0 {
		if err := m.find.Fix(m.bases); err != nil {
			return err
		}
	}
	defer m.find.Close()
	if err := m.readPrograms(c); err != nil {
		return err
	}
	if plan.folder != "" {
		if err := c.guard.makeFolder(plan.folder); err != nil {
			return message.FileError(plan.folder, "cannot write", err)
		}
	}
	err = m.allKernels(c, kernels, plan)
	if plan.folder != "" && (err != nil || m.failed.kernels > 0) {
		c.guard.removeFolders() // as far as they are empty
	}
	if err != nil {
		return err
	}
	return m.failure(len(kernels))
}

// withoutRepeats returns the paths, each once. Links count as files of their own, as the names of
// outputs come from the paths.
func withoutRepeats(paths []string) (once []string) {
	known := map[string]bool{}
	for _, p := range paths {
		name := p
		if abs, err := filepath.Abs(p); err == nil && p != dash {
			name = abs
		}
		if !known[name] {
			known[name] = true
			once = append(once, p)
		}
	}
	return once
}

// failure returns the error of a run in which programs or kernels failed. Each has been named.
func (m *minCommand) failure(kernels int) error {
	var what []string
	for _, x := range []struct {
		failed, all int
		thing       string
	}{{m.failed.programs, len(m.programs), "program"}, {m.failed.kernels, kernels, "kernel"}} {
		if x.failed > 0 {
			what = append(what, fmt.Sprintf("%d of %s", x.failed, countOf(x.all, x.thing)))
		}
	}
	if len(what) == 0 {
		return nil
	}
	return errors.New(strings.Join(what, " and ") + " failed")
}

// readPrograms reads the relocations of all programs. It is an error if there is no program
// that can be read.
func (m *minCommand) readPrograms(c *cli) error {
	for _, p := range m.programs {
		if p.prog, p.err = readMinProgram(p.path); p.err != nil {
			if len(m.programs) == 1 {
				return p.err
			}
			m.failed.programs++
			c.complain(p.err.Error())
			continue
		}
		m.names.Add(p.prog)
		if len(p.prog.Relocs) == 0 {
			c.warn(message.OneLine(p.path) + ": note: it has no CO-RE relocations, so it needs no types")
		}
	}
	if m.failed.programs == len(m.programs) {
		return errors.New("nothing written: no program can be read")
	}
	return nil
}

// readMinProgram reads the relocations of a BPF object.
func readMinProgram(path string) (p *core.Program, err error) {
	err = withRelocations(path, func(b *btf.Blob, ext []byte) error {
		p, err = core.ReadProgram(b, ext)
		return err
	})
	return p, err
}

// allKernels writes the files for all kernels, and the report. With a report, no file is put in
// place before the report is complete.
func (m *minCommand) allKernels(c *cli, kernels []minKernel, plan *minPlan) error {
	if plan.report == nil {
		return m.eachKernel(c, kernels, plan, nil)
	}
	defer func() { discardAll(c.guard, append(plan.pending, output{to: plan.report})) }()
	var failed error // not of the report
	content := func(w io.Writer) error {
		r := &minReport{newLineWriter(w)}
		r.begin(m.programs)
		if failed = m.eachKernel(c, kernels, plan, r); failed != nil {
			return failed
		}
		return r.end()
	}
	if plan.report.file != "" {
		plan.report.prepare(c.guard, content) // thousands of kernels make a long text
	} else {
		var text bytes.Buffer
		err := content(&text)
		if content = finish.WriteBytes(text.Bytes()); failed == nil {
			failed = err
		}
	}
	if failed != nil {
		return failed
	}
	return writeTogether(c.guard, append(plan.pending, output{to: plan.report, content: content}), nil)
}

// eachKernel writes the files for all kernels, and what becomes of each to the report, if
// there is one. An error of one kernel ends the run only if there is no other.
func (m *minCommand) eachKernel(c *cli, kernels []minKernel, plan *minPlan, r *minReport) error {
	meter := c.startProgress(c.quiet || len(kernels) == 1, countProgress("kernels"))
	defer meter.stop()
	var ended atomic.Int64 // kernels
	if plan.folder != "" && r == nil {
		c.guard.setOnDeath(func(os.Signal) {
			meter.clear()
			c.complain(interruptedText(int(ended.Load()), len(kernels), "kernel", false))
		})
		defer c.guard.setOnDeath(nil)
	}
	for i := range kernels {
		if err := c.guard.interrupted(); err != nil {
			return err
		}
		done := m.kernel(c, &kernels[i], plan)
		ended.Add(1)
		meter.update(uint64(i+1), uint64(len(kernels)))
		if r != nil {
			r.kernel(done)
		}
		switch {
		case done.err == nil:
		case len(kernels) == 1:
			return done.err
		default:
			m.failed.kernels++
			c.complain(done.err.Error())
		}
	}
	if more := m.lacking - toldLacking; more > 0 {
		c.warn(fmt.Sprintf("note: relocations find nothing in %s more%s", countOf(more, "kernel"), plan.seeReport()))
	}
	return nil
}

// toldLacking is in how many kernels the relocations are counted that find nothing. An archive may have thousands.
const toldLacking = 10

func (m *minCommand) kernel(c *cli, k *minKernel, plan *minPlan) *minResult {
	done := &minResult{File: k.path}
	if done.err = k.err; k.err != nil {
		return done
	}
	in := newTypeReader(c)
	in.bases = m.bases
	if len(m.bases) > 0 {
		in.find = m.find
	}
	files, err := in.open([]string{k.path})
	defer in.closeFiles()
	if len(m.bases) == 0 {
		defer in.find.Close()
	}
	if err != nil {
		done.err = err
		return done
	}
	outs, err := m.outputs(c, core.NewTarget(files[0].Blob, m.names), k, plan, done)
	switch {
	case err != nil:
		discardAll(c.guard, outs)
		done.err, done.Outputs = err, nil
	case plan.report == nil:
		done.err = writeTogether(c.guard, outs, nil)
	default:
		plan.pending = append(plan.pending, outs...)
	}
	if text := done.missingText(); text != "" {
		if m.lacking++; m.lacking <= toldLacking {
			c.warn(text + plan.seeReport())
		}
	}
	return done
}

// outputs resolves the relocations of all programs, and makes the files for one kernel. None is in
// place yet.
func (m *minCommand) outputs(c *cli, target *core.Target, k *minKernel, plan *minPlan, done *minResult) (outs []output, err error) {
	all := target.NewNeeds()
	add := func(needs *core.Needs, p *minProgram) {
		var out output
		if err == nil {
			out, err = makeNeeds(c, needs, plan.file(k, p), plan.folder, done)
		}
		if err == nil {
			outs = append(outs, out)
			err = prepareAll(c.guard, outs[len(outs)-1:], false)
		}
	}
	for _, p := range m.programs {
		if p.prog == nil {
			continue
		}
		needs := all
		if m.perProgram {
			needs = target.NewNeeds()
		}
		done.resolve(p, target, needs)
		if m.perProgram {
			add(needs, p)
		}
	}
	if !m.perProgram {
		add(all, nil)
	}
	return outs, err
}

// makeNeeds makes the output with what is needed: the file at path, or the one target of a
// run without a folder.
func makeNeeds(c *cli, needs *core.Needs, to minFile, folder string, done *minResult) (o output, err error) {
	b, err := needs.Blob()
	if err != nil {
		return o, message.NamingFile([]string{done.File}, err)
	}
	data := b.Encode()
	if len(b.Off) > 0 {
		if err := checkReadable(done.File, b, data); err != nil {
			return o, err
		}
	}
	out := to.target
	if out == nil {
		if err := c.guard.makeFolderOf(folder, to.path); err != nil {
			return o, err
		}
		if out, err = derivedTarget(folder, to.path); err != nil {
			return o, err
		}
	}
	done.Outputs = append(done.Outputs, minOutput{File: to.path, Types: len(b.Off), Bytes: len(data)})
	return output{to: out, content: finish.WriteBytes(data)}, nil
}

// inputsOf returns all files that are read.
func (m *minCommand) inputsOf(kernels []minKernel) (paths []string) {
	for _, k := range kernels {
		paths = append(paths, k.path)
	}
	for _, p := range m.programs {
		paths = append(paths, p.path)
	}
	return slices.Concat(paths, m.bases)
}
