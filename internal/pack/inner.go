package pack

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/btflite/btflite/internal/expand"
	"github.com/btflite/btflite/internal/message"
)

// inner counts what all files of a package that are compressed by themselves expand to.
type inner struct {
	limits Limits
	out    int64
}

// full returns an error once all files have expanded to too much.
func (i *inner) full() error {
	if i.out <= i.limits.Total {
		return nil
	}
	return fmt.Errorf("compressed files of the package expand to more than %s", message.ByteSize(uint64(i.limits.Total)))
}

// FileDamage is the error for a file of a package that is compressed by itself and cannot be expanded, or that
// does not have its checksum.
// The package can be read on.
type FileDamage struct{ Err error }

// Error implements error.
func (d *FileDamage) Error() string { return d.Err.Error() }

// Unwrap implements error.
func (d *FileDamage) Unwrap() error { return d.Err }

// Expand makes f give what its contents expand to, if they are compressed by themselves, as modules
// often are; other files stay as they are. It must be called before f is read, and done after that.
// Limits.Ratio is for each of these files, Limits.Total for all of them together. What is wrong with
// the file and not with the package is a *FileDamage. The expanded file has no Size and no OnDisk.
func (f *File) Expand() (done func(), err error) {
	m := &meter{limits: f.inner.limits}
	m.limits.Total = m.limits.File
	x := &innerReader{meter: m, all: f.inner}
	kept := &errorReader{f.Reader, func(err error) error { x.damage = err; return err }}
	in := bufio.NewReaderSize(&countingReader{kept, &m.in}, bufferSize)
	head, err := in.Peek(headSize)
	if err != nil && err != io.EOF {
		return nil, err
	}
	format := expand.Of(head)
	if format == nil {
		f.Reader = in
		return func() {}, nil
	}
	x.name = format.Name
	if err = f.inner.full(); err == nil {
		x.r, err = format.Open(in)
	}
	if err != nil {
		return nil, x.of(err)
	}
	f.Reader, f.Size, f.OnDisk = x, -1, nil
	return func() { _ = x.r.Close() }, nil
}

// innerReader expands a file that is compressed by itself.
type innerReader struct {
	r      io.ReadCloser
	name   string // of the format
	damage error  // of the package: what r expands cannot be read
	meter  *meter // of the file
	all    *inner
}

// Read implements io.Reader.
func (x *innerReader) Read(b []byte) (int, error) {
	n, err := x.r.Read(b)
	x.all.out += int64(n)
	if limit := cmp.Or(x.all.full(), x.meter.expand(int64(n))); limit != nil {
		return n, x.of(limit)
	}
	if err == nil || err == io.EOF {
		return n, err
	}
	return n, x.of(err)
}

// of tells an error of the package from one of the file.
func (x *innerReader) of(err error) error {
	if x.damage != nil {
		return x.damage
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return &FileDamage{fmt.Errorf("%s: %w", x.name, endOf(err))}
}
