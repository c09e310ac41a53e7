package main

import (
	"runtime"

	"github.com/btflite/btflite/btf/verify"
	"github.com/spf13/cobra"
)

// exitUnreadable is the status of "btflite verify" if a file could not be read.
// exitFailure means that one is refused.
const exitUnreadable = 2

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
		RunE: func(_ *cobra.Command, args []string) error { return v.run(c, args) },
	}
	s := under(cmd, groupRules)
	s.bases(&v.bases, "btf_base", "the files are split over `BASE`, or a chain")
	s.file(&v.image, "image", "", "BASE and modules of `DIR` (/lib/modules/RELEASE)", folder)
	s.value(v.setKernel, "kernel", "", "rules of that Linux `RELEASE`; without, of 7.2", offering(verify.Releases()...))
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
	find := newBaseFinder(v.image)
	defer find.close()
	if bases := c.basePaths(v.bases, paths); len(bases) > 0 {
		if err := find.fix(bases); err != nil {
			c.complain(err.Error())
			return printedFailure{exitUnreadable}
		}
	}
	files := findVerified(paths)
	r := &verifyReport{c: c, out: newLineWriter(c.stdout), json: v.json, files: len(files), quiet: c.quiet}
	r.tellFine = (v.verbose || len(files) == 1) && !c.quiet
	r.begin(v.rules)
	verifyAll(files, v, find, r)
	r.end()
	if err := r.out.flush(); err != nil {
		c.complain(stdoutError(err).Error())
		return printedFailure{exitUnreadable} // the outcome could not be printed
	}
	switch {
	case r.n[unreadable] > 0 || r.n[withoutBTF] == len(files):
		return printedFailure{exitUnreadable}
	case r.n[refused] > 0:
		return printedFailure{exitFailure}
	}
	return nil
}

// setKernel sets the rules of a release.
func (v *verifyCommand) setKernel(s string) (err error) {
	v.rules.Kernel, err = releaseOf(s)
	return err
}

func (v *verifyCommand) setJobs(s string) error {
	var e encoding // it has the same option
	if err := e.setJobs(s); err != nil {
		return err
	}
	v.jobs = e.opt.Encode.Jobs
	return nil
}
