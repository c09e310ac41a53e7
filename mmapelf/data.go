package mmapelf

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"io"
	"strings"

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

// firstChunk is what is allocated for a compressed section before any byte of
// it was decompressed.
const firstChunk = 1 << 20

// Bounds of the window that a zstd frame may ask for, in bytes. Every decoder
// must support 8 MiB (RFC 8878, 3.1.1.1.2); 128 MiB is the limit of the zstd
// command.
const (
	minZstdWindow = 8 << 20
	maxZstdWindow = 128 << 20
)

// Data returns the contents of s.
//
// For a section stored as it is, that is a slice of the mapping: read-only and
// valid until Close. For a compressed section it is a private copy, made anew
// by each call. A section of type SHT_NOBITS has no contents and gives nil
// without an error. Contents that leave the file or do not decompress to the
// declared size give a *FormatError.
func (f *File) Data(s *Section) ([]byte, error) {
	if s.Type == shtNobits {
		return nil, nil
	}
	b, err := f.stored(s)
	if err != nil {
		return nil, err
	}
	switch {
	case s.Flags&shfCompressed != 0:
		return f.decompress(s, b)
	case strings.HasPrefix(s.Name, gnuCompressPrefix):
		return f.decompressGNU(s, b)
	}
	return b, nil
}

// decompress expands an SHF_COMPRESSED section.
func (f *File) decompress(s *Section, b []byte) ([]byte, error) {
	headerSize := 12
	if f.Class64 {
		headerSize = 24
	}
	if len(b) < headerSize {
		return nil, f.errorf(s.label(), s.Offset, "compression header needs %d bytes, section has %d", headerSize, len(b))
	}
	kind := f.u32(b)
	var size uint64
	if f.Class64 {
		size = f.u64(b[8:])
	} else {
		size = uint64(f.u32(b[4:]))
	}
	stream := b[headerSize:]
	switch kind {
	case elfCompressZlib:
		return f.inflate(s, stream, size)
	case elfCompressZstd:
		return f.expandZstd(s, stream, size)
	}
	return nil, f.errorf(s.label(), s.Offset, "unknown compression type %d", kind)
}

// decompressGNU expands a .zdebug_ section.
func (f *File) decompressGNU(s *Section, b []byte) ([]byte, error) {
	if len(b) < gnuHeaderSize || string(b[:4]) != gnuCompressMagic {
		return nil, f.errorf(s.label(), s.Offset, "compressed section does not start with %q and a size", gnuCompressMagic)
	}
	return f.inflate(s, b[gnuHeaderSize:], binary.BigEndian.Uint64(b[4:]))
}

// checkSize refuses a declared size that stored bytes cannot expand to.
func (f *File) checkSize(s *Section, size uint64, stored int) error {
	limit := uint64(stored) * maxExpansion
	if size > largeSection {
		limit = max(uint64(stored)*maxLargeExpansion, largeSection)
	}
	if size > limit || uint64(int(size)) != size || int(size) < 0 {
		return f.errorf(s.label(), s.Offset, "%d compressed bytes claim to expand to %d", stored, size)
	}
	return nil
}

func (f *File) inflate(s *Section, stream []byte, size uint64) ([]byte, error) {
	if err := f.checkSize(s, size, len(stream)); err != nil {
		return nil, err
	}
	r, err := zlib.NewReader(bytes.NewReader(stream))
	if err != nil {
		return nil, f.errorf(s.label(), s.Offset, "bad zlib stream: %v", err)
	}
	defer r.Close()
	return f.expand(s, r, int(size))
}

func (f *File) expandZstd(s *Section, stream []byte, size uint64) ([]byte, error) {
	if err := f.checkSize(s, size, len(stream)); err != nil {
		return nil, err
	}
	window := min(max(size, minZstdWindow), maxZstdWindow)
	r, err := zstd.NewReader(bytes.NewReader(stream),
		zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(window))
	if err != nil {
		return nil, f.errorf(s.label(), s.Offset, "bad zstd stream: %v", err)
	}
	defer r.Close()
	return f.expand(s, r, int(size))
}

// expand reads r, which must give exactly size bytes. The buffer doubles as
// bytes arrive, so a false size costs at most twice the true one.
func (f *File) expand(s *Section, r io.Reader, size int) ([]byte, error) {
	buf := make([]byte, min(size, firstChunk))
	n := 0
	for {
		m, err := io.ReadFull(r, buf[n:])
		n += m
		if err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return nil, f.errorf(s.label(), s.Offset, "compressed stream ends after %d of %d bytes", n, size)
			}
			return nil, f.errorf(s.label(), s.Offset, "bad compressed stream: %v", err)
		}
		if n == size {
			break
		}
		bigger := make([]byte, min(size, 2*n))
		copy(bigger, buf)
		buf = bigger
	}
	// The end of the stream carries the checksum, so read it.
	var extra [1]byte
	switch _, err := io.ReadFull(r, extra[:]); {
	case err == nil:
		return nil, f.errorf(s.label(), s.Offset, "compressed stream is longer than the declared %d bytes", size)
	case !errors.Is(err, io.EOF):
		return nil, f.errorf(s.label(), s.Offset, "bad compressed stream: %v", err)
	}
	return buf, nil
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
