package expand

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

const (
	// lz4Magic begins a file of LZ4's legacy form (LZ4 Frame Format Description, Legacy frame).
	lz4Magic = "\x02\x21\x4c\x18"
	// maxLZ4Block is the most that one of its blocks expands to.
	maxLZ4Block = 8 << 20
	// maxLZ4Packed is the most that a block takes, if nothing in it repeats.
	maxLZ4Packed = maxLZ4Block + maxLZ4Block/255 + 16
)

// lz4Reader expands the legacy form of LZ4: the magic number, then blocks, each behind its length.
type lz4Reader struct {
	r      *bufio.Reader
	at     int64 // offset in the file
	packed []byte
	block  []byte // expanded
	left   []byte // of block, not read yet
	err    error
}

func newLZ4Reader(r io.Reader) *lz4Reader { return &lz4Reader{r: bufio.NewReader(r)} }

// Read implements io.Reader.
func (z *lz4Reader) Read(b []byte) (int, error) {
	for len(z.left) == 0 && z.err == nil {
		if z.err = z.next(); z.err != nil && z.err != io.EOF {
			z.err = fmt.Errorf("block at %#x: %w", z.at, z.err)
		}
	}
	if len(z.left) == 0 {
		return 0, z.err
	}
	n := copy(b, z.left)
	z.left = z.left[n:]
	return n, nil
}

// next expands a block. A magic number in place of a length begins another file behind the first.
func (z *lz4Reader) next() error {
	var length [4]byte
	n, err := io.ReadFull(z.r, length[:])
	if err == io.EOF {
		return io.EOF
	}
	if err != nil {
		return cutOff(err)
	}
	if string(length[:]) == lz4Magic {
		z.at += int64(n)
		return nil
	}
	size := binary.LittleEndian.Uint32(length[:])
	if size == 0 || size > maxLZ4Packed {
		return fmt.Errorf("%d bytes are not the length of a block", size)
	}
	if z.packed == nil {
		z.packed = make([]byte, maxLZ4Packed)
	}
	if _, err := io.ReadFull(z.r, z.packed[:size]); err != nil {
		return cutOff(err)
	}
	if z.block, err = appendLZ4(z.block[:0], z.packed[:size]); err != nil {
		return err
	}
	z.left = z.block
	z.at += int64(n) + int64(size)
	return nil
}

// cutOff returns the error for a file that ends within a block, or err if it is another one.
func cutOff(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errCutOff
	}
	return err
}

var errCutOff = errors.New("it is cut off")

// appendLZ4 appends what a block of LZ4 expands to (LZ4 Block Format Description): sequences of
// a byte with both lengths, literal bytes, and the distance of earlier bytes. The last
// sequence has only literals. It refuses more than maxLZ4Block bytes.
func appendLZ4(dst, p []byte) ([]byte, error) {
	for len(p) > 0 {
		token := p[0]
		literals, rest, ok := lz4Length(uint64(token>>4), p[1:])
		if !ok || literals > uint64(len(rest)) {
			return nil, errCutOff
		}
		if uint64(len(dst))+literals > maxLZ4Block {
			return nil, errLargeBlock
		}
		dst, p = append(dst, rest[:literals]...), rest[literals:]
		if len(p) == 0 {
			break
		}
		if len(p) < 2 {
			return nil, errCutOff
		}
		distance := int(binary.LittleEndian.Uint16(p))
		if distance == 0 || distance > len(dst) {
			return nil, fmt.Errorf("%d bytes back is before its start", distance)
		}
		length, rest, ok := lz4Length(uint64(token&15), p[2:])
		if !ok {
			return nil, errCutOff
		}
		p = rest
		if length += 4; uint64(len(dst))+length > maxLZ4Block {
			return nil, errLargeBlock
		}
		for from := len(dst) - distance; length > 0; { // the bytes may overlap
			n := min(int(length), len(dst)-from)
			dst = append(dst, dst[from:from+n]...)
			length -= uint64(n)
		}
	}
	return dst, nil
}

var errLargeBlock = fmt.Errorf("it expands to more than %d MiB", maxLZ4Block>>20)

// lz4Length reads the bytes that follow a length of 15: each is added, up to one below 255.
func lz4Length(n uint64, p []byte) (length uint64, rest []byte, ok bool) {
	if n < 15 {
		return n, p, true
	}
	for i, b := range p {
		if n += uint64(b); b < 255 {
			return n, p[i+1:], true
		}
	}
	return 0, nil, false
}
