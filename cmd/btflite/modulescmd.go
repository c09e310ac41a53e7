package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/debuginfo"
	"github.com/btflite/btflite/internal/finish"
	"github.com/btflite/btflite/internal/job"
	"github.com/btflite/btflite/internal/message"
	"github.com/btflite/btflite/internal/workers"
	"github.com/spf13/cobra"
)

// modulesCommand is "btflite modules". It encodes many files, each to its own BTF over
// one base.
type modulesCommand struct {
	encoding
	outDir  string // --btf_encode_detached_dir
	fullToo bool   // --full_sizes
}

func newModulesCommand(c *cli) *cobra.Command {
	m := &modulesCommand{encoding: newEncoding()}
	m.opt.Encode.Jobs = runtime.GOMAXPROCS(0)
	cmd := &cobra.Command{
		Use: "modules [OPTION...] --btf_base=BASE MODULES...",
		Long: `Encode kernel modules, each by itself, over one base. MODULES is a module, a
folder for all .ko files below it, or a text file that names one a line.`,
		Example: `  btflite modules --btf_base=vmlinux --lang_exclude=rust -j4 .
  btflite modules --btf_base=vmlinux --lang_exclude=rust --btf_encode_detached_dir=out modules.list`,
		RunE: func(_ *cobra.Command, args []string) error { return m.run(c, args) },
	}
	out := under(cmd, groupOutput)
	out.bases(&m.bases, "btf_base", "leave out what `BASE` has; several are a chain")
	out.file(&m.outDir, "btf_encode_detached_dir", "", "write below `DIR`, not into the modules", folder)
	out.value(m.setExtraSuffix, "extra_vars", "", "other variables, to MODULE.vars.btf or `SUFFIX`", bare(extraSuffix))
	out.value(m.setInlineSuffix, "inline", "", "inlined sites, the same way; or `SUFFIX`", bare(inlineSuffix))
	m.resourceOptions(c, cmd)
	m.resultOptions(cmd, always)
	m.featureOptions(cmd)
	m.unitOptions(cmd)
	under(cmd, groupReport).toggle(&m.fullToo, "full_sizes", "", "encode without BASE too and compare the sizes")
	m.strictOption(cmd)
	m.statsOption(cmd)
	m.compatOptions(c, cmd)
	return cmd
}

func (m *modulesCommand) run(c *cli, paths []string) (err error) {
	began := time.Now()
	if len(m.bases) == 0 {
		return usagef("no base; give --btf_base=BASE")
	}
	if err := m.complete(c); err != nil {
		return err
	}
	if err := checkNames(paths); err != nil {
		return err
	}
	mods, err := findModules(paths)
	if err != nil {
		return err
	}
	if err := m.check(m.outDir == "", m.bases, 1); err != nil {
		return err
	}
	if err := placeOutputs(mods, m.outDir, m.sideFiles, m.bases); err != nil {
		return err
	}
	if m.outDir != "" {
		if err := c.guard.makeFolder(m.outDir); err != nil {
			return message.FileError(m.outDir, "cannot write", err)
		}
		defer func() {
			if err != nil {
				c.guard.removeFolders()
			}
		}()
	}
	opt, jobs := m.opt, m.opt.Encode.Jobs
	if opt.Base, err = openBase(m.bases); err != nil {
		return err
	}
	defer opt.Base.Close()
	opt.Encode.Jobs, opt.Encode.Sessions = 1, min(jobs, len(mods))
	b := &batch{c: c, opt: opt, bases: m.bases, to: m.outDir, fullToo: m.fullToo, strict: m.strict}
	largestFirst(mods)
	c.guard.syncLater()
	results := b.run(jobs, mods)
	if err := c.guard.syncFolders(); err != nil {
		return err
	}
	r := newBatchReport(strings.Join(m.bases, " + "), results, time.Since(began))
	if text := r.mismatchText(); text != "" {
		c.warn(text)
	}
	for _, one := range r.Modules {
		if one.Warning != "" {
			c.warnOfKernel(one.Path, one.Warning)
		}
		c.warnLowered(one.Path, m.opt.Target, one.lost)
		if one.Error != "" {
			c.complain(one.Error)
		}
	}
	for _, what := range slices.Sorted(maps.Keys(r.Unencodable)) {
		c.warn(unencodableText("all modules", what, r.Unencodable[what]))
	}
	if !c.quiet || m.stats != statsNone {
		if _, err := fmt.Fprintln(c.stdout, r.format(m.stats)); err != nil {
			return stdoutError(err)
		}
	}
	if r.Failed > 0 {
		return failures{r.Failed, len(mods), r.internal}
	}
	return nil
}

