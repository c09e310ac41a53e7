package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/elfwrite"
	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/mmapelf"
)

// encoded is a finished encode: what the command needs of an encode.Output.
type encoded struct {
	stats   encode.Stats
	size    int64 // 0: nothing to encode
	lead    int   // see encode.Output
	warning string
	write   func(io.Writer) error
	extra   extraVars
	close   func()
}

// free gives back what the encoder holds; nothing of e may be used afterwards.
func (e *encoded) free() {
	if e.close != nil {
		e.close()
	}
}

// runEncode, newSession and setSections are the work below this package; tests
// replace them.
var (
	runEncode = func(paths []string, opt encode.Options, f finish) (*encoded, error) {
		out, err := encode.Run(paths, opt)
		if err != nil {
			return nil, err
		}
		return finished(paths[0], out, f)
	}
	newSession  = func(opt encode.Options) session { return encode.NewSession(opt) }
	setSections = elfwrite.Set
)

// session is what the command needs of an encode.Session.
type session interface {
	Encode(path string) (*encode.Output, error)
	Close()
}

// finish is what becomes of the encoder's output before it is written.
type finish struct {
	base   *btf.Blob // that it is over, or nil
	distil bool      // base is to be distilled
	order  sorter    // or nil
	jobs   int       // goroutines for the check; 0 is one
}

// finished makes an encoded of the output for path, or closes it with an error
// if it must not be written. What is to be distilled is sorted after that.
func finished(path string, out *encode.Output, f finish) (*encoded, error) {
	began := time.Now()
	data, write, more := out.Bytes(), out.Write, out.Extra()
	if f.order != nil && !f.distil && len(data)+len(more) > 0 {
		var err error
		if data, more, err = f.sorted(data, more); err != nil {
			out.Close()
			return nil, namingFile([]string{path}, err)
		}
		write = writeBytes(data)
		out.Stats.Phases = append(out.Stats.Phases, encode.Phase{Name: "sort", Time: time.Since(began)})
		began = time.Now()
	}
	warning, err := checkEncoded(path, out, data, f.base, f.jobs)
	if err != nil {
		out.Close()
		return nil, err
	}
	extra, also, err := extraOver(path, out, more, data, f)
	if err != nil {
		out.Close()
		return nil, err
	}
	out.Stats.Phases = append(out.Stats.Phases, encode.Phase{Name: "check", Time: time.Since(began)})
	return &encoded{stats: out.Stats, size: int64(len(data)), lead: out.Lead, warning: cmp.Or(warning, also), write: write, extra: extra, close: out.Close}, nil
}

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
	opt, err := c.encodeOptions(cfg)
	if err != nil {
		return err
	}
	paths, err := inputs(words)
	if err != nil {
		return err
	}
	var out *target // nil: into the leading input
	bases := c.basePaths(cfg, paths)
	if cfg.hasOut {
		if out, err = c.resolveTarget(cfg.detached); err != nil {
			return err
		}
		if err := out.refuseInputs(slices.Concat(paths, bases)); err != nil {
			return err
		}
	}
	var extra *target // nil: no extra variables
	if opt.ExtraVars {
		if extra, err = c.openExtra(cfg, slices.Concat(paths, bases), out); err != nil {
			return err
		}
	}
	var report *reportFile
	if cfg.hasReport {
		if report, err = c.openReport(cfg.report, paths, out, extra); err != nil {
			return err
		}
	}
	opt.Jobs = cfg.jobsFor(opt.MemoryLimit, paths)
	var over *btf.Blob
	if len(bases) > 0 {
		var closeBase func()
		if over, opt.Base, closeBase, err = openBase(bases); err != nil {
			return err
		}
		defer closeBase()
	}
	if cfg.distils(out == nil) && over == nil {
		return errNoBase
	}
	f := cfg.finish(over, out == nil)
	f.jobs = opt.Jobs
	return c.encode(cfg, paths, outputs{out, extra}, report, opt, f)
}

