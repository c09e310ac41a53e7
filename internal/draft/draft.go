// Package draft writes a file that gets its name when it is whole, so that there is never a part of it under
// that name.
//
// Until then the file has no name at all, so nothing of it is left however the process ends, also if the system
// kills it because memory is short. NFS and some other file systems have no files without a name, nor has any other
// system than Linux. There the file has a temporary name meanwhile, which a kill leaves behind.
package draft

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
)

// File is a file that is being written. The caller ends it by Discard, also after Link or Replace.
type File struct {
	*os.File
	dir       string
	temporary string // the name that it has meanwhile; "" for none
	closed    bool
}

// Nameless makes New prefer files without a name, where the file system has them. Tests clear it.
var Nameless = true

// New makes a file in the folder dir, with mode less the umask.
func New(dir string, mode fs.FileMode) (*File, error) {
	if Nameless {
		if f, err := openNameless(dir, mode); err == nil {
			return &File{File: f, dir: dir}, nil
		}
	}
	var err error
	for range 100 { // another process may have the random name
		var f *os.File
		name := temporaryName(dir)
		if f, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode); err == nil {
			return &File{File: f, dir: dir, temporary: name}, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return nil, err
}

// temporaryName returns a random name in dir. The target's name is not in it, as that may be as long as a name can be.
func temporaryName(dir string) string {
	return filepath.Join(dir, ".btflite-"+strconv.FormatUint(rand.Uint64(), 36)+".tmp")
}

// Temporary returns the path that the file has now, "" if it has none.
func (f *File) Temporary() string { return f.temporary }

// Link gives the file the name path in its folder or in another one of the same disk. An error that is fs.ErrExist
// says that the name is taken. The file stays open.
func (f *File) Link(path string) error {
	if f.temporary == "" {
		return linkNameless(f.File, path)
	}
	err := os.Link(f.temporary, path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	if renameNew(f.temporary, path) == nil { // some file systems have no links
		f.temporary = ""
		return nil
	}
	return err
}

// Rest closes the file and leaves it with a temporary name until Replace. It is for a file that is whole and waits with
// many others: a process can have some hundred files open.
func (f *File) Rest() error {
	if f.temporary == "" {
		temporary := temporaryName(f.dir)
		if err := linkNameless(f.File, temporary); err != nil {
			return err
		}
		f.temporary = temporary
	}
	return f.close()
}

// Replace closes the file and gives it the name path, in place of a file that has it. The caller has called Sync before.
// Only a name can take the place of another, so the file has a temporary one between two calls of the system, unless
// path is free.
func (f *File) Replace(path string) error {
	if f.temporary == "" {
		err := linkNameless(f.File, path)
		if err == nil {
			_ = f.close() // it has its name, and Sync has told whether it is on the disk
			return nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	if err := f.Rest(); err != nil { // some systems do not rename an open file
		return err
	}
	err := os.Rename(f.temporary, path)
	if err == nil {
		f.temporary = ""
	}
	return err
}

// close closes the file, once.
func (f *File) close() error {
	if f.closed {
		return nil
	}
	f.closed = true
	return f.Close()
}

// Discard closes the file and removes its temporary name, if it has one. A file without any name is gone then.
func (f *File) Discard() {
	_ = f.close()
	if f.temporary != "" {
		os.Remove(f.temporary)
		f.temporary = ""
	}
}

// NotSynced says that a file has its name and its contents, but that the system may not have
// written the name to the disk.
type NotSynced struct{ Err error }

func (e *NotSynced) Error() string {
	return "written, but the folder cannot be synchronised, so a power failure may undo it: " + e.Err.Error()
}

// Unwrap returns the system's error.
func (e *NotSynced) Unwrap() error { return e.Err }

// unname takes the temporary name from an open file. Tests replace it.
var unname = os.Remove

// Unnamed makes a file in the folder dir that never gets a name.
func Unnamed(dir string, mode fs.FileMode) (*os.File, error) {
	f, err := New(dir, mode)
	if err != nil {
		return nil, err
	}
	if f.temporary != "" {
		if err := unname(f.temporary); err != nil {
			f.Discard()
			return nil, err
		}
	}
	return f.File, nil
}
