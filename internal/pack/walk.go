package pack

import (
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/btflite/btflite/internal/message"
)

// File is a regular file of a package.
type File struct {
	Name string // relative to the package, with slashes, without "." and ".."
	Size int64  // in bytes, as the package says it
	// Reader gives the contents until the function that was given the File returns. Contents
	// that are shorter than Size end with an error.
	io.Reader
	// OnDisk is the file itself, if the package is a folder or the file; else nil.
	OnDisk *os.File

	inner *inner // for Expand
}

// visitor takes a file of a package.
type visitor func(*File) error

// walk is one pass over a package.
type walk struct {
	info  *Info // to be completed
	meter *meter
	visit visitor
	file  *os.File // the package, if it can be read at any offset; else nil

	// See Package. Without temp, the others mean nothing.
	temp    func() (*os.File, error)
	jobs    int
	sparing bool

	search *search // what to look for from the end; nil to read all from the beginning
	inner  inner   // of files that are compressed by themselves

	unproved bool  // for Package.Unproved
	proved   bool  // what is read has been compared with a checksum already
	sums     *sums // of the files; nil if there are none
}

// give hands out a regular file that a package calls name.
func (w *walk) give(name string, size int64, r io.Reader, disk *os.File) error {
	clean := path.Clean(strings.TrimPrefix(name, "./"))
	// The system allows any bytes in the name of a file, so a package may have names that are not UTF-8.
	if !filepath.IsLocal(clean) || clean == "." || strings.ContainsRune(name, 0) {
		return fmt.Errorf("entry %d is called %q, which leads out of the package", w.meter.entries, message.OneLine(shorten(name)))
	}
	if err := w.meter.checkFile(clean, size); err != nil {
		return err
	}
	w.inner.limits = w.meter.limits
	if w.sums != nil && !w.proved {
		r = w.sums.check(clean, r)
	}
	return w.visit(&File{clean, size, r, disk, &w.inner})
}

// shorten cuts a name that a message is to have.
func shorten(name string) string {
	const most = 200
	if len(name) > most {
		return name[:most] + "..."
	}
	return name
}
