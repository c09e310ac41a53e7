package archive

// Modules may come before their kernel, after it, or after another kernel of the same release. What is
// stored must not depend on that order. A module is given to the nearest kernel that has come, and
// leaves it when a nearer one comes. A package that is a file is read once more for modules that came
// too early. A stream cannot be: its kernels then stay without modules.

// seenModule is a module of the first reading.
type seenModule struct {
	of *kernelModules // nil if no kernel that has come is the module's
	builtFor
}

// see notes that a file was looked at.
func (w *moduleWork) see(m *module, of *kernelModules) {
	if w.seen == nil {
		w.seen = map[string]seenModule{}
	}
	s := seenModule{of, m.builtFor}
	if of != nil && s.release != "" {
		s.release = of.kernel.Release // one text for all
	}
	w.seen[m.file] = s
}

// unclaimed returns how many of the modules that were seen belong to no kernel.
func (w *moduleWork) unclaimed() (n int) {
	for _, s := range w.seen {
		if s.of == nil {
			n++
		}
	}
	return n
}

// kernelOf returns the kernel that a module is of; nil if none of the package can be. Of builds of
// one release it is the one that lies nearest to the module.
func (w *moduleWork) kernelOf(m *module) (k *kernelModules) {
	near := -1
	for _, one := range w.kernels {
		if n := one.near(m.file); m.isOf(one.kernel) && n > near {
			k, near = one, n
		}
	}
	return k
}

// kernel adds a kernel of the package to those that modules may belong to. Its record is complete, and
// the caller appends it to the record of the package next. file is its path in the package.
func (w *moduleWork) kernel(k *KernelRecord, file string) error {
	one := w.sameBuild(k)
	isNew := one == nil
	if isNew {
		one = &kernelModules{}
		w.kernels = append(w.kernels, one)
	}
	one.files = append(one.files, file)
	// Beside the kernel there may be a file of it without DWARF, which has no BTF.
	completes := isNew || one.kernel.BTF == "" && k.BTF != ""
	if completes {
		done, recorded, err := w.modulesDone(k, w.rec.Package)
		if err != nil {
			return err
		}
		kernel := *k
		one.kernel, one.at, one.before, one.recorded, one.early = &kernel, len(w.rec.Kernels), done != nil, recorded, 0
		if one.before {
			one.rec.ModuleCounts = *done
		}
		one.rec.BuildID, one.rec.Release, one.rec.Package, one.rec.Program = k.BuildID, k.Release, w.rec.Package, w.Program
	}
	w.claim(one, completes)
	return nil
}

// sameBuild returns the kernel of the package that k is another file of, or nil.
func (w *moduleWork) sameBuild(k *KernelRecord) *kernelModules {
	for _, one := range w.kernels {
		old := one.kernel
		if old.Release == k.Release && old.Arch == k.Arch && old.BuildID == k.BuildID && (k.BuildID != "" || k.BTF != "" && old.BTF == k.BTF) {
			return one
		}
	}
	return nil
}

// claim gives a kernel that comes, or is found at one more place, the modules that have come before and
// are nearer to it than to the kernel that they were given to. All that the kernel had itself are among
// them if it could not use them until now.
func (w *moduleWork) claim(one *kernelModules, completes bool) {
	moved := false
	for file, s := range w.seen {
		switch {
		case !s.isOf(one.kernel), s.of == one && !completes, s.of != nil && s.of != one && s.of.near(file) >= one.near(file):
			continue
		}
		moved = true
		if w.pkg.Again() {
			delete(w.seen, file)
			w.again = true
			continue
		}
		one.early++
		s.of = one
		w.seen[file] = s
	}
	if !moved {
		return
	}
	for _, k := range w.kernels {
		k.keep(func(file string) bool { return w.seen[file].of == k })
	}
}
