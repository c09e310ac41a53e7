package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/debuginfo"
	"github.com/btflite/btflite/internal/finish"
	"github.com/btflite/btflite/internal/job"
	"github.com/btflite/btflite/internal/message"
)

// encodeCommand is the main command: parse, check, encode, write, report.
type encodeCommand struct {
	encoding
	encode   bool // -J
	detached string
	hasOut   bool   // --btf_encode_detached
	report   string // --report
	show     string // to be printed instead of working
}

func newEncodeCommand() *encodeCommand { return &encodeCommand{encoding: newEncoding()} }

// describe adds the main command's options to cmd. Their values go to e.
func (e *encodeCommand) describe(c *cli, cmd *cobra.Command) {
	cmd.Use, cmd.Short = programName+" -J [OPTION...] FILE...", "DWARF to BTF, as pahole -J does"
	cmd.Example = `  btflite -J -j4 --btf_features=default --lang_exclude=rust --btf_encode_detached=vmlinux.btf vmlinux
  btflite -J --btf_features=default --lang_exclude=rust --btf_base=vmlinux.btf module.ko`
	cmd.RunE = func(_ *cobra.Command, args []string) error { return e.run(c, args) }
	out := under(cmd, groupOutput)
	out.toggle(&e.encode, "btf_encode", "J", "encode; alone it adds .BTF to FILE itself")
	out.value(func(v string) error {
		e.encode, e.hasOut, e.detached = true, true, v
		return nil
	}, detachedName, "", "write the BTF to the file `OUT` (implies -J)", files)
	out.file(&e.extraVars, "extra_vars", "", "other variables, as split BTF, to `FILE` (or .o)")
	out.file(&e.inlineTo, "inline", "", "the same for sites of inlined functions, to `FILE`", rare)
	e.resourceOptions(c, cmd)
	e.resultOptions(cmd, rare)
	out.bases(&e.bases, "btf_base", "leave out what `BASE` has; several are a chain")
	// To measure how cost grows with input.
	out.value(between(&e.opt.Encode.CULimit, 1, math.MaxInt, "a number of units"), "cu_limit", "", "", hidden)
	e.featureOptions(cmd)
	print := func(text func() string) func() { return func() { e.show = cmp.Or(e.show, text()) } }
	under(cmd, groupFeatures).call(print(featureNames), "supported_btf_features", "", "print the names that LIST may have", rare)
	e.unitOptions(cmd)
	reports := under(cmd, groupReport)
	reports.toggle(&e.verbose, "verbose", "V", "print what is encoded and what is left out")
	e.strictOption(cmd)
	e.statsOption(cmd)
	reports.file(&e.report, "report", "", "counts and functions left out, to `FILE` as JSON")
	reports.call(print(func() string { return paholeVersion }), "version", "", "print the pahole version stood in for")
	reports.call(print(func() string { return paholeNumericVersion }), "numeric_version", "", "the same as a number", rare)
	e.compatOptions(c, cmd)
	under(cmd, groupCompat).call(print(develVersion), "devel_version", "", "the same with the commit of btflite", rare)
}

func (e *encodeCommand) run(c *cli, paths []string) error {
	if e.show != "" {
		_, err := fmt.Fprintln(c.stdout, e.show)
		return stdoutError(err)
	}
	if err := asCommand(c.firstWord, paths); err != nil && c.calledAs != paholeName {
		return err
	}
	switch {
	case !e.encode && (len(e.printed) > 0 || e.formats != "" || c.calledAs == paholeName):
		return e.printTypes(c, paths)
	case !e.encode:
		return nothingToDo(c.firstWord, paths)
	}
	r, err := e.prepare(c, paths)
	if err != nil {
		return err
	}
	if r.opt.Base != nil {
		defer r.opt.Base.Close()
	}
	err = r.encode()
	if e.report != "" && !r.report.written && !r.report.to.failed(err) {
		err = errors.Join(err, r.report.write(c.guard, err))
	}
	return err
}

