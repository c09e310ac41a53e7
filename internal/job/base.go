package job

import (
	"context"
	"slices"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/basematch"
	"github.com/btflite/btflite/internal/loadbtf"
	"github.com/btflite/btflite/internal/message"
	"github.com/btflite/btflite/mmapelf"
)

// Base is BTF that outputs are split from. Any number of runs may use it at once.
type Base struct {
	Blob  *btf.Blob // the last BTF of the chain
	Files []string

	types   *encode.Base
	kernel  *basematch.Kernel // the kernel that it belongs to
	closers []func()          // free the memory; call the last one first
}

// OpenBase reads a base. If there are several sources, each is split from the sources before
// it. They must not change until Close. Errors name the source.
func OpenBase(ctx context.Context, l loadbtf.Loader, chain []mmapelf.Source) (_ *Base, err error) {
	b := new(Base)
	defer func() {
		if err != nil {
			b.Close()
		}
	}()
	l.OnlyGiven = true
	for _, in := range chain {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		l.BaseFiles = b.Files
		blob, done, err := l.OpenSource(in, b.Blob)
		if err != nil {
			return nil, err
		}
		b.closers = append(b.closers, done)
		b.Blob, b.Files = blob, append(b.Files, in.Path)
	}
	if b.types, err = encode.NewBase(b.Blob); err != nil {
		return nil, message.NamingFile(b.Files[len(b.Files)-1:], err)
	}
	b.kernel = basematch.OfKernel(chain[0], b.Blob)
	return b, nil
}

// Close gives the memory back. No run may use the base any more.
func (b *Base) Close() {
	if b.types != nil {
		b.types.Free()
	}
	for _, done := range slices.Backward(b.closers) {
		done()
	}
	*b = Base{}
}