// encodeOptions is what the command line says about the encoding, all but the
// base.
func (c *cli) encodeOptions(cfg *config) (encode.Options, error) {
	lang, exclude, err := cfg.lang.resolve(c.lookupEnv)
	return encode.Options{
		Features: cfg.features, Jobs: cfg.jobs, MemoryLimit: c.limitMemory(cfg.memory), Exact: cfg.exact, CULimit: cfg.cuLimit, DebugDir: cfg.debugDir,
		Lang: lang, LangExclude: exclude,
		ExtraVars: cfg.extraVars != "", CUExclude: cfg.exclude, NamePrefix: cfg.prefix, PlainBitfields: cfg.plain, LibbpfTypedefBug: cfg.typedefBug}, err
}

// distils tells whether a distilled base is to be written. For a detached file
// the feature has no effect, as in pahole.
func (c *config) distils(inPlace bool) bool {
	return inPlace && c.features&encode.DistilledBase != 0
}

// finish is what the command line says about the encoder's output.
func (c *config) finish(base *btf.Blob, inPlace bool) finish {
	return finish{base: base, distil: c.distils(inPlace), order: c.order}
}

var errNoBase = errors.New("the feature distilled_base needs a base; give --btf_base=BASE")

// encode does the work of the command and writes the report, if one is asked
// for, whatever has come of it.
func (c *cli) encode(cfg *config, paths []string, out outputs, report *reportFile, opt encode.Options, f finish) error {
	if report == nil {
		return c.encodeTo(cfg, paths, out, &reportFile{}, opt, f)
	}
	opt.FuncLeftOut = report.addFunction
	err := c.encodeTo(cfg, paths, out, report, opt, f)
	return errors.Join(err, report.write(c.guard, err))
}

// outputs are the places of the BTF, nil for the leading input itself, and of the
// extra variables, nil for none.
type outputs struct{ main, extra *target }

// encodeTo runs the encoder, puts the result into its outputs, and completes the
// report.
func (c *cli) encodeTo(cfg *config, paths []string, to outputs, report *reportFile, opt encode.Options, f finish) error {
	began := time.Now()
	textTo := c.stdout
	if c.isStdout(to.main) || c.isStdout(to.extra) {
		textTo = c.stderr // standard output is the BTF
	}
	text := newLineWriter(textTo)
	if cfg.verbose {
		opt.Verbose = text.line
	}
	meter := c.startProgress(cfg, fileProgress(paths[0]))
	if meter != nil {
		opt.Progress = meter.update
	}
	defer meter.stop() // also on a panic

	enc, err := runEncode(paths, opt, f)
	meter.stop()
	if len(paths) == 1 && errors.Is(err, encode.ErrNoDwarf) {
		// Kernel builds hand such objects to pahole, which is content.
		text.flush()
		return c.nothingWritten(to, report, fmt.Sprintf("%s: %v", oneLine(paths[0]), encode.ErrNoDwarf))
	}
	if err != nil {
		text.flush()
		return encodeError(paths, err)
	}
	defer enc.free()
	for _, what := range slices.Sorted(maps.Keys(enc.stats.LeftOut)) {
		c.complain(leftOutText(oneLine(paths[0]), what, enc.stats.LeftOut[what]))
	}
	if enc.size == 0 && enc.extra.data == nil {
		if err := text.flush(); err != nil {
			return stdoutError(err)
		}
		return c.nothingWritten(to, report, emptyText(paths[0], &enc.stats))
	}
	if enc.warning != "" {
		c.complain(enc.warning)
	}
	writing := time.Now()
	if err := c.writeBoth(to, paths[enc.lead], enc, f); err != nil {
		text.flush()
		return err
	}
	switch {
	case enc.size == 0:
		c.complain(oneLine(paths[0]) + ": the base has all types: nothing written but extra variables")
	case to.extra != nil && enc.extra.data == nil:
		c.complain(oneLine(to.extra.path) + ": no extra variables: nothing written")
	}
	r := newRunReport(paths, to, enc, time.Since(writing), time.Since(began))
	report.runReport = r
	if cfg.stats != statsNone {
		text.line(r.format(cfg.stats))
	}
	return stdoutError(text.flush())
}

// leftOutText tells how many of a kind are left out; see encode.Stats.
func leftOutText(where, what string, n int) string {
	return fmt.Sprintf("%s: left out, as BTF cannot say it: %s %s", where, grouped(uint64(n)), oneLine(what))
}

