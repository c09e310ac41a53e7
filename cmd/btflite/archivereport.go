package main

import (
	"fmt"
	"io"

	"github.com/btflite/btflite/internal/archive"
	"github.com/btflite/btflite/internal/message"
)

// archiveCounts counts what became of packages and kernels.
type archiveCounts struct {
	kernels, without int // with BTF, and without
	empty            int // packages without kernels
	damaged          int // packages that cannot be read to their end
	before           int // packages or kernels that earlier runs have done
	trouble          int // packages that could not be done now
	others           int // packages of other shards
	refused          int // streams that would have to be files
	unordered        int // kernels without their modules, as a stream cannot be read twice
	internal         int // kernels and modules without BTF by a fault of this program
	modules          int // with BTF
	modulesWithout   int
}

// String returns the summary.
func (n *archiveCounts) String() string {
	s := countOf(n.kernels, "kernel") + " archived"
	for _, x := range []struct {
		n    int
		text string
	}{
		{n.modules, countOf(n.modules, "module")},
		{n.before, grouped(uint64(n.before)) + " done before"},
		{n.without, countOf(n.without, "kernel") + " without BTF"},
		{n.modulesWithout, countOf(n.modulesWithout, "module") + " without BTF"},
		{n.empty, countOf(n.empty, "package") + " without kernels"},
		{n.damaged, countOf(n.damaged, "package") + " damaged"},
		{n.others, countOf(n.others, "package") + " of other shards"},
		{n.unordered, "modules of " + countOf(n.unordered, "kernel") + " not done"},
		{n.trouble + n.refused, countOf(n.trouble+n.refused, "package") + " not done"},
	} {
		if x.n > 0 {
			s += ", " + x.text
		}
	}
	return s
}

// status returns the error of a run. A package that can never be done is recorded, so it is not an error.
func (n *archiveCounts) status() error {
	switch {
	case n.trouble > 0:
		return printedFailure{exitTemporary}
	case n.internal > 0:
		return printedFailure{exitInternal}
	case n.refused+n.unordered > 0:
		return printedFailure{exitUsage}
	}
	return nil
}

// fullDisk ends a run: every package that is left would end with the same line.
type fullDisk struct {
	err  error
	left int // packages that were not tried
}

// Error implements error.
func (f *fullDisk) Error() string {
	if f.left == 0 {
		return f.err.Error()
	}
	return fmt.Sprintf("%v; not tried: %s more", f.err, countOf(f.left, "package"))
}

// leave counts a package that is not tried.
func (f *fullDisk) leave(to *archive.Archive, path string, n *archiveCounts) {
	if path != dash {
		if rec, err := to.Done(path); err == nil && rec != nil {
			n.before++
			return
		}
	}
	n.trouble++
	f.left++
}

// tell prints what became of a package, and counts it.
func (a *archiveCommand) tell(c *cli, name string, rec *archive.PackageRecord, n *archiveCounts) error {
	name = message.OneLine(name)
	var out io.Writer = c.stdout
	if c.quiet {
		out = io.Discard
	}
	if rec.Reason != "" {
		if rec.Damaged {
			n.damaged++
		} else {
			n.empty++
		}
		c.warn(name + ": " + rec.Reason)
	}
	for i := range rec.Kernels {
		k := &rec.Kernels[i]
		if k.Before {
			n.before++
		} else if err := tellKernel(c, out, name, k, n); err != nil {
			return err
		}
		if k.ModulesEarly > 0 {
			n.unordered++
			c.complain(fmt.Sprintf("%s: %s: its modules are left out, as %s came before it and a pipe cannot be read twice; give the file by its name, or leave out --modules",
				name, message.OneLine(k.Release), countOf(k.ModulesEarly, "module")))
		}
		if k.Modules != nil && !k.ModulesBefore {
			if err := tellModules(c, out, name, k, n); err != nil {
				return err
			}
		}
	}
	if rec.OfNoKernel > 0 {
		c.warn(fmt.Sprintf("%s: %s of no kernel in it", name, countOf(rec.OfNoKernel, "module")))
	}
	return nil
}

// tellKernel prints what became of a kernel, and counts it.
func tellKernel(c *cli, out io.Writer, name string, k *archive.KernelRecord, n *archiveCounts) error {
	if k.Internal {
		n.internal++
		c.complain(name + ": " + k.Reason + pleaseReport)
	}
	for _, w := range k.Warnings {
		c.warn(name + ": " + w)
	}
	if k.BTF == "" {
		n.without++
		c.warn(fmt.Sprintf("%s: %s: no BTF: %s", name, message.OneLine(k.Release), k.Reason))
		return nil
	}
	n.kernels++
	_, err := fmt.Fprintf(out, "%s: %s of %s %s\n", k.BTF, countOf(k.Types, "type"), message.OneLine(k.Release), k.Source)
	return stdoutError(err)
}

// toldModules is how many modules without BTF are named. Their record has all.
const toldModules = 10

// tellModules prints what became of the modules of a kernel, and counts them.
func tellModules(c *cli, out io.Writer, name string, k *archive.KernelRecord, n *archiveCounts) error {
	for i := range k.ModulesFailed {
		m := &k.ModulesFailed[i]
		line := fmt.Sprintf("%s: %s: no BTF: %s", name, message.OneLine(m.File), m.Reason)
		switch {
		case m.Internal:
			n.internal++
			c.complain(line + pleaseReport)
		case i < toldModules:
			c.warn(line)
		}
	}
	if more := len(k.ModulesFailed) - toldModules; more > 0 {
		c.warn(fmt.Sprintf("%s: no BTF for %s more; see %s", name, countOf(more, "module"), k.ModulesFile()))
	}
	n.modules += k.Modules.Stored
	n.modulesWithout += k.Modules.Failed
	if k.Modules.Stored == 0 {
		return nil
	}
	_, err := fmt.Fprintf(out, "%s/: %s of %s\n", k.ModulesDir(), countOf(k.Modules.Stored, "module"), message.OneLine(k.Release))
	return stdoutError(err)
}

// toldLost is how many files of BTF are named that are gone, and how many with trouble. A disk that is missing may
// have thousands.
const toldLost = 10

// tellLost prints which BTF of the index a reader does not get. It reports whether some of it may be there even so.
func tellLost(c *cli, dir string, lost []archive.Lost) (trouble bool) {
	gone, others := 0, 0
	for _, l := range lost {
		switch {
		case l.Err == nil:
			if gone++; gone <= toldLost {
				c.warn(message.OneLine(archive.PathOf(dir, l.Name)) + ": it is gone, and the index has it; archive its package again")
			}
		default:
			if others++; others <= toldLost {
				c.complain(l.Err.Error())
			}
		}
	}
	if more := gone - toldLost; more > 0 {
		c.warn(fmt.Sprintf("%s: gone too: %s more of the index", message.OneLine(dir), countOf(more, "file")))
	}
	if more := others - toldLost; more > 0 {
		c.complain(fmt.Sprintf("%s: not to be used either: %s more of the index", message.OneLine(dir), countOf(more, "file")))
	}
	return others > 0
}
