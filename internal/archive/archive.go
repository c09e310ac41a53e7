// Package archive keeps BTF of many kernels in a folder: it finds the kernels in packages, encodes
// or copies their BTF, and stores it under DISTRO/VERSION/ARCH/RELEASE.btf with a record beside it.
//
// Any number of processes may work on one folder. None waits for another, and one that is killed
// leaves nothing but whole files: a file is written without a name, reaches the disk, and gets its
// name by a link, which never replaces anything. The contents lie in the folder store under their
// checksum, once for all names: names are hard links, so that each is a whole file to programs that
// know nothing of links, and none dangles when a part of the folder is copied or removed. A record
// comes last, so what has a record is done.
package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"syscall"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/job"
	"github.com/btflite/btflite/internal/message"
	"github.com/btflite/btflite/internal/pack"
	"github.com/btflite/btflite/mmapelf"
)

// Existing says what becomes of the .BTF that a kernel has already.
type Existing uint8

// What to do with it.
const (
	CopyExisting   Existing = iota // take it: since Linux 7.3 it is more than an encoder can know
	EncodeExisting                 // ignore it
	SkipExisting                   // leave such kernels out: they need no archive
)

// Options say what is archived, and how.
type Options struct {
	Dir      string // of the archive
	Temp     string // folder of the ELF file at work, which has no name there; "" for Dir
	Job      job.Options
	Existing Existing
	Distro   string // as "debian/12"; "" for what the package shows
	Form     Form
	Limits   pack.Limits
	Jobs     int    // parts of a package that are expanded at once
	Program  string // what encodes, for the records
}

// Archive is a folder of BTF.
type Archive struct{ Options }

// PackageName returns the name that a package has in records, and that shards go by: the last part of
// its path.
func PackageName(file string) string {
	if abs, err := filepath.Abs(file); err == nil {
		file = abs // of "." and ".."
	}
	return filepath.Base(file)
}

// packagesDir is the folder of the records of packages.
const packagesDir = "packages"

// Done returns the record of a package that an earlier run has finished; nil if there is none, as
// for folders and ELF files, whose contents change. A record of a package of the same name and
// another size is an error.
func (a *Archive) Done(file string) (*PackageRecord, error) {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() {
		return nil, nil // whoever opens it says why
	}
	return a.done(PackageName(file), info.Size())
}

func (a *Archive) done(name string, size int64) (*PackageRecord, error) {
	rec := new(PackageRecord)
	at := filepath.Join(a.Dir, packagesDir, name+recordSuffix)
	if err := readJSON(at, rec); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if rec.Size != size {
		return nil, fmt.Errorf("%s: it is of a package with %d bytes, and this one of the same name has %d; give it another name, or remove the record",
			message.OneLine(at), rec.Size, size)
	}
	return rec, nil
}

// Add archives the kernels of a package. What the package lacks, or what is wrong with it, is in
// the record. An error is of this run: of the disk, of memory, or of a file that is not there; then
// there is no record, and trying again makes sense.
func (a *Archive) Add(pkg *pack.Package) (*PackageRecord, error) {
	rec := &PackageRecord{Package: PackageName(pkg.Path), Size: pkg.Size, Program: a.Program}
	w := adding{Archive: a, pkg: pkg, rec: rec}
	pkg.Jobs, pkg.Temp = a.Jobs, w.temporary
	err := w.read()
	rec.describe(pkg)
	switch {
	case err != nil && isTrouble(err):
		return nil, err
	case err != nil:
		rec.Reason = reasonOf(err, pkg.Path)
	case len(rec.Kernels) == 0:
		rec.Reason = fmt.Sprintf("no kernel with DWARF or BTF in it (%d files looked at)", w.files)
	}
	if !w.keeps() {
		return rec, nil
	}
	if err := a.publishRecord(path.Join(packagesDir, rec.Package), rec); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, err
	}
	return rec, nil
}

// read reads the package, from the likely end if that can be done. What is wrong at the end does
// not matter if the kernel is at the beginning.
func (w *adding) read() error {
	_, err := w.pkg.Last(isLikely, w.file)
	if len(w.rec.Kernels) > 0 || err != nil && isTrouble(err) {
		return err
	}
	return w.pkg.Each(w.file)
}

