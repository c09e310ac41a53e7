package loadbtf

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/btflite/btflite/internal/message"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// maxExpanded bounds what is kept of a file that is read into memory; the
// largest vmlinux with debug information has less than half of it.
const maxExpanded = 1 << 30

// maxWindow bounds the window of a zstd frame, as the zstd command does.
const maxWindow = 128 << 20

// Compression is a format that is known by its first bytes.
type Compression struct {
	Name  string
	magic string
	open  func(io.Reader) (io.Reader, error)
}

var compressions = []Compression{
	{"gzip", "\x1f\x8b", func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }},
	{"xz", "\xfd7zXZ\x00", func(r io.Reader) (io.Reader, error) { return xz.NewReader(r) }},
	{"zstd", "\x28\xb5\x2f\xfd", func(r io.Reader) (io.Reader, error) {
		return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	}},
}

// CompressionOf is the format that a file with these first bytes has, or nil.
func CompressionOf(head []byte) *Compression {
	for i := range compressions {
		if strings.HasPrefix(string(head), compressions[i].magic) {
			return &compressions[i]
		}
	}
	return nil
}

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

// expand replaces head, the first bytes of r, in data by all that r stands for:
// its bytes, or what they decompress to. More than limit bytes are an error.
func expand(data *bytes.Buffer, r io.Reader, head []byte, limit int) error {
	c := CompressionOf(head)
	if c == nil {
		return ReadLimited(data, r, limit)
	}
	in, err := c.open(io.MultiReader(bytes.NewReader(head), r))
	if err == nil {
		data.Reset()
		err = ReadLimited(data, in, limit)
	}
	if d, ok := in.(*zstd.Decoder); ok && d != nil {
		d.Close()
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the file ends too early")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c.Name, err)
	}
	return nil
}

// ReadLimited appends r to data, up to limit bytes in all.
func ReadLimited(data *bytes.Buffer, r io.Reader, limit int) error {
	_, err := data.ReadFrom(io.LimitReader(r, int64(limit-data.Len())+1))
	if err == nil && data.Len() > limit {
		err = fmt.Errorf("more than %s of contents", message.ByteSize(uint64(limit)))
	}
	return err
}
