package archive

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/btflite/btflite/internal/message"
)

// A record alone does not make a package, a kernel or its modules done: the BTF that it names has to be
// there, too. Somebody may have deleted a file, perhaps because it was damaged, or have copied only a
// part of the archive. What is missing is then made again, with the contents that the record has.

// lookAt calls os.Stat for a file of the archive in dir. If the file does not exist, it returns nil and no error. An
// error means trouble: the file may be there, on a disk that does not answer or in a folder that this user must not enter.
func lookAt(dir, name string) (fs.FileInfo, error) {
	at := PathOf(dir, name)
	info, err := os.Stat(at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return info, message.FileError(at, "cannot open", err)
}

// isThere tells whether the archive in dir has the file that c names, with the right size. isThere does not read the
// file, as whoever uses the contents does.
func isThere(dir string, c *Contents) (bool, error) {
	if c.BTF == "" {
		return true, nil
	}
	info, err := lookAt(dir, c.BTF)
	return info != nil && c.isFile(info), err
}

// isFile tells whether info describes a file of the right size.
func (c *Contents) isFile(info fs.FileInfo) bool {
	return info.Mode().IsRegular() && info.Size() == c.Size
}

// isRecorded tells whether a kernel with BTF has a record of its own, which the index needs.
func isRecorded(dir string, k *KernelRecord) (bool, error) {
	if k.BTF == "" {
		return true, nil
	}
	info, err := lookAt(dir, k.ModulesDir()+RecordSuffix)
	return info != nil && info.Mode().IsRegular(), err
}

// isComplete tells whether the archive in dir has the BTF of a kernel and its record.
func isComplete(dir string, k *KernelRecord) (bool, error) {
	if there, err := isThere(dir, &k.Contents); err != nil || !there {
		return false, err
	}
	return isRecorded(dir, k)
}

// isDone tells whether a package with this record need not be read again.
func (a *Archive) isDone(rec *PackageRecord) (bool, error) {
	if a.Modules && !rec.Modules {
		return false, nil
	}
	for i := range rec.Kernels {
		k := &rec.Kernels[i]
		if whole, err := isComplete(a.Dir, k); err != nil || !whole || k.Internal {
			return false, err
		}
		// A package with a reason was not read to its end, and its modules have no record.
		if !a.Modules || rec.Reason != "" || k.Modules == nil || *k.Modules == (ModuleCounts{}) {
			continue
		}
		if done, _, err := a.modulesDone(k, rec.Package); err != nil || done == nil {
			return false, err
		}
	}
	return true, nil
}

// recorded has what the record of a kernel's modules says, for a run that has to store some of them again. It is empty
// without such a record, and if everything in the record is stored.
type recorded struct {
	sums  map[string]string        // of each file that the record names, by its path without its suffix
	kept  map[string]*ModuleRecord // by File, the modules that stay as they are, as only others are tried again
	again map[string]bool          // by File, those that are tried again because of a fault of the program
}

// modulesDone returns the counts of a kernel's modules if the archive has all that their record names. If some of
// it is missing, or if there was a fault of the program with a module of this package, done is nil, and modulesDone
// returns what the record has. Without a record, done is nil and old is empty.
func (a *Archive) modulesDone(k *KernelRecord, pkg string) (done *ModuleCounts, old recorded, err error) {
	counts, err := countsOf(a.Dir, k)
	if err != nil || counts == nil {
		return nil, old, err
	}
	// Most records need not be read, because it is enough to count the files: a record has megabytes. So a file
	// that is too short shows only if another one is missing.
	if counts.Internal == 0 && countModules(a.Dir, k) == counts.Stored {
		return counts, old, nil
	}
	var rec ModulesRecord
	if err := readJSON(PathOf(a.Dir, k.ModulesFile()), &rec); err != nil {
		return nil, old, err
	}
	old = recorded{map[string]string{}, map[string]*ModuleRecord{}, map[string]bool{}}
	all := true
	for i := range rec.List {
		m := &rec.List[i]
		there, err := isThere(a.Dir, &m.Contents)
		if err != nil {
			return nil, recorded{}, err
		}
		all = all && there
		switch {
		case m.BTF != "":
			old.sums[withoutForm(m.BTF)] = m.SHA256
		case m.Internal && rec.Package == pkg:
			old.again[m.File] = true
			continue
		}
		if there {
			old.kept[m.File] = m
		}
	}
	if all && len(old.again) == 0 {
		return counts, recorded{}, nil // two modules have one file, or the folder has another, or another package had the fault
	}
	if len(old.again) == 0 {
		clear(old.kept)
	}
	return nil, old, nil
}

// countModules counts the files of BTF in the folder of a kernel's modules. It does not count links, which may lead
// nowhere.
func countModules(dir string, k *KernelRecord) (n int) {
	suffix := strings.TrimPrefix(k.BTF, k.ModulesDir())
	entries, _ := os.ReadDir(PathOf(dir, k.ModulesDir())) // an error makes the number wrong, and modulesDone looks again
	for _, e := range entries {
		if e.Type().IsRegular() && strings.HasSuffix(e.Name(), suffix) {
			n++
		}
	}
	return n
}

// reasonNotRecorded is for a module that another package has of a kernel whose modules are recorded.
const reasonNotRecorded = "the archive has modules of this kernel from another package, and not this one"
