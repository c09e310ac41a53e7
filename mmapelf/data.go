package mmapelf

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/internal/message"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// Section contents.
//
// Two forms of compression are in use. A section with SHF_COMPRESSED starts
// with an Elf32_Chdr or Elf64_Chdr in the byte order of the file:
//
//	32-bit: ch_type u32, ch_size u32, ch_addralign u32
//	64-bit: ch_type u32, ch_reserved u32, ch_size u64, ch_addralign u64
//
// The older GNU form has a name that starts with .zdebug_ and the contents
// "ZLIB", the size as a big-endian u64 in every file, and a zlib stream.
//
// The declared size is a claim of the file. It is compared with what the
// stored bytes could expand to, and memory follows the bytes that really come
// out of the stream, not the claim.

const (
	elfCompressZlib = 1
	elfCompressZstd = 2

	gnuCompressPrefix = ".zdebug_"
	gnuCompressMagic  = "ZLIB"
	gnuHeaderSize     = 12
)

// maxExpansion is the most bytes that one byte of a deflate stream can stand
// for (RFC 1951: a match of 258 bytes in 2 bits). zstd can exceed it for runs
// of one byte; debug sections do not.
const maxExpansion = 1032

// A section that claims more than largeSection bytes is held to
// maxLargeExpansion. Debug sections of real kernels shrink 3 to 20 times; a
// large section that shrinks 100 times is a bomb.
const (
	largeSection      = 64 << 20
	maxLargeExpansion = 100
)

// Bounds of the window that a zstd frame may ask for, in bytes. Every decoder
// must support 8 MiB (RFC 8878, 3.1.1.1.2); 128 MiB is the limit of the zstd
// command.
const (
	minZstdWindow = 8 << 20
	maxZstdWindow = 128 << 20
)

// codec says how to expand a compressed section. It comes from the compression header.
type codec struct {
	kind uint32 // elfCompressZlib or elfCompressZstd
	size int    // bytes of the expanded contents, as the header claims
	off  uint64 // file offset of the compressed stream
	end  uint64 // file offset after it
}

// codec reads the compression header of s; nil if s is stored as it is.
func (f *File) codec(s *Section) (*codec, error) {
	if s.Type == elfabi.SHTNobits {
		return nil, nil
	}
	gnu := strings.HasPrefix(s.Name, gnuCompressPrefix)
	if s.Flags&elfabi.SHFCompressed == 0 && !gnu {
		return nil, nil
	}
	b, err := f.stored(s)
	if err != nil {
		return nil, err
	}
	c := &codec{kind: elfCompressZlib, end: s.Offset + s.Size}
	var size uint64
	if s.Flags&elfabi.SHFCompressed != 0 {
		headerSize := 12
		if f.Class64 {
			headerSize = 24
		}
		if len(b) < headerSize {
			return nil, f.errorf(s.label(), s.Offset, "compression header needs %d bytes, section has %d", headerSize, len(b))
		}
		c.kind = f.u32(b)
		if f.Class64 {
			size = f.u64(b[8:])
		} else {
			size = uint64(f.u32(b[4:]))
		}
		c.off = s.Offset + uint64(headerSize)
		if c.kind != elfCompressZlib && c.kind != elfCompressZstd {
			return nil, f.errorf(s.label(), s.Offset, "unknown compression type %d", c.kind)
		}
	} else {
		if len(b) < gnuHeaderSize || string(b[:4]) != gnuCompressMagic {
			return nil, f.errorf(s.label(), s.Offset, "compressed section does not start with %q and a size", gnuCompressMagic)
		}
		size = binary.BigEndian.Uint64(b[4:])
		c.off = s.Offset + gnuHeaderSize
	}
	stored := c.end - c.off
	limit := stored * maxExpansion
	if size > largeSection {
		limit = max(stored*maxLargeExpansion, largeSection)
	}
	if size > limit || uint64(int(size)) != size || int(size) < 0 {
		return nil, f.errorf(s.label(), s.Offset, "%d compressed bytes claim to expand to %d", stored, size)
	}
	c.size = int(size)
	return c, nil
}

// ExpandedSize is how many bytes the contents of s have, expanded if they are compressed. It fails
// for a compression header that is damaged.
func (f *File) ExpandedSize(s *Section) (uint64, error) {
	c, err := f.codec(s)
	if c == nil || err != nil {
		return s.Size, err
	}
	return uint64(c.size), nil
}

