// Package pack reads the regular files of a package one after the other, as a stream: of Debian
// packages, rpms, tar archives, folders, and single ELF files. Nothing is unpacked, links are never
// followed, and what the package says of its names and sizes is checked against Limits.
package pack

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"

	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/internal/message"
)

// Info has the facts that a package gives about itself. Unknown ones are "".
type Info struct {
	Name    string // as "linux-image-6.1.0-50-cloud-amd64-dbg"
	Version string // as "6.1.176-1"
	Arch    string // in the words of its distribution
	Vendor  string // who made it
}

// Package is a package that is open.
type Package struct {
	Path   string // for messages
	Size   int64  // of the file in bytes; 0 of folders and streams
	Format string // as "deb"; "" before Each
	Info   Info   // complete when the first file is given

	// Unproved says that files were visited before the checksum of what they were expanded from, which
	// comes behind all of them. If Each returns an error, they may be damaged too.
	Unproved bool

	// Nameless says that Path does not name the package: it is the standard input.
	Nameless bool

	// Jobs is how many blocks of xz are expanded at once; <= 1 is one. Temp makes files without a
	// name for them, so that a block is known to be whole before the files in it are visited.
	Jobs int
	Temp func() (*os.File, error)
	// Sparing gives back the dictionary of each block, 8 MiB as a rule, before the files in it are
	// visited.
	Sparing bool

	limits Limits
	file   *os.File  // nil of folders and streams
	stream io.Reader // nil if it can be read again
	folder bool
}

// ErrStop ends a walk without an error: a function returns it if it needs no further file.
var ErrStop = errors.New("no further file is needed")

// ErrNoSize is the error for an ELF file in a stream.
var ErrNoSize = errors.New("a stream has no size, which an ELF file needs; give the file by its name")

// Damage is the error for contents that cannot be read, however often one tries.
type Damage struct {
	Path string // of the package
	Err  error  // what is wrong, and where
}

// Error implements error.
func (d *Damage) Error() string { return message.OneLine(d.Path) + ": " + d.Err.Error() }

// Unwrap implements error.
func (d *Damage) Unwrap() error { return d.Err }

// Open opens a package, a folder, or an ELF file. Errors name the path.
func Open(path string, limits Limits) (*Package, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a named pipe would wait for a writer
	if err != nil {
		return nil, message.FileError(path, "cannot open", err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, message.FileError(path, "cannot open", err)
	}
	p := &Package{Path: path, limits: limits}
	switch mode := info.Mode(); {
	case mode.IsDir():
		p.folder = true
		f.Close()
	case mode.IsRegular():
		p.file, p.Size = f, info.Size()
	default:
		f.Close()
		return nil, message.FileError(path, "cannot open", errors.New("it is neither a file nor a folder"))
	}
	return p, nil
}

// Input opens a package that is on the standard input f, which name stands for. If that is a file, it
// may be read more than once.
func Input(name string, f *os.File, limits Limits) *Package {
	p := Stream(name, f, limits)
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		p.file, p.stream, p.Size = f, nil, info.Size()
	}
	return p
}

// Stream opens a package that is read from r, once.
func Stream(name string, r io.Reader, limits Limits) *Package {
	return &Package{Path: name, Nameless: true, stream: r, limits: limits}
}

// Again reports whether the files can be read more than once.
func (p *Package) Again() bool { return p.stream == nil }

// Close closes the file of the package.
func (p *Package) Close() {
	if p.file != nil {
		p.file.Close()
	}
}

// Each calls visit for every regular file in the order of the package, until visit returns an
// error. It returns that error, nil in place of ErrStop, and a *Damage or the error of a read
// for what cannot be read.
func (p *Package) Each(visit func(*File) error) error { return p.walk(visit, nil) }

// Last looks for the last file that likely accepts by its name, its size and its first bytes, and
// calls visit for it and for all that follow it, as Each does, without reading what comes before.
// It reports false if it has called visit for no file: the package cannot be read from its end, or
// has no such file there, or has one at its beginning. Then Each reads it. It is for packages with one
// such file: tar archives are never read so.
func (p *Package) Last(likely func(name string, size int64, head []byte) bool, visit func(*File) error) (bool, error) {
	if p.file == nil || p.Temp == nil {
		return false, nil
	}
	s := &search{format: tailOfTar, likely: likely}
	err := p.walk(visit, s)
	return s.found, err
}

func (p *Package) walk(visit func(*File) error, s *search) error {
	var own error // of visit
	w := &walk{info: &p.Info, sums: new(sums), meter: &meter{limits: p.limits}, file: p.file, jobs: p.Jobs, temp: p.Temp, sparing: p.Sparing, search: s, visit: func(f *File) error {
		own = visit(f)
		return own
	}}
	var err error
	if p.folder {
		p.Format = "folder"
		err = w.folder(p.Path)
	} else {
		err = p.eachInFile(w)
	}
	p.Unproved = p.Unproved || w.unproved
	switch {
	case errors.Is(err, ErrStop):
		return nil
	case err == nil || own != nil && errors.Is(err, own):
		return err
	}
	return p.named(err)
}

// named makes err name the file that it is about: the package, a file in the folder, or the file that blocks are
// expanded into. err does not come from a visit.
func (p *Package) named(err error) error {
	var number syscall.Errno
	var at *fs.PathError
	switch {
	case !errors.As(err, &number):
		return &Damage{p.Path, err}
	case p.folder:
		return err // it names the file already
	case p.file != nil && errors.As(err, &at) && at.Path != p.file.Name():
		return message.FileError(at.Path, "cannot "+at.Op+" a temporary file", at)
	}
	return message.FileError(p.Path, "cannot read", err)
}

// IsPackage tells whether a file that begins with head is a Debian package or an rpm.
func IsPackage(head []byte) bool {
	return bytes.HasPrefix(head, []byte(arMagic+"debian-")) || bytes.HasPrefix(head, []byte(rpmMagic))
}

// eachInFile walks over a file or stream.
func (p *Package) eachInFile(w *walk) error {
	from := p.stream
	if from == nil {
		from = io.NewSectionReader(p.file, 0, p.Size)
	}
	in := bufio.NewReaderSize(&countingReader{from, &w.meter.in}, bufferSize)
	head, err := in.Peek(headSize)
	if err != nil && err != io.EOF {
		return err
	}
	switch {
	case len(head) == 0:
		return errors.New("the file is empty")
	case bytes.HasPrefix(head, []byte(elfabi.Magic)):
		p.Format = "ELF file"
		if w.search != nil {
			return nil
		}
		if p.file == nil {
			return ErrNoSize
		}
		return w.give(path.Base(p.Path), p.Size, in, p.file)
	case bytes.HasPrefix(head, []byte(arMagic)):
		p.Format = "deb"
		return w.deb(in)
	case bytes.HasPrefix(head, []byte(rpmMagic)):
		p.Format = "rpm"
		return w.rpm(in, p.Size)
	}
	p.Format = "tar"
	if w.search != nil {
		return nil // it may have several kernels
	}
	return w.compressed(in, "", 0, p.Size, w.tar)
}
