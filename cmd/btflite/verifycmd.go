package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/verify"
	"github.com/btflite/btflite/internal/basematch"
	"github.com/btflite/btflite/internal/findbase"
	"github.com/btflite/btflite/internal/loadbtf"
	"github.com/btflite/btflite/internal/message"
	"github.com/btflite/btflite/internal/workers"
	"github.com/spf13/cobra"
)

// verifyCommand is "btflite verify".
type verifyCommand struct {
	bases   []string
	image   string
	rules   verify.Rules // --kernel, --boot
	noDups  bool         // --no-dups
	jobs    int
	verbose bool
	json    bool
}

func newVerifyCommand(c *cli) *cobra.Command {
	v := verifyCommand{jobs: runtime.GOMAXPROCS(0)}
	cmd := &cobra.Command{
		Use: "verify [OPTION...] FILE...",
		Long: `Check BTF by the rules of the kernel's verifier. FILE is raw BTF or an ELF
file with .BTF, either also compressed (.ko.xz), or a folder for all modules
and .btf files below it.
Status 0: all fine, 1: refused, 2: a file cannot be read, or nothing written.`,
		Example: `  btflite verify vmlinux.btf
  btflite verify --kernel=5.15 --btf_base=vmlinux module.ko
  btflite verify --image=/lib/modules/6.12.0-amd64`,
		RunE:        func(_ *cobra.Command, args []string) error { return v.run(c, args) },
		Annotations: map[string]string{troubleKey: ""},
	}
	s := under(cmd, groupRules)
	s.bases(&v.bases, "btf_base", "the files are split over `BASE`, or a chain")
	s.file(&v.image, "image", "", "BASE and modules of `DIR` (/lib/modules/RELEASE)", folder)
	s.release(&v.rules.Kernel, "kernel", "rules of that Linux `RELEASE`; without, of 7.2")
	s.call(func() { v.rules.Level = verify.Boot }, "boot", "", "only what holds for vmlinux and modules as well")
	s.toggle(&v.noDups, "no-dups", "", "refuse and list names with more definitions", alias("no_dups"))
	s.value(v.setJobs, "jobs", "j", "up to `N` workers; without N one for each CPU", bare(allJobs), numbers, rare)
	r := under(cmd, groupReport)
	r.toggle(&v.verbose, "verbose", "V", "a line for files that are fine, too")
	r.toggle(&v.json, "json", "", "print one JSON object")
	return cmd
}

func (v *verifyCommand) run(c *cli, paths []string) error {
	if len(paths) == 0 && v.image != "" {
		paths = []string{v.image}
	}
	if err := checkNames(paths); err != nil {
		return err
	}
	find := findbase.New(btfFiles, v.image)
	defer find.Close()
	if bases := c.basePaths(v.bases, paths); len(bases) > 0 {
		if err := find.Fix(bases); err != nil {
			return err
		}
	}
	files := findVerified(paths)
	meter := c.startProgress(c.quiet || len(files) == 1, countProgress("files"))
	defer meter.stop()
	r := &verifyReport{c: c, out: newLineWriter(c.stdout), json: v.json, files: len(files), quiet: c.quiet}
	r.tellFine = (v.verbose || len(files) == 1) && !c.quiet
	r.begin(v.rules)
	verifyAll(files, v, find, r, meter)
	meter.stop()
	r.end()
	if err := r.out.flush(); err != nil {
		return stdoutError(err)
	}
	switch {
	case r.n[unreadable] > 0 || r.n[withoutBTF] == len(files):
		return printedFailure{exitTrouble}
	case r.n[refused] > 0:
		return printedFailure{exitFailure}
	}
	return nil
}

func (v *verifyCommand) setJobs(s string) error {
	var e encoding // it has the same option
	if err := e.setJobs(s); err != nil {
		return err
	}
	v.jobs = e.opt.Encode.Jobs
	return nil
}

// outcome is the verdict of "btflite verify" on a file.
type outcome int

const (
	fine outcome = iota
	refused
	unreadable
	withoutBTF // a module in a folder, without BTF
	outcomes
)

var outcomeNames = [outcomes]string{"fine", "refused", "unreadable", "without_btf"}

