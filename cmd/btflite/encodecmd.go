package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/debuginfo"
	"github.com/btflite/btflite/internal/finish"
	"github.com/btflite/btflite/internal/message"
)

// encodeCommand is the main command: parse, check, encode, write, report.
type encodeCommand struct {
	encoding
	encode    bool // -J
	detached  string
	hasOut    bool   // --btf_encode_detached
	report    string // --report
	hasReport bool
	show      string // to be printed instead of working
}

func newEncodeCommand() *encodeCommand { return &encodeCommand{encoding: newEncoding()} }

// describe makes cmd the main command, which keeps its options in e.
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
	// For measurements of how cost grows with input.
	out.value(e.setCULimit, "cu_limit", "", "", hidden)
	e.featureOptions(cmd)
	print := func(text func() string) func() { return func() { e.show = cmp.Or(e.show, text()) } }
	under(cmd, groupFeatures).call(print(featureNames), "supported_btf_features", "", "print the names that LIST may have", rare)
	e.unitOptions(cmd)
	reports := under(cmd, groupReport)
	reports.toggle(&e.verbose, "verbose", "V", "print what is encoded and what is left out")
	e.strictOption(cmd)
	e.statsOption(cmd)
	reports.value(func(v string) error { e.hasReport, e.report = true, v; return nil },
		"report", "", "counts and functions left out, to `FILE` as JSON", files)
	reports.call(print(func() string { return paholeVersion }), "version", "", "print the pahole version stood in for")
	reports.call(print(func() string { return paholeNumericVersion }), "numeric_version", "", "the same as a number", rare)
	e.compatOptions(cmd)
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
	if err := checkFormats(e.formats); err != nil {
		return err
	}
	e.warn(c)
	opt, err := e.options(c)
	if err != nil {
		return err
	}
	if paths, err = elfInputs(paths, !e.hasOut); err != nil {
		return err
	}
	if err := checkInputs(paths); err != nil {
		return err
	}
	if len(paths) > 1 && (opt.Inline || opt.Features&encode.Inline != 0) {
		return usagef("inlined functions of several files: sites are offsets in the sections of one file; give one FILE, or leave inline out")
	}
	var out *target // nil: into the leading input
	bases := c.basePaths(e.bases, paths)
	inputs := e.allInputs(paths, bases)
	if e.hasOut {
		if out, err = c.resolveTarget(e.detached); err != nil {
			return err
		}
		if err := out.refuseInputs(inputs); err != nil {
			return err
		}
	}
	extra, inlined, err := c.openBeside(&e.encoding, inputs, out)
	if err != nil {
		return err
	}
	var report *reportFile
	if e.hasReport {
		if report, err = c.openReport(e.report, inputs, out, extra, inlined); err != nil {
			return err
		}
	}
	limit := opt.MemoryLimit
	if opt.LimitResident {
		limit = max(limit, encode.ResidentProgram+1) - encode.ResidentProgram
	}
	opt.Jobs = e.jobsFor(limit, paths)
	var over *btf.Blob
	if len(bases) > 0 {
		var closeBase func()
		if over, opt.Base, closeBase, err = openBase(bases); err != nil {
			return err
		}
		defer closeBase()
	}
	for _, p := range paths {
		if err := refuseOwnBase(p, bases); out == nil && err != nil {
			return err
		}
	}
	if out == nil && len(paths) == 1 { // of several, the first with types gets the BTF
		if err := c.checkInPlace(paths[0], e.distils(true)); err != nil {
			return err
		}
	}
	if e.distils(out == nil) && over == nil {
		return errNoBase
	}
	f := e.finish(over, bases, out == nil)
	f.Jobs = opt.Jobs
	return c.encode(&e.encoding, paths, outputs{out, extra, inlined}, report, opt, f)
}

// allInputs are the files that no output may replace: inputs, bases, and what there is
// beside the inputs. To find that may take a checksum of a large file, which is left out if
// no output is there yet.
func (e *encodeCommand) allInputs(paths, bases []string) []string {
	all := slices.Concat(paths, bases)
	outputs := []string{e.detached, e.report, e.extraVars, e.inlineTo}
	if !slices.ContainsFunc(outputs, func(out string) bool { _, err := os.Stat(out); return err == nil }) {
		return all
	}
	for _, p := range paths {
		all = append(all, debuginfo.Beside(p, e.debugDir)...)
	}
	return all
}

var errNoBase = usagef("the feature distilled_base needs a base; give --btf_base=BASE")

// encode does the work of the command. It writes the report, if there is to be one,
// also if the work has failed.
func (c *cli) encode(cfg *encoding, paths []string, out outputs, report *reportFile, opt encode.Options, f *finish.Work) error {
	if report == nil {
		return c.encodeTo(cfg, paths, out, &reportFile{}, opt, f)
	}
	opt.FuncSkipped = report.addFunction
	opt.Functions = &encode.FunctionQuery{Tell: report.addDefinitions}
	err := c.encodeTo(cfg, paths, out, report, opt, f)
	return errors.Join(err, report.write(c.guard, err))
}

