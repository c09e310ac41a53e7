package btflite

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"

	"github.com/btflite/btflite/internal/job"
	"github.com/btflite/btflite/internal/loadbtf"
	"github.com/btflite/btflite/mmapelf"
)

// Base is the BTF that modules are encoded over, mostly the kernel's. The split BTF of
// a module does not repeat what its Base has. Any number of encodes may use a Base at
// the same time.
type Base struct {
	opened  *job.Base
	closers []func() // of the sources
}

// OpenBase opens a base: raw BTF or an ELF file with a section .BTF, also compressed.
// With several sources, each is split BTF over the ones before it. The files must not
// change until Close.
func OpenBase(ctx context.Context, chain ...Source) (b *Base, err error) {
	if len(chain) == 0 {
		return nil, errors.New("btflite: no base")
	}
	if chain, err = checked(ctx, chain...); err != nil {
		return nil, err
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	b = new(Base)
	defer recovered(chain[0].Path, &err, func() {
		b.Close()
		b = nil
	})
	fail := func(err error) (*Base, error) {
		b.Close()
		return nil, asError(err, chain)
	}
	below := make([]mmapelf.Source, len(chain))
	for i := range chain {
		if err := ctx.Err(); err != nil {
			return fail(err)
		}
		var unload func()
		if below[i], unload, err = chain[i].below(ctx); err != nil {
			return fail(err)
		}
		b.closers = append(b.closers, unload)
	}
	if b.opened, err = job.OpenBase(ctx, loadbtf.Loader{}, below); err != nil {
		return fail(err)
	}
	return b, nil
}

// errClosed is the error for a Base that was closed or did not come from OpenBase. Without this error,
// the result would silently stand alone.
var errClosed = errors.New("btflite: the Base is not open")

// Close frees the memory. No encode may be using the Base then, and starting one later is an error. A
// second Close does nothing.
func (b *Base) Close() {
	if b == nil {
		return
	}
	if b.opened != nil {
		b.opened.Close()
	}
	for _, done := range slices.Backward(b.closers) {
		done()
	}
	*b = Base{}
}

// read returns the opened base. For a nil Base it is empty: no BTF, no files.
func (b *Base) read() (*job.Base, error) {
	switch {
	case b == nil:
		return new(job.Base), nil
	case b.opened == nil:
		return nil, errClosed
	}
	return b.opened, nil
}