// encodeRun is one run of the command: its options, and the files that it reads and writes.
type encodeRun struct {
	c      *cli
	cfg    *encodeCommand
	opt    job.Options
	paths  []string
	bases  []string
	to     outputs
	report *reportFile // without --report, nothing is written
}

// prepare refuses, before any work, a run that cannot succeed, and opens the base.
func (e *encodeCommand) prepare(c *cli, paths []string) (r *encodeRun, err error) {
	if err := e.complete(c); err != nil {
		return nil, err
	}
	if paths, err = elfInputs(paths, !e.hasOut); err != nil {
		return nil, err
	}
	if err := checkInputs(paths); err != nil {
		return nil, err
	}
	r = &encodeRun{c: c, cfg: e, paths: paths, bases: c.basePaths(e.bases, paths), report: new(reportFile)}
	if err := e.check(!e.hasOut, r.bases, len(paths)); err != nil {
		return nil, err
	}
	r.opt = e.opt
	r.opt.Encode.DebugFiles.Find = newDebugFinder(c)
	r.opt.Encode.Jobs = e.jobsFor(r.memory(), paths)
	if err := r.openOutputs(); err != nil {
		return nil, err
	}
	if len(r.bases) > 0 {
		if r.opt.Base, err = openBase(r.bases); err != nil {
			return nil, err
		}
	}
	if err := r.checkInPlace(); err != nil {
		if r.opt.Base != nil {
			r.opt.Base.Close()
		}
		return nil, err
	}
	return r, nil
}

// memory returns how many bytes the run may use, without the resident part of the program
// itself. 0 means that there is no limit.
func (r *encodeRun) memory() uint64 {
	limit := r.opt.Encode.MemoryLimit
	if r.opt.Encode.LimitResident {
		limit = max(limit, encode.ResidentProgram+1) - encode.ResidentProgram
	}
	return limit
}

// openOutputs finds the places of all outputs. None may be a file that is read, or the
// place of another output.
func (r *encodeRun) openOutputs() (err error) {
	e, inputs := r.cfg, r.inputs()
	if e.hasOut {
		if r.to.main, err = r.c.resolveTarget(e.detached, inputs); err != nil {
			return err
		}
	}
	if r.to.extra, r.to.inline, err = r.c.openSides(&e.sideFiles, inputs, r.to.main); err != nil {
		return err
	}
	if e.report == "" {
		return nil
	}
	r.report = &reportFile{SkippedFunctions: []skippedFunction{}}
	r.report.to, err = r.c.otherTarget(e.report, "the report", inputs, r.to.main, r.to.extra, r.to.inline)
	r.opt.Encode.FuncSkipped = r.report.addFunction
	r.opt.Encode.Functions = &encode.FunctionQuery{Tell: r.report.addDefinitions}
	return err
}

// inputs returns the files that no output may replace: inputs, bases, and separate debug files.
// To find a debug file may take a checksum of a large file, so it does not look for them if no
// output exists yet.
func (r *encodeRun) inputs() []string {
	all := slices.Concat(r.paths, r.bases)
	outputs := []string{r.cfg.detached, r.cfg.report, r.cfg.extraVars, r.cfg.inlineTo}
	if !slices.ContainsFunc(outputs, func(out string) bool { _, err := os.Stat(out); return err == nil }) {
		return all
	}
	for _, p := range r.paths {
		all = append(all, debuginfo.Beside(p, r.opt.Encode.DebugFiles.Dir)...)
	}
	return all
}

// checkInPlace refuses inputs that cannot get a section .BTF, if it is to go there.
func (r *encodeRun) checkInPlace() error {
	if r.to.main != nil {
		return nil
	}
	for _, p := range r.paths {
		if err := refuseOwnBase(p, r.bases); err != nil {
			return err
		}
	}
	if len(r.paths) > 1 { // the first file with types gets the BTF
		return nil
	}
	return r.c.checkInPlace(r.paths[0], r.opt.Distil)
}

