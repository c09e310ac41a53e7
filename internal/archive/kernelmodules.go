package archive

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/btflite/btflite/internal/message"
)

// kernelModules collects the modules of a kernel.
type kernelModules struct {
	kernel   *KernelRecord
	files    []string // of the kernel, as some packages have it twice
	at       int      // of the kernel in the record of the package
	rec      ModulesRecord
	before   bool           // the archive has them already
	recorded recorded       // what their record has, if they are to be stored again
	early    int            // modules that came before the kernel in a stream
	size     int            // about what the record will have, in bytes
	byName   map[string]int // places in rec.List of the modules that came first with their names
	full     bool           // there are more modules than a record can have
}

// errManyModules is the reason for a package with more modules than a record can have.
var errManyModules = fmt.Errorf("its modules make a record of more than %s", message.ByteSize(maxRecord))

// has tells whether another file of the same module has already given BTF. Distributions have two
// files of a module, the stripped one and its debug file.
func (k *kernelModules) has(m *module) bool {
	i, ok := k.byName[m.name]
	return ok && k.rec.List[i].BTF != "" && k.rec.List[i].BuildID == m.buildID && m.buildID != ""
}

// wanted tells whether to store the modules of the kernel. Without BTF of the kernel they have no
// base. If some modules came too early, we store none, because the record would not have all.
func (k *kernelModules) wanted() bool { return !k.before && k.early == 0 && k.kernel.BTF != "" }

// near returns how near the kernel lies to a file.
func (k *kernelModules) near(file string) (n int) {
	for _, f := range k.files {
		n = max(n, commonPath(file, f))
	}
	return n
}

// isBeside tells whether one of the kernel's files lies where we expect the kernel of the module.
func (k *kernelModules) isBeside(m *module) bool { return slices.ContainsFunc(k.files, m.isBeside) }

// keep leaves out the modules whose files keep does not want.
func (k *kernelModules) keep(keep func(file string) bool) {
	old, full := k.rec.List, k.full
	k.rec.List, k.byName, k.size, k.full = nil, nil, 0, false
	for i := range old {
		if keep(old[i].File) {
			k.add(&old[i])
		}
	}
	k.full = full
}

// add adds a module. Its BTF gets a name later, when all modules are there.
func (k *kernelModules) add(rec *ModuleRecord) {
	const others = 400 // names and values of bounded size
	k.size += others + len(rec.Name) + len(rec.File) + len(rec.BTF) + len(rec.Reason)
	for _, w := range rec.Warnings {
		k.size += len(w)
	}
	if k.full = k.full || k.size > maxRecord/2; k.full { // escapes may double it
		return
	}
	if k.byName == nil {
		k.byName = map[string]int{}
	}
	if i, ok := k.byName[rec.Name]; !ok {
		k.byName[rec.Name] = len(k.rec.List)
	} else if old := &k.rec.List[i]; old.BTF == "" && old.BuildID == rec.BuildID && old.Reason == reasonNoDWARF {
		*old = *rec // a debug file after the stripped module
		return
	}
	k.rec.List = append(k.rec.List, *rec)
}

// complete counts and sorts the modules, so that the record can be written.
func (k *kernelModules) complete() {
	k.rec.ModuleCounts = ModuleCounts{}
	for i := range k.rec.List {
		if k.rec.List[i].BTF != "" {
			k.rec.Stored++
			continue
		}
		k.rec.Failed++
		if k.rec.List[i].Internal {
			k.rec.Internal++
		}
	}
	slices.SortFunc(k.rec.List, func(a, b ModuleRecord) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.File, b.File))
	})
}

// tell copies the counts and the failures to the kernel's entry in the record of the package.
func (k *kernelModules) tell(to *KernelRecord) {
	counts := k.rec.ModuleCounts
	to.Modules, to.ModulesBefore = &counts, k.before
	for i := range k.rec.List {
		if k.rec.List[i].BTF == "" {
			to.ModulesFailed = append(to.ModulesFailed, k.rec.List[i])
		}
	}
}

// names are the names that the BTF of a module may have in the archive, without a suffix.
func (k *kernelModules) names(rec *ModuleRecord) [2]string {
	first := path.Join(k.kernel.ModulesDir(), rec.Name)
	return [2]string{first, first + "+" + shortID(cmp.Or(rec.BuildID, rec.SHA256))}
}