// encodeTo runs the encoder, puts the result into its outputs, and completes the
// report.
func (c *cli) encodeTo(cfg *encoding, paths []string, to outputs, report *reportFile, opt encode.Options, f *finish.Work) error {
	began := time.Now()
	textTo := c.stdout
	if c.isStdout(to.main) || c.isStdout(to.extra) || c.isStdout(to.inline) || c.isStdout(report.to) {
		textTo = c.stderr // standard output is for that alone
	}
	text := newLineWriter(textTo)
	if cfg.verbose {
		opt.Verbose = text.line
		opt.Warn = func(line string) { fmt.Fprintln(c.stderr, line) }
	}
	meter := c.startProgress(cfg.verbose || c.quiet, fileProgress(paths[0]))
	defer meter.stop() // also on a panic

	size := sizeOf(paths)
	trim := newCodeTrim(size, 64<<20)
	opt.Progress = func(done, total uint64) {
		trim.done(done)
		meter.update(done, total)
	}
	c.heap.forget(size)
	opt.UnitsRead = func() { c.heap.forget(size) } // the readers of DWARF are not needed any more
	read := statAll(paths)
	enc, err := runEncode(paths, opt, f)
	meter.stop()
	if len(paths) == 1 && errors.Is(err, encode.ErrNoDwarf) {
		// Kernel builds hand such objects to pahole, which is content.
		text.flush()
		return c.nothingWritten(cfg.strict, to, report, paths, noDwarfText(paths[0]), cure(paths[0], nil))
	}
	if err != nil {
		text.flush()
		return encodeError(paths, cfg.features, err)
	}
	defer enc.Free()
	for _, what := range slices.Sorted(maps.Keys(enc.Stats.Unencodable)) {
		c.warn(unencodableText(message.Inputs(paths), what, enc.Stats.Unencodable[what]))
	}
	if list := enc.Stats.LeftOutMembers; len(list) > 0 {
		c.warn(leftMembersText(message.Inputs(paths), list))
	}
	if enc.Size == 0 {
		if err := text.flush(); err != nil {
			return stdoutError(err)
		}
		return c.nothingWritten(cfg.strict, to, report, paths, emptyText(message.Inputs(paths), &enc.Stats), cure(paths[0], &enc.Stats))
	}
	if text := refusedText(enc.Warning); text != "" {
		c.warnOfKernel(paths[enc.Lead], text)
	}
	if enc.Mismatch != "" {
		c.warn(mismatchText(paths[enc.Lead], enc.Mismatch))
	}
	writing := time.Now()
	if err := c.writeAll(to, paths[enc.Lead], read[enc.Lead], enc, f); err != nil {
		text.flush()
		return err
	}
	for _, s := range to.sides(enc) {
		if s.to != nil && s.data.Data == nil {
			c.warn(message.OneLine(s.to.path) + ": no " + s.what + ": nothing written")
		}
	}
	r := newRunReport(paths, to, enc, time.Since(writing), time.Since(began))
	report.runReport = r
	if report.to != nil {
		if b, err := btf.ParseShared(enc.Data, f.Base); err == nil { // the kernel would refuse it
			report.addAdvice(paths, b)
		}
	}
	if cfg.stats != statsNone {
		text.line(r.format(cfg.stats))
	}
	return stdoutError(text.flush())
}

// leftMembersText names the first of the members that are left out. Readers of the BTF see
// gaps in their place.
func leftMembersText(where string, list []string) string {
	const most = 5
	text := where + ": gaps stay where these members were: " + message.OneLine(strings.Join(list[:min(most, len(list))], ", "))
	if n := len(list) - most; n > 0 {
		text += ", and " + grouped(uint64(n)) + " more (--stats=json has them)"
	}
	return text
}

// unencodableText tells how many of a kind are left out; see encode.Stats.
func unencodableText(where, what string, n int) string {
	return fmt.Sprintf("%s: left out, as BTF cannot say it: %s %s", where, grouped(uint64(n)), message.OneLine(what))
}

// encodeError makes err begin with the name of the input at fault, and says so
// where an input is of another kind.
func encodeError(paths []string, features encode.Features, err error) error {
	for _, p := range paths {
		if why := notToEncode(p); why != "" {
			return fmt.Errorf("%s: %s", message.OneLine(p), why)
		}
	}
	return wayOut(message.NamingFile(paths, err), features)
}

// nothingWritten ends a run that has nothing to write, with a warning. It is an error
// with strict, and if the output of an earlier run is there, because that could be
// mistaken for the output of this run.
func (c *cli) nothingWritten(strict bool, to outputs, report *reportFile, paths []string, why, advice string) error {
	for _, p := range paths { // any of them may have got the .BTF
		if err := to.refuseOld(p, why); err != nil {
			return err
		}
	}
	report.NothingWritten = why
	line := why + ": nothing written" + advice
	if strict {
		return errors.New(line)
	}
	c.warn(line)
	return nil
}

// cure says why a file may have nothing to encode, and what to do about it, if
// that is known. stats are of the encoding, nil for a file without DWARF.
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

// warnOfKernel warns about BTF that kernels refuse. Who encodes a kernel or its modules
// must learn of it, with --quiet too: the kernel would boot without BTF.
func (c *cli) warnOfKernel(path, text string) {
	if c.quiet && isKernel(path) {
		c.complain(text)
		return
	}
	c.warn(text)
}

// isKernel tells whether the file is a kernel, or a part of one that lists BTF ids.
func isKernel(path string) bool {
	return hasSection(path, ".BTF_ids") || isOfKernel(path) || hasSymbol(path, "linux_banner")
}

// isOfKernel tells whether the file is a vmlinux or a module of a kernel.
func isOfKernel(path string) bool {
	return hasSection(path, ".modinfo") || hasSection(path, "__ksymtab_strings") || hasSection(path, ".gnu.linkonce.this_module")
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
