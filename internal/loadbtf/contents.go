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

// maxExpanded bounds what is kept of a file that is read into memory; the
// largest vmlinux with debug information has less than half of it.
const maxExpanded = 1 << 30

// A compressed file with more than largeContents bytes of contents is held to
// maxExpansion: kernels and their BTF shrink 3 to 20 times. Package mmapelf has the same
// rule for sections.
const (
	largeContents = 64 << 20
	maxExpansion  = 100
)

// enoughToTell is how much is read of what is neither BTF nor an ELF file: enough to say
// what it is not. /dev/zero has no end.
const enoughToTell = 4 << 10

// contentStep is how many bytes are read between two looks at the limit, each a few
// microseconds.
const contentStep = 256 << 10

// contents holds the bytes of a file in memory outside the Go heap, because that grows
// without a second copy and goes back to the system at once.
type contents struct {
	arena.Vec[byte]
	limit *arena.Limit
	asked int // up to how many bytes limit has been asked for
	most  int // bytes
}

// expand reads into c what head, the first bytes of r, and the rest stand for: their
// bytes, or what they decompress to. size is how many bytes they are, 0 if nobody knows.
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
	atLeast int64 // how many there are, as far as is known before they are read
}

// Read implements io.Reader.
func (c *counter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}

// read reads all of r. With from, it expands what it reads there.
func (c *contents) read(r io.Reader, from *counter) error {
	for idle := 0; ; {
		had, step := len(c.S), contentStep
		if had+step > c.asked {
			if err := c.limit.Check(2 * contentStep); err != nil {
				return c.refusal(err)
			}
			c.asked = had + 2*contentStep
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

// maxIdle is how many times in a row a reader may read nothing.
const maxIdle = 100

// ReadLimited appends r to data, up to limit bytes in all.
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

// refusal is the error for a limit that leaves no room for more.
func (c *contents) refusal(err error) error {
	var full arena.Exhausted
	if errors.As(err, &full) {
		return fmt.Errorf("the memory limit is reached after %s of contents: %w; a file that is not compressed is mapped and takes less",
			message.ByteSize(uint64(len(c.S))), full)
	}
	return err
}
