// Package elfwrite puts the contents of sections into an existing ELF file
// without moving anything else in it.
//
// It serves btflite, which adds .BTF and .BTF.base to objects, modules and
// linked kernels.
// It does not link, relocate or strip, and it never lays out the other
// sections again: their offsets and bytes and all program headers stay as they
// are. The file is replaced as a whole by rename, so that at every instant
// the old or the new one is there.
package elfwrite

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/btflite/btflite/internal/draft"
	"github.com/btflite/btflite/internal/fileid"
	"github.com/btflite/btflite/internal/message"
)

// Section is a section to be set.
type Section struct {
	Name string
	Size int64 // of the contents, in bytes
	// Write produces exactly Size bytes.
	Write func(io.Writer) error
	// Fill, if set, is for a place that has more than Size bytes and must have
	// them all, since what is loaded from there is known to end with them: it
	// produces exactly size bytes that mean the same. Without it the section
	// ends early, and zeros follow.
	Fill func(w io.Writer, size int64) error
	// Stop, if set, is asked again and again while the rest of the file is copied, which takes
	// long for a large one. Its error ends the replacement.
	Stop func() error
}

// copyStep is how many bytes are copied between two looks at Stop.
const copyStep = 8 << 20

// Set gives sections of the ELF file at path new contents. A section of that
// name (the first, if there are several) is replaced, otherwise one is added.
// All sections change in one replacement of the file.
//
// The new file takes the mode, the owner and, where the system has them, the
// extended attributes of the old one. Attributes that sign the old contents
// (security.ima, security.evm) are dropped. A symbolic link stays, its target
// is replaced. Refused are anything but a regular file, a file with more than
// one hard link (a rename would part the names), and a file that another program
// changes or replaces meanwhile. When Set returns an error, the file is as it was and no
// other file is left behind; the one exception is an error of synchronising
// the folder, which comes after the replacement and says so.
//
// Where the contents go is described in layout.go. In short: a second run
// with the same contents gives the same file byte for byte, and runs with
// other contents do not add up. In a linked image the section may be part of
// what is loaded (SHF_ALLOC in a PT_LOAD, as .BTF of a kernel). Larger contents
// have no room there: the error is a *NoRoomError.
//
// read describes what path led to when the sections were made of that file; nil if they were
// not. Any other file that is there now, and one that was written to since, is refused with
// fileid.ErrChanged: it would get the contents of another one.
//
// first, if not nil, writes other outputs that belong to these. Set calls it when the new file is
// complete and on the disk, before it replaces the old one, with the name that the new file has
// meanwhile, "" if it has none. If first fails, the old file stays.
func Set(path string, read os.FileInfo, first func(temp string) error, sections ...Section) error {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	if err := set(target, read, sections, first); err != nil {
		var pathErr *os.PathError
		if errors.As(err, &pathErr) {
			if pathErr.Path == target {
				return err
			}
			err = fmt.Errorf("cannot %s a new file in its folder: %w", pathErr.Op, cause(pathErr.Err))
		}
		var linkErr *os.LinkError
		if errors.As(err, &linkErr) {
			err = fmt.Errorf("cannot %s a new file in its folder: %w", linkErr.Op, linkErr.Err)
		}
		return fmt.Errorf("%s: %w", message.OneLine(path), err)
	}
	return nil
}

// Check returns the error that Set would return for sections of these names, as far as
// that does not depend on their contents. It leaves nothing behind, and the file as it is.
func Check(path string, names ...string) error {
	var sections []Section
	for _, n := range names {
		sections = append(sections, Section{Name: n, Stop: func() error { return errOnlyChecked }})
	}
	err := Set(path, nil, nil, sections...)
	if errors.Is(err, errOnlyChecked) {
		return nil
	}
	return err
}

// errOnlyChecked ends a Set that is only a Check, before it copies anything.
var errOnlyChecked = errors.New("only checked")

// cause drops the name of the system call from err.
func cause(err error) error {
	var call *os.SyscallError
	if errors.As(err, &call) {
		return call.Err
	}
	return err
}

// MayReplace returns the error of putting another file in the place of the one that now
// describes: it is not a regular file, it has other names, or it is not as it was when read describes it. A nil
// read is not compared.
func MayReplace(now, read os.FileInfo) error {
	if !now.Mode().IsRegular() {
		return errors.New("not a regular file")
	}
	if read != nil && !fileid.Unchanged(read, now) {
		return fileid.ErrChanged
	}
	if n := linkCount(now); n > 1 {
		return fmt.Errorf("file has %d hard links, replacing it would part them", n)
	}
	return nil
}

