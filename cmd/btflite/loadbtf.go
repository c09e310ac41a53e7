package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/mmapelf"
)

// loadBTF reads BTF over base, which may be nil. The file is raw BTF or an ELF
// file with a section .BTF, either as it is or compressed by gzip, xz or zstd;
// what it is, its first bytes tell. Errors name the file.
func loadBTF(path string, base *btf.Blob) (*btf.Blob, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fileError(path, "cannot open", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fileError(path, "cannot open", err)
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%s: is a directory", oneLine(path))
	}
	var magic [6]byte
	n, err := io.ReadFull(f, magic[:])
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, fileError(path, "cannot read", err)
	}
	head := magic[:n]
	if isELF(head) && info.Mode().IsRegular() {
		elf, err := mmapelf.Open(path)
		return btfOfELF(path, elf, err, base)
	}
	// The size is a hint: files below /sys and pipes may have another one.
	data := bytes.NewBuffer(make([]byte, 0, min(max(info.Size(), 0), maxExpanded)+bytes.MinRead))
	data.Write(head)
	if err := expand(data, f, head, maxExpanded); err != nil {
		return nil, fileError(path, "cannot read", err)
	}
	if isELF(data.Bytes()) {
		elf, err := mmapelf.New(path, data.Bytes())
		return btfOfELF(path, elf, err, base)
	}
	b, err := btf.Parse(data.Bytes(), base)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", oneLine(path), err)
	}
	return b, nil
}

func isELF(head []byte) bool { return bytes.HasPrefix(head, []byte("\x7fELF")) }

// btfOfELF reads the section .BTF of elf and closes it; err is that of opening.
func btfOfELF(path string, elf *mmapelf.File, err error, base *btf.Blob) (*btf.Blob, error) {
	if err != nil {
		return nil, namingFile([]string{path}, err)
	}
	defer elf.Close()
	s := elf.Section(".BTF")
	if s == nil {
		return nil, fmt.Errorf("%s: no section .BTF", oneLine(path))
	}
	data, err := elf.Data(s)
	if err != nil {
		return nil, namingFile([]string{path}, err)
	}
	b, err := btf.Parse(data, base)
	if err != nil {
		return nil, fmt.Errorf("%s: section .BTF: %w", oneLine(path), err)
	}
	return b, nil
}

// maxExpanded bounds what is kept of a file that is read into memory; the
// largest vmlinux with debug information has less than half of it.
const maxExpanded = 1 << 30

// maxWindow bounds the window of a zstd frame, as the zstd command does.
const maxWindow = 128 << 20

// compression is a format that expand knows by its first bytes.
type compression struct {
	name, magic string
	open        func(io.Reader) (io.Reader, error)
}

var compressions = []compression{
	{"gzip", "\x1f\x8b", func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }},
	{"xz", "\xfd7zXZ\x00", func(r io.Reader) (io.Reader, error) { return xz.NewReader(r) }},
	{"zstd", "\x28\xb5\x2f\xfd", func(r io.Reader) (io.Reader, error) {
		return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	}},
}

// compressionOf is the format that a file with these first bytes has, or nil.
func compressionOf(head []byte) *compression {
	for i := range compressions {
		if strings.HasPrefix(string(head), compressions[i].magic) {
			return &compressions[i]
		}
	}
	return nil
}

// expand replaces head, the first bytes of r, in data by all that r stands for:
// its bytes, or what they decompress to. More than limit bytes are an error.
func expand(data *bytes.Buffer, r io.Reader, head []byte, limit int) error {
	c := compressionOf(head)
	if c == nil {
		return readLimited(data, r, limit)
	}
	in, err := c.open(io.MultiReader(bytes.NewReader(head), r))
	if err == nil {
		data.Reset()
		err = readLimited(data, in, limit)
	}
	if d, ok := in.(*zstd.Decoder); ok && d != nil {
		d.Close()
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the file ends too early")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	return nil
}

// readLimited appends r to data, up to limit bytes in all.
func readLimited(data *bytes.Buffer, r io.Reader, limit int) error {
	_, err := data.ReadFrom(io.LimitReader(r, int64(limit-data.Len())+1))
	if err == nil && data.Len() > limit {
		err = fmt.Errorf("more than %s of contents", byteSize(uint64(limit)))
	}
	return err
}
