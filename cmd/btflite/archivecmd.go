package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/btflite/btflite/internal/archive"
	"github.com/btflite/btflite/internal/message"
	"github.com/btflite/btflite/internal/pack"
	"github.com/btflite/btflite/internal/shard"
)

// archiveCommand is "btflite archive".
type archiveCommand struct {
	encoding
	dir      string // -o
	temp     string // --tmp
	existing archive.Existing
	form     archive.Form
	distro   string
	shard    string // --shard
	modules  bool   // --modules
}

// exitTemporary says that trying again makes sense: EX_TEMPFAIL of sysexits.h.
const exitTemporary = 75

func newArchiveCommand(c *cli) *cobra.Command {
	a := &archiveCommand{encoding: newEncoding()}
	cmd := &cobra.Command{
		Use: "archive [OPTION...] -o DIR PACKAGE...\n  btflite archive index -o DIR\n  btflite archive find -o DIR [BUILD-ID|VMLINUX]",
		Long: `Find the kernels in PACKAGE, and store their BTF below DIR by distribution,
architecture and release, with a record of each. PACKAGE is a Debian package, an
rpm, a tar archive, a folder, a vmlinux, or - for one on the standard input.
What is done already is left out. index merges the records, find prints where
the BTF of a kernel is: of the running one, if there is no other word.`,
		Example: `  btflite archive --btf_features=default -o btf linux-image-*-dbg_*.deb
  btflite archive index -o btf
  btflite archive find -o btf`,
		RunE: func(_ *cobra.Command, args []string) error { return a.run(c, args) },
	}
	out := under(cmd, groupOutput)
	out.file(&a.dir, "output", "o", "the archive is the folder `DIR`", folder)
	existing := map[string]archive.Existing{"copy": archive.CopyExisting, "encode": archive.EncodeExisting, "skip": archive.SkipExisting}
	out.value(func(v string) error { a.existing = existing[v]; return nil }, "existing", "",
		"`DO` with .BTF: copy it (default), encode, skip", words("copy", "encode", "skip"))
	out.toggle(&a.modules, "modules", "", "store the BTF of modules as well")
	out.value(a.setDistro, "distro", "", "all PACKAGEs are of `NAME/VERSION`, as debian/12", noFiles)
	forms := map[string]archive.Form{"raw": archive.Raw, "zst": archive.Zstd, "tar.xz": archive.TarXZ}
	out.value(func(v string) error { a.form = forms[v]; return nil }, "form", "", "store `FORM`: raw (default), zst, tar.xz", words("raw", "zst", "tar.xz"))
	out.value(a.setShard, "shard", "", "do part `I/N` of the PACKAGEs, I from 0; or auto", offering("auto"))
	out.file(&a.temp, "tmp", "", "keep the ELF file at work in `FOLDER`, not in DIR", folder)
	a.resourceOptions(c, cmd)
	a.resultOptions(cmd, rare)
	a.featureOptions(cmd)
	a.unitOptions(cmd)
	return cmd
}

// setShard keeps --shard. An empty variable of a script must not mean all packages on each machine.
func (a *archiveCommand) setShard(v string) error {
	if v == "" {
		return &usageError{what: "'' is not a part", hint: "use I/N, as 0/4, or auto"}
	}
	a.shard = v
	return nil
}

func (a *archiveCommand) setDistro(v string) error {
	name, version, ok := strings.Cut(v, "/")
	if !ok || name != archive.CleanName(name) || version != archive.CleanName(version) {
		return &usageError{what: fmt.Sprintf("'%s' is not a distribution", message.OneLine(v)), hint: "use NAME/VERSION, as debian/12"}
	}
	a.distro = v
	return nil
}

func (a *archiveCommand) run(c *cli, words []string) error {
	if a.dir == "" {
		return usagef("no folder for the archive; give -o DIR")
	}
	if len(words) > 0 && (words[0] == "index" || words[0] == "find") {
		of := []string{"output", "quiet", memoryOption}
		if option := firstGiven(c.running, func(name string) bool { return !slices.Contains(of, name) }); option != "" {
			return usagef("%s is not for archive %s: it is about packages", option, words[0])
		}
		if words[0] == "index" {
			return temporary(c, a.index(c, words[1:]))
		}
		return temporary(c, a.find(c, words[1:]))
	}
	if err := checkNames(words); err != nil {
		return err
	}
	if err := a.complete(c); err != nil {
		return err
	}
	var bases []string
	if a.modules {
		bases = []string{a.dir} // of each module, the kernel's BTF there
	}
	if err := a.check(false, bases, 1); err != nil {
		return err
	}
	part, how, err := a.chooseShard(c)
	if err != nil {
		return err
	}
	n := new(archiveCounts)
	if err := a.addAll(c, words, part, how, n); err != nil {
		c.complain(err.Error())
		n.trouble++
	}
	return n.status()
}