// isTrouble tells whether err is of this run and not of the input.
func isTrouble(err error) bool {
	var number syscall.Errno
	var full arena.Exhausted
	var stopped arena.Stopped
	return errors.As(err, &number) || errors.As(err, &full) || errors.As(err, &stopped) || errors.Is(err, encode.ErrMemory) || errors.Is(err, io.ErrShortWrite)
}

// adding is the work on one package.
type adding struct {
	*Archive
	pkg   *pack.Package
	rec   *PackageRecord
	files int
}

// keeps tells whether the package gets a record of its own. Folders and ELF files change, and an
// ELF file is called vmlinux as all others are.
func (w *adding) keeps() bool { return w.pkg.Format != "folder" && w.pkg.Format != "ELF file" }

// file looks at a file of the package.
func (w *adding) file(f *pack.File) error {
	w.files++
	head, err := peekHeader(f)
	if err != nil || !isProgram(head) {
		return err
	}
	at := f.OnDisk
	if at == nil {
		if at, err = w.spool(head, f); err != nil {
			return err
		}
		defer at.Close()
	}
	// What the file is called in records must not depend on where the package lies.
	in := mmapelf.Source{Path: w.rec.Package + ": " + f.Name, Reader: at}
	k, err := identify(in, f.Name)
	if err != nil || k == nil {
		return errIfTrouble(err) // any other damage is of a file that may be anything
	}
	rec := w.recordOf(k)
	rec.File = f.Name
	if old := w.kernelDone(rec); old != nil {
		w.rec.Kernels = append(w.rec.Kernels, *old)
		return w.next()
	}
	if err := w.kernel(in, k, rec); err != nil {
		return err
	}
	if rec.BTF != "" {
		if err := w.publishKernel(rec); err != nil {
			return err
		}
	}
	w.rec.Kernels = append(w.rec.Kernels, *rec)
	return w.next()
}

// errIfTrouble returns err if it is of this run.
func errIfTrouble(err error) error {
	if err != nil && isTrouble(err) {
		return err
	}
	return nil
}

// next says what follows a kernel. Packages of distributions have one, and what comes after it need
// not be expanded; tar archives and folders may have several.
func (w *adding) next() error {
	if w.pkg.Format == "deb" || w.pkg.Format == "rpm" {
		return pack.ErrStop
	}
	return nil
}

// kernel stores the BTF of a kernel, or notes in rec why there is none.
func (w *adding) kernel(in mmapelf.Source, k *kernel, rec *KernelRecord) error {
	stored, err := w.btfOf(in, k, rec)
	switch crash := new(encode.Crash); {
	case err != nil && isTrouble(err):
		return err
	case err != nil:
		rec.Internal = errors.As(err, &crash)
		rec.Reason = reasonOf(err, in.Path)
	case stored != nil:
		rec.BTF, rec.SHA256, rec.Size = stored.name, stored.sum, stored.size
	}
	return nil
}

// btfOf copies or encodes the BTF of a kernel, and stores it. It returns nil with a reason in rec.
func (w *adding) btfOf(in mmapelf.Source, k *kernel, rec *KernelRecord) (*stored, error) {
	switch {
	case k.hasBTF && w.Existing == SkipExisting:
		rec.Reason = "it has BTF already"
		return nil, nil
	case k.hasBTF && w.Existing == CopyExisting:
		rec.Source = "copied"
		return w.copyBTF(in, rec)
	case !k.hasDWARF:
		rec.Reason = "it has BTF already, and no DWARF to encode"
		return nil, nil
	}
	rec.Source = "encoded"
	enc, err := w.Job.Run(context.Background(), []mmapelf.Source{in})
	if err != nil {
		return nil, err
	}
	defer enc.Free()
	if enc.Size == 0 {
		rec.Reason = "no compile unit has types to encode"
		return nil, nil
	}
	if enc.Warning != nil {
		rec.Warnings = append(rec.Warnings, reasonOf(errors.New(enc.Warning.String()), in.Path))
	}
	rec.Warnings = append(rec.Warnings, leftOut(&enc.Stats)...)
	rec.Types, rec.Functions, rec.Variables = enc.Stats.TypesOut, enc.Stats.Funcs, enc.Stats.Vars
	return w.put(rec.fileName(), enc.Write)
}
