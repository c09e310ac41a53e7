package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/btflite/btflite/internal/message"
)

// target is where an output goes. It is found before the work begins, so that a
// wrong name is an error at once.
type target struct {
	path string // as given, for messages
	// file is the regular file to replace, symbolic links resolved: the link
	// stays and what it points to is replaced. Empty for a direct target.
	file string
	// A direct target (device, pipe, open descriptor) is written as it is:
	// to stream, if set, else by opening path.
	stream io.Writer
	info   fs.FileInfo // of what exists, nil if nothing
}

// newFileMode is the mode of a new file before the umask, which alone decides who
// may read what a build makes. (pahole's files begin with 0640.)
const newFileMode = 0o666

// maxLinks bounds a chain of symbolic links, as the kernel does.
const maxLinks = 40

// resolveTarget finds the target for the file name given by the user.
func (c *cli) resolveTarget(path string) (*target, error) {
	if path == "" {
		return nil, usagef("empty output file name")
	}
	t := &target{path: path}
	if path == dash {
		t.path = "standard output"
	}
	switch path {
	case dash, "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1":
		t.stream = c.stdout
		if f, ok := c.stdout.(*os.File); ok {
			t.info, _ = f.Stat()
		}
		return t, nil
	case "/dev/stderr", "/dev/fd/2", "/proc/self/fd/2":
		t.stream = c.stderr
		return t, nil
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		t.file, err = newFilePath(path)
		return t, err
	case err != nil:
		return nil, message.FileError(path, "cannot write", err)
	case info.IsDir():
		return nil, fmt.Errorf("%s: cannot write: is a directory", message.OneLine(path))
	}
	t.info = info
	if !info.Mode().IsRegular() || strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/self/fd/") {
		return t, nil
	}
	if t.file, err = filepath.EvalSymlinks(path); err != nil {
		return nil, message.FileError(path, "cannot write", err)
	}
	return t, nil
}

// newFilePath is the name under which a file that does not exist would be
// created: path, or where a dangling link points. Its folder must exist.
func newFilePath(path string) (string, error) {
	name := path
	for range maxLinks {
		link, err := os.Readlink(name)
		if err != nil {
			break
		}
		if !filepath.IsAbs(link) {
			link = filepath.Join(filepath.Dir(name), link)
		}
		name = link
	}
	if strings.HasSuffix(name, "/") {
		return "", fmt.Errorf("%s: cannot write: is a directory name", message.OneLine(path))
	}
	if _, err := os.Stat(filepath.Dir(name)); err != nil {
		return "", message.FileError(path, "cannot write", err)
	}
	return name, nil
}

// isStdout tells whether the target is our standard output, which then must
// carry nothing else.
func (c *cli) isStdout(t *target) bool {
	if t == nil {
		return false
	}
	if t.stream != nil {
		return t.stream == c.stdout
	}
	f, ok := c.stdout.(*os.File)
	if !ok || t.info == nil || t.info.Mode()&fs.ModeDevice != 0 {
		return false
	}
	info, err := f.Stat()
	return err == nil && os.SameFile(info, t.info)
}

// sameFile tells whether two targets are one file, there already or not, or one
// stream.
func (t *target) sameFile(o *target) bool {
	if t.stream != nil || o.stream != nil {
		return t.stream == o.stream
	}
	if t.info != nil && o.info != nil {
		return os.SameFile(t.info, o.info)
	}
	a, err := filepath.Abs(t.file)
	b, err2 := filepath.Abs(o.file)
	return t.file != "" && o.file != "" && err == nil && err2 == nil && a == b
}

// refuseInputs returns an error if the target is one of the inputs, by
// whatever name.
func (t *target) refuseInputs(inputs []string) error {
	if t.info == nil || !t.info.Mode().IsRegular() {
		return nil
	}
	for _, in := range inputs {
		if info, err := os.Stat(in); err == nil && os.SameFile(info, t.info) {
			return fmt.Errorf("%s: the output is the input file %s", message.OneLine(t.path), message.OneLine(in))
		}
	}
	return nil
}

// refuseOwnBase returns an error if path, whose .BTF is to be replaced, is a file
// of its base: the base would be gone.
func refuseOwnBase(path string, bases []string) error {
	info, err := os.Stat(path)
	if err != nil {
		return nil // whoever reads it will say why
	}
	for _, b := range bases {
		if of, err := os.Stat(b); err == nil && os.SameFile(info, of) {
			return fmt.Errorf("%s: is the base itself, whose BTF would be replaced by what goes over it; write to another file", message.OneLine(path))
		}
	}
	return nil
}

// refuseOld returns an error if nothing is to be written, because of why, and the
// file of an earlier run is there: it could be taken for the output of this one.
// A nil target stands for none.
func (t *target) refuseOld(why string) error {
	if t != nil && t.file != "" && t.info != nil {
		return fmt.Errorf("%s: nothing written, and %s of an earlier run is still there; remove it", why, message.OneLine(t.path))
	}
	return nil
}
