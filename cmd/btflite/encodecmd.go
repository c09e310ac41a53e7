package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/btflite/btflite/elfwrite"
	"github.com/btflite/btflite/encode"
)

// encoded is a finished encode: what the command needs of an encode.Output.
type encoded struct {
	stats   encode.Stats
	size    int64 // 0: nothing to encode
	warning string
	write   func(io.Writer) error
	close   func()
}

// runEncode and setSections are the work below this package; tests replace
// them.
var (
	runEncode = func(paths []string, opt encode.Options) (*encoded, error) {
		out, err := encode.Run(paths, opt)
		if err != nil {
			return nil, err
		}
		began := time.Now()
		warning, err := checkEncoded(paths[0], out, nil)
		if err != nil {
			out.Close()
			return nil, err
		}
		out.Stats.Phases = append(out.Stats.Phases, encode.Phase{Name: "check", Time: time.Since(began)})
		return &encoded{stats: out.Stats, size: out.Size(), warning: warning, write: out.Write, close: out.Close}, nil
	}
	setSections = elfwrite.Set
)

// runEncodeCommand is the main command: parse, check, encode, write, report.
func (c *cli) runEncodeCommand(args []string) error {
	cfg := newConfig()
	words, err := parse(encodeOptions, args, cfg)
	if err != nil {
		return err
	}
	if cfg.action != doWork {
		return c.showAction(cfg.action, encodeIntro, encodeOptions)
	}
	for _, w := range cfg.warnings {
		fmt.Fprintln(c.stderr, w)
	}
	if !cfg.encode {
		return usagef("nothing to do: -J or --btf_encode_detached=OUT is needed")
	}
	lang, exclude, err := cfg.lang.resolve(c.lookupEnv)
	if err != nil {
		return err
	}
	paths, err := inputs(words)
	if err != nil {
		return err
	}
	if err := cfg.refuseUnsupported(); err != nil {
		return err
	}
	var out *target // nil: into the first input
	if cfg.hasOut {
		if out, err = c.resolveTarget(cfg.detached); err != nil {
			return err
		}
		if err := out.refuseInputs(paths); err != nil {
			return err
		}
	}
	var report *reportFile
	if cfg.hasReport {
		if report, err = c.openReport(cfg.report, paths, out); err != nil {
			return err
		}
	}
	limit := c.limitMemory(cfg.memory)
	return c.encode(cfg, paths, out, report, encode.Options{
		Features: cfg.features, Jobs: cfg.jobsFor(limit, paths), MemoryLimit: limit, Exact: cfg.exact, CULimit: cfg.cuLimit, Lang: lang, LangExclude: exclude,
		CUExclude: cfg.exclude, NamePrefix: cfg.prefix, PlainBitfields: cfg.plain})
}

// refuseUnsupported tells what this version cannot do yet.
func (c *config) refuseUnsupported() error {
	if c.base != "" {
		return fmt.Errorf("%s: split BTF (--btf_base) is not supported yet", oneLine(c.base))
	}
	// pahole ignores distilled_base for a detached file.
	if c.features&encode.DistilledBase != 0 && !c.hasOut {
		return fmt.Errorf("the feature distilled_base is not supported yet")
	}
	return nil
}

// encode does the work of the command and writes the report, if one is asked
// for, whatever has come of it.
func (c *cli) encode(cfg *config, paths []string, out *target, report *reportFile, opt encode.Options) error {
	if report == nil {
		return c.encodeTo(cfg, paths, out, &reportFile{}, opt)
	}
	opt.FuncLeftOut = report.addFunction
	err := c.encodeTo(cfg, paths, out, report, opt)
	return errors.Join(err, report.write(c.guard, err))
}

// encodeTo runs the encoder, puts the result into out, or into the first input
// if out is nil, and completes the report.
func (c *cli) encodeTo(cfg *config, paths []string, out *target, report *reportFile, opt encode.Options) error {
	began := time.Now()
	textTo := c.stdout
	if c.isStdout(out) {
		textTo = c.stderr // standard output is the BTF
	}
	text := newLineWriter(textTo)
	if cfg.verbose {
		opt.Verbose = text.line
	}
	meter := c.startProgress(cfg, paths[0])
	if meter != nil {
		opt.Progress = meter.update
	}
	defer meter.stop() // also on a panic

	enc, err := runEncode(paths, opt)
	meter.stop()
	if len(paths) == 1 && errors.Is(err, encode.ErrNoDwarf) {
		// Kernel builds hand such objects to pahole, which is content.
		text.flush()
		return c.nothingWritten(out, report, fmt.Sprintf("%s: %v", oneLine(paths[0]), encode.ErrNoDwarf))
	}
	if err != nil {
		text.flush()
		return namingFile(paths, err)
	}
	if enc.close != nil {
		defer enc.close()
	}
	for _, what := range slices.Sorted(maps.Keys(enc.stats.LeftOut)) {
		c.complain(fmt.Sprintf("%s: left out, as BTF cannot say it: %s %s", oneLine(paths[0]), grouped(uint64(enc.stats.LeftOut[what])), oneLine(what)))
	}
	if enc.size == 0 {
		if err := text.flush(); err != nil {
			return stdoutError(err)
		}
		return c.nothingWritten(out, report, emptyText(paths[0], &enc.stats))
	}
	if enc.warning != "" {
		c.complain(enc.warning)
	}
	writing := time.Now()
	if out != nil {
		err = out.write(c.guard, enc.write)
	} else {
		err = c.writeInPlace(paths[0], enc)
	}
	if err != nil {
		text.flush()
		return err
	}
	r := newRunReport(paths, out, enc, time.Since(writing), time.Since(began))
	report.runReport = r
	if cfg.stats != statsNone {
		text.line(r.format(cfg.stats))
	}
	return stdoutError(text.flush())
}

// writeInPlace puts the BTF into the section .BTF of the file.
func (c *cli) writeInPlace(path string, enc *encoded) error {
	err := c.guard.protect(func() error {
		return setSections(path, elfwrite.Section{Name: ".BTF", Size: enc.size, Write: func(w io.Writer) error {
			return enc.write(interruptible{w, c.guard})
		}})
	})
	if err != nil {
		return namingFile([]string{path}, err)
	}
	return nil
}

// interruptible is a writer that fails once a signal has arrived.
type interruptible struct {
	w io.Writer
	g *guard
}

func (i interruptible) Write(p []byte) (int, error) {
	if err := i.g.interrupted(); err != nil {
		return 0, err
	}
	return i.w.Write(p)
}

// nothingWritten ends a run that has nothing to write: that is told and no
// error, unless the output of an earlier run could be taken for that of this
// one.
func (c *cli) nothingWritten(out *target, report *reportFile, why string) error {
	if out != nil && out.file != "" && out.info != nil {
		return fmt.Errorf("%s: nothing written, and %s of an earlier run is still there; remove it", why, oneLine(out.path))
	}
	report.NothingWritten = why
	c.complain(why + ": nothing written")
	return nil
}

// emptyText says why there is nothing to write.
func emptyText(path string, s *encode.Stats) string {
	why := "no compile unit has types to encode"
	switch {
	case s.CUs == 0 && s.CUsFiltered == 0:
		why = "no compile units"
	case s.CUsFiltered > 0 && s.CUsFiltered >= s.CUs:
		why = "all compile units are left out by their language or name"
	}
	return oneLine(path) + ": " + why
}
