package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf/lower"
	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/finish"
	"github.com/btflite/btflite/internal/message"
	"github.com/btflite/btflite/internal/pack"
	"github.com/btflite/btflite/mmapelf"
)

// Done returns the record that an earlier run has written of a package, or nil if the package has to be read. Folders and
// ELF files always have to be read, because their contents change. A package has to be read again in these cases: this run
// looks for modules and the earlier run did not; BTF that the record names is not there any more; the record has a fault of
// the program. If the record is about another package of this name, with another size or other ends, Done returns an error.
// But if that package was damaged or had no kernel, it may have been this one, cut short: then Done returns nil.
func (a *Archive) Done(file string) (*PackageRecord, error) {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() {
		return nil, nil // whoever opens it says why
	}
	rec := new(PackageRecord)
	at := PathOf(a.Dir, packageRecord(PackageName(file))+RecordSuffix)
	if err := readJSON(at, rec); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if other := rec.isOther(file, info.Size()); other != "" && rec.Reason != "" {
		return nil, nil
	} else if other != "" {
		return nil, fmt.Errorf("%s: it is of %s; give it another name, or remove the record", message.OneLine(at), other)
	}
	if done, err := a.isDone(rec); err != nil || !done {
		return nil, err
	}
	return rec, nil
}

// isOther describes the package that the record is about if that is not the file. It returns "" if it may be the file: it
// reads only the ends, so packages of one size that differ in between are not told apart. It also returns "" if the file
// cannot be opened.
func (r *PackageRecord) isOther(file string, size int64) string {
	if r.Size != size {
		return fmt.Sprintf("a package with %d bytes, and this one of the same name has %d", r.Size, size)
	}
	if r.Ends == "" {
		return ""
	}
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	if ends, err := pack.Ends(f, size); err != nil || ends == r.Ends {
		return ""
	}
	return "another package of this name and size"
}

// Add archives the kernels of a package. The record says what is missing in the package or wrong
// with it. An error means trouble of this run, such as a full disk, too little memory or a missing
// file: then Add writes no record, and it makes sense to try again.
func (a *Archive) Add(pkg *pack.Package) (*PackageRecord, error) {
	rec := &PackageRecord{Package: PackageName(pkg.Path), Size: pkg.Size, Program: a.Program, Modules: a.Modules}
	w := adding{Archive: a, pkg: pkg, rec: rec}
	w.modules.adding = &w
	pkg.Jobs, pkg.Temp, pkg.Sparing = a.Jobs, w.temporary, a.Modules
	err := w.read()
	rec.describe(pkg)
	var unread error
	if rec.Ends, unread = pkg.Ends(); err == nil {
		err = unread
	}
	switch {
	case IsTrouble(err), errors.Is(err, pack.ErrNoSize):
		return nil, err
	case err != nil:
		rec.Damaged = true
		rec.Reason = reasonOf(err, pkg.Path)
		if err := w.doubtKernels(); err != nil {
			return nil, err
		}
	case len(rec.Kernels) == 0:
		rec.Reason = fmt.Sprintf("no kernel with DWARF or BTF in it (%s looked at)", message.Count(w.files, "file"))
		if w.image != "" {
			rec.Reason += fmt.Sprintf("; %s has no debug information: take the package whose name has dbg, dbgsym or debuginfo", message.OneLine(w.image))
		}
		if w.nested != "" {
			rec.Reason += fmt.Sprintf("; packages in it, such as %s, are not opened: give them by their names", message.OneLine(w.nested))
		}
	}
	if rec.Recorded = w.keeps(); !rec.Recorded {
		return rec, nil
	}
	err = a.publishRecord(packageRecord(rec.Package), rec)
	if errors.Is(err, os.ErrExist) {
		err = a.replaceRecord(rec)
	}
	if err != nil {
		return nil, err
	}
	return rec, nil
}

// doubtKernels notes in the records of the kernels that were just stored that the package is damaged, if
// the kernels may be, too: most formats have one checksum, behind all files.
func (w *adding) doubtKernels() error {
	if !w.pkg.Unproved {
		return nil
	}
	for i := range w.rec.Kernels {
		k := &w.rec.Kernels[i]
		at, ok := strings.CutSuffix(k.BTF, w.Form.suffix())
		if k.Before || k.BTF == "" || !ok {
			continue
		}
		k.PackageDamaged = true
		k.Warnings = append(k.Warnings, "the package is damaged behind this kernel, whose BTF may be wrong, too")
		own := *k
		own.Modules = nil
		if err := replaceJSON(PathOf(w.Dir, at)+RecordSuffix, &own); err != nil {
			return err
		}
	}
	return nil
}

// read reads the package. If it can, it begins with the last file that is likely to be the kernel.
// Damage there does not matter if the kernel is at the beginning of the package.
func (w *adding) read() error {
	w.fromEnd = true
	_, err := w.pkg.Last(isLikely, w.file)
	w.fromEnd = false
	switch {
	case IsTrouble(err):
		return err
	case len(w.rec.Kernels) == 0:
		err = w.pkg.Each(w.file)
	default:
		w.modules.again = true // all that comes before is unread
	}
	return w.modules.finish(err)
}

// adding is the work on one package.
type adding struct {
	*Archive
	pkg   *pack.Package
	rec   *PackageRecord
	files int
	// nested is the name of the first package in the package, image of the first kernel as it boots; "" for none.
	nested, image string
	// fromEnd says that the package is not read from its beginning.
	fromEnd bool
	modules moduleWork
}

