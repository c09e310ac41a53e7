// Package job is the one way from options to finished BTF, below the library and the command
// line: it holds what both can ask for (Options), says which of it goes together
// (Options.Check), opens the base (OpenBase), and encodes, sorts and verifies (Options.Run
// and Session). It prints nothing and writes no file.
//
// An option of the encoder is a field of encode.Options, and one of what becomes of its output
// a field of Options here. The command line sets these fields itself; the library copies its
// own, which are its API.
package job

import (
	"context"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/finish"
	"github.com/btflite/btflite/mmapelf"
)

// Options are what a run can be asked for. The zero value encodes no features, refuses what a
// kernel would refuse, and keeps the order of types.
type Options struct {
	// Encode is how the inputs are read, and what of them. Base and For are set here, from
	// the fields below.
	Encode encode.Options
	Base   *Base // what the output is split from; nil for BTF that stands alone
	// Distil makes a base of what the output needs of Base, see DistilBase.
	Distil bool
	Order  finish.Sorter // of the types; nil as they are encoded
	// Lenient makes what a kernel would refuse a warning, and keeps what no kernel takes.
	Lenient bool
	// Marks has what BTF cannot say written by marks, for programs that print types.
	Marks bool
}

// BaseBTF is the BTF of the base, or nil.
func (o *Options) BaseBTF() *btf.Blob {
	if o.Base == nil {
		return nil
	}
	return o.Base.Blob
}

// encoder are the options of package encode.
func (o *Options) encoder() encode.Options {
	e := o.Encode
	switch {
	case o.Marks:
		e.For = encode.ForReaders
	case o.Lenient:
		e.For = encode.LikePahole
	default:
		e.For = encode.ForKernel
	}
	if o.Base != nil {
		e.Base = o.Base.types
	}
	return e
}

// work is what becomes of the encoder's output.
func (o *Options) work() *finish.Work {
	w := &finish.Work{Distil: o.Distil, Order: o.Order, Jobs: o.Encode.Jobs, Lenient: o.Lenient}
	if o.Base != nil {
		w.Base, w.Kernel = o.Base.Blob, o.Base.kernel
	}
	return w
}

// Run encodes the inputs as one, and sorts and verifies the result. Whoever calls it frees
// the result. When ctx is done, Run ends soon with its error.
func (o *Options) Run(ctx context.Context, in []mmapelf.Source) (*finish.Encoded, error) {
	out, err := encode.RunSources(ctx, in, o.encoder())
	if err != nil {
		return nil, err
	}
	return o.work().Output(ctx, in, out)
}

// DistilBase returns the BTF of e over a distilled base, and that base, both verified.
func (o *Options) DistilBase(ctx context.Context, e *finish.Encoded) (own, below []byte, err error) {
	return o.work().DistilBase(ctx, e)
}

// Session encodes one file after the other with the same options, and keeps what the files
// have in common; see encode.Session.
type Session struct {
	encoder *encode.Session
	work    *finish.Work
}

// NewSession makes a Session, which the caller closes.
func NewSession(o *Options) *Session {
	return &Session{encode.NewSession(o.encoder()), o.work()}
}

// Encode is Options.Run for one file.
func (s *Session) Encode(path string) (*finish.Encoded, error) {
	out, err := s.encoder.Encode(path)
	if err != nil {
		return nil, err
	}
	return s.work.Output(context.Background(), mmapelf.Paths(path), out)
}

// Close gives the memory back.
func (s *Session) Close() { s.encoder.Close() }