// verified is the outcome for one file, as --json prints it.
type verified struct {
	File    string `json:"file"`
	Outcome string `json:"verdict"`
	Types   int    `json:"types,omitempty"`
	Bytes   int    `json:"bytes,omitempty"`
	Base    string `json:"base,omitempty"`
	// Since is the release from which on all accept the BTF. Needs says for which
	// feature.
	Since string `json:"since,omitempty"`
	Needs string `json:"needs,omitempty"`
	// Reason says why it is refused or unreadable, without the name of the file.
	Reason  string `json:"reason,omitempty"`
	Fault   *fault `json:"fault,omitempty"`
	Warning string `json:"warning,omitempty"`
	// Skipped says which types were not checked, because btflite does not know their
	// kinds.
	Skipped    string   `json:"skipped,omitempty"`
	Duplicates []string `json:"duplicates,omitempty"`

	section  string
	outcome  outcome
	guessed  bool // Base was found, not given by the user
	baseless bool // refused because its base was not found
}

// fault describes what is wrong, and in which type.
type fault struct {
	ID    uint32 `json:"type_id,omitempty"`
	Kind  string `json:"kind,omitempty"`
	Name  string `json:"name,omitempty"`
	Rule  string `json:"rule"`
	Boot  bool   `json:"at_boot"`
	Needs string `json:"needs,omitempty"`
}

// verifyAll verifies the files, several at a time, and reports each outcome in the order
// of the files.
func verifyAll(files []verifiedFile, cfg *verifyCommand, find *findbase.Finder, r *verifyReport, meter *progress) {
	done := make([]*verified, len(files))
	next := workers.Shared(len(files))
	var mu sync.Mutex // of done and told
	told := 0
	jobs := min(cfg.jobs, len(files))
	rules := cfg.rules
	if len(files) == 1 {
		rules.Workers = cfg.jobs
	}
	workers.Do(jobs, func(int) {
		for i := range next {
			v := verifyFile(files[i], cfg.noDups, rules, find)
			mu.Lock()
			done[i] = v
			for ; told < len(done) && done[told] != nil; told++ {
				r.add(done[told])
				done[told] = nil
			}
			meter.update(uint64(told), uint64(len(done)))
			mu.Unlock()
		}
	})
}

func verifyFile(f verifiedFile, noDups bool, rules verify.Rules, find *findbase.Finder) *verified {
	v := &verified{File: f.path}
	err := f.err
	if err == nil {
		err = v.read(noDups, rules, find)
	}
	switch {
	case err != nil && f.inFolder && errors.Is(err, loadbtf.ErrNoBTF):
		v.outcome = withoutBTF
	case err != nil:
		v.outcome = unreadable
		v.Reason = err.Error()
	}
	v.Outcome = outcomeNames[v.outcome]
	return v
}

// read reads the file and verifies its BTF. The error says why it cannot be read.
func (v *verified) read(noDups bool, rules verify.Rules, find *findbase.Finder) (err error) {
	defer recoverFault(v.File, &err)
	return btfFiles.With(v.File, func(raw loadbtf.Raw) error {
		if !btf.HasMagic(raw.BTF) {
			return fmt.Errorf("%s:%s no BTF: it does not begin with BTF's magic number", message.OneLine(v.File), raw.Section)
		}
		v.section = raw.Section
		v.judge(v.File, &raw, noDups, rules, find)
		return nil
	})
}

const giveBase = "give --btf_base=VMLINUX or --image=/lib/modules/RELEASE"

// judge verifies the BTF of a file over its base.
func (v *verified) judge(path string, raw *loadbtf.Raw, noDups bool, rules verify.Rules, find *findbase.Finder) {
	v.Bytes = len(raw.BTF)
	rules.PointerSize = raw.PointerSize
	rules.Loaded = raw.BPF
	over, err := v.over(path, raw, rules, find)
	if err != nil {
		v.refuse(err, rules, "")
		return
	}
	rules.Distilled = raw.Base != nil
	hint := ""
	var base *btf.Blob
	if over != nil {
		defer find.Release(over.Base)
		base, v.Warning = over.Base.Blob, over.Mismatch
		switch {
		case over.Broken != nil:
			v.refuse(fmt.Errorf("refused: %w", over.Broken), rules, ": "+over.NoFit())
			return
		case over.Unread != nil && !over.Damaged: // over a wrong base, any rule may be broken
			hint = ": " + over.NoFit()
		}
	} else if findbase.IsSplit(raw.BTF) {
		hint = "; its base was not found: " + giveBase
		v.baseless = true
	}
	judged, err := verify.Judge(raw.BTF, base, rules)
	if err != nil {
		v.refuse(err, rules, hint)
		return
	}
	v.Types, v.Since = judged.Types, judged.Since.String()
	if v.Skipped = skippedText(judged.Skipped); v.Skipped != "" {
		v.Since = "" // no known release accepts these
	}
	if judged.Why != nil && rules.Kernel == (verify.Release{}) {
		v.Needs = plain(judged.Why)
	}
	if noDups {
		v.duplicates(raw, base)
	}
}

