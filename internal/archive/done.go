package archive

import (
	"os"
	"strings"
)

// A record alone does not make a package, a kernel or its modules done: the BTF that it names has to be
// there, too. Somebody may have deleted a file, perhaps because it was damaged, or have copied only a
// part of the archive. What is missing is then made again, with the contents that the record has.

// isThere tells whether the archive in dir has the file that c names, with the right size. isThere does not read the
// file, as whoever uses the contents does.
func isThere(dir string, c *Contents) bool {
	if c.BTF == "" {
		return true
	}
	info, err := os.Stat(PathOf(dir, c.BTF))
	return err == nil && info.Mode().IsRegular() && info.Size() == c.Size
}

// isRecorded tells whether a kernel with BTF has a record of its own, which the index needs.
func isRecorded(dir string, k *KernelRecord) bool {
	if k.BTF == "" {
		return true
	}
	info, err := os.Stat(PathOf(dir, k.ModulesDir()) + RecordSuffix)
	return err == nil && info.Mode().IsRegular()
}

// isDone tells whether a package with this record need not be read again.
func (a *Archive) isDone(rec *PackageRecord) (bool, error) {
	if a.Modules && !rec.Modules {
		return false, nil
	}
	for i := range rec.Kernels {
		k := &rec.Kernels[i]
		if !isThere(a.Dir, &k.Contents) || !isRecorded(a.Dir, k) {
			return false, nil
		}
		// A package with a reason was not read to its end, and its modules have no record.
		if !a.Modules || rec.Reason != "" || k.Modules == nil || *k.Modules == (ModuleCounts{}) {
			continue
		}
		if done, _, err := a.modulesDone(k); err != nil || done == nil {
			return false, err
		}
	}
	return true, nil
}

// modulesDone returns the counts of a kernel's modules if the archive has all that their record names. If some of
// it is missing, modulesDone returns the checksum of each file that the record names, by the file's path without
// its suffix. It returns nothing if there is no record.
func (a *Archive) modulesDone(k *KernelRecord) (done *ModuleCounts, recorded map[string]string, err error) {
	counts, err := countsOf(a.Dir, k)
	if err != nil || counts == nil {
		return nil, nil, err
	}
	// Most records need not be read, because it is enough to count the files: a record has megabytes. So a file
	// that is too short shows only if another one is missing.
	if countModules(a.Dir, k) == counts.Stored {
		return counts, nil, nil
	}
	var rec ModulesRecord
	if err := readJSON(PathOf(a.Dir, k.ModulesFile()), &rec); err != nil {
		return nil, nil, err
	}
	recorded = map[string]string{}
	all := true
	for i := range rec.List {
		if c := &rec.List[i].Contents; c.BTF != "" {
			recorded[withoutForm(c.BTF)] = c.SHA256
			all = all && isThere(a.Dir, c)
		}
	}
	if all {
		return counts, nil, nil // two modules have one file, or the folder has another
	}
	return nil, recorded, nil
}

// countModules counts the files of BTF in the folder of a kernel's modules.
func countModules(dir string, k *KernelRecord) (n int) {
	suffix := strings.TrimPrefix(k.BTF, k.ModulesDir())
	entries, _ := os.ReadDir(PathOf(dir, k.ModulesDir())) // an error makes the number wrong, and modulesDone looks again
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), suffix) {
			n++
		}
	}
	return n
}

// reasonNotRecorded is for a module that another package has of a kernel whose modules are recorded.
const reasonNotRecorded = "the archive has modules of this kernel from another package, and not this one"

// Gone returns the paths in the archive of BTF that the index has and the folder dir has not.
func (x *Index) Gone(dir string) (names []string) {
	for i := range x.Kernels {
		if c := &x.Kernels[i].Contents; !isThere(dir, c) {
			names = append(names, c.BTF)
		}
	}
	return names
}