// encodeError makes err begin with the name of the input at fault, and says so
// where an input is only packed.
func encodeError(paths []string, err error) error {
	for _, p := range paths {
		if c := compressionOfFile(p); c != nil {
			return fmt.Errorf("%s: is compressed by %s; unpack it first", oneLine(p), c.name)
		}
	}
	return namingFile(paths, err)
}

// writeBoth writes the BTF and the extra variables: their file is complete before
// anything is replaced. Either may be empty, but not both; what is not written
// must not be there from an earlier run.
func (c *cli) writeBoth(to outputs, path string, enc *encoded, f finish) error {
	main := func() error {
		switch {
		case enc.size == 0:
			return nil
		case to.main != nil:
			if err := c.room(to.main.file, enc.size); err != nil {
				return err
			}
			return to.main.write(c.guard, enc.write)
		}
		if info, err := os.Stat(path); err == nil { // else who opens it says why not
			if err := c.room(path, info.Size()+enc.size); err != nil {
				return err
			}
		}
		return c.writeInPlace(path, enc, f)
	}
	if enc.size == 0 {
		if err := to.main.refuseOld("no types to write"); err != nil {
			return err
		}
	}
	if to.extra == nil {
		return main()
	}
	if enc.extra.data == nil {
		if err := to.extra.refuseOld("no extra variables to write"); err != nil {
			return err
		}
		return main()
	}
	write, err := enc.extra.writer(to.extra.path, path)
	if err != nil {
		return namingFile([]string{path}, err)
	}
	return to.extra.writeAfter(c.guard, write, main)
}

// writeInPlace puts the BTF into the section .BTF of the file. If its base is to
// be distilled, the file gets .BTF.base too.
func (c *cli) writeInPlace(path string, enc *encoded, f finish) error {
	err := c.guard.protect(func() error {
		sections, err := sectionsFor(path, enc, f)
		if err != nil {
			return err
		}
		for i := range sections {
			write := sections[i].Write
			sections[i].Write = func(w io.Writer) error { return write(interruptible{w, c.guard}) }
		}
		return setSections(path, sections...)
	})
	if err != nil {
		return namingFile([]string{path}, err)
	}
	return nil
}

// Sections that hold BTF.
const (
	sectionBTF     = ".BTF"
	sectionBTFBase = ".BTF.base"
)

// sectionsFor is what writeInPlace puts into the file.
func sectionsFor(path string, enc *encoded, f finish) ([]elfwrite.Section, error) {
	if !f.distil {
		if hasDistilledBase(path) {
			return nil, errors.New("section " + sectionBTFBase + " belongs to the " + sectionBTF +
				" that is to be replaced; remove it first, or encode with the feature distilled_base")
		}
		return []elfwrite.Section{{Name: sectionBTF, Size: enc.size, Write: enc.write}}, nil
	}
	var data bytes.Buffer
	data.Grow(int(enc.size))
	if err := enc.write(&data); err != nil {
		return nil, err
	}
	split, err := btf.Parse(data.Bytes(), f.base)
	if err != nil {
		return nil, err
	}
	base, split, err := dedup.Distill(split)
	if err == nil && f.order != nil {
		split, _, err = f.order(split)
	}
	if err != nil {
		return nil, err
	}
	return []elfwrite.Section{bytesSection(sectionBTF, split.Encode()), bytesSection(sectionBTFBase, base.Encode())}, nil
}

func bytesSection(name string, data []byte) elfwrite.Section {
	return elfwrite.Section{Name: name, Size: int64(len(data)), Write: writeBytes(data)}
}

// writeBytes returns a function that writes data.
func writeBytes(data []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}
}

// hasDistilledBase tells whether the file has a .BTF.base. With it, a reader
// would take the ids of .BTF for those of that base.
func hasDistilledBase(path string) bool {
	f, err := mmapelf.Open(path)
	if err != nil {
		return false // whoever writes to it will say why
	}
	defer f.Close()
	return f.Section(sectionBTFBase) != nil
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
func (c *cli) nothingWritten(to outputs, report *reportFile, why string) error {
	for _, t := range []*target{to.main, to.extra} {
		if err := t.refuseOld(why); err != nil {
			return err
		}
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
