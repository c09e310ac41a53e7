package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"github.com/btflite/btflite/internal/draft"
	"github.com/btflite/btflite/internal/message"
)

// outputBuffer collects small writes. The encoder writes large blocks.
const outputBuffer = 8 << 10

// write writes the output of content to the target. A regular file is either replaced as
// a whole or not changed: the bytes go to a draft in the same folder, reach the disk,
// and then the draft takes the name. Errors name the target.
func (t *target) write(g *guard, content func(io.Writer) error) error {
	err := error(nil)
	if t.file == "" {
		err = t.writeDirect(content)
	} else {
		err = t.replace(g, content)
	}
	return message.FileError(t.path, "cannot write", err)
}

// writeDirect writes to an open stream, a device or a pipe.
func (t *target) writeDirect(content func(io.Writer) error) error {
	if t.stream != nil {
		return streamError(buffered(t.stream, content))
	}
	f, err := os.OpenFile(t.path, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	return errors.Join(buffered(f, content), f.Close())
}

// replace puts the draft, which has the output of content, in place.
func (t *target) replace(g *guard, content func(io.Writer) error) error {
	defer t.discard(g) // after a panic of content, too
	if t.draft == nil {
		t.prepare(g, content)
	}
	if t.draft.err != nil {
		return t.draft.err
	}
	return t.put(g)
}

// put gives the draft the name t.file.
func (t *target) put(g *guard) error {
	if err := g.rename(t.draft.file, t.file); err != nil {
		return err
	}
	t.draft = nil
	if err := g.syncFolder(filepath.Dir(t.file)); err != nil {
		return fmt.Errorf("file written, but its folder could not be synchronised: %w", err)
	}
	return nil
}

// preparedDraft is a draft that has the whole output, on the disk. If it could not be written, err
// says why.
type preparedDraft struct {
	file *draft.File // nil if it could not be made
	err  error
}

// prepare writes the draft of a regular file before it is known whether the output may be used,
// so that both can be found out at once. It is followed by write or by discard. The file that
// the draft would replace stays as it is.
func (t *target) prepare(g *guard, content func(io.Writer) error) {
	mode := fs.FileMode(newFileMode)
	if t.info != nil {
		mode = t.info.Mode().Perm()
	}
	f, err := g.create(filepath.Dir(t.file), mode)
	t.draft = &preparedDraft{f, err}
	if err != nil {
		return
	}
	if t.draft.err = t.fill(f, mode, content); t.draft.err == nil {
		t.draft.err = g.rest(f)
	}
}

// fill writes the output of content to the draft f.
func (t *target) fill(f *draft.File, mode fs.FileMode, content func(io.Writer) error) error {
	if err := buffered(f, content); err != nil {
		return err
	}
	if t.info != nil { // the umask has reduced the mode of the old file
		if err := f.Chmod(mode); err != nil {
			return err
		}
	}
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

// discard removes the draft, if there is one.
func (t *target) discard(g *guard) {
	if t == nil || t.draft == nil {
		return
	}
	if t.draft.file != nil {
		g.discard(t.draft.file)
	}
	t.draft = nil
}

// syncFolder makes a rename in a folder last, or leaves that to syncFolders.
func (g *guard) syncFolder(dir string) error {
	g.mu.Lock()
	later := g.unsynced != nil
	if later {
		g.unsynced[dir] = struct{}{}
	}
	g.mu.Unlock()
	if later {
		return nil
	}
	return syncDir(dir)
}

// syncLater makes syncFolder leave its work to syncFolders.
func (g *guard) syncLater() { g.unsynced = map[string]struct{}{} }

// syncFolders makes all renames last that syncFolder has left to it: once for each folder. Each
// file has reached the disk before it was renamed, so after a power failure meanwhile it is the old
// one or the new one.
func (g *guard) syncFolders() error {
	for _, dir := range slices.Sorted(maps.Keys(g.unsynced)) {
		if err := syncDir(dir); err != nil {
			return message.FileError(dir, "files written, but it could not be synchronised", err)
		}
	}
	g.unsynced = nil
	return nil
}

// syncDir is replaced by tests.
var syncDir = draft.SyncDir

// buffers has buffers of outputs. A run over many modules writes one file after another.
var buffers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, outputBuffer) }}

// buffered runs content over a buffer in front of w.
func buffered(w io.Writer, content func(io.Writer) error) error {
	b := buffers.Get().(*bufio.Writer)
	b.Reset(w)
	defer func() {
		b.Reset(nil)
		buffers.Put(b)
	}()
	if err := content(b); err != nil {
		return err
	}
	return b.Flush()
}
