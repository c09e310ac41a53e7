package archive

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"

	"github.com/btflite/btflite/internal/draft"
	"github.com/btflite/btflite/internal/message"
)

// StoreDir is the folder in an archive that has all contents, each file under its checksum.
const StoreDir = "store"

// stored is a file of the store.
type stored struct {
	name string // path in the archive
	sum  string // SHA-256 in hex
	size int64
}

// put adds a file to the store, unless the store has it already. The function write writes the size
// bytes of BTF, and put brings them into the form of the archive. name is the name that the BTF
// will get, without a suffix.
func (a *Archive) put(name string, size int64, write func(io.Writer) error) (*stored, error) {
	s := new(stored)
	sum := sha256.New()
	dir := filepath.Join(a.Dir, StoreDir)
	err := a.newFile(dir, func(w io.Writer) error {
		counted := &countingWriter{w: io.MultiWriter(w, sum)}
		err := a.Form.write(counted, name, size, write)
		s.size = counted.n
		return err
	}, func() string {
		s.sum = hex.EncodeToString(sum.Sum(nil))
		s.name = a.storeName(s.sum)
		return s.name
	})
	if errors.Is(err, fs.ErrExist) {
		err = a.intact(s.name, s.sum) // names are links to what is there
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// intact checks that a file of the archive still has the contents that it was written with. A disk, or
// a copy of the archive, may have damaged it since.
func (a *Archive) intact(name, sum string) error {
	at := PathOf(a.Dir, name)
	got, err := sumOf(at)
	if err == nil && hex.EncodeToString(got) != sum {
		err = &ownDamage{message.FileError(at, "cannot read", fmt.Errorf("its SHA-256 is not %s any more; remove the file and what links to it, and archive the package again", sum))}
	}
	return err
}

// storeName returns the path in the archive of contents with a checksum.
func (a *Archive) storeName(sum string) string {
	return path.Join(StoreDir, sum[:2], sum+a.Form.suffix())
}

// countingWriter counts what is written.
type countingWriter struct {
	w io.Writer
	n int64
}

// Write implements io.Writer.
func (c *countingWriter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

// contentsMode is read-only: a file with several names must not be changed under one of them.
const contentsMode = 0o444

// newFile writes a file without a name. When the file is complete, it calls name and gives the file
// the name that this returns, below the archive. The error is fs.ErrExist if that name is taken.
func (a *Archive) newFile(dir string, write func(io.Writer) error, name func() string) error {
	if err := makeFolder(dir); err != nil {
		return err
	}
	f, err := draft.New(dir, contentsMode)
	if err != nil {
		return message.FileError(dir, "cannot write", err)
	}
	defer f.Discard()
	b := bufio.NewWriterSize(f, 64<<10)
	if err = write(b); err == nil {
		err = b.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		return message.FileError(dir, "cannot write", err)
	}
	at := PathOf(a.Dir, name())
	if err := makeFolder(filepath.Dir(at)); err != nil {
		return err
	}
	if err := f.Link(at); err != nil {
		return message.FileError(at, "cannot write", err)
	}
	return synced(at)
}

// synced returns when the new name at is on the disk.
func synced(at string) error {
	if err := draft.SyncDir(filepath.Dir(at)); err != nil {
		return fmt.Errorf("%s: %w", message.OneLine(at), err)
	}
	return nil
}

// replaceJSON writes a record, or the index, in place of an older one.
func replaceJSON(at string, rec any) error {
	data, err := encodeJSON(rec)
	if err != nil {
		return err
	}
	dir := filepath.Dir(at)
	f, err := draft.New(dir, 0o644)
	if err != nil {
		return message.FileError(at, "cannot write", err)
	}
	defer f.Discard()
	if _, err = f.Write(data); err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = f.Replace(at)
	}
	if err != nil {
		return message.FileError(at, "cannot write", err)
	}
	return synced(at)
}

// makeFolder makes a folder of the archive, unless it is there. A link that leads nowhere, as to a disk that is not
// mounted, would be fs.ErrExist, which callers take for a file that another process has written.
func makeFolder(dir string) error {
	err := os.MkdirAll(dir, 0o777)
	if errors.Is(err, fs.ErrExist) {
		err = syscall.ENOTDIR
	}
	return message.FileError(dir, "cannot write", err)
}

// publishRecord writes a record. The error is fs.ErrExist if there already is one.
func (a *Archive) publishRecord(name string, rec any) error {
	data, err := encodeJSON(rec)
	if err != nil {
		return err
	}
	at := name + RecordSuffix
	return a.newFile(PathOf(a.Dir, path.Dir(at)), func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}, func() string { return at })
}

// replaceRecord replaces the record of a package if the package is not done by the old one: it may come from
// a run without modules, or name BTF that this run has given another name. And it replaces the record of a package
// that was cut short, or whose modules were tried again.
func (a *Archive) replaceRecord(rec *PackageRecord) error {
	at := PathOf(a.Dir, packageRecord(rec.Package)+RecordSuffix)
	old := new(PackageRecord)
	if err := readJSON(at, old); err != nil {
		return err
	}
	if done, err := a.isDone(old); err != nil || done && !rec.Retried && rec.Size == old.Size && rec.Ends == old.Ends {
		return err
	}
	return replaceJSON(at, rec)
}

// publishKernel gives the BTF of rec, which is in the store, its name in the archive, and writes
// the record. If another build of the same release has the name, the build-id becomes part of it.
func (a *Archive) publishKernel(rec *KernelRecord) error {
	from := rec.BTF
	for _, at := range rec.names() {
		rec.BTF = at + a.Form.suffix()
		old, err := a.kernelAt(at)
		if err != nil {
			return err
		}
		if old != nil && (old.BuildID != rec.BuildID || old.SHA256 != rec.SHA256) {
			if old.BuildID == rec.BuildID && rec.BuildID != "" && !old.PackageDamaged {
				return a.notRestored(rec.BTF)
			}
			continue // the name is another build's, even if that one's BTF is gone
		}
		free, err := a.linkTo(from, rec.BTF)
		if err == nil && !free && old != nil {
			return a.intact(rec.BTF, rec.SHA256)
		}
		if err == nil && free {
			free, err = a.recordTo(at, rec)
		}
		if err != nil || free {
			return err
		}
	}
	return a.otherContents(rec.BTF)
}

// kernelAt reads the record of a kernel. It returns nil if the archive does not have it. at is the path of the record in
// the archive, without its suffix.
func (a *Archive) kernelAt(at string) (*KernelRecord, error) {
	rec := new(KernelRecord)
	err := readJSON(PathOf(a.Dir, at)+RecordSuffix, rec)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return rec, err
}

// otherContents is the error for a name that an earlier run has given to something else.
func (a *Archive) otherContents(at string) error {
	return message.FileError(PathOf(a.Dir, at), "cannot write", &ownDamage{errors.New("it is there with other contents: of another program or other options; take another folder")})
}

// notRestored is the error for a file that is gone, if its record is of other contents than this run has.
func (a *Archive) notRestored(at string) error {
	return message.FileError(PathOf(a.Dir, at), "cannot restore", &ownDamage{errors.New("its record is of other contents, by another program or other options; take another folder")})
}

// names are the names that the kernel may have in the archive, without a suffix: the second one if
// another build of the release has the first.
func (r *KernelRecord) names() [2]string {
	first := path.Join(r.dir(), r.fileName())
	return [2]string{first, first + "+" + r.id()}
}

// kernelDone returns the record that an earlier run has written of the kernel, nil if there is
// none, or if its BTF is gone. Kernels without a build-id cannot be told from others before they are encoded.
func (a *Archive) kernelDone(rec *KernelRecord) (*KernelRecord, error) {
	if rec.BuildID == "" {
		return nil, nil
	}
	for _, name := range rec.names() {
		old, err := a.kernelAt(name)
		if err != nil {
			return nil, err
		}
		if old == nil || old.BuildID != rec.BuildID || old.PackageDamaged {
			continue
		}
		if there, err := isThere(a.Dir, &old.Contents); err != nil || there {
			old.Before = there
			return old, err
		}
	}
	return nil, nil
}

// id tells builds of one release apart.
func (r *KernelRecord) id() string {
	return shortID(cmp.Or(r.BuildID, r.SHA256))
}

// shortID returns as much of a build-id or a checksum as names have.
func shortID(id string) string {
	const digits = 12
	return id[:min(digits, len(id))]
}

// linkTo gives a file of the store another name. It reports false if that name has other contents.
func (a *Archive) linkTo(from, to string) (free bool, err error) {
	source, at := PathOf(a.Dir, from), PathOf(a.Dir, to)
	if err := makeFolder(filepath.Dir(at)); err != nil {
		return false, err
	}
	switch err = os.Link(source, at); {
	case err == nil:
		return true, synced(at)
	case errors.Is(err, fs.ErrExist):
		return sameContents(source, at)
	}
	// No more links, or none at all on this file system.
	err = a.newFile(filepath.Dir(at), func(w io.Writer) error { return copyFile(w, source) }, func() string { return to })
	if errors.Is(err, fs.ErrExist) {
		return sameContents(source, at)
	}
	return err == nil, err
}

func copyFile(w io.Writer, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}

// sameContents compares two files.
func sameContents(a, b string) (bool, error) {
	one, err := os.Stat(a)
	if err != nil {
		return false, message.FileError(a, "cannot read", err)
	}
	two, err := os.Stat(b)
	if err != nil {
		return false, message.FileError(b, "cannot read", err)
	}
	if os.SameFile(one, two) {
		return true, nil
	}
	if one.Size() != two.Size() {
		return false, nil
	}
	x, err := sumOf(a)
	if err != nil {
		return false, err
	}
	y, err := sumOf(b)
	return bytes.Equal(x, y), err
}

// sumOf returns the checksum of a file.
func sumOf(name string) ([]byte, error) {
	sum := sha256.New()
	err := copyFile(sum, name)
	return sum.Sum(nil), message.FileError(name, "cannot read", err)
}

// recordTo writes the record of a kernel, or finds it there. It reports false if the one that is
// there is of another build.
func (a *Archive) recordTo(at string, rec *KernelRecord) (free bool, err error) {
	err = a.publishRecord(at, rec)
	if !errors.Is(err, fs.ErrExist) {
		return err == nil, err
	}
	old := new(KernelRecord) // not kernelAt: if the record is gone meanwhile, that is an error
	if err := readJSON(PathOf(a.Dir, at)+RecordSuffix, old); err != nil {
		return false, err
	}
	if old.BuildID != rec.BuildID || old.SHA256 != rec.SHA256 {
		return false, nil
	}
	if !old.PackageDamaged {
		return true, nil
	}
	return true, replaceJSON(PathOf(a.Dir, at)+RecordSuffix, rec) // its doubt is gone
}
