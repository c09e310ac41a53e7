package archive

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// unlinked is a new file that has no name yet, or a temporary one where that cannot be.
type unlinked struct {
	*os.File
	temporary string // the name that it has meanwhile; "" for none
}

// temporaryPattern is the form of the names of temporary files. A kill leaves one only on file systems
// without files that have no name.
const temporaryPattern = ".btflite-*.tmp"

// newUnlinked makes a file in dir, with mode less the umask.
func newUnlinked(dir string, mode fs.FileMode) (*unlinked, error) {
	f, err := openNameless(dir, mode)
	if err == nil {
		return &unlinked{File: f}, nil
	}
	if f, err = os.CreateTemp(dir, temporaryPattern); err != nil {
		return nil, err
	}
	return &unlinked{f, f.Name()}, f.Chmod(mode)
}

// link gives the file its name. An error that is fs.ErrExist says that it is taken.
func (u *unlinked) link(name string) error {
	if u.temporary == "" {
		return linkNameless(u.File, name)
	}
	err := os.Link(u.temporary, name)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	if renameNew(u.temporary, name) == nil { // some file systems have no links
		u.temporary = ""
		return nil
	}
	return err
}

// replace gives the file the name of another one. It has a temporary name between two calls of the system, as only a
// name can take the place of another.
func (u *unlinked) replace(name string) error {
	if u.temporary == "" {
		random := strconv.FormatUint(rand.Uint64(), 36)
		temporary := filepath.Join(filepath.Dir(name), strings.Replace(temporaryPattern, "*", random, 1))
		if err := linkNameless(u.File, temporary); err != nil {
			return err
		}
		u.temporary = temporary
	}
	err := os.Rename(u.temporary, name)
	if err == nil {
		u.temporary = ""
	}
	return err
}

// discard closes the file. What has no name is gone then.
func (u *unlinked) discard() {
	u.Close()
	if u.temporary != "" {
		os.Remove(u.temporary)
	}
}

// unnamed makes a file that never gets a name.
func unnamed(dir string, mode fs.FileMode) (*os.File, error) {
	u, err := newUnlinked(dir, mode)
	if err != nil {
		return nil, err
	}
	if u.temporary != "" {
		err = os.Remove(u.temporary)
	}
	return u.File, err
}
