package loadbtf

import (
	"bytes"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/btflite/btflite/internal/xzfile"
)

// Compression is a format that is known by its first bytes.
type Compression struct {
	Name  string
	magic string
	open  func(io.Reader) (io.Reader, error)
}

var compressions = []Compression{
	{"gzip", "\x1f\x8b", func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }},
	{"xz", "\xfd7zXZ\x00", func(r io.Reader) (io.Reader, error) { return xzfile.NewReader(r, maxWindow) }},
	{"zstd", "\x28\xb5\x2f\xfd", func(r io.Reader) (io.Reader, error) {
		return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	}},
}

// maxWindow bounds how far back a compressed file may refer, which is memory of its own: the
// window of a zstd frame and the dictionary of an xz block. The zstd command has the same limit, and
// xz -9 asks for half of it.
const maxWindow = 128 << 20

// CompressionOf is the format that a file with these first bytes has, or nil.
func CompressionOf(head []byte) *Compression {
	for i := range compressions {
		if strings.HasPrefix(string(head), compressions[i].magic) {
			return &compressions[i]
		}
	}
	return nil
}

// IsELF reports whether a file with these first bytes is an ELF file.
func IsELF(head []byte) bool { return bytes.HasPrefix(head, []byte("\x7fELF")) }

// headSize is how many bytes tell a format.
const headSize = 6

// ReadHead reads the first bytes of r, fewer if it has no more.
func ReadHead(r io.Reader) ([]byte, error) {
	head := make([]byte, headSize)
	n, err := io.ReadFull(r, head)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return head[:n], err
}