// set is Set for a path that is not a symbolic link.
func set(target string, read os.FileInfo, sections []Section, first func(string) error) error {
	// Look before opening: opening a FIFO would wait for a writer.
	if info, err := os.Lstat(target); err != nil {
		return err
	} else if !info.Mode().IsRegular() {
		return errors.New("not a regular file")
	}
	src, err := os.Open(target)
	if err != nil {
		return err
	}
	defer src.Close()
	info, err := src.Stat()
	if err != nil {
		return err
	}
	if err := MayReplace(info, read); err != nil {
		return err
	}
	img, err := readImage(src, info.Size())
	if err != nil {
		return err
	}
	p, err := img.plan(sections)
	if err != nil {
		return err
	}
	return replace(target, src, info, func(tmp *os.File) error { return p.write(tmp, src, img, sections) }, first)
}

// replace writes a new file beside target with fill, gives it the metadata of
// src, described by info, and puts it in the place of target after first.
func replace(target string, src *os.File, info os.FileInfo, fill func(tmp *os.File) error, first func(string) error) error {
	dir := filepath.Dir(target)
	tmp, err := draft.New(dir, 0o600)
	if err != nil {
		return err
	}
	defer tmp.Discard()
	if err := fill(tmp.File); err != nil {
		return err
	}
	// In this order: a change of owner clears the set-id bits and file
	// capabilities, and attributes need the write permission that the mode
	// may take away.
	if err := copyOwner(tmp.File, info); err != nil {
		return err
	}
	copyXattrs(tmp.File, src)
	if err := tmp.Chmod(info.Mode()); err != nil {
		return err
	}
	if err := tmp.Sync(); err != nil {
		return err
	}
	src.Close() // some systems do not replace an open file
	if first != nil {
		if err := first(tmp.Temporary()); err != nil {
			return err
		}
	}
	// The last thing before the rename: what takes the place of another program's file
	// would be made of an older one.
	if err := fileid.CheckUnchanged(target, info); err != nil {
		return err
	}
	if err := tmp.Replace(target); err != nil {
		return err
	}
	return draft.SyncDir(dir)
}

// write carries out the plan: the kept bytes of src, then the contents, then
// the tables.
func (p *plan) write(tmp, src *os.File, img *image, sections []Section) error {
	if _, err := src.Seek(0, io.SeekStart); err != nil {
		return err
	}
	for at := int64(0); at < p.keep; {
		for i := range sections {
			if stop := sections[i].Stop; stop != nil {
				if err := stop(); err != nil {
					return err
				}
			}
		}
		n, err := io.CopyN(tmp, src, min(p.keep-at, copyStep))
		at += n
		if err == io.EOF {
			return fmt.Errorf("%w: it ends at %#x, not %#x", fileid.ErrChanged, at, p.keep)
		}
		if err != nil {
			return err
		}
	}
	if err := tmp.Truncate(p.end); err != nil {
		return err
	}
	for k, c := range p.contents {
		if _, err := tmp.Seek(c.off, io.SeekStart); err != nil {
			return err
		}
		if err := writeContent(tmp, c.size, c.writer(&sections[k])); err != nil {
			return err
		}
		if c.zero > 0 {
			if _, err := io.CopyN(tmp, zeros{}, c.zero); err != nil {
				return err
			}
		}
	}
	if p.moveNames {
		if _, err := tmp.WriteAt(img.names, p.names); err != nil {
			return err
		}
	}
	if _, err := tmp.WriteAt(img.shdrs, p.shoff); err != nil {
		return err
	}
	_, err := tmp.WriteAt(img.ehdr, 0)
	return err
}

// writeContent lets content write exactly size bytes to w.
func writeContent(w io.Writer, size int64, content func(io.Writer) error) error {
	limited := &exactWriter{w: bufio.NewWriterSize(w, 128<<10), left: size}
	if err := content(limited); err != nil {
		return err
	}
	if limited.left != 0 {
		return fmt.Errorf("section contents have %d bytes, %d were announced", size-limited.left, size)
	}
	return limited.w.Flush()
}

// exactWriter refuses to write more than left bytes.
type exactWriter struct {
	w    *bufio.Writer
	left int64
}

func (e *exactWriter) Write(b []byte) (int, error) {
	if int64(len(b)) > e.left {
		return 0, errors.New("section contents are longer than announced")
	}
	n, err := e.w.Write(b)
	e.left -= int64(n)
	return n, err
}

// zeros is an endless source of zero bytes.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}
