package archive

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"

	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/job"
	"github.com/btflite/btflite/internal/loadbtf"
	"github.com/btflite/btflite/internal/pack"
	"github.com/btflite/btflite/mmapelf"
)

// reasonNoDWARF is for a module that has been stripped.
const reasonNoDWARF = "it has no DWARF"

// moduleWork is the work on the modules of a package. A module can be encoded once the BTF of its
// kernel is there. In most packages the kernel comes last, so the package is read a second time for
// its modules.
type moduleWork struct {
	*adding
	kernels []*kernelModules
	again   bool                  // there may be modules before their kernel
	second  bool                  // the package is read for the second time
	seen    map[string]seenModule // files that the first time has done, and all of a stream

	now     *kernelModules // the kernel that base and session are for, or nil
	base    *job.Base
	session *job.Session
}

// wanted tells whether a kernel lacks its modules.
func (w *moduleWork) wanted() bool { return slices.ContainsFunc(w.kernels, (*kernelModules).wanted) }

// file looks at a file of the package that is called as modules are.
func (w *moduleWork) file(f *pack.File) error {
	if _, ok := w.seen[f.Name]; ok {
		return nil
	}
	m := newModule(f.Name)
	switch first := len(w.kernels) == 0; {
	case first && w.pkg.Again():
		w.again = true
		return nil
	case first && w.hasOneKernel(): // the kernel stays without modules, whatever this one has
		w.see(m, nil)
		return nil
	}
	done, err := f.Expand()
	if err == nil {
		err = w.contents(f, m)
		done()
		return err
	}
	return w.store(m, mmapelf.Source{}, err)
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
		if err = m.read(in); err != nil && !IsTrouble(err) {
			err = &pack.FileDamage{Err: err}
		}
	}
	if err == nil && !m.hasDWARF && f.OnDisk != nil {
		in = mmapelf.Source{Path: filepath.Join(w.pkg.Path, filepath.FromSlash(f.Name))} // whose debug file may lie beside
	}
	return w.store(m, in, err)
}

// store stores the BTF of a module, or the reason why the module has no BTF: err, if the module
// could not be read. store returns only damage of the package and trouble of this run.
func (w *moduleWork) store(m *module, in mmapelf.Source, err error) error {
	if damage := new(pack.FileDamage); err != nil && !errors.As(err, &damage) {
		return err
	}
	k := w.kernelOf(m)
	all := w.second || w.hasOneKernel() // no other kernel follows
	switch {
	case k == nil && all:
		w.rec.OfNoKernel++
		return nil
	case !all && w.pkg.Again() && (k == nil || !k.isBeside(m)):
		w.again = true // there may be another kernel, or one that lies nearer
		return nil
	}
	if !w.second {
		w.see(m, k)
	}
	if k == nil || !k.wanted() || k.full || k.has(m) {
		return nil
	}
	if kept := k.recorded.kept[m.file]; kept != nil {
		k.add(kept)
		return nil
	}
	rec := &ModuleRecord{Name: m.name, BuildID: m.buildID, File: m.file}
	if err == nil {
		var s *stored
		if s, err = w.catching(in, func() (*stored, error) { return w.btfOf(k, m, in, &rec.Contents) }); s != nil && err == nil {
			rec.SHA256, rec.Size = s.sum, s.size
			rec.BTF = k.names(rec)[1] + w.Form.suffix() // the longer one, until publish
		}
	}
	if err != nil {
		if IsTrouble(err) {
			return err
		}
		crash := new(encode.Crash)
		rec.Internal = errors.As(err, &crash)
		rec.Reason = reasonOf(err, in.Path)
	}
	k.add(rec)
	return nil
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

// use opens the BTF of a kernel as the base. Only one base is open at a time, because the modules
// of one kernel follow each other.
func (w *moduleWork) use(k *kernelModules) error {
	if w.now == k {
		return nil
	}
	w.close()
	f, err := w.openStored(k.kernel)
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

func (w *moduleWork) close() {
	if w.now != nil {
		w.session.Close()
		w.base.Close()
		w.now, w.base, w.session = nil, nil, nil
	}
}

// publish gives the BTF of a kernel's modules, which is in the store, names in the archive.
func (w *moduleWork) publish(k *kernelModules) error {
	for i := range k.rec.List {
		if rec := &k.rec.List[i]; rec.BTF != "" {
			if err := w.publishModule(k, rec); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *moduleWork) publishModule(k *kernelModules, rec *ModuleRecord) error {
	old := &k.recorded
	if old.kept[rec.File] != nil {
		return nil // it has its name
	}
	isNew := old.sums == nil || old.again[rec.File] // no record has it
	known := false                                  // to an earlier run
	for _, at := range k.names(rec) {
		to := at + w.Form.suffix()
		sum, ok := old.sums[at]
		known = known || ok
		if sum != rec.SHA256 && (ok || !isNew) {
			continue
		}
		free, err := w.linkTo(w.storeName(rec.SHA256), to)
		if err == nil && !free && known {
			err = w.intact(to, rec.SHA256)
		}
		if err != nil {
			return err
		}
		if free {
			rec.BTF = to
			return nil
		}
	}
	at := path.Join(k.kernel.ModulesDir(), rec.Name) + w.Form.suffix()
	switch {
	case isNew:
		return w.otherContents(at)
	case known:
		return w.notRestored(at)
	}
	rec.BTF, rec.Reason = "", reasonNotRecorded
	return nil
}

// finish reads the package a second time if modules came before their kernel, and writes the
// records. If the first reading ended with err, finish keeps what was read before.
func (w *moduleWork) finish(err error) error {
	defer w.close()
	if err == nil && w.again && w.wanted() {
		w.second = true
		err = w.pkg.Each(func(f *pack.File) error {
			if _, ok := moduleName(f.Name); ok {
				return w.file(f)
			}
			return nil
		})
	}
	if IsTrouble(err) {
		return err
	}
	for _, k := range w.kernels {
		if e := w.finishKernel(k, err == nil); e != nil {
			return e
		}
	}
	if len(w.kernels) > 0 {
		w.rec.OfNoKernel += w.unclaimed()
	}
	if err == nil && slices.ContainsFunc(w.kernels, func(k *kernelModules) bool { return k.full }) {
		err = errManyModules
	}
	return err
}

// finishKernel publishes the modules of a kernel. It writes their record only if the whole package
// was read, because a damaged package does not show all modules.
func (w *moduleWork) finishKernel(k *kernelModules, whole bool) error {
	to := &w.rec.Kernels[k.at]
	switch {
	case k.kernel.BTF == "":
		return nil
	case k.before:
		k.tell(to)
		return nil
	case k.early > 0:
		to.ModulesEarly = k.early
		return nil
	}
	if err := w.publish(k); err != nil {
		return err
	}
	k.complete()
	k.tell(to)
	if !whole || k.full || len(k.rec.List) == 0 {
		return nil
	}
	err := w.publishRecord(path.Join(k.kernel.ModulesDir(), modulesRecord), &k.rec)
	if errors.Is(err, fs.ErrExist) {
		return w.replaceModules(k)
	}
	return err
}

// replaceModules writes the record of a kernel's modules in place of the old one, if some were tried again.
func (w *moduleWork) replaceModules(k *kernelModules) error {
	if len(k.recorded.again) == 0 {
		return nil
	}
	w.rec.Retried = true
	return replaceJSON(PathOf(w.Dir, k.kernel.ModulesFile()), &k.rec)
}