// Data returns the contents of s, valid until Close.
//
// For a section stored as it is, that is a slice of the mapping, which is
// read-only. For a compressed section it is a private copy outside the Go
// heap, made anew by each call; see Stream for one that need not be there as a
// whole. A section of type SHT_NOBITS has no contents and gives nil without an
// error. Contents that leave the file or do not decompress to the declared
// size give a *FormatError.
func (f *File) Data(s *Section) ([]byte, error) {
	if s.Type == elfabi.SHTNobits {
		return nil, nil
	}
	c, err := f.codec(s)
	if err != nil {
		return nil, err
	}
	if c == nil {
		return f.stored(s)
	}
	mem, err := f.reserve(s, c.size)
	if err != nil {
		return nil, err
	}
	x, err := f.expander(s, c)
	if err != nil {
		return nil, err
	}
	defer x.close()
	for left := mem; len(left) > 0; {
		step := left[:min(expandStep, len(left))]
		if err := f.Limit.Check(len(step)); err != nil {
			return nil, pathError(f.Path, fmt.Errorf("%s: %d of %d bytes are expanded: %w", message.OneLine(s.label()), x.got, x.size, err))
		}
		if err := x.fill(step); err != nil {
			return nil, err
		}
		left = left[len(step):]
	}
	if err := x.atEnd(); err != nil {
		return nil, err
	}
	return mem, nil
}

// expandStep is how many bytes of a section are expanded between two looks at the limit.
const expandStep = 256 << 10

// expander reads the contents of a compressed section in order.
type expander struct {
	f     *File
	s     *Section
	r     io.Reader
	close func()
	got   int // bytes expanded so far
	size  int // as declared
}

// expander starts at the beginning of a section.
func (f *File) expander(s *Section, c *codec) (*expander, error) {
	x := &expander{f: f, s: s, size: c.size}
	in := &feed{f: f, off: c.off, asked: c.off, kept: c.off, end: c.end}
	if c.kind == elfCompressZlib {
		r, err := zlib.NewReader(bufio.NewReaderSize(in, feedStep/4))
		if err != nil {
			return nil, f.errorf(s.label(), s.Offset, "bad zlib stream: %v", err)
		}
		x.r, x.close = r, func() { _ = r.Close() }
		return x, nil
	}
	r, err := zstd.NewReader(in,
		zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(min(max(uint64(c.size), minZstdWindow), maxZstdWindow)))
	if err != nil {
		return nil, f.errorf(s.label(), s.Offset, "bad zstd stream: %v", err)
	}
	x.r, x.close = r, r.Close
	return x, nil
}

// fill expands the next len(b) bytes into b.
func (x *expander) fill(b []byte) error {
	n, err := io.ReadFull(x.r, b)
	x.got += n
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return x.f.errorf(x.s.label(), x.s.Offset, "compressed stream ends after %d of %d bytes", x.got, x.size)
	}
	return x.f.errorf(x.s.label(), x.s.Offset, "bad compressed stream: %v", err)
}

// atEnd returns an error unless the stream ends here. The end carries the
// checksum.
func (x *expander) atEnd() error {
	var extra [1]byte
	switch _, err := io.ReadFull(x.r, extra[:]); {
	case err == nil:
		return x.f.errorf(x.s.label(), x.s.Offset, "compressed stream is longer than the declared %d bytes", x.size)
	case !errors.Is(err, io.EOF):
		return x.f.errorf(x.s.label(), x.s.Offset, "bad compressed stream: %v", err)
	}
	return nil
}

// feed hands out a range of the file in order. It asks for pages a little
// ahead and gives them back behind, so that the compressed bytes take no
// memory that grows with them.
type feed struct {
	f           *File
	off, end    uint64
	asked, kept uint64 // pages before asked were asked for; pages before kept were given back
}

// feedStep is how much of the file is asked for and given back at a time, in
// bytes.
const feedStep = 256 << 10

// Read implements io.Reader.
func (r *feed) Read(b []byte) (int, error) {
	if r.off >= r.end {
		return 0, io.EOF
	}
	if r.off+feedStep > r.asked && r.asked < r.end {
		n := min(feedStep, r.end-r.asked)
		r.f.PrefetchRange(r.asked, n)
		r.asked += n
	}
	n := copy(b, r.f.data[r.off:min(r.end, r.off+feedStep)])
	r.off += uint64(n)
	if r.off-r.kept >= feedStep {
		r.f.ReleaseRange(r.kept, r.off-r.kept)
		r.kept = r.off
	}
	return n, nil
}

// StringAt returns the bytes of the NUL-terminated string at offset off of a
// string table, without the NUL. It reports false when off is outside the
// table or the string has no end. The result is a slice of strtab.
func (f *File) StringAt(strtab []byte, off uint32) ([]byte, bool) {
	if uint64(off) >= uint64(len(strtab)) {
		return nil, false
	}
	b := strtab[off:]
	end := bytes.IndexByte(b, 0)
	if end < 0 {
		return nil, false
	}
	return b[:end:end], true
}
