package archive

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"

	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/job"
	"github.com/btflite/btflite/internal/loadbtf"
	"github.com/btflite/btflite/internal/pack"
	"github.com/btflite/btflite/mmapelf"
)

// ErrOrder is the error for a stream whose modules come before their kernel.
var ErrOrder = errors.New("its modules come before their kernel, and a stream cannot be read twice; give the file by its name, or leave out --modules")

// reasonNoDWARF is for a module that has been stripped.
const reasonNoDWARF = "it has no DWARF"

// moduleWork is the work on the modules of a package. They are encoded when the BTF of their
// kernel is there. In most packages the kernel comes last, so they are read once more after it.
type moduleWork struct {
	*adding
	kernels []*kernelModules
	again   bool            // there may be modules before their kernel
	second  bool            // the package is read for the second time
	passed  map[string]bool // files that the first time has done

	now     *kernelModules // the kernel that base and session are for, or nil
	base    *job.Base
	session *job.Session
}

// kernel takes in a kernel of the package, whose record is complete and comes next in that of the package.
func (w *moduleWork) kernel(k *KernelRecord) error {
	if k.BTF == "" {
		return nil
	}
	counts, err := countsOf(w.Dir, k)
	if err != nil {
		return err
	}
	kernel := *k
	one := &kernelModules{kernel: &kernel, at: len(w.rec.Kernels), before: counts != nil}
	if one.before {
		one.rec.ModuleCounts = *counts
	}
	one.rec.BuildID, one.rec.Release, one.rec.Package, one.rec.Program = k.BuildID, k.Release, w.rec.Package, w.Program
	w.kernels = append(w.kernels, one)
	return nil
}

// wanted tells whether a kernel lacks its modules.
func (w *moduleWork) wanted() bool {
	for _, k := range w.kernels {
		if !k.before {
			return true
		}
	}
	return false
}

// file looks at a file of the package that is called as modules are.
func (w *moduleWork) file(f *pack.File) error {
	switch {
	case w.passed[f.Name]:
		return nil
	case len(w.kernels) == 0:
		return w.later()
	}
	m := newModule(f.Name)
	done, err := f.Expand()
	if err == nil {
		err = w.contents(f, m)
		done()
		return err
	}
	return w.store(m, mmapelf.Source{}, err)
}

// later leaves a module to the second time.
func (w *moduleWork) later() error {
	if !w.pkg.Again() {
		return ErrOrder
	}
	w.again = true
	return nil
}

// contents reads a file that may be a module, and stores its BTF.
func (w *moduleWork) contents(f *pack.File, m *module) error {
	head, err := peekHeader(f)
	at := f.OnDisk
	if err == nil && at == nil {
		if at, err = w.spool(head, f); err == nil {
			defer at.Close()
		}
	}
	in := mmapelf.Source{Path: w.rec.Package + ": " + f.Name, Reader: at}
	if err == nil {
		if err = m.read(in); err != nil && !isTrouble(err) {
			err = &pack.FileDamage{Err: err}
		}
	}
	if err == nil && !m.hasDWARF && f.OnDisk != nil {
		in = mmapelf.Source{Path: filepath.Join(w.pkg.Path, filepath.FromSlash(f.Name))} // whose debug file may lie beside
	}
	return w.store(m, in, err)
}

// store stores the BTF of a module, or the reason why there is none: err, if it could not be read. What
// is wrong with the package, and trouble of this run, is returned.
func (w *moduleWork) store(m *module, in mmapelf.Source, err error) error {
	if damage := new(pack.FileDamage); err != nil && !errors.As(err, &damage) {
		return err
	}
	k := w.kernelOf(m)
	switch {
	case k == nil && (w.second || w.hasOneKernel() || !w.pkg.Again()):
		w.rec.OfNoKernel++
		return nil
	case k == nil, !w.second && !w.hasOneKernel() && w.pkg.Again() && !m.isBeside(k.kernel):
		return w.later() // there may be another kernel, or one that lies nearer
	}
	if !w.second {
		w.pass(m.file)
	}
	if k.before || k.full || k.has(m) {
		return nil
	}
	rec := &ModuleRecord{Name: m.name, BuildID: m.buildID, File: m.file}
	if err == nil {
		var s *stored
		if s, err = w.btfOf(k, m, in, &rec.Contents); s != nil && err == nil {
			err = w.publish(k, rec, s)
		}
	}
	if err != nil {
		if isTrouble(err) {
			return err
		}
		crash := new(encode.Crash)
		rec.Internal = errors.As(err, &crash)
		rec.Reason = reasonOf(err, in.Path)
	}
	k.add(rec)
	return nil
}

