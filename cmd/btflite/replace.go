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
	return writeTogether(g, []output{{to: t, content: content}}, nil)
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

// put gives the draft the name t.file.
func (t *target) put(g *guard) error {
	if err := g.rename(t.draft.file, t.file); err != nil {
		return err
	}
	t.draft = nil
	return g.syncFolder(filepath.Dir(t.file))
}

// preparedDraft is a draft that has the whole output, on the disk. If it could not be written, err
// says why.
type preparedDraft struct {
	file *draft.File // nil if it could not be made
	err  error
}

// prepare writes the draft of a regular file before it is known whether the output may be used,
// so that both can be found out at once. It is followed by writeTogether or by discard. The file that
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
			return fmt.Errorf("%s: %w", message.OneLine(dir), err)
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

// output is one of the outputs of a run.
type output struct {
	to      *target // nil if content prints to a stream of its own and names it in errors
	content func(io.Writer) error
	late    bool // the content tells of the other outputs
}

// outputError is the error of one of several outputs.
type outputError struct {
	to *target
	error
}

func (e *outputError) Unwrap() error { return e.error }

// writeTogether writes all outputs, or none: every file is complete and on the disk before the first
// one is put in place. Streams and devices come before that too, as far as they take what is
// written. Late outputs are made when all others are complete.
//
// inPlace, if it is set, replaces one more file. It calls first when the new file is complete, and
// gives up if first fails.
func writeTogether(g *guard, outs []output, inPlace func(first func() error) error) (err error) {
	defer discardAll(g, outs)
	if err := prepareAll(g, outs, false); err != nil {
		return err
	}
	first := func() error {
		if err := prepareAll(g, outs, true); err != nil {
			return err
		}
		for _, o := range outs {
			if err := o.writeDirect(); err != nil {
				return err
			}
		}
		return nil
	}
	if inPlace == nil {
		err = first()
	} else {
		err = inPlace(first)
	}
	for i := 0; i < len(outs) && err == nil; i++ {
		if to := outs[i].to; to != nil && to.file != "" {
			err = to.failure(to.put(g))
		}
	}
	return err
}

// discardAll removes the drafts of outputs that are not in place.
func discardAll(g *guard, outs []output) {
	for _, o := range outs {
		o.to.discard(g)
	}
}

// prepareAll makes the drafts of all files that are late, or of all others.
func prepareAll(g *guard, outs []output, late bool) error {
	for i := range outs {
		o := &outs[i]
		if o.late != late || o.to == nil || o.to.file == "" {
			continue
		}
		if o.to.draft == nil {
			o.to.prepare(g, o.content)
		}
		o.content = nil // it is on the disk, and a run over thousands of kernels has thousands of outputs
		if err := o.to.draft.err; err != nil {
			return o.to.failure(err)
		}
	}
	return nil
}

// writeDirect writes an output that is not a file.
func (o *output) writeDirect() error {
	switch {
	case o.to == nil:
		return o.content(nil)
	case o.to.file == "":
		return o.to.failure(o.to.writeDirect(o.content))
	}
	return nil
}

// failure is the error for err, which came from writing t; nil for none.
func (t *target) failure(err error) error {
	if err == nil {
		return nil
	}
	var late *draft.NotSynced
	if errors.As(err, &late) {
		return &outputError{t, fmt.Errorf("%s: %w", message.OneLine(t.path), late)}
	}
	return &outputError{t, message.FileError(t.path, "cannot write", err)}
}

// failed reports whether err came from writing t.
func (t *target) failed(err error) bool {
	of := new(outputError)
	return errors.As(err, &of) && of.to == t
}