// encode does the work: it runs the encoder, puts the result into its outputs, and completes
// the report.
func (r *encodeRun) encode() error {
	began := time.Now()
	text := newLineWriter(r.textTo())
	read := statAll(r.paths)
	defer r.to.main.discard(r.c.guard)
	enc, err := r.runEncoder(text)
	if len(r.paths) == 1 && errors.Is(err, encode.ErrNoDwarf) {
		// Kernel builds give such objects to pahole, which reports no error.
		text.flush()
		return r.nothingWritten(noDwarfText(r.paths[0]), cure(r.paths[0], nil))
	}
	if err != nil {
		text.flush()
		return encodeError(r.paths, r.opt.Encode.Features, err)
	}
	defer enc.Free()
	r.warnLeftOut(&enc.Stats)
	if enc.Size == 0 {
		if err := text.flush(); err != nil {
			return stdoutError(err)
		}
		return r.nothingWritten(emptyText(message.Inputs(r.paths), &enc.Stats), cure(r.paths[0], &enc.Stats))
	}
	lead := r.paths[enc.Lead]
	if text := refusedText(enc.Warning); text != "" {
		r.c.warnOfKernel(lead, text)
	}
	if enc.Mismatch != "" {
		r.c.warn(mismatchText(lead, enc.Mismatch))
	}
	r.c.warnLowered(lead, r.opt.Target, enc.Lowered)
	if err := r.c.writeAll(r.to, lead, read[enc.Lead], enc, &r.opt, r.late(enc, text, began)...); err != nil {
		text.flush()
		return err
	}
	r.report.written = true
	for _, s := range r.to.sides(enc) {
		if s.to != nil && s.data.Data == nil {
			r.c.warn(message.OneLine(s.to.path) + ": no " + s.what + ": nothing written")
		}
	}
	return nil
}

// late returns the outputs that tell of the others: what -V and --stats print, and the report.
func (r *encodeRun) late(enc *finish.Encoded, text *lineWriter, began time.Time) []output {
	writing := time.Now()
	measure := sync.OnceFunc(func() {
		r.report.runReport = newRunReport(r.paths, r.to, enc, time.Since(writing), time.Since(began))
	})
	outs := []output{{late: true, content: func(io.Writer) error {
		if r.cfg.stats != statsNone {
			measure()
			text.line(r.report.format(r.cfg.stats))
		}
		return stdoutError(text.flush())
	}}}
	if r.report.to == nil {
		return outs
	}
	return append(outs, output{to: r.report.to, late: true, content: func(w io.Writer) error {
		measure()
		if b, err := btf.ParseShared(enc.Data, r.opt.BaseBTF()); err == nil { // the kernel would refuse the BTF
			r.report.addAdvice(r.paths, r.opt.Encode.DebugFiles, b)
		}
		return r.report.encode(w)
	}})
}

// textTo returns where -V and --stats go: standard output, unless the BTF goes there.
func (r *encodeRun) textTo() io.Writer {
	for _, t := range []*target{r.to.main, r.to.extra, r.to.inline, r.report.to} {
		if r.c.isStdout(t) {
			return r.c.stderr
		}
	}
	return r.c.stdout
}

// runEncoder encodes, shows progress, and releases memory as the run goes on.
func (r *encodeRun) runEncoder(text *lineWriter) (*finish.Encoded, error) {
	opt := r.opt
	if r.cfg.verbose {
		opt.Encode.Verbose = text.line
		opt.Encode.Warn = func(line string) { fmt.Fprintln(r.c.stderr, line) }
	}
	// Where memory is limited, the file's pages and the check should not take it at once.
	if t := r.to.main; t != nil && t.file != "" && r.c.groupLimit == 0 {
		opt.Ready = func(write func(io.Writer) error) { t.prepare(r.c.guard, write) }
	}
	meter := r.c.startProgress(r.cfg.verbose || r.c.quiet, fileProgress(r.paths[0]))
	defer meter.stop() // after a panic too
	size := sizeOf(r.paths)
	trim := newCodeTrim(size)
	opt.Encode.Progress = func(done, total uint64) {
		trim.done(done)
		meter.update(done, total)
	}
	r.c.heap.forget(size)
	opt.Encode.UnitsRead = func() { r.c.heap.forget(size) } // the readers of DWARF are not needed any more
	return runEncode(r.paths, &opt)
}

