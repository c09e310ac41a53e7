package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/btflite/btflite/internal/fileid"
	"github.com/btflite/btflite/internal/message"
)

// target is the place of an output. It is found before the work begins, so that a wrong
// name is an early error.
type target struct {
	path string // as the user wrote it, for messages
	// file is the regular file to replace, with symbolic links resolved: the link stays,
	// and the file that it points to is replaced. It is empty for a direct target.
	file string
	// A direct target (device, pipe, open descriptor) is written without a temporary
	// file: to stream, if it is set, otherwise by opening path.
	stream io.Writer
	info   fs.FileInfo    // of the existing file, or nil
	place  fileid.Place   // the place of path; none for a stream that is not a file
	draft  *preparedDraft // of file, or nil
}

// newFileMode is the mode of a new file before the umask. The umask alone decides who may
// read the output of a build. (pahole's files start with 0640.)
const newFileMode = 0o666

// resolveTarget finds the target for the file name given by the user. It is an error if it is
// one of the inputs, under whatever name.
func (c *cli) resolveTarget(path string, inputs []string) (*target, error) {
	if path == "" {
		return nil, usagef("empty output file name")
	}
	t := &target{path: path}
	if path == dash {
		t.path = "standard output"
	}
	switch path {
	case dash, "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1":
		t.openStream(c.stdout)
		return t, t.refuseInputs(inputs)
	case "/dev/stderr", "/dev/fd/2", "/proc/self/fd/2":
		t.openStream(c.stderr)
		return t, t.refuseInputs(inputs)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		t.file, err = newFilePath(path)
	case err == nil && info.IsDir():
		err = errors.New("is a directory")
	case err == nil:
		t.info = info
		if info.Mode().IsRegular() && !isDescriptor(path) {
			t.file, err = filepath.EvalSymlinks(path)
		}
	}
	if err == nil {
		t.place, err = fileid.PlaceOf(path)
	}
	if err != nil {
		return nil, message.FileError(path, "cannot write", err)
	}
	return t, t.refuseInputs(inputs)
}

// openStream makes t write to w.
func (t *target) openStream(w io.Writer) {
	t.stream = w
	if f, ok := fileOf(w); ok {
		if info, err := f.Stat(); err == nil {
			t.info = info
			t.place, _ = fileid.OfInfo(info)
		}
	}
}

// newFilePath returns the name under which a missing file would be created: path, or the
// place to which a dangling link points. Its folder must exist.
func newFilePath(path string) (string, error) {
	name, err := fileid.Follow(path)
	if err == nil && strings.HasSuffix(name, "/") {
		err = errors.New("is a directory name")
	}
	if err == nil {
		_, err = os.Stat(filepath.Dir(name))
	}
	return name, err
}

// derivedTarget finds the target for path, a name below the folder root that btflite
// makes up. It refuses links in place of the file and of the folders between root and
// path: the user has not named the file to which they lead, and another user may have
// made them. If path exists, it must be a regular file.
func derivedTarget(root, path string) (*target, error) {
	if err := refuseLinks(root, path); err != nil {
		return nil, message.FileError(path, "cannot write", err)
	}
	t := &target{path: path, file: path}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		_, err = os.Stat(filepath.Dir(path))
	case err == nil && !info.Mode().IsRegular():
		err = errors.New("not a regular file; remove it")
	case err == nil:
		t.info = info
	}
	if err == nil {
		t.place, err = fileid.PlaceOf(path)
	}
	if err != nil {
		return nil, message.FileError(path, "cannot write", err)
	}
	return t, nil
}

// makeFolderOf makes the folder of path, a name below the folder root that btflite makes up, for derivedTarget.
func (g *guard) makeFolderOf(root, path string) error {
	dir := filepath.Dir(path)
	err := refuseLinks(root, dir)
	if err == nil {
		err = g.makeFolder(dir)
	}
	return message.FileError(path, "cannot write", err)
}

// refuseLinks returns an error if path, or a folder between root and it, is a symbolic
// link. Either may be missing.
func refuseLinks(root, path string) error {
	name, err := filepath.Rel(root, path)
	if err != nil {
		return err
	}
	at := root
	for _, part := range strings.Split(name, string(filepath.Separator)) {
		if part == "." { // path is root, which the user has named
			continue
		}
		at = filepath.Join(at, part)
		if info, err := os.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%s is a symbolic link: btflite does not follow links to names that it makes up; remove it", message.OneLine(at))
		}
	}
	return nil
}

