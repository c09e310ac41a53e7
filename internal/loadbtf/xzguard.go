package loadbtf

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/btflite/btflite/internal/message"
)

// maxWindow bounds how far back a compressed file may refer, which is memory of its own:
// the window of a zstd frame and the dictionary of an xz block. The zstd command has the
// same limit, and xz -9 asks for half of it.
const maxWindow = 128 << 20

// xzGuard hands an xz file on and refuses it before a block that names a dictionary that is
// too large: the package that expands it would make one of 4 GiB. It reads no more of the
// format than says where blocks begin (The .xz File Format, 1.2.0): what is wrong is left to
// that package, and from there on everything is handed on, for it goes no further.
type xzGuard struct {
	r     *bufio.Reader
	next  func() (int64, error) // how many bytes to hand on until it is to be called again
	left  int64                 // of the bytes to hand on
	begun int64                 // bytes up to the next piece
	dicts int64                 // bytes of all dictionaries so far

	check     int64 // size of a block's check, in bytes
	blockFrom int64 // where the current block begins
	indexFrom int64
	fields    uint64 // of the index that are still to come
}

const (
	xzHeaderLen = 12 // of a stream, and of its footer
	lzma2Filter = 0x21
	// dictsPerByte bounds the bytes of all dictionaries for each byte of the file. Blocks of
	// xz -T are three times as long as their dictionaries.
	dictsPerByte = 100
	// minDict is the size of the smallest dictionary.
	minDict = 4 << 10
	// toTheEnd is how much is handed on of what is damaged: all.
	toTheEnd = 1 << 62
)

func newXZGuard(r io.Reader) *xzGuard {
	g := &xzGuard{r: bufio.NewReaderSize(r, 64<<10)}
	g.next = g.stream
	return g
}

// Read implements io.Reader.
func (g *xzGuard) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	for g.left == 0 {
		n, err := g.next()
		if err != nil {
			return 0, err
		}
		g.left = n
		g.begun += n
	}
	n, err := g.r.Read(b[:min(int64(len(b)), g.left)])
	g.left -= int64(n)
	return n, err
}

// stream is the header of a stream, or padding between two of them.
func (g *xzGuard) stream() (int64, error) {
	head, _ := g.r.Peek(xzHeaderLen)
	if len(head) >= 4 && binary.LittleEndian.Uint32(head) == 0 {
		return 4, nil
	}
	if len(head) < xzHeaderLen {
		return toTheEnd, nil
	}
	// Sizes of checks go by threes: 0, 4, 8, 16, 32 and 64 bytes.
	if kind := head[7] & 15; kind == 0 {
		g.check = 0
	} else {
		g.check = 4 << ((kind - 1) / 3)
	}
	g.next = g.block
	return xzHeaderLen, nil
}

// block is the header of a block, or what begins the index.
func (g *xzGuard) block() (int64, error) {
	head, _ := g.r.Peek(1)
	if len(head) == 0 {
		return toTheEnd, nil
	}
	if head[0] == 0 {
		g.indexFrom = g.begun
		g.next = g.indexCount
		return 1, nil
	}
	size := (int(head[0]) + 1) * 4
	if head, _ = g.r.Peek(size); len(head) < size {
		return toTheEnd, nil
	}
	g.blockFrom = g.begun
	g.next = g.chunk
	dict, ok := dictionaryOf(head)
	if !ok {
		return toTheEnd, nil
	}
	// Each block has its own, so that many small blocks must not name large ones.
	g.dicts += dict
	if dict > maxWindow || g.dicts > 2*maxWindow+dictsPerByte*g.begun {
		return 0, fmt.Errorf("it needs a dictionary of %s in a block, and %s for all so far; %s is the most that is taken",
			message.ByteSize(uint64(dict)), message.ByteSize(uint64(g.dicts)), message.ByteSize(maxWindow))
	}
	return int64(size), nil
}

// dictionaryOf is the size of the dictionary that the header of a block names, in bytes.
func dictionaryOf(head []byte) (size int64, ok bool) {
	flags, b := head[1], head[2:]
	number := func() uint64 {
		n, used := binary.Uvarint(b)
		if used <= 0 {
			b = nil
			return 1 << 62
		}
		b = b[used:]
		return n
	}
	for _, has := range []byte{0x40, 0x80} { // sizes that may be there
		if flags&has != 0 {
			number()
		}
	}
	for range flags&3 + 1 {
		id, props := number(), number()
		if props > uint64(len(b)) {
			return 0, false
		}
		if id == lzma2Filter && props == 1 {
			bits := b[0] & 63
			size += (2 | int64(bits&1)) << (bits/2 + 11)
		}
		b = b[props:]
	}
	return size, true
}

// chunk is a chunk of LZMA2, or the end of a block.
func (g *xzGuard) chunk() (int64, error) {
	head, _ := g.r.Peek(6)
	if len(head) == 0 {
		return toTheEnd, nil
	}
	control := head[0]
	switch {
	case control == 0:
		g.next = g.block
		end := g.begun + 1 - g.blockFrom
		return 1 + (-end & 3) + g.check, nil
	case len(head) < 6:
		return toTheEnd, nil
	case control <= 2: // not compressed
		return 3 + int64(binary.BigEndian.Uint16(head[1:])) + 1, nil
	case control >= 0x80:
		n := 5 + int64(binary.BigEndian.Uint16(head[3:])) + 1
		if control >= 0xc0 {
			n++ // with properties
		}
		return n, nil
	}
	return toTheEnd, nil
}

// indexCount is how many records the index has, each two numbers.
func (g *xzGuard) indexCount() (int64, error) {
	n, used := g.number()
	if n > 1<<60 {
		return toTheEnd, nil
	}
	g.fields = 2 * n
	g.next = g.indexField
	return used, nil
}

// indexField is a number of the index, or its end and the footer of the stream.
func (g *xzGuard) indexField() (int64, error) {
	if g.fields > 0 {
		g.fields--
		_, used := g.number()
		return used, nil
	}
	g.next = g.stream
	return -(g.begun-g.indexFrom)&3 + 4 + xzHeaderLen, nil
}

// number is the number that follows, and how many bytes it has.
func (g *xzGuard) number() (n uint64, used int64) {
	b, _ := g.r.Peek(binary.MaxVarintLen64)
	n, k := binary.Uvarint(b)
	if k <= 0 {
		return 1 << 62, toTheEnd
	}
	return n, int64(k)
}
