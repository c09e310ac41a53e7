package main

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/btflite/btflite/encode"
)

// runModules is "btflite modules": many files, each with a BTF of its own, over
// one base.
func (c *cli) runModules(args []string) error {
	began := time.Now()
	cfg := newConfig()
	cfg.jobs = runtime.NumCPU()
	words, err := parse(modulesOptions, args, cfg)
	if err != nil {
		return err
	}
	if cfg.action != doWork {
		return c.showAction(cfg.action, modulesIntro, modulesOptions)
	}
	if len(cfg.bases) == 0 {
		return usagef("modules: no base; give --btf_base=BASE")
	}
	opt, err := c.encodeOptions(cfg)
	if err != nil {
		return err
	}
	paths, err := inputs(words)
	if err != nil {
		return err
	}
	mods, err := findModules(paths)
	if err != nil {
		return err
	}
	if cfg.outDir != "" {
		if err := placeDetached(mods, cfg.outDir); err != nil {
			return err
		}
	}
	if cfg.extraVars != "" {
		if err := cfg.checkExtra(cfg.outDir == ""); err != nil {
			return err
		}
		if err := placeExtra(mods, cfg.extraVars); err != nil {
			return err
		}
	}
	blob, base, closeBase, err := openBase(cfg.bases)
	if err != nil {
		return err
	}
	defer closeBase()
	opt.Base = base
	opt.Jobs = 1
	b := &batch{c: c, opt: opt, bases: cfg.bases, finish: cfg.finish(blob, cfg.outDir == ""), fullToo: cfg.fullToo}
	largestFirst(mods)
	r := newBatchReport(strings.Join(cfg.bases, " + "), b.run(cfg, mods), time.Since(began))
	for _, m := range r.Modules {
		for _, line := range []string{m.Warning, m.Error} {
			if line != "" {
				c.complain(line)
			}
		}
	}
	for _, what := range slices.Sorted(maps.Keys(r.LeftOut)) {
		c.complain(leftOutText("all modules", what, r.LeftOut[what]))
	}
	if _, err := fmt.Fprintln(c.stdout, r.format(cfg.stats)); err != nil {
		return stdoutError(err)
	}
	if r.Failed > 0 {
		return failures{r.Failed, len(mods), r.internal}
	}
	return nil
}

// failures is the error of a batch of which some modules failed; each has been
// named already.
type failures struct {
	failed, of int
	internal   bool // one by a fault of this program
}

func (f failures) Error() string {
	return fmt.Sprintf("%d of %d modules failed", f.failed, f.of)
}

// batch encodes modules side by side.
type batch struct {
	c       *cli
	opt     encode.Options
	bases   []string // the files of finish.base
	finish  finish
	fullToo bool
}

// run encodes all modules and returns what became of each, in the same order.
func (b *batch) run(cfg *config, mods []module) []moduleResult {
	results := make([]moduleResult, len(mods))
	var total, done, count atomic.Uint64
	for _, m := range mods {
		total.Add(uint64(m.size))
	}
	meter := b.c.startProgress(cfg, func(done, total uint64) string {
		return batchProgress(done, total, int(count.Load()), len(mods))
	})
	defer meter.stop()
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(cfg.jobs, len(mods)) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			debug.SetPanicOnFault(true)
			w := worker{batch: b}
			defer w.close()
			for {
				i := int(next.Add(1)) - 1
				if i >= len(mods) || b.c.guard.interrupted() != nil {
					return
				}
				results[i] = w.one(&mods[i])
				count.Add(1)
				if meter != nil {
					meter.update(done.Add(uint64(mods[i].size)), total.Load())
				}
			}
		}()
	}
	wg.Wait()
	return results
}

// batchProgress is a bar: done of total bytes, n of all modules.
func batchProgress(done, total uint64, n, all int) string {
	const width = 40
	part := float64(done) / float64(total)
	bar := strings.Repeat("#", int(part*width))
	return fmt.Sprintf("[%-*s] %3.0f%%  %s of %s modules", width, bar, 100*part, grouped(uint64(n)), grouped(uint64(all)))
}

// worker encodes one module after the other. Its sessions keep what modules have
// in common.
type worker struct {
	*batch
	split, full session // nil until needed, and after a panic
}

func (w *worker) close() {
	for _, s := range []*session{&w.split, &w.full} {
		if *s != nil {
			(*s).Close()
			*s = nil
		}
	}
}

// encode runs a session, which is made first if there is none.
func (w *worker) encode(s *session, path string, opt encode.Options, f finish) (*encoded, error) {
	if *s == nil {
		*s = newSession(opt)
	}
	out, err := (*s).Encode(path)
	if err == nil {
		var enc *encoded
		if enc, err = finished(path, out, f); err == nil {
			return enc, nil
		}
	}
	if errors.Is(err, encode.ErrNoDwarf) {
		return &encoded{}, nil
	}
	return nil, encodeError([]string{path}, err)
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
			line, status := describePanic(v)
			r.Error, r.internal = oneLine(m.path)+": "+line, status == exitInternal
			w.split, w.full = nil, nil // whatever state they are in
		}
		r.NS = int64(time.Since(began))
	}()
	fail := func(err error) moduleResult {
		r.Error = err.Error()
		var crash *encode.Crash
		r.internal = errors.As(err, &crash)
		return r
	}
	if w.fullToo {
		opt := w.opt
		opt.Base, opt.ExtraVars = nil, false
		full, err := w.encode(&w.full, m.path, opt, finish{})
		if err != nil {
			return fail(err)
		}
		r.Full = full.size
		full.free()
	}
	enc, err := w.encode(&w.split, m.path, w.opt, w.finish)
	if err != nil {
		return fail(err)
	}
	defer enc.free()
	r.leftOut = enc.stats.LeftOut
	r.Types, r.Warning = enc.stats.TypesOut, enc.warning
	if r.Empty = enc.size == 0; r.Empty && enc.extra.data == nil {
		return r
	}
	r.Bytes, r.Extra = enc.size, int64(len(enc.extra.data))
	to, err := w.c.moduleOutputs(m, w.bases)
	if err == nil {
		err = w.c.writeBoth(to, m.path, enc, w.finish)
	}
	if err != nil {
		return fail(err)
	}
	return r
}

// moduleOutputs are the places of a module's BTF and extra variables, which must
// not be one of the bases.
func (c *cli) moduleOutputs(m *module, bases []string) (to outputs, err error) {
	for _, t := range []struct {
		path string
		to   **target
	}{{m.out, &to.main}, {m.extra, &to.extra}} {
		if t.path == "" {
			continue
		}
		if *t.to, err = c.resolveTarget(t.path); err != nil {
			return to, err
		}
		if err := (*t.to).refuseInputs(append([]string{m.path}, bases...)); err != nil {
			return to, err
		}
	}
	return to, nil
}
