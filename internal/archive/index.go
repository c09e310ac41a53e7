package archive

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/btflite/btflite/internal/elfwrite"
	"github.com/btflite/btflite/internal/message"
)

// Index is all kernels of an archive, in the order of build-ids and then of paths.
type Index struct {
	Format  int            `json:"format"` // 1
	Kernels []KernelRecord `json:"kernels"`
}

// indexName is the file of the index.
const indexName = "index.json"

// maxIndex bounds an index that is read, in bytes.
const maxIndex = 1 << 30

// Merge reads the records of all kernels in the folder dir.
func Merge(dir string) (*Index, error) {
	x := &Index{Format: 1, Kernels: []KernelRecord{}}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		depth := strings.Count(name, "/")
		switch {
		case err != nil:
			return message.FileError(filepath.Join(dir, name), "cannot read", err)
		case d.IsDir() && (name == StoreDir || name == packagesDir):
			return fs.SkipDir
		case d.IsDir() && depth > 2:
			return fs.SkipDir // the files of a kernel are three folders down
		case depth != 3 || !strings.HasSuffix(name, RecordSuffix):
			return nil
		}
		var rec KernelRecord
		if err := readJSON(filepath.Join(dir, name), &rec); err != nil {
			return err
		}
		if rec.Modules, err = countsOf(dir, &rec); err != nil {
			return err
		}
		x.Kernels = append(x.Kernels, rec)
		return nil
	})
	slices.SortFunc(x.Kernels, func(a, b KernelRecord) int {
		return cmp.Or(strings.Compare(a.BuildID, b.BuildID), strings.Compare(a.BTF, b.BTF))
	})
	return x, err
}

// Write writes the index into the folder dir, in place of an older one.
func (x *Index) Write(dir string) error {
	at := filepath.Join(dir, indexName)
	data, err := encodeJSON(x)
	if err != nil {
		return err
	}
	return replaceFile(at, data)
}

// replaceFile writes a file in place of an older one.
func replaceFile(at string, data []byte) error {
	dir := filepath.Dir(at)
	f, err := newUnlinked(dir, 0o644)
	if err != nil {
		return message.FileError(at, "cannot write", err)
	}
	defer f.discard()
	if _, err = f.Write(data); err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = f.replace(at)
	}
	if err != nil {
		return message.FileError(at, "cannot write", err)
	}
	return message.FileError(at, "cannot write", elfwrite.SyncDir(dir))
}

// Find returns where the archive has the BTF of kernels whose build-id begins with buildID. If no
// kernel has it, Find looks for modules. It asks the index in the folder dir first. If there is no
// index, or it does not know the build-id, or a file that it names is gone, Find reads all records.
func Find(dir, buildID string) ([]string, error) {
	if x, err := readIndex(dir); err == nil {
		found, err := x.find(dir, buildID)
		if err != nil || len(found) > 0 && existing(dir, found) == nil {
			return found, err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	x, err := Merge(dir)
	if err != nil {
		return nil, err
	}
	found, err := x.find(dir, buildID)
	if err == nil {
		err = existing(dir, found)
	}
	return found, err
}

// existing returns an error for a path in the archive that is not there.
func existing(dir string, names []string) error {
	for _, name := range names {
		at := PathOf(dir, name)
		if _, err := os.Stat(at); err != nil {
			return message.FileError(at, "cannot open", err)
		}
	}
	return nil
}

func readIndex(dir string) (*Index, error) {
	at := filepath.Join(dir, indexName)
	data, err := readBounded(at, "an index", maxIndex)
	if err != nil {
		return nil, err
	}
	x := new(Index)
	return x, decodeJSON(at, data, x)
}

// find returns the paths of kernels whose build-id begins with prefix, or else of modules. It returns kernels
// from damaged packages only if no other kernel fits.
func (x *Index) find(dir, prefix string) (found []string, err error) {
	var doubtful []string
	for i := range x.Kernels {
		switch k := &x.Kernels[i]; {
		case !strings.HasPrefix(k.BuildID, prefix) || k.BTF == "":
		case k.PackageDamaged:
			doubtful = append(doubtful, k.BTF)
		default:
			found = append(found, k.BTF)
		}
	}
	if len(found) == 0 {
		found = doubtful
	}
	if len(found) > 0 {
		return found, nil
	}
	return x.findModules(dir, prefix)
}