// keeps tells whether the package gets a record of its own. Folders and ELF files change, an
// ELF file is called vmlinux as all others are, and the standard input may be anything.
func (w *adding) keeps() bool {
	return !w.pkg.Nameless && w.pkg.Format != "folder" && w.pkg.Format != "ELF file"
}

// file looks at a file of the package.
func (w *adding) file(f *pack.File) error {
	w.files++
	if _, ok := moduleName(f.Name); ok && w.Modules {
		return w.modules.file(f)
	}
	if w.hasOneKernel() && len(w.rec.Kernels) > 0 {
		return nil // only modules are wanted of the rest
	}
	head, err := peekHeader(f)
	switch {
	case pack.IsPackage(head):
		w.nested = cmp.Or(w.nested, f.Name)
	case w.hasOneKernel() && isImage(f.Name):
		w.image = cmp.Or(w.image, f.Name)
	}
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
	switch {
	case IsTrouble(err):
		return err
	case err != nil || k == nil:
		return nil // any other damage is of a file that may be anything
	}
	rec := w.recordOf(k)
	rec.File = f.Name
	if old, err := w.kernelDone(rec); err != nil {
		return err
	} else if old != nil {
		return w.next(old, f.Name)
	}
	if err := w.kernel(in, k, rec); err != nil {
		return err
	}
	if rec.BTF != "" {
		if err := w.publishKernel(rec); err != nil {
			return err
		}
	}
	return w.next(rec, f.Name)
}

// hasOneKernel tells whether the package can have one kernel only, because it is a package of a
// distribution. Tar archives and folders may have several.
func (w *adding) hasOneKernel() bool { return w.pkg.Format == "deb" || w.pkg.Format == "rpm" }

// next adds a kernel to the record of the package. It returns pack.ErrStop if the rest of the
// package need not be expanded. file is the kernel's path in this package; the record may come from
// another package.
func (w *adding) next(rec *KernelRecord, file string) error {
	if w.Modules {
		if err := w.modules.kernel(rec, file); err != nil {
			return err
		}
	}
	w.rec.Kernels = append(w.rec.Kernels, *rec)
	// If modules come before the kernel, the second reading stores all modules.
	if w.hasOneKernel() && (w.fromEnd || w.modules.again || !w.modules.wanted()) {
		return pack.ErrStop
	}
	return nil
}

// kernel stores the BTF of a kernel, or notes in rec why there is none.
func (w *adding) kernel(in mmapelf.Source, k *kernel, rec *KernelRecord) error {
	stored, err := w.catching(in, func() (*stored, error) { return w.btfOf(in, k, rec) })
	switch crash := new(encode.Crash); {
	case IsTrouble(err):
		return err
	case err != nil:
		rec.Internal = errors.As(err, &crash)
		rec.Reason = reasonOf(err, in.Path)
	case stored != nil:
		rec.BTF, rec.SHA256, rec.Size = stored.name, stored.sum, stored.size
	}
	return nil
}

// meddle is called before BTF is made. Tests replace it.
var meddle = func(mmapelf.Source) {}

// catching returns the error for a panic of do, which makes BTF of a file. So a fault of the program costs one
// kernel or module. encode does the same for its own part.
func (w *adding) catching(in mmapelf.Source, do func() (*stored, error)) (s *stored, err error) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case arena.Exhausted:
			err = v
		case arena.Stopped:
			err = v
		default:
			err = &encode.Crash{File: in.Path, Value: v, Site: encode.PanicSite()}
			if encode.IsFault(v) {
				err = fmt.Errorf("%s: %w", in.Path, encode.ErrChanged)
			}
		}
	}()
	meddle(in)
	return do()
}

// btfOf copies or encodes the BTF of a kernel, and stores it. It returns nil with a reason in rec.
func (w *adding) btfOf(in mmapelf.Source, k *kernel, rec *KernelRecord) (*stored, error) {
	switch {
	case k.hasBTF && w.Existing == SkipExisting:
		rec.Reason = "it has BTF already"
		return nil, nil
	case k.hasBTF && w.Existing == CopyExisting:
		return w.copyBTF(in, nil, rec.fileName(), &rec.Contents)
	case !k.hasDWARF:
		rec.Reason = "it has BTF already, and no DWARF to encode"
		return nil, nil
	}
	enc, err := w.Job.Run(context.Background(), []mmapelf.Source{in})
	if err != nil {
		return nil, err
	}
	defer enc.Free()
	return w.putEncoded(enc, in, rec.fileName(), &rec.Contents)
}

// putEncoded stores what was encoded. It returns nil with a reason in c.
func (w *adding) putEncoded(enc *finish.Encoded, in mmapelf.Source, name string, c *Contents) (*stored, error) {
	c.Source = encoded
	if enc.Size == 0 {
		c.Reason = "no compile unit has types to encode"
		return nil, nil
	}
	w.doubt(c, in, enc.Warning, enc.Lowered)
	if enc.Mismatch != "" {
		c.Warnings = append(c.Warnings, message.OneLine(enc.Mismatch))
	}
	c.Warnings = append(c.Warnings, leftOut(&enc.Stats)...)
	c.Types, c.Functions, c.Variables = enc.Stats.TypesOut, enc.Stats.Funcs, enc.Stats.Vars
	return w.put(name, enc.Size, enc.Write)
}

// doubt notes what a kernel refuses of BTF, and what the BTF has lost because it was lowered.
func (w *adding) doubt(c *Contents, in mmapelf.Source, warning *finish.Warning, lost lower.Report) {
	if warning != nil {
		c.Warnings = append(c.Warnings, reasonOf(errors.New(warning.String()), in.Path))
	}
	c.Warnings = append(c.Warnings, finish.LossTexts(w.Job.Target, lost)...)
}
