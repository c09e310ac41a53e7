// Package xzfile expands xz: as a stream with a bounded dictionary, and block by block through the
// index of a file. The format is that of The .xz File Format, version 1.2.0.
package xzfile

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/mikelolasagasti/xz"

	"github.com/btflite/btflite/internal/message"
)

// ErrCut says that bytes are missing.
var ErrCut = errors.New("it is cut short")

// Reader expands a stream.
type Reader struct {
	z       *xz.Reader
	maxDict uint32
}

// NewReader returns a reader that refuses blocks whose dictionary is larger than maxDict bytes. The
// dictionary is memory of the reader.
func NewReader(r io.Reader, maxDict uint32) (*Reader, error) {
	z, err := xz.NewReader(r, maxDict)
	if err != nil {
		return nil, inWords(err, maxDict)
	}
	return &Reader{z, maxDict}, nil
}

// Reset makes the reader expand r, with the memory that it has.
func (x *Reader) Reset(r io.Reader) error { return inWords(x.z.Reset(r), x.maxDict) }

// Read implements io.Reader.
func (x *Reader) Read(b []byte) (int, error) {
	n, err := x.z.Read(b)
	return n, inWords(err, x.maxDict)
}

// inWords replaces an error of the xz library by one in the words of this program.
func inWords(err error, maxDict uint32) error {
	switch {
	case err == nil || err == io.EOF:
		return err
	case errors.Is(err, xz.ErrMemlimit):
		return fmt.Errorf("it needs a dictionary of more than %s, which is the most that is taken", message.ByteSize(uint64(maxDict)))
	case errors.Is(err, xz.ErrBuf), errors.Is(err, io.ErrUnexpectedEOF):
		return ErrCut
	}
	if text, ok := strings.CutPrefix(err.Error(), "xz: "); ok { // callers name the format themselves
		return errors.New(text)
	}
	return err
}