// warnLeftOut warns about types in the DWARF that BTF has no kind for.
func (r *encodeRun) warnLeftOut(s *encode.Stats) {
	for _, what := range slices.Sorted(maps.Keys(s.Unencodable)) {
		r.c.warn(unencodableText(message.Inputs(r.paths), what, s.Unencodable[what]))
	}
	if list := s.LeftOutMembers; len(list) > 0 {
		r.c.warn(leftMembersText(message.Inputs(r.paths), list))
	}
}

// leftMembersText names the first members that are left out. Readers of the BTF see gaps in
// their place.
func leftMembersText(where string, list []string) string {
	const most = 5
	text := where + ": gaps stay where these members were: " + message.OneLine(strings.Join(list[:min(most, len(list))], ", "))
	if n := len(list) - most; n > 0 {
		text += ", and " + grouped(uint64(n)) + " more (--stats=json has them)"
	}
	return text
}

// unencodableText says how many things of a sort are left out; see encode.Stats.
func unencodableText(where, what string, n int) string {
	return fmt.Sprintf("%s: left out, as BTF cannot say it: %s %s", where, grouped(uint64(n)), message.OneLine(what))
}

// encodeError makes err begin with the name of the input at fault, and says so if an
// input is another kind of file.
func encodeError(paths []string, features encode.Features, err error) error {
	for _, p := range paths {
		if why := notToEncode(p); why != "" {
			return fmt.Errorf("%s: %s", message.OneLine(p), why)
		}
	}
	return wayOut(message.NamingFile(paths, err), features)
}

// nothingWritten ends a run that has nothing to write, with a warning. It is an error
// with --strict, and if the output of an earlier run is there, because that could be
// mistaken for the output of this run.
func (r *encodeRun) nothingWritten(why, advice string) error {
	for _, p := range r.paths { // an earlier run may have written into any of them
		if err := r.to.refuseOld(p, why); err != nil {
			return err
		}
	}
	r.report.NothingWritten = why
	line := why + ": nothing written" + advice
	if r.cfg.strict {
		return errors.New(line)
	}
	r.c.warn(line)
	return nil
}

// cure says why a file may have nothing to encode and what to do, or "". stats come
// from the encoding, nil for a file without DWARF.
func cure(path string, stats *encode.Stats) string {
	switch kernel := isOfKernel(path); {
	case stats != nil && (!kernel || stats.CUsFiltered > 0):
		return ""
	case stats != nil:
		return "; CONFIG_DEBUG_INFO_REDUCED and CONFIG_DEBUG_INFO_SPLIT keep types out of the file: build without them"
	case kernel:
		return "; it was stripped, and the package linux-image-VERSION-dbg or kernel-debuginfo has the whole file, or it was built with CONFIG_DEBUG_INFO_NONE"
	}
	return "; compile with -g, or take the file from before it was stripped, or from its debug package"
}

// warnOfKernel warns about BTF that kernels refuse. For a kernel or its modules it does so with
// --quiet, too: the kernel would boot without BTF.
func (c *cli) warnOfKernel(path, text string) {
	if c.quiet && isKernel(path) {
		c.complain(text)
		return
	}
	c.warn(text)
}

// isKernel reports whether the file is a kernel, or a part of one that lists BTF ids.
func isKernel(path string) bool {
	return hasSection(path, ".BTF_ids") || isOfKernel(path) || hasSymbol(path, "linux_banner")
}

// isOfKernel reports whether the file is a vmlinux or a module of a kernel.
func isOfKernel(path string) bool {
	return hasSection(path, ".modinfo", "__ksymtab_strings", ".gnu.linkonce.this_module")
}

func noDwarfText(path string) string {
	return fmt.Sprintf("%s: %v", message.OneLine(path), encode.ErrNoDwarf)
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
	return message.OneLine(path) + ": " + why
}
