// Package loadbtf reads BTF from files and from bytes: raw BTF or the section .BTF
// of an ELF file, as it is or compressed.
package loadbtf

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/edsrzf/mmap-go"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/distill"
	"github.com/btflite/btflite/internal/basematch"
	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/internal/expand"
	"github.com/btflite/btflite/internal/message"
	"github.com/btflite/btflite/mmapelf"
)

// Loader opens files. The zero value opens regular files and has no special paths.
type Loader struct {
	// Stdin opens standard input for the path "-". If it is nil, "-" is a file of that name.
	Stdin func() (*os.File, error)
	// Refuse, if set, returns why the caller does not want the file at path, or "".
	Refuse func(path string) string
	// AnyKind also opens files that are neither ELF files nor BTF. The caller looks at their
	// bytes itself.
	AnyKind bool
	// NoBase, if set, is added to the error for split BTF without a base.
	NoBase string
	// NoBTF, if set, returns what to add to the error for the ELF file f without BTF. It is not
	// asked if Encode is set.
	NoBTF func(path string, f *mmapelf.File) string
	// Encode, if set, makes the BTF of an ELF file that has no section .BTF. The
	// bytes are valid until done is called. Errors name the file, and are ErrNoBTF if
	// there is no DWARF.
	Encode func(in mmapelf.Source) (data []byte, done func(), err error)
	// DWARF says which files Encode is asked about.
	DWARF DWARF
	// BaseFiles are the files of the base that Load, Parse and OpenSource get. Errors name
	// them. Chain and OpenChain set them themselves.
	BaseFiles []string
	// OnlyGiven makes it an error to read a file with a distilled base when no base is given. Callers
	// that need several files over one base set it: no other file builds on that distilled base.
	// Chain and OpenChain set it themselves.
	OnlyGiven bool
	// Limit, if set, is checked before memory is taken for a file that cannot be mapped or for
	// a compressed section, and again each time that it grows.
	Limit *arena.Limit
}

// DWARF says when BTF is encoded from a file's DWARF.
type DWARF uint8

const (
	DWARFLast  DWARF = iota // if the file has no BTF
	DWARFFirst              // if the file has DWARF, even if it has BTF, too
	DWARFOnly               // always; a file without DWARF is an error
)

// IsELF reports whether a file with these first bytes is an ELF file.
func IsELF(head []byte) bool { return bytes.HasPrefix(head, []byte(elfabi.Magic)) }

// ReadHead reads as many bytes of r as package expand needs to recognise a format, or all if
// there are fewer.
func ReadHead(r io.Reader) ([]byte, error) {
	head := make([]byte, expand.HeadSize)
	n, err := io.ReadFull(r, head)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return head[:n], err
}

// Dash is the path that stands for standard input; see Loader.Stdin.
const Dash = "-"

// Sections that hold BTF.
const (
	SectionBTF     = ".BTF"
	SectionBTFBase = ".BTF.base"
)