// over reads the BTF over its base: the distilled base in the file, or the base that find
// finds; nil if there is none.
func (v *verified) over(path string, raw *loadbtf.Raw, rules verify.Rules, find *findbase.Finder) (*findbase.Fit, error) {
	if raw.Base == nil {
		over, _ := find.Find(path, raw, nil)
		if over != nil {
			v.Base, v.guessed = over.Base.Path, find.Fixed() == nil
		}
		return over, nil
	}
	// Kernels read it like their own BTF.
	rules.Level = verify.Boot
	if _, err := verify.Check(raw.Base, nil, rules); err != nil {
		return nil, fmt.Errorf("section .BTF.base: %s", refusal(err, rules))
	}
	b, err := btf.Parse(raw.Base, nil)
	if err != nil {
		return nil, fmt.Errorf("section .BTF.base: %w", err)
	}
	over := (&findbase.Base{Path: loadbtf.SectionBTFBase, Blob: b, Kernel: new(basematch.Kernel)}).Fit(raw)
	if kernel := find.Fixed(); kernel != nil && over.Fits() {
		// A kernel that loads the module looks for the types of the distilled base among its own.
		v.Base = kernel.Path
		if _, err := kernel.Relocate(raw, over.Own); err != nil {
			return nil, fmt.Errorf("refused: %w", err)
		}
	}
	return over, nil
}

// refuse makes v a refusal. The hint follows the reason.
func (v *verified) refuse(err error, rules verify.Rules, hint string) {
	v.outcome = refused
	v.Reason = refusal(err, rules) + hint
	var f *verify.Fault
	if errors.As(err, &f) {
		v.Fault = &fault{ID: f.ID, Name: f.Name, Rule: f.Rule, Boot: f.Level != verify.Load}
		if f.Kind != btf.KindVoid {
			v.Fault.Kind = f.Kind.String()
		}
		if f.Needs != (verify.Release{}) {
			v.Fault.Needs = f.Needs.String()
		}
	}
}

// duplicates refuses names with several definitions.
func (v *verified) duplicates(raw *loadbtf.Raw, base *btf.Blob) {
	b, err := btf.ParseShared(raw.BTF, base)
	if err != nil {
		v.outcome, v.Reason = refused, err.Error()
		return
	}
	for _, d := range verify.Duplicates(b) {
		v.Duplicates = append(v.Duplicates, d.String())
	}
	if len(v.Duplicates) > 0 {
		v.outcome = refused
		v.Reason = countOf(len(v.Duplicates), "name") + " with several definitions"
	}
}

// refusal says what is refused, where, and by which kernels.
func refusal(err error, rules verify.Rules) string {
	var f *verify.Fault
	if !errors.As(err, &f) {
		return err.Error()
	}
	who := "refused"
	if rules.Kernel != (verify.Release{}) {
		who += " for " + rules.Kernel.String()
	}
	if f.Level == verify.Load {
		who += " by BPF_BTF_LOAD, though not at boot"
	}
	return who + ": " + plain(f)
}

// plain returns a fault's text without "BTF " at its start.
func plain(f *verify.Fault) string { return strings.TrimPrefix(f.Error(), "BTF ") }

// verifyReport prints and counts the outcomes of "btflite verify".
type verifyReport struct {
	c        *cli
	out      *lineWriter
	json     bool
	tellFine bool
	quiet    bool // print only faults; --json is complete even so
	files    int  // in all

	n        [outcomes]int
	warnings int
	baseless int
}