// batch encodes modules side by side.
type batch struct {
	c       *cli
	opt     job.Options
	bases   []string // the files of opt.Base
	to      string   // the folder of detached files; "" for in place
	fullToo bool
	strict  bool

	done    atomic.Uint64          // modules
	working atomic.Pointer[string] // the name of the module that was started last
}

// inPlace reports whether the BTF goes into the modules.
func (b *batch) inPlace() bool { return b.to == "" }

// run encodes all modules and returns their results in the same order.
func (b *batch) run(jobs int, mods []module) []moduleResult {
	results := make([]moduleResult, len(mods))
	var total, done atomic.Uint64
	for _, m := range mods {
		total.Add(uint64(m.size))
	}
	b.c.heap.forget(total.Load())
	trim := newCodeTrim(total.Load())
	meter := b.c.startProgress(b.c.quiet, func(done, total uint64, left string) []string {
		return batchProgress(done, total, int(b.done.Load()), len(mods), left, b.working.Load())
	})
	defer meter.stop()
	b.c.guard.setOnDeath(func(os.Signal) {
		meter.clear()
		b.c.complain(interruptedText(int(b.done.Load()), len(mods), "module", b.inPlace()))
	})
	defer b.c.guard.setOnDeath(nil)
	next := workers.Shared(len(mods))
	workers.Do(min(jobs, len(mods)), func(int) {
		w := worker{batch: b}
		defer w.close()
		for i := range next {
			if b.c.guard.interrupted() != nil {
				return
			}
			name := shortName(mods[i].path)
			b.working.Store(&name)
			w.counted = false
			results[i] = w.one(&mods[i])
			w.count()
			soFar := done.Add(uint64(mods[i].size))
			trim.done(soFar)
			meter.update(soFar, total.Load())
		}
	})
	return results
}

// batchProgress makes the progress line: done of total bytes, n of all modules. name is a
// module in work, or nil.
func batchProgress(done, total uint64, n, all int, left string, name *string) []string {
	part := float64(done) / float64(max(total, 1))
	percent := fmt.Sprintf("%3.0f%%", 100*part)
	count := fmt.Sprintf("%s  %s of %s modules", percent, grouped(uint64(n)), grouped(uint64(all)))
	bar := func(width int) string {
		return fmt.Sprintf("[%-*s] ", width, strings.Repeat("#", int(part*float64(width))))
	}
	at := ""
	if name != nil {
		at = ": " + *name
	}
	short := fmt.Sprintf("%s  %d of %d", percent, n, all)
	return []string{bar(20) + count + left + at, bar(10) + count + left + at, count + left + at, count + left,
		count, short + left, short, percent}
}

// interruptedText says which results are complete after a signal.
func interruptedText(n, all int, thing string, inPlace bool) string {
	rest := "nothing is written for the others"
	if inPlace {
		rest = "the others are as they were"
	}
	return fmt.Sprintf("interrupted: %s of %s done, %s", grouped(uint64(n)), countOf(all, thing), rest)
}

// worker encodes one module after another. Its sessions keep what modules share.
type worker struct {
	*batch
	split, full session // nil until needed, and after a panic
	counted     bool    // the current module is counted as finished
}

// count counts the current module as finished.
func (w *worker) count() {
	if !w.counted {
		w.done.Add(1)
		w.counted = true
	}
}

func (w *worker) close() {
	for _, s := range []*session{&w.split, &w.full} {
		if *s != nil {
			(*s).Close()
			*s = nil
		}
	}
}

// encode encodes a module in a session, which it makes on first use.
func (w *worker) encode(s *session, path string, opt *job.Options) (*finish.Encoded, error) {
	if *s == nil {
		*s = newSession(opt)
	}
	enc, err := (*s).Encode(path)
	switch {
	case errors.Is(err, encode.ErrNoDwarf):
		return &finish.Encoded{NoDwarf: true}, nil
	case err != nil:
		return nil, encodeError([]string{path}, opt.Encode.Features, err)
	}
	return enc, nil
}

