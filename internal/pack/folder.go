package pack

import (
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/btflite/btflite/internal/fileid"
	"github.com/btflite/btflite/internal/message"
)

// folder walks over the folder at path in the order of names. Links are left out, and a file that became
// one meanwhile is not opened.
func (w *walk) folder(path string) error {
	root, err := os.OpenRoot(path)
	if err != nil {
		return message.FileError(path, "cannot open", err)
	}
	defer root.Close()
	return fs.WalkDir(anyNames{root}, ".", func(name string, d fs.DirEntry, err error) error {
		full := path
		if name != "." {
			full = strings.TrimSuffix(path, "/") + "/" + name
		}
		if err != nil {
			return message.FileError(full, "cannot read", err)
		}
		if err := w.meter.entry(name); err != nil {
			return err
		}
		if !d.Type().IsRegular() {
			return nil
		}
		f, err := root.OpenFile(name, os.O_RDONLY|fileid.NoFollow|syscall.O_NONBLOCK, 0)
		if err != nil {
			return message.FileError(full, "cannot open", err)
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil || !info.Mode().IsRegular() {
			return message.FileError(full, "cannot read", err)
		}
		return w.give(name, info.Size(), f, f)
	})
}

// anyNames opens the files of a folder whatever their names are. The file system of os.Root refuses names that
// are not UTF-8.
type anyNames struct{ root *os.Root }

// Open implements fs.FS.
func (a anyNames) Open(name string) (fs.File, error) { return a.root.Open(name) }