// begin opens the object of --json.
func (r *verifyReport) begin(rules verify.Rules) {
	if !r.json {
		return
	}
	level := "load"
	if rules.Level == verify.Boot {
		level = "boot"
	}
	r.out.line(fmt.Sprintf(`{"version":1,"kernel":%s,"level":%s,"files":[`, message.JSON(rules.Kernel.String()), message.JSON(level)))
}

// add prints and counts the outcome for one file.
func (r *verifyReport) add(v *verified) {
	r.n[v.outcome]++
	if v.Warning != "" {
		r.warnings++
	}
	if v.baseless && v.outcome == refused {
		r.baseless++
	}
	if r.json {
		r.out.element(v)
		return
	}
	name := message.OneLine(v.File)
	for _, d := range v.Duplicates {
		r.out.line(name + ": " + d)
	}
	switch v.outcome {
	case unreadable:
		r.c.complain(v.Reason)
	case refused:
		if v.baseless && r.baseless > 1 && !r.tellFine && !r.quiet {
			break // the sums and the first file tell it
		}
		section := v.section
		if len(v.Duplicates) > 0 {
			section = ""
		}
		if section == "" {
			r.out.line(name + ": " + v.Reason)
		} else {
			r.out.line(name + ":" + section + " " + v.Reason)
		}
	case fine:
		if r.tellFine {
			note := ""
			if v.guessed {
				note = ", over " + message.OneLine(v.Base)
			}
			if v.Needs != "" {
				note += "; " + v.Needs
			}
			r.out.line(fmt.Sprintf("%s: fine: %s, %s%s", name, countOf(v.Types, "type"), message.ByteSize(uint64(v.Bytes)), note))
		}
	}
	if v.Skipped != "" && !r.quiet {
		r.out.line(name + ": note: " + v.Skipped + "; they are not checked")
	}
	if v.Warning != "" && !r.quiet {
		r.out.line(name + ": warning: " + v.Warning)
	}
}

// end prints the sums.
func (r *verifyReport) end() {
	if r.json {
		r.out.endArray(fmt.Sprintf(`],"fine":%d,"refused":%d,"unreadable":%d,"without_btf":%d,"warnings":%d}`,
			r.n[fine], r.n[refused], r.n[unreadable], r.n[withoutBTF], r.warnings))
		return
	}
	if r.files == 1 || r.quiet {
		return
	}
	text := fmt.Sprintf("%s: %s fine, %s refused, %s not readable", countOf(r.files, "file"),
		grouped(uint64(r.n[fine])), grouped(uint64(r.n[refused])), grouped(uint64(r.n[unreadable])))
	if n := r.n[withoutBTF]; n > 0 {
		text += fmt.Sprintf(", %s without BTF", grouped(uint64(n)))
	}
	if r.baseless > 1 {
		text += fmt.Sprintf("; no base was found for %s: %s", grouped(uint64(r.baseless)), giveBase)
	}
	if r.warnings > 0 {
		text += fmt.Sprintf("; %s over a base of another kernel", grouped(uint64(r.warnings)))
	}
	r.out.line(text)
}

// verifiedFile is one input of "btflite verify".
type verifiedFile struct {
	path     string
	inFolder bool  // found in a folder, not named by the user
	err      error // why it cannot be read, if that is already known
}

// findVerified finds the files for words: a folder stands for all modules and .btf files
// below it, compressed or not, in their order there, and any other word for itself.
func findVerified(words []string) (files []verifiedFile) {
	for _, w := range words {
		info, err := os.Stat(w)
		if err != nil || !info.IsDir() {
			files = append(files, verifiedFile{path: w})
			continue
		}
		before := len(files)
		hint := ""
		hasBTF := func(path string) bool {
			if strings.Contains(filepath.Base(path), findbase.Suffix+".tar") {
				hint = "; those in tar archives have to be unpacked first"
			}
			return isModuleName(path) || isDetachedName(path)
		}
		t := folderWalk{links: true, whole: isArchive(w), wanted: hasBTF}
		t.enter = func(folder string) bool { return !isArchiveStore(w, folder) }
		t.take = func(path string, err error) {
			files = append(files, verifiedFile{path: path, inFolder: true, err: err})
		}
		t.each(w)
		if len(files) == before {
			files = append(files, verifiedFile{path: w, err: fmt.Errorf("%s: no modules and no .btf files%s", message.OneLine(w), hint)})
		}
	}
	return files
}
