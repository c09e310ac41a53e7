package doctor

import (
	"bytes"
	"compress/bzip2"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/btflite/btflite/internal/loadbtf"
	"github.com/btflite/btflite/mmapelf"
)

// The formats that kernels are packed in beside those of package loadbtf, by their first
// bytes. LZ4 is the legacy form (lz4 -l), the only one that kernels read.
const (
	lz4Magic   = "\x02\x21\x4c\x18"
	bzip2Magic = "BZh"
	lzmaMagic  = "\x5d\x00\x00"
	lzoMagic   = "\x89LZO"
	gzipMagic  = "\x1f\x8b"
)

// maxLZ4Block is the most that a block of LZ4's legacy form unpacks to.
const maxLZ4Block = 8 << 20

// isPacked reports whether a file begins like a kernel that is packed in a format that
// package loadbtf does not read.
func isPacked(head []byte) bool {
	return has(head, 0, lz4Magic) || has(head, 0, bzip2Magic) || has(head, 0, lzmaMagic) || has(head, 0, lzoMagic)
}

// openPacked unpacks a kernel and opens the BTF in it, if it is an ELF file. Without
// one, raw.BTF are its bytes. The build appends the unpacked size (sizeLen bytes), unless the format is gzip.
func openPacked(path string, packed []byte) (raw loadbtf.Raw, done func(), err error) {
	without := packed[:max(len(packed), sizeLen)-sizeLen]
	tries := [][]byte{without, packed}
	if has(packed, 0, gzipMagic) {
		tries = [][]byte{packed, without}
	}
	for i, data := range tries {
		opened, closed, openErr := openUnpacked(path, data)
		if openErr == nil || errors.Is(openErr, loadbtf.ErrNoBTF) {
			return opened, closed, openErr
		}
		if i == 0 {
			err = openErr
		}
	}
	return raw, nil, err
}

// openUnpacked is openPacked for exactly the packed bytes.
func openUnpacked(path string, packed []byte) (raw loadbtf.Raw, done func(), err error) {
	if loadbtf.CompressionOf(packed) == nil {
		if packed, err = unpack(packed); err != nil {
			return raw, nil, err
		}
	}
	return loadbtf.Loader{}.OpenBytes(mmapelf.Source{Path: path, Data: packed})
}

// unpack expands a kernel that is packed in one of the other formats.
func unpack(packed []byte) ([]byte, error) {
	switch {
	case has(packed, 0, lz4Magic):
		return unpackLZ4(packed)
	case has(packed, 0, bzip2Magic):
		data, err := io.ReadAll(io.LimitReader(bzip2.NewReader(bytes.NewReader(packed)), maxImage+1))
		if err == nil && len(data) > maxImage {
			err = errTooLarge
		}
		return data, err
	case has(packed, 0, lzmaMagic):
		return nil, errors.New("it is packed by LZMA, which is not read here")
	case has(packed, 0, lzoMagic):
		return nil, errors.New("it is packed by LZO, which is not read here")
	}
	return nil, errors.New("it is packed in an unknown way")
}

var errTooLarge = fmt.Errorf("it unpacks to more than %d MiB", maxImage>>20)

// unpackLZ4 expands the legacy form of LZ4: the magic number, then blocks, each behind its
// length.
func unpackLZ4(packed []byte) (data []byte, err error) {
	for p := packed[len(lz4Magic):]; len(p) > sizeLen; {
		if has(p, 0, lz4Magic) { // a second file behind the first
			p = p[len(lz4Magic):]
			continue
		}
		n := uint64(binary.LittleEndian.Uint32(p))
		if n == 0 || n > uint64(len(p)-4) {
			return nil, fmt.Errorf("LZ4: a block of %d bytes, and %d are left", n, len(p)-4)
		}
		before := len(data)
		if data, err = appendLZ4(data, p[4:4+n]); err != nil {
			return nil, fmt.Errorf("LZ4: block at %#x: %w", len(packed)-len(p), err)
		}
		if len(data)-before > maxLZ4Block || len(data) > maxImage {
			return nil, errTooLarge
		}
		p = p[4+n:]
	}
	return data, nil
}

// appendLZ4 appends what a block of LZ4 unpacks to (LZ4 Block Format Description): sequences of
// a byte with both lengths, literal bytes, and the distance of earlier bytes. The last
// sequence has only literals. It ends soon after maxLZ4Block bytes.
func appendLZ4(dst, p []byte) ([]byte, error) {
	start := len(dst)
	for len(p) > 0 {
		token := p[0]
		literals, rest, ok := lz4Length(uint64(token>>4), p[1:])
		if !ok || literals > uint64(len(rest)) {
			return nil, errCutOff
		}
		dst, p = append(dst, rest[:literals]...), rest[literals:]
		if len(p) == 0 {
			break
		}
		if len(p) < 2 {
			return nil, errCutOff
		}
		distance := int(binary.LittleEndian.Uint16(p))
		if distance == 0 || distance > len(dst)-start {
			return nil, fmt.Errorf("%d bytes back is before its start", distance)
		}
		length, rest, ok := lz4Length(uint64(token&15), p[2:])
		if !ok {
			return nil, errCutOff
		}
		p = rest
		if length += 4; length > maxLZ4Block {
			return nil, errTooLarge
		}
		for from := len(dst) - distance; length > 0; { // the bytes may overlap
			n := min(int(length), len(dst)-from)
			dst = append(dst, dst[from:from+n]...)
			length -= uint64(n)
		}
		if len(dst)-start > maxLZ4Block {
			return nil, errTooLarge
		}
	}
	return dst, nil
}

var errCutOff = errors.New("it is cut off")

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