// pass notes that a file is done.
func (w *moduleWork) pass(file string) {
	if w.passed == nil {
		w.passed = map[string]bool{}
	}
	w.passed[file] = true
}

// kernelOf returns the kernel that a module is of; nil if none of the package can be. Of builds of
// one release it is the one that lies nearest to the module.
func (w *moduleWork) kernelOf(m *module) (k *kernelModules) {
	near := -1
	for _, one := range w.kernels {
		if n := commonPath(m.file, one.kernel.File); m.isOf(one.kernel) && n > near {
			k, near = one, n
		}
	}
	return k
}

// btfOf copies or encodes the BTF of a module, and stores it. It returns nil with a reason in c.
func (w *moduleWork) btfOf(k *kernelModules, m *module, in mmapelf.Source, c *Contents) (*stored, error) {
	if err := w.use(k); err != nil {
		return nil, err
	}
	if m.hasBTF && w.Existing == CopyExisting && k.kernel.Source == copied {
		return w.copyBTF(in, w.base.Blob, m.name, c)
	}
	enc, err := w.session.EncodeSource(in)
	if errors.Is(err, encode.ErrNoDwarf) {
		c.Reason = reasonNoDWARF
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer enc.Free()
	return w.putEncoded(enc, in, m.name, c)
}

// use opens the BTF of a kernel as the base. Modules of one kernel lie together, so one is open at a
// time.
func (w *moduleWork) use(k *kernelModules) error {
	if w.now == k {
		return nil
	}
	w.close()
	f, err := w.openStored(k.kernel.BTF)
	if err != nil {
		return err
	}
	defer f.Close()
	base, err := job.OpenBase(context.Background(), loadbtf.Loader{}, []mmapelf.Source{{Path: k.kernel.BTF, Reader: f}})
	if err != nil {
		return &ownDamage{fmt.Errorf("the archive's %w", err)}
	}
	opt := w.Job
	opt.Base, opt.Encode.Jobs, opt.Encode.Sessions = base, 1, 1
	w.now, w.base, w.session = k, base, job.NewSession(&opt)
	return nil
}

// close closes the base.
func (w *moduleWork) close() {
	if w.now != nil {
		w.session.Close()
		w.base.Close()
		w.now, w.base, w.session = nil, nil, nil
	}
}

// publish gives the BTF of a module that is in the store its name.
func (w *moduleWork) publish(k *kernelModules, rec *ModuleRecord, s *stored) error {
	rec.SHA256, rec.Size = s.sum, s.size
	for _, at := range k.names(rec) {
		to := at + w.Form.suffix()
		free, err := w.linkTo(s.name, to)
		if err != nil {
			return err
		}
		if free {
			rec.BTF = to
			return nil
		}
	}
	return w.otherContents(path.Join(k.kernel.ModulesDir(), rec.Name))
}

// finish reads the package once more if that is needed, and writes the records.
func (w *moduleWork) finish() (err error) {
	defer w.close()
	if w.again && w.wanted() {
		w.second = true
		err = w.pkg.Each(func(f *pack.File) error {
			if _, ok := moduleName(f.Name); ok {
				return w.file(f)
			}
			return nil
		})
	}
	for _, k := range w.kernels {
		if !k.before {
			k.complete()
		}
		if k.full && err == nil {
			err = errManyModules
		}
		k.tell(&w.rec.Kernels[k.at])
		if k.before || err != nil || len(k.rec.List) == 0 {
			continue // what is left of a damaged package is not all
		}
		if e := w.publishRecord(path.Join(k.kernel.ModulesDir(), modulesRecord), &k.rec); e != nil && !errors.Is(e, fs.ErrExist) {
			return e
		}
	}
	return err
}
