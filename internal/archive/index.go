package archive

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/btflite/btflite/internal/message"
)

// Index is all kernels of an archive, in the order of build-ids and then of paths.
type Index struct {
	Format  int            `json:"format"` // 1
	Kernels []KernelRecord `json:"kernels"`
}

func (x *Index) files() []*Contents { return filesOf(x.Kernels) }

// indexName is the file of the index.
const indexName = "index.json"

// maxIndex bounds an index that is read, in bytes.
const maxIndex = 1 << 30

// Merge reads the records of all kernels in the folder dir. A folder with other files that has never been an archive is an
// error: somebody may have named the wrong one, and Write would replace an index.json there.
func Merge(dir string) (*Index, error) {
	x := &Index{Format: 1, Kernels: []KernelRecord{}}
	err := eachRecord(dir, "", 0, func(name string) error {
		var rec KernelRecord
		err := readJSON(PathOf(dir, name), &rec)
		if err == nil {
			rec.Modules, err = countsOf(dir, &rec)
		}
		x.Kernels = append(x.Kernels, rec)
		return err
	})
	slices.SortStableFunc(x.Kernels, func(a, b KernelRecord) int {
		return cmp.Or(strings.Compare(a.BuildID, b.BuildID), strings.Compare(a.BTF, b.BTF))
	})
	// By a link to a folder of the archive, a record has two paths.
	x.Kernels = slices.CompactFunc(x.Kernels, func(a, b KernelRecord) bool { return a.BuildID == b.BuildID && a.BTF == b.BTF && a.BTF != "" })
	if err == nil && len(x.Kernels) == 0 {
		err = checkArchive(dir)
	}
	return x, err
}

// checkArchive returns an error for a folder without kernels, unless it is empty or has records of packages.
func checkArchive(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return message.FileError(dir, "cannot read", err)
	}
	for _, e := range entries {
		if e.Name() == PackagesDir {
			return nil
		}
	}
	if len(entries) == 0 {
		return nil
	}
	return fmt.Errorf("%s: it is not an archive: it has neither records of kernels nor the folder %s", message.OneLine(dir), PackagesDir)
}

// recordDepth is how many folders down the files of a kernel are.
const recordDepth = 3

// eachRecord calls visit for each record of a kernel below the folder name of the archive in dir. It follows links to
// folders, as runs do that write there: a part of the archive may be on another disk.
func eachRecord(dir, name string, depth int, visit func(name string) error) error {
	entries, err := os.ReadDir(PathOf(dir, name))
	if err != nil {
		return message.FileError(PathOf(dir, name), "cannot read", err)
	}
	for _, e := range entries {
		child := path.Join(name, e.Name())
		folder := e.IsDir()
		if depth < recordDepth && e.Type()&fs.ModeSymlink != 0 {
			info, err := os.Stat(PathOf(dir, child))
			if err != nil {
				return message.FileError(PathOf(dir, child), "cannot read", err)
			}
			folder = info.IsDir()
		}
		switch {
		case child == StoreDir || child == PackagesDir:
		case depth < recordDepth && folder:
			err = eachRecord(dir, child, depth+1, visit)
		case depth == recordDepth && !folder && strings.HasSuffix(child, RecordSuffix):
			err = visit(child)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Write writes the index into the folder dir, in place of an older one.
func (x *Index) Write(dir string) error { return replaceJSON(filepath.Join(dir, indexName), x) }

// Lost is BTF that the index has and a reader does not get.
type Lost struct {
	Name string // path in the archive
	Err  error  // why it cannot be opened, or is not what its record says; nil if it is not there
}

// Lost looks in the folder dir for all BTF that the index has, without reading it, and returns what is wrong.
func (x *Index) Lost(dir string) (lost []Lost) {
	for i := range x.Kernels {
		c := &x.Kernels[i].Contents
		if c.BTF == "" {
			continue
		}
		info, err := lookAt(dir, c.BTF)
		if err == nil && info != nil {
			err = otherFile(dir, c, info)
		}
		if err != nil || info == nil {
			lost = append(lost, Lost{c.BTF, err})
		}
	}
	return lost
}

// otherFile says in what the file that c names differs from the one that c describes; nil if it does not, as far as can
// be told without reading it.
func otherFile(dir string, c *Contents, info fs.FileInfo) error {
	what := "it is not a file"
	switch {
	case c.isFile(info):
		return nil
	case info.Mode().IsRegular():
		what = fmt.Sprintf("it has %s bytes, and its record says %s", message.Grouped(uint64(info.Size())), message.Grouped(uint64(c.Size)))
	}
	return &ownDamage{message.FileError(PathOf(dir, c.BTF), "cannot use", errors.New(what+"; remove it and what links to it, and archive the package again"))}
}