// isStdout reports whether the target is our standard output. If so, nothing else may be
// printed there.
func (c *cli) isStdout(t *target) bool {
	if t == nil {
		return false
	}
	if t.stream != nil {
		return t.stream == c.stdout
	}
	f, ok := fileOf(c.stdout)
	if !ok || t.info == nil || t.info.Mode()&fs.ModeDevice != 0 {
		return false
	}
	info, err := f.Stat()
	return err == nil && os.SameFile(info, t.info)
}

// sameFile reports whether two targets are one file, existing or not, or one stream. A
// device such as /dev/null can be several outputs.
func (t *target) sameFile(o *target) bool {
	if t.stream != nil && t.stream == o.stream {
		return true
	}
	if t.info != nil && t.info.Mode()&fs.ModeDevice != 0 {
		return false
	}
	return t.place != fileid.Place{} && t.place == o.place
}

// replaces reports whether the target would take the place of another output. out may be nil.
func (t *target) replaces(out *target) bool { return out != nil && t.sameFile(out) }

// otherTarget finds the place of an output beside outs, which may be nil. It must be neither an input nor one of
// outs. Without a path, the result is nil.
func (c *cli) otherTarget(path, what string, inputs []string, outs ...*target) (*target, error) {
	if path == "" {
		return nil, nil
	}
	to, err := c.resolveTarget(path, inputs)
	if err == nil && slices.ContainsFunc(outs, to.replaces) {
		err = fmt.Errorf("%s: %s would replace the output", message.OneLine(to.path), what)
	}
	return to, err
}

// refuseInputs returns an error if the target is one of the inputs.
func (t *target) refuseInputs(inputs []string) error {
	if t.info == nil || !t.info.Mode().IsRegular() {
		return nil
	}
	for _, in := range inputs {
		if in == dash {
			in = "/dev/stdin"
		}
		if info, err := os.Stat(in); err == nil && os.SameFile(info, t.info) {
			return fmt.Errorf("%s: the output is the input file %s", message.OneLine(t.path), message.OneLine(in))
		}
	}
	return nil
}

// refuseOwnBase returns an error if path, whose .BTF will be replaced, is a file of its
// base: the base would be lost.
func refuseOwnBase(path string, bases []string) error {
	info, err := os.Stat(path)
	if err != nil {
		return nil // reading it will give the error
	}
	for _, b := range bases {
		if of, err := os.Stat(b); err == nil && os.SameFile(info, of) {
			return fmt.Errorf("%s: is the base itself: its BTF would be replaced by the split BTF; write to another file", message.OneLine(path))
		}
	}
	return nil
}

// refuseOld returns an error if there is nothing to write, because of why, and the file
// of an earlier run exists: users could mistake it for the output of this run. A nil
// target stands for none.
func (t *target) refuseOld(why string) error {
	if t != nil && t.file != "" && t.info != nil {
		return fmt.Errorf("%s: nothing written, and %s of an earlier run is still there; remove it", why, message.OneLine(t.path))
	}
	return nil
}

// Side files (--extra_vars, --inline): split BTF over the main output, as it is or, if the
// name ends in ".o", as an object.

// sideFiles has the names of side files, or for modules their suffixes; "" for a file that is
// not wanted.
type sideFiles struct{ extraVars, inlineTo string }

// extraSuffix and inlineSuffix end the names of modules' side files.
const (
	extraSuffix  = ".vars.btf"
	inlineSuffix = ".inline.btf"
)

func (b *sideFiles) setExtraSuffix(v string) error  { return setSuffix(&b.extraVars, v, extraSuffix) }
func (b *sideFiles) setInlineSuffix(v string) error { return setSuffix(&b.inlineTo, v, inlineSuffix) }

// setSuffix sets the suffix of file names to v, or to usual if v is empty.
func setSuffix(dst *string, v, usual string) error {
	if strings.ContainsRune(v, '/') {
		return usagef("'%s' is not a valid file name suffix", message.OneLine(v))
	}
	*dst = cmp.Or(v, usual)
	return nil
}

// openSides finds the places of the side files; nil for a file that is not wanted.
func (c *cli) openSides(b *sideFiles, inputs []string, out *target) (extra, inlined *target, err error) {
	if extra, err = c.otherTarget(b.extraVars, "the extra variables", inputs, out); err != nil {
		return nil, nil, err
	}
	inlined, err = c.otherTarget(b.inlineTo, "the inlined functions", inputs, out)
	if err == nil && inlined != nil && inlined.replaces(extra) {
		err = fmt.Errorf("%s: the inlined functions would replace the extra variables", message.OneLine(inlined.path))
	}
	return extra, inlined, err
}
