// Package expand reads compressed files. It has one table of formats, which are known by their
// first bytes: for BTF and modules, for packages, and for boot images.
package expand

import (
	"bytes"
	"compress/bzip2"
	"errors"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz/lzma"

	"github.com/btflite/btflite/internal/xzfile"
)

// Format is a way of compressing.
type Format struct {
	Name  string // for messages
	magic string
	open  func(io.Reader) (io.ReadCloser, error)
}

// MaxWindow bounds how far back compressed bytes may refer, in bytes. That much memory is taken
// beside the contents: the window of a zstd frame, or the dictionary of an xz block. The zstd
// command has the same limit, and xz -9 asks for half of it.
const MaxWindow = 128 << 20

// HeadSize is how many bytes at the start of a file Of needs.
const HeadSize = 6

// XZ is the format whose files package xzfile can also read by blocks.
var XZ = &Format{"xz", "\xfd7zXZ\x00", func(r io.Reader) (io.ReadCloser, error) {
	return closing(xzfile.NewReader(r, MaxWindow))
}}

// ErrUnread is the error for a format that is known and not read.
var ErrUnread = errors.New("files of this format are not read")

// formats are all formats. The old lzma has no magic number: its usual properties are taken for
// one, with a dictionary that is a multiple of 64 KiB. LZ4 is the legacy form (lz4 -l), the only
// one that kernels read.
var formats = []*Format{
	XZ,
	{"gzip", "\x1f\x8b", func(r io.Reader) (io.ReadCloser, error) { return closing(gzip.NewReader(r)) }},
	{"zstd", zstdMagic, func(r io.Reader) (io.ReadCloser, error) {
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(MaxWindow))
		if err != nil {
			return nil, err
		}
		return z.IOReadCloser(), nil
	}},
	{"bzip2", "BZh", func(r io.Reader) (io.ReadCloser, error) { return closing(bzip2.NewReader(r), nil) }},
	{"lzma", "\x5d\x00\x00", func(r io.Reader) (io.ReadCloser, error) {
		return closing(lzma.ReaderConfig{DictCap: MaxWindow}.NewReader(r))
	}},
	{"LZ4", lz4Magic, func(r io.Reader) (io.ReadCloser, error) { return closing(newLZ4Reader(r), nil) }},
	{"LZO", "\x89LZO", func(io.Reader) (io.ReadCloser, error) { return nil, ErrUnread }},
}

// closing gives r, which was opened with err, a Close that does nothing.
func closing(r io.Reader, err error) (io.ReadCloser, error) {
	if err != nil {
		return nil, err
	}
	return io.NopCloser(r), nil
}

// zstdMagic begins a frame of zstd. zstdSkipped begins a frame that says nothing, behind a byte of 0x50 to
// 0x5f: pzstd writes one before each other frame.
const zstdMagic, zstdSkipped = "\x28\xb5\x2f\xfd", "\x2a\x4d\x18"

// Of returns the format of a file that begins with head, or nil if the file is not compressed.
func Of(head []byte) *Format {
	if len(head) > 0 && head[0]&0xf0 == 0x50 && bytes.HasPrefix(head[1:], []byte(zstdSkipped)) {
		head = []byte(zstdMagic)
	}
	for _, f := range formats {
		if bytes.HasPrefix(head, []byte(f.magic)) {
			return f
		}
	}
	return nil
}

// Open returns a reader of what r expands to. r is read from its first byte on. Errors, of the
// reader too, do not name the format.
func (f *Format) Open(r io.Reader) (io.ReadCloser, error) {
	x, err := f.open(r)
	if err != nil {
		return nil, f.plain(err)
	}
	return &plainReader{x, f}, nil
}

// plainReader takes the name of the format from the errors of a reader.
type plainReader struct {
	io.ReadCloser
	format *Format
}

// Read implements io.Reader.
func (p *plainReader) Read(b []byte) (int, error) {
	n, err := p.ReadCloser.Read(b)
	if err != nil && err != io.EOF {
		err = p.format.plain(err)
	}
	return n, err
}

// plain returns err without the name of the format, with which the errors of most libraries begin.
func (f *Format) plain(err error) error {
	for _, name := range []string{f.Name + ": ", f.Name + " "} {
		if text, ok := strings.CutPrefix(err.Error(), name); ok {
			return &plainError{text, err}
		}
	}
	return err
}

// plainError is an error in other words.
type plainError struct {
	text string
	err  error
}

// Error implements error.
func (p *plainError) Error() string { return p.text }

// Unwrap implements error.
func (p *plainError) Unwrap() error { return p.err }