// one encodes and writes one module. A panic fails this module only.
func (w *worker) one(m *module) (r moduleResult) {
	began := time.Now()
	r = moduleResult{Path: m.path, Output: m.out}
	if m.out == "" {
		r.Output = m.path
	}
	defer func() {
		if v := recover(); v != nil {
			if full, ok := v.(arena.Exhausted); ok {
				r.Error = exhausted([]string{m.path}, w.opt.Encode.MemoryLimit, full.Used).Error()
			} else {
				line, status := describePanic(v, nil)
				r.Error, r.internal = message.OneLine(m.path)+": "+line, status == exitInternal
			}
			w.split, w.full = nil, nil // a panic may have left them half changed
		}
		r.NS = int64(time.Since(began))
	}()
	fail := func(err error) moduleResult {
		r.Error = err.Error()
		var crash *encode.Crash
		r.internal = errors.As(err, &crash)
		return r
	}
	if m.err != nil {
		return fail(m.err)
	}
	if m.out == "" {
		if err := refuseOwnBase(m.path, w.bases); err != nil {
			return fail(err)
		}
	}
	read := statAll([]string{m.path})[0]
	if w.fullToo {
		opt := w.opt
		opt.Base, opt.Distil, opt.Order, opt.Encode.ExtraVars, opt.Encode.Inline = nil, false, nil, false, false
		full, err := w.encode(&w.full, m.path, &opt)
		if err != nil {
			return fail(err)
		}
		r.Full = full.Size
		full.Free()
	}
	enc, err := w.encode(&w.split, m.path, &w.opt)
	if err != nil {
		return fail(err)
	}
	defer enc.Free()
	r.unencodable = enc.Stats.Unencodable
	r.Warning, r.Mismatch = refusedText(enc.Warning), enc.Mismatch
	if r.Empty = enc.Size == 0; r.Empty {
		stats, why := &enc.Stats, emptyText(m.path, &enc.Stats)
		if enc.NoDwarf {
			stats, why = nil, noDwarfText(m.path)
		}
		if err := m.leftAlone(why); err != nil {
			return fail(err)
		}
		if w.strict {
			return fail(errors.New(why + cure(m.path, stats)))
		}
		return r
	}
	to, err := m.outputs(w.c, w.opt.Encode.DebugFiles.Dir)
	if err == nil {
		err = w.write(to, m, read, enc)
	}
	if err != nil {
		return fail(err)
	}
	r.lost = enc.Lowered
	r.Bytes, r.Base, r.Types, r.Extra = enc.Size, enc.Below, enc.Stats.TypesOut, int64(len(enc.Extra.Data))
	r.Inline = int64(len(enc.Inline.Data))
	return r
}

// write writes the output of a module. If it has been written into the module when a
// signal arrives, it is counted.
func (w *worker) write(to outputs, m *module, read os.FileInfo, enc *finish.Encoded) error {
	if m.out != "" {
		return w.c.writeAll(to, m.path, read, enc, &w.opt)
	}
	return w.c.guard.protect(func() error {
		err := w.c.writeAll(to, m.path, read, enc, &w.opt)
		if err == nil {
			w.count()
		}
		return err
	})
}

// leftAlone returns an error if there is nothing to write for a module, because of why,
// and an output of an earlier run exists.
func (m *module) leftAlone(why string) error {
	if m.out == "" {
		if err := refuseOldMain(nil, m.path, why); err != nil {
			return err
		}
	}
	for _, path := range []string{m.out, m.extra, m.inline} {
		if _, err := os.Lstat(path); err != nil {
			continue // the folder may be missing, too
		}
		t, err := derivedTarget(m.root, path)
		if err == nil {
			err = t.refuseOld(why)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// outputs finds the places of a module's BTF and side files, and makes their folder if it
// is missing. None may be an input.
func (m *module) outputs(c *cli, debugDir string) (to outputs, err error) {
	if m.out != "" {
		if err := c.guard.makeFolderOf(m.root, m.out); err != nil {
			return to, err
		}
	}
	for _, t := range []struct {
		path string
		to   **target
	}{{m.out, &to.main}, {m.extra, &to.extra}, {m.inline, &to.inline}} {
		if t.path == "" {
			continue
		}
		if *t.to, err = derivedTarget(m.root, t.path); err != nil {
			return to, err
		}
		if (*t.to).info != nil {
			if err := (*t.to).refuseInputs(debuginfo.Beside(m.path, debugDir)); err != nil {
				return to, err
			}
		}
	}
	return to, nil
}
