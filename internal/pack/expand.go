package pack

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz/lzma"

	"github.com/btflite/btflite/internal/xzfile"
)

// compression is a format that is known by its first bytes.
type compression struct {
	name, magic string
	open        func(io.Reader) (r io.Reader, done func(), err error)
}

// maxWindow bounds how far back compressed bytes may refer, which is memory of its own. xz -9
// asks for 64 MiB, and zstd --ultra -22 for 128.
const maxWindow = 128 << 20

var compressions = []compression{
	{"xz", "\xfd7zXZ\x00", func(r io.Reader) (io.Reader, func(), error) {
		x, err := xzfile.NewReader(r, maxWindow)
		return x, func() {}, err
	}},
	{"zstd", "\x28\xb5\x2f\xfd", func(r io.Reader) (io.Reader, func(), error) {
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, nil, err
		}
		return z, z.Close, nil
	}},
	{"gzip", "\x1f\x8b", func(r io.Reader) (io.Reader, func(), error) {
		z, err := gzip.NewReader(r)
		return z, func() {}, err
	}},
	{"lzma", lzmaMagic, openLZMA},
	{"bzip2", "BZh", func(r io.Reader) (io.Reader, func(), error) { return bzip2.NewReader(r), func() {}, nil }},
}

// lzmaMagic begins the usual files of the old lzma, which has no magic number: its usual properties, and
// a dictionary that is a multiple of 64 KiB.
const lzmaMagic = "\x5d\x00\x00"

// openLZMA reads lzma, as of rpms before 2010.
func openLZMA(r io.Reader) (io.Reader, func(), error) {
	z, err := lzma.ReaderConfig{DictCap: maxWindow}.NewReader(r)
	return z, func() {}, err
}

// isXZ is the place of xz in compressions.
const isXZ = 0

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
	i := indexOfCompression(head)
	if i == isXZ && at >= 0 && (w.search != nil || w.jobs > 1 || w.sparing) {
		if x, err := w.blocked(at, size); x != nil || err != nil {
			return w.inBlocks(x, joinWords(what, "xz"), err, use)
		}
	}
	if w.search != nil {
		return nil
	}
	var r io.Reader = in
	if i >= 0 {
		c := &compressions[i]
		what = joinWords(what, c.name)
		expanded, done, err := c.open(in)
		if err != nil {
			return fmt.Errorf("%s: %w", what, endOf(err))
		}
		defer done()
		r = &namedReader{expanded, what, w.meter}
	}
	return use(&limitedReader{r, w.meter})
}

// inBlocks is compressed for xz of several blocks, whose index was read with an error or without.
func (w *walk) inBlocks(x *xzfile.File, what string, err error, use func(io.Reader) error) error {
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", what, err)
	case w.search != nil:
		return w.last(x)
	}
	return w.parallel(x, func(r io.Reader) error { return use(&limitedReader{&namedReader{r, what, w.meter}, w.meter}) })
}

// joinWords joins two words, each of which may be "".
func joinWords(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + ", " + b
}

// indexOfCompression returns the format in compressions that begins with head, or -1.
func indexOfCompression(head []byte) int {
	for i := range compressions {
		if bytes.HasPrefix(head, []byte(compressions[i].magic)) {
			return i
		}
	}
	return -1
}

// endOf returns err, in words if it says that bytes are missing.
func endOf(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return xzfile.ErrCut
	}
	return err
}

// namedReader adds to errors what was read, and where.
type namedReader struct {
	r    io.Reader
	what string
	m    *meter
}

// Read implements io.Reader.
func (n *namedReader) Read(b []byte) (int, error) {
	k, err := n.r.Read(b)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("%s: after %d bytes of it, and %d expanded ones: %w", n.what, n.m.in, n.m.out, endOf(err))
	}
	return k, err
}
