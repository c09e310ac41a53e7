package loadbtf

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/internal/expand"
	"github.com/btflite/btflite/internal/message"
)

// maxExpanded is the most bytes of a file that are read into memory. The
// largest vmlinux with debug information is less than half as large.
const maxExpanded = 1 << 30

// A compressed file that expands to more than largeContents bytes must not expand to more than
// maxExpansion times its size, because then it is made to fill the memory. Kernels and their
// BTF expand 3 to 20 times. Package mmapelf has the same rule for sections.
const (
	largeContents = 64 << 20
	maxExpansion  = 100
)

// enoughToTell is how many bytes are read of a file that is neither BTF nor an ELF file. The rest would
// only take memory, and /dev/zero has no end.
const enoughToTell = 4 << 10

// contentStep is how many bytes are read between two checks of the limit. A check takes a few
// microseconds.
const contentStep = 256 << 10

// contents has the bytes of a file outside the Go heap. There they can grow without a copy, and
// the system gets the memory back at once.
type contents struct {
	arena.Vec[byte]
	limit   *arena.Limit
	checked int // limit allows so many bytes
	most    int // the most bytes that may be read
}

// expand reads a file into c, and decompresses it if its first bytes say that it is compressed. head has
// these bytes, which the caller has read from r. size is the size of the file in bytes, 0 if it is
// not known.
func (c *contents) expand(r io.Reader, head []byte, size int64) error {
	all := io.MultiReader(bytes.NewReader(head), r)
	format := expand.Of(head)
	if format == nil {
		return c.read(all, nil)
	}
	from := &counter{r: all, atLeast: size}
	in, err := format.Open(from)
	if err == nil {
		err = c.read(in, from)
		_ = in.Close()
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the file ends too early")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", format.Name, err)
	}
	return nil
}

// counter counts the bytes that are read from r.
type counter struct {
	r       io.Reader
	n       int64
	atLeast int64 // size of the file, if it is known before all is read
}

// Read implements io.Reader.
func (c *counter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}

// read reads all of r. If r decompresses a file, from counts the bytes of that file.
func (c *contents) read(r io.Reader, from *counter) error {
	for idle := 0; ; {
		had, step := len(c.S), contentStep
		if had+step > c.checked {
			if err := c.limit.Check(2 * contentStep); err != nil {
				return c.refusal(err)
			}
			c.checked = had + 2*contentStep
		}
		if had < enoughToTell {
			step = enoughToTell
		}
		n, err := r.Read(c.Extend(step))
		c.S = c.S[:had+n]
		if idle++; n > 0 {
			idle = 0
		}
		switch {
		case len(c.S) > c.most:
			return tooMuch(c.most)
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case idle > maxIdle:
			return io.ErrNoProgress
		case len(c.S) >= enoughToTell && !IsELF(c.S) && !btf.HasMagic(c.S):
			c.S = c.S[:enoughToTell]
			return nil
		case from != nil && len(c.S) > largeContents && int64(len(c.S)) > maxExpansion*max(from.n, from.atLeast):
			return fmt.Errorf("more than %d times as much as it has, %s so far: files with debug information do not shrink so far",
				maxExpansion, message.ByteSize(uint64(len(c.S))))
		}
	}
}

// maxIdle is how many times in a row a reader may return no bytes and no error.
const maxIdle = 100

// ReadLimited appends all of r to data. It is an error if data then has more than limit bytes.
func ReadLimited(data *bytes.Buffer, r io.Reader, limit int) error {
	_, err := data.ReadFrom(io.LimitReader(r, int64(limit-data.Len())+1))
	if err == nil && data.Len() > limit {
		err = tooMuch(limit)
	}
	return err
}

func tooMuch(limit int) error {
	return fmt.Errorf("more than %s of contents", message.ByteSize(uint64(limit)))
}

// refusal returns the error for contents that do not fit into the memory limit. err is the limit's.
func (c *contents) refusal(err error) error {
	var full arena.Exhausted
	if errors.As(err, &full) {
		return fmt.Errorf("the memory limit is reached after %s of contents: %w; a file that is not compressed is mapped and takes less",
			message.ByteSize(uint64(len(c.S))), full)
	}
	return err
}
