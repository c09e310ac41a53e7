package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/edsrzf/mmap-go"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/internal/basematch"
	"github.com/btflite/btflite/mmapelf"
)

// rawBTF is the BTF of a file as it is.
type rawBTF struct {
	btf     []byte
	base    []byte // section .BTF.base, nil if there is none
	baseSum []byte // section .note.btflite.base, likewise
	section string // " section .BTF:" in an ELF file, "" in a raw one
	// Of an ELF file: the size of pointers, whether it is relocatable, and
	// whether it is a BPF object.
	pointerSize int
	relocatable bool
	bpf         bool
	module      basematch.Module
}

// loadChain reads the BTF of files of which each was split from those before
// it, and returns the last; nil for no files. Errors name the file.
func loadChain(paths []string) (b *btf.Blob, err error) {
	for _, path := range paths {
		if b, err = loadBTF(path, b); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// loadBTF reads BTF over base, which may be nil. Where something shows that the
// BTF was not split from base, that is an error. Errors name the file.
func loadBTF(path string, base *btf.Blob) (b *btf.Blob, err error) {
	err = withBTF(path, func(raw rawBTF) error {
		b, err = parseOver(path, raw, base, btf.Parse)
		return err
	})
	return b, err
}

// parseOver is loadBTF for what openBTF has read. parse is btf.Parse or
// btf.ParseShared.
func parseOver(path string, raw rawBTF, base *btf.Blob, parse func([]byte, *btf.Blob) (*btf.Blob, error)) (*btf.Blob, error) {
	if raw.base != nil {
		return nil, fmt.Errorf("%s: its .BTF builds upon its .BTF.base and goes over nothing else", oneLine(path))
	}
	b, err := parse(raw.btf, base)
	if err == nil {
		err = checkBase(&raw, b)
	} else {
		err = baseHint(err, base)
	}
	if err != nil {
		return nil, fmt.Errorf("%s:%s %w", oneLine(path), raw.section, err)
	}
	return b, nil
}

// baseHint adds to an error of reading BTF over base what to do about it, if
// the base may be the reason.
func baseHint(err error, base *btf.Blob) error {
	switch {
	case base != nil:
		return fmt.Errorf("%w (split from another base?)", err)
	case errors.Is(err, btf.ErrNoBase):
		return fmt.Errorf("%w; BTF of a module needs --btf_base", err)
	}
	return err
}

// openChain is loadChain without a copy of what is in the files: the BTF is
// valid until done is called. The files must not be written to until then.
func openChain(paths []string) (b *btf.Blob, done func(), err error) {
	var open []func()
	done = func() {
		for _, f := range open {
			f()
		}
	}
	for _, path := range paths {
		raw, close, err := openBTF(path)
		if err == nil {
			open = append(open, close)
			b, err = parseOver(path, raw, b, btf.ParseShared)
		}
		if err != nil {
			done()
			return nil, nil, err
		}
	}
	return b, done, nil
}

// loadOver is loadBTF for a file that may bring its distilled base along, which
// then counts instead of base.
func loadOver(path string, base *btf.Blob) (b *btf.Blob, err error) {
	err = withBTF(path, func(raw rawBTF) error {
		over, err := over(raw, base)
		if err == nil {
			if b, err = btf.Parse(raw.btf, over); err == nil {
				err = checkBase(&raw, b)
			} else {
				err = baseHint(err, over)
			}
		}
		if err != nil {
			return fmt.Errorf("%s:%s %w", oneLine(path), raw.section, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return b, nil
}

// withBTF calls use with the BTF of a file; see openBTF. The bytes are valid
// until use returns.
func withBTF(path string, use func(rawBTF) error) error {
	raw, done, err := openBTF(path)
	if err != nil {
		return err
	}
	defer done()
	return use(raw)
}

// openBTF returns the BTF of a file: raw BTF or an ELF file with a section .BTF,
// either as it is or compressed by gzip, xz or zstd; what it is, its first bytes
// tell. From dash it is read into memory, up to maxExpanded. The bytes are valid until done is called. Errors name the file.
func openBTF(path string) (raw rawBTF, done func(), err error) {
	f, err := openFile(path)
	if err != nil {
		return raw, nil, fileError(path, "cannot open", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return raw, nil, fileError(path, "cannot open", err)
	}
	if info.IsDir() {
		return raw, nil, fmt.Errorf("%s: is a directory", oneLine(path))
	}
	head, err := readHead(f)
	if err != nil {
		return raw, nil, fileError(path, "cannot read", err)
	}
	if why := notToRead(path); why != "" {
		return raw, nil, fmt.Errorf("%s: %s", oneLine(path), why)
	}
	file := info.Mode().IsRegular() && path != dash // to be mapped
	if isELF(head) && file {
		elf, err := mmapelf.Open(path)
		return openELF(path, elf, err)
	}
	if file && compressionOf(head) == nil && info.Size() >= headSize && info.Size() <= maxExpanded {
		if m, err := mmap.MapRegion(f, int(info.Size()), mmap.RDONLY, 0, 0); err == nil {
			return rawBTF{btf: m}, func() { _ = m.Unmap() }, nil
		}
	}
	// The size is a hint: files below /sys and pipes may have another one.
	data := bytes.NewBuffer(make([]byte, 0, min(max(info.Size(), 0), maxExpanded)+bytes.MinRead))
	data.Write(head)
	if err := expand(data, f, head, maxExpanded); err != nil {
		return raw, nil, fileError(path, "cannot read", err)
	}
	if isELF(data.Bytes()) {
		elf, err := mmapelf.New(path, data.Bytes())
		return openELF(path, elf, err)
	}
	return rawBTF{btf: data.Bytes()}, func() {}, nil
}

func isELF(head []byte) bool { return bytes.HasPrefix(head, []byte("\x7fELF")) }

// openELF is openBTF for an ELF file; err is that of opening it.
func openELF(path string, elf *mmapelf.File, err error) (raw rawBTF, done func(), _ error) {
	if err != nil {
		return raw, nil, namingFile([]string{path}, err)
	}
	raw = rawBTF{section: " section .BTF:", pointerSize: elf.AddrSize, relocatable: elf.Type == elfRelocatable, bpf: elf.Machine == elfMachineBPF}
	if elf.Section(sectionBTF) == nil {
		elf.Close()
		return raw, nil, fmt.Errorf("%s: %w", oneLine(path), errNoBTF)
	}
	if raw.relocatable {
		raw.module = basematch.ModuleOf(elf)
	}
	for _, o := range []struct {
		name string
		data *[]byte
	}{{sectionBTF, &raw.btf}, {sectionBTFBase, &raw.base}, {sectionBaseSum, &raw.baseSum}} {
		if s := elf.Section(o.name); s != nil {
			if *o.data, err = elf.Data(s); err != nil {
				elf.Close()
				return raw, nil, namingFile([]string{path}, err)
			}
		}
	}
	return raw, func() { elf.Close() }, nil
}

var errNoBTF = errors.New("no section .BTF")

const (
	elfRelocatable = 1   // ET_REL
	elfMachineBPF  = 247 // EM_BPF
)

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

// headSize is how many bytes tell a format.
const headSize = 6

// readHead reads the first bytes of r, fewer if it has no more.
func readHead(r io.Reader) ([]byte, error) {
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