// addAll archives the packages of a shard. An error is trouble with the folder or the standard output.
func (a *archiveCommand) addAll(c *cli, words []string, part shard.Shard, how string, n *archiveCounts) error {
	if how != "" && !c.quiet {
		if _, err := fmt.Fprintln(c.stdout, how); err != nil {
			return stdoutError(err)
		}
	}
	if err := c.guard.makeFolder(a.dir); err != nil {
		return message.FileError(a.dir, "cannot write", err)
	}
	to := &archive.Archive{Options: archive.Options{Dir: a.dir, Temp: a.temp, Job: a.opt, Existing: a.existing, Distro: a.distro,
		Form: a.form, Modules: a.modules, Limits: pack.UsualLimits, Jobs: a.opt.Encode.Jobs, Program: programName + " " + cmp.Or(thisBuild().version, "of unknown version")}}
	var full *fullDisk
	for _, path := range words {
		if !part.Has(archive.PackageName(path)) {
			n.others++
			continue
		}
		if full != nil {
			full.leave(to, path, n)
			continue
		}
		if err := a.add(c, to, path, n); err != nil && !errors.As(err, &full) {
			return err
		}
	}
	if full != nil {
		c.complain(full.Error())
	}
	if !c.quiet {
		if _, err := fmt.Fprintln(c.stdout, n); err != nil {
			return stdoutError(err)
		}
	}
	return nil
}

// chooseShard reads --shard. For auto, how says which shard that is and where the numbers come from; it goes to
// the log of the engine.
func (a *archiveCommand) chooseShard(c *cli) (s shard.Shard, how string, err error) {
	switch a.shard {
	case "":
		return s, "", nil
	case "auto":
		s, how, err = shard.Auto(c.lookupEnv)
	default:
		s, err = shard.Parse(a.shard)
	}
	if err != nil {
		return s, "", usagef("--shard=%s: %s", message.OneLine(a.shard), message.OneLine(err.Error()))
	}
	return s, how, nil
}

// add archives a package. Trouble with it is printed, and does not end the run, unless it is a *fullDisk.
func (a *archiveCommand) add(c *cli, to *archive.Archive, path string, n *archiveCounts) error {
	var rec *archive.PackageRecord
	var err error
	if path != dash {
		rec, err = to.Done(path)
	}
	if err == nil && rec != nil {
		n.before++
		return nil
	}
	var pkg *pack.Package
	if err == nil {
		pkg, err = openPackage(path, to.Limits)
	}
	if err == nil {
		path = pkg.Path
		rec, err = to.Add(pkg)
		pkg.Close()
	}
	if err != nil {
		if errors.Is(err, pack.ErrNoSize) {
			n.refused++
		} else {
			n.trouble++
		}
		named := message.NamingFile([]string{path}, err)
		if archive.IsFull(err) {
			return &fullDisk{err: named}
		}
		c.complain(named.Error())
		return nil
	}
	if rec.Damaged && !rec.Recorded {
		n.trouble++
		c.complain(message.OneLine(path) + ": " + rec.Reason)
		rec.Reason = ""
	}
	return a.tell(c, archive.PackageName(path), rec, n)
}

// openPackage opens a package, dash for the one on the standard input.
func openPackage(path string, limits pack.Limits) (*pack.Package, error) {
	if path != dash {
		return pack.Open(path, limits)
	}
	f, err := openFile(dash)
	if err != nil {
		return nil, err
	}
	return pack.Input("stdin", f, limits), nil
}

// temporary prints an error that may be gone at the next try, and gives it the status that says so. A file that
// is not there is an answer: of find, or to a wrong -o.
func temporary(c *cli, err error) error {
	if !archive.IsTrouble(err) || errors.Is(err, os.ErrNotExist) {
		return err
	}
	c.complain(err.Error())
	return printedFailure{exitTemporary}
}

// index is "btflite archive index".
func (a *archiveCommand) index(c *cli, words []string) error {
	if len(words) > 0 {
		return usagef("index takes no further word, and there is '%s'", message.OneLine(words[0]))
	}
	x, err := archive.Merge(a.dir)
	if err == nil {
		err = x.Write(a.dir)
	}
	if err != nil {
		return err
	}
	trouble := tellLost(c, a.dir, x.Lost(a.dir))
	if !c.quiet {
		if _, err = fmt.Fprintln(c.stdout, countOf(len(x.Kernels), "kernel")+" in the index"); err != nil {
			return stdoutError(err)
		}
	}
	if trouble {
		return printedFailure{exitTemporary}
	}
	return nil
}

// find is "btflite archive find".
func (a *archiveCommand) find(c *cli, words []string) error {
	if len(words) > 1 {
		return usagef("find takes one kernel, and there are %d words", len(words))
	}
	id, err := wantedBuildID(words)
	if err != nil {
		return err
	}
	found, err := archive.Find(a.dir, id)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return errors.New(message.OneLine(a.dir) + ": no kernel or module with the build-id " + id + "; archive its package first")
	}
	for _, name := range found {
		if _, err := fmt.Fprintln(c.stdout, archive.PathOf(a.dir, name)); err != nil {
			return stdoutError(err)
		}
	}
	return nil
}

// wantedBuildID returns the build-id that the words of find stand for.
func wantedBuildID(words []string) (string, error) {
	if len(words) == 0 {
		return archive.RunningBuildID()
	}
	words, err := elfInputs(words, false)
	if err != nil {
		return "", err
	}
	word := words[0]
	if _, err := os.Stat(word); err == nil {
		return archive.BuildIDOf(word)
	}
	id := strings.ToLower(word)
	if len(id) < archive.LeastBuildID || strings.Trim(id, "0123456789abcdef") != "" {
		return "", &usageError{what: fmt.Sprintf("'%s' is neither a file nor a build-id", message.OneLine(word)),
			hint: fmt.Sprintf("a build-id has %d hexadecimal digits or more", archive.LeastBuildID)}
	}
	return id, nil
}
