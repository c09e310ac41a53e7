package pack

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/btflite/btflite/internal/expand"
	"github.com/btflite/btflite/internal/xzfile"
)

// headSize is how many bytes tell a format.
const headSize = 512

// compressed calls use with what in expands to, which is in itself if it is not compressed. what
// names in for errors; it may be "". In a package that is a file, in begins at the offset at and has
// size bytes; else at is -1.
func (w *walk) compressed(in *bufio.Reader, what string, at, size int64, use func(io.Reader) error) error {
	head, err := in.Peek(headSize)
	if err != nil && err != io.EOF {
		return fmt.Errorf("%s: %w", joinWords(what, "its first bytes"), endOf(err))
	}
	if len(head) == 0 && what != "" {
		return fmt.Errorf("%s is empty", what)
	}
	format := expand.Of(head)
	if format == expand.XZ && at >= 0 && w.temp != nil {
		// Each block is compared with its checksum before anything in it is visited.
		if x, err := w.blocked(at, size); x != nil || err != nil {
			return w.inBlocks(x, joinWords(what, "xz"), err, use)
		}
	}
	if w.search != nil {
		return nil
	}
	var r io.Reader = in
	if format != nil {
		what = joinWords(what, format.Name)
		expanded, err := format.Open(in)
		if err != nil {
			return fmt.Errorf("%s: %w", what, endOf(err))
		}
		defer expanded.Close()
		r, w.unproved = w.named(expanded, what), true
	}
	all := &limitedReader{r, w.meter}
	err = use(all)
	left := at + size - w.meter.in
	if format != nil && (err == nil || errors.Is(err, ErrStop) && at >= 0 && left >= 0 && left <= w.meter.in/littleLeft) {
		// The checksum is behind all files.
		if _, damage := io.Copy(io.Discard, all); damage != nil {
			return damage
		}
	}
	return err
}

// littleLeft says how much is little: a walk that needs no further file reads on to the checksum if no
// more than this part of what was read is left. In rpms the kernel is near the end.
const littleLeft = 8

// inBlocks is compressed for xz of several blocks, whose index was read with an error or without.
func (w *walk) inBlocks(x *xzfile.File, what string, err error, use func(io.Reader) error) error {
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", what, err)
	case w.search != nil:
		w.proved = x.Checked()
		return w.last(x)
	}
	w.proved = x.Checked()
	return w.parallel(x, func(r io.Reader) error { return use(&limitedReader{w.named(r, what), w.meter}) })
}

// joinWords joins two words, each of which may be "".
func joinWords(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + ", " + b
}

// endOf returns err, in words if it says that bytes are missing.
func endOf(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return xzfile.ErrCut
	}
	return err
}

// named returns a reader of what was expanded. Its errors say what was read, and where.
func (w *walk) named(r io.Reader, what string) io.Reader {
	return &errorReader{r, func(err error) error {
		return fmt.Errorf("%s: after %d bytes of it, and %d expanded ones: %w", what, w.meter.in, w.meter.out, endOf(err))
	}}
}

// errorReader gives another error in place of each error of a reader, except for io.EOF.
type errorReader struct {
	r    io.Reader
	made func(error) error
}

// Read implements io.Reader.
func (e *errorReader) Read(b []byte) (int, error) {
	n, err := e.r.Read(b)
	if err != nil && err != io.EOF {
		err = e.made(err)
	}
	return n, err
}
