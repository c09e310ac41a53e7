package btflite

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/basematch"
	"github.com/btflite/btflite/internal/loadbtf"
)

// Base is BTF that modules are encoded over: what it has, their split BTF does not
// repeat. It may be used by any number of encodes, also at the same time.
type Base struct {
	blob   *btf.Blob
	base   *encode.Base
	files  []string
	kernel *basematch.Kernel

	closers []func() // give the memory back, the last one first
}

// OpenBase reads a base: raw BTF or an ELF file with a section .BTF, as it is or
// compressed by gzip, xz or zstd. If there are several, each is split from those before
// it. They must not change until Close.
func OpenBase(ctx context.Context, chain ...Source) (b *Base, err error) {
	if len(chain) == 0 {
		return nil, errors.New("btflite: no base")
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
	for i := range chain {
		if err := ctx.Err(); err != nil {
			return fail(err)
		}
		in, unload, err := chain[i].below(ctx)
		if err != nil {
			return fail(err)
		}
		b.closers = append(b.closers, unload)
		blob, done, err := loadbtf.Loader{BaseFiles: b.files}.OpenSource(in, b.blob)
		if err != nil {
			return fail(err)
		}
		b.closers = append(b.closers, done)
		b.blob, b.files = blob, append(b.files, in.Path)
		if i == 0 {
			b.kernel = basematch.OfKernel(in, blob)
		}
	}
	if b.base, err = encode.NewBase(b.blob); err != nil {
		return fail(err)
	}
	return b, nil
}

// Close gives the memory back. No encode may use the Base any more.
func (b *Base) Close() {
	if b.base != nil {
		b.base.Free()
	}
	for _, done := range slices.Backward(b.closers) {
		done()
	}
	*b = Base{}
}

// filesOf are the files that b was read from.
func filesOf(b *Base) []string {
	if b == nil {
		return nil
	}
	return b.files
}

// blobOf is what b has; nil for a nil Base.
func blobOf(b *Base) *btf.Blob {
	if b == nil {
		return nil
	}
	return b.blob
}