// Chain reads the BTF of files. Each is split BTF over the files before it. It returns the
// BTF of the last one, or nil if there are no files. Errors name the file.
func (l Loader) Chain(paths []string) (b *btf.Blob, err error) {
	l.OnlyGiven = true
	for i, path := range paths {
		l.BaseFiles = paths[:i]
		if b, err = l.Load(path, b); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// Load reads the BTF of a file over base, which may be nil. If the file has a distilled base, base
// takes its place, as when a kernel loads the module. It is an error if the BTF was evidently not
// split from base (CheckBase). The result does not share memory with the file. Errors name the file.
func (l Loader) Load(path string, base *btf.Blob) (b *btf.Blob, err error) {
	err = l.With(path, func(raw Raw) error {
		b, err = l.Parse(path, &raw, base)
		return err
	})
	if err != nil {
		return nil, err
	}
	return b, nil
}

// Parse is Load for a file that Open has opened.
func (l Loader) Parse(path string, raw *Raw, base *btf.Blob) (*btf.Blob, error) {
	return l.parse(path, raw, base, btf.Parse)
}

// parse is Parse by btf.Parse or btf.ParseShared.
func (l Loader) parse(path string, raw *Raw, base *btf.Blob, by func([]byte, *btf.Blob) (*btf.Blob, error)) (*btf.Blob, error) {
	if l.OnlyGiven && raw.Base != nil && base == nil {
		return nil, fmt.Errorf("%s: its .BTF builds upon its .BTF.base, and no other file does; give the BTF of its kernel as the base", message.OneLine(path))
	}
	b, err := own(raw, base, by)
	if err == nil && raw.Base != nil && base != nil {
		if b, err = distill.NewRelocator(base).Relocate(b); err != nil {
			err = l.baseHint(err, raw, base)
		}
	} else if err != nil && raw.Base == nil {
		err = l.baseHint(err, raw, base)
	}
	if err != nil {
		return nil, fmt.Errorf("%s:%s %w", message.OneLine(path), raw.Section, err)
	}
	return b, nil
}

// baseHint adds to an error of reading BTF over base what to do about it, if
// the base may be the reason. It is not the reason if the data is damaged or is not BTF.
func (l Loader) baseHint(err error, raw *Raw, base *btf.Blob) error {
	switch {
	case raw.Damage() != nil:
		return err
	case base != nil && len(l.BaseFiles) > 0:
		kernel := basematch.OfKernel(mmapelf.Source{Path: l.BaseFiles[0]}, base)
		return Misfit(err, strings.Join(l.BaseFiles, " + "), kernel.Mismatch(raw.Module, nil))
	case base != nil:
		return fmt.Errorf("%w (split from another base?)", err)
	case errors.Is(err, btf.ErrNoBase) && l.NoBase != "":
		return fmt.Errorf("%w; %s", err, l.NoBase)
	}
	return err
}

// Misfit adds to an error of reading BTF that its base is the wrong one, and what to do about
// it. base and why are as for NoFit.
func Misfit(err error, base, why string) error {
	if errors.Is(err, btf.ErrWhole) {
		return fmt.Errorf("%w %s; leave --btf_base out", err, message.OneLine(base))
	}
	return fmt.Errorf("%w: %s; give the kernel that it was built with", err, NoFit(base, why))
}

// NoFit returns the words for BTF that does not fit the base of that name. why may be "", or
// what package basematch says, which names the base, too.
func NoFit(base, why string) string {
	if why != "" {
		return "it does not fit: " + message.OneLine(why)
	}
	return "it does not fit the base " + message.OneLine(base)
}

// OpenChain is like Chain, but does not copy the BTF. It is valid until done is called,
// and nobody must write to the files until then.
func (l Loader) OpenChain(paths []string) (b *btf.Blob, done func(), err error) {
	var open []func()
	done = func() {
		for _, f := range open {
			f()
		}
	}
	l.OnlyGiven = true
	for i, path := range paths {
		l.BaseFiles = paths[:i]
		raw, close, err := l.Open(path)
		if err == nil {
			open = append(open, close)
			b, err = l.parse(path, &raw, b, btf.ParseShared)
		}
		if err != nil {
			done()
			return nil, nil, err
		}
	}
	return b, done, nil
}

// With calls use with the BTF of a file; see Open. The bytes are valid
// until use returns.
func (l Loader) With(path string, use func(Raw) error) error {
	raw, done, err := l.Open(path)
	if err != nil {
		return err
	}
	defer done()
	return use(raw)
}

// Open returns the BTF of a file: of raw BTF, or of an ELF file with a section .BTF. Either may be
// compressed. The first bytes tell what the file is. Regular files are mapped. Standard input,
// pipes and compressed files are read into memory, maxExpanded bytes at most. The bytes are valid
// until done is called. Errors name the file.
func (l Loader) Open(path string) (raw Raw, done func(), err error) {
	f, err := l.openFile(path)
	if err != nil {
		return raw, nil, message.FileError(path, "cannot open", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return raw, nil, message.FileError(path, "cannot open", err)
	}
	if info.IsDir() {
		return raw, nil, fmt.Errorf("%s: it is a folder; give a file", message.OneLine(path))
	}
	head, err := ReadHead(f)
	if err != nil {
		return raw, nil, message.FileError(path, "cannot read", err)
	}
	if l.Refuse != nil {
		if why := l.Refuse(path); why != "" {
			return raw, nil, fmt.Errorf("%s: %s", message.OneLine(path), why)
		}
	}
	file := info.Mode().IsRegular() && path != Dash // it can be mapped
	if IsELF(head) && file {
		return l.openELF(mmapelf.Source{Path: path})
	}
	if file && l.DWARF != DWARFOnly && expand.Of(head) == nil && info.Size() >= expand.HeadSize && info.Size() <= maxExpanded {
		if m, err := mmap.MapRegion(f, int(info.Size()), mmap.RDONLY, 0, 0); err == nil {
			if err = l.checkKind(path, m); err != nil {
				_ = m.Unmap()
				return raw, nil, err
			}
			return Raw{BTF: m, Mapping: m}, func() { _ = m.Unmap() }, nil
		}
	}
	size := info.Size()
	if !file {
		size = 0 // the size of a pipe is not known
	}
	return l.openRead(path, f, head, size)
}

// openRead reads a file into memory and opens it. head has the bytes that were read already.
func (l Loader) openRead(path string, r io.Reader, head []byte, size int64) (raw Raw, done func(), err error) {
	c := contents{limit: l.Limit, most: maxExpanded}
	var closed func()
	if err = c.expand(r, head, size); err != nil {
		err = message.FileError(path, "cannot read", err)
	} else {
		raw, closed, err = l.openContents(path, c.S)
	}
	if err != nil {
		c.Free()
		return raw, nil, err
	}
	return raw, func() { closed(); c.Free() }, nil
}

// openContents opens the contents of a file, which are not compressed.
func (l Loader) openContents(path string, data []byte) (raw Raw, done func(), err error) {
	if IsELF(data) {
		return l.openELF(mmapelf.Source{Path: path, Data: data})
	}
	if l.DWARF == DWARFOnly {
		return raw, nil, fmt.Errorf("%s: no ELF file, so it has no DWARF", message.OneLine(path))
	}
	return Raw{BTF: data}, func() {}, l.checkKind(path, data)
}

// checkKind returns an error for a file of another kind: a text, for example, or a tar archive, as BTFHub
// has them. It has no error for a file that is too short for a magic number; the parser has one.
func (l Loader) checkKind(path string, data []byte) error {
	const magicSize, at, mark = 2, 257, "ustar"
	switch {
	case btf.HasMagic(data) || len(data) < magicSize:
		return nil
	case len(data) > at && bytes.HasPrefix(data[at:], []byte(mark)):
		return fmt.Errorf("%s: it is a tar archive: unpack it first", message.OneLine(path))
	case l.AnyKind:
		return nil
	}
	return fmt.Errorf("%s: it is neither an ELF file nor BTF, and begins with % x", message.OneLine(path), data[:magicSize])
}

// openFile opens a file, or standard input, for reading.
func (l Loader) openFile(path string) (*os.File, error) {
	if path == Dash && l.Stdin != nil {
		return l.Stdin()
	}
	return os.Open(path)
}

// OpenSource reads the BTF of a source over base, which may be nil. The BTF is valid until
// done is called, and the source must not change until then. Errors name the source.
func (l Loader) OpenSource(in mmapelf.Source, base *btf.Blob) (b *btf.Blob, done func(), err error) {
	var raw Raw
	if in.InMemory() {
		raw, done, err = l.OpenBytes(in)
	} else {
		raw, done, err = l.Open(in.Path)
	}
	if err != nil {
		return nil, nil, err
	}
	if b, err = l.parse(in.Path, &raw, base, btf.ParseShared); err != nil {
		done()
		return nil, nil, err
	}
	b.Mapping = raw.Mapping
	return b, done, nil
}

// OpenBytes is like Open, for a source in memory.
func (l Loader) OpenBytes(in mmapelf.Source) (raw Raw, done func(), err error) {
	data, unload, err := in.Bytes()
	if err != nil {
		return raw, nil, message.NamingFile([]string{in.Path}, err)
	}
	raw, closed, err := l.openLoaded(in.Path, data)
	if err != nil {
		unload()
		return raw, nil, err
	}
	return raw, func() { closed(); unload() }, nil
}

// openLoaded opens data, which may be compressed.
func (l Loader) openLoaded(path string, data []byte) (raw Raw, done func(), err error) {
	if head := data[:min(expand.HeadSize, len(data))]; expand.Of(head) != nil {
		return l.openRead(path, bytes.NewReader(data[len(head):]), head, int64(len(data)))
	}
	return l.openContents(path, data)
}

// openELF opens an ELF file.
func (l Loader) openELF(in mmapelf.Source) (raw Raw, done func(), _ error) {
	elf, err := in.Open()
	if err != nil {
		return raw, nil, message.NamingFile([]string{in.Path}, err)
	}
	elf.Limit = l.Limit
	raw = Raw{Section: " section .BTF:", Source: in, PointerSize: elf.AddrSize, Relocatable: elf.Type == elfabi.ETRel, BPF: elf.Machine == elfabi.EMBPF}
	if !in.InMemory() {
		raw.Mapping = elf.Bytes()
	}
	if raw.Relocatable {
		raw.Module = basematch.OfModule(elf)
	}
	has := hasContents(elf.Section(SectionBTF)) // it has none in a debug file
	if !has || l.DWARF != DWARFLast {
		encoded, done, err := l.encode(in, elf, raw)
		if !has || l.DWARF == DWARFOnly || !errors.Is(err, ErrNoBTF) {
			elf.Close()
			return encoded, done, err
		}
	}
	for _, o := range []struct {
		name string
		data *[]byte
	}{{SectionBTF, &raw.BTF}, {SectionBTFBase, &raw.Base}, {SectionBaseSum, &raw.BaseSum}} {
		if s := elf.Section(o.name); s != nil {
			if *o.data, err = elf.Data(s); err != nil {
				elf.Close()
				return raw, nil, message.NamingFile([]string{in.Path}, err)
			}
		}
	}
	return raw, func() { elf.Close() }, nil
}

// hasContents reports whether a section, which may be nil, is there with contents.
func hasContents(s *mmapelf.Section) bool { return s != nil && s.Type != elfabi.SHTNobits }

// encode makes the BTF of an ELF file that has none, if l.Encode is set. raw has everything else about
// the file.
func (l Loader) encode(in mmapelf.Source, f *mmapelf.File, raw Raw) (_ Raw, done func(), err error) {
	if l.Encode == nil {
		none := ErrNoBTF
		if f.Section(SectionBTF) != nil {
			none = fmt.Errorf("%w with contents, as in a debug file", ErrNoBTF)
		}
		if l.NoBTF != nil && !in.InMemory() {
			if more := l.NoBTF(in.Path, f); more != "" {
				return raw, nil, fmt.Errorf("%s: %w; %s", message.OneLine(in.Path), none, more)
			}
		}
		return raw, nil, fmt.Errorf("%s: %w", message.OneLine(in.Path), none)
	}
	raw.Section, raw.Encoded = " encoded from DWARF:", true
	raw.BTF, done, err = l.Encode(in)
	return raw, done, err
}

// ErrNoBTF is wrapped by the error for an ELF file without BTF.
var ErrNoBTF = errors.New("no section .BTF")
