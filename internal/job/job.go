// Package job is the one way from options to finished BTF, for the library and the command
// line. It has the options (Options), checks their combinations (Options.Check), opens the
// base (OpenBase), and encodes, sorts and verifies (Options.Run and Session). It prints
// nothing and writes no file.
//
// An option of the encoder is a field of encode.Options; an option for the output is a field
// of Options. The command line sets these fields itself. The library has fields of its own,
// which are its API, and copies them.
package job

import (
	"context"
	"io"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/lower"
	"github.com/btflite/btflite/btf/verify"
	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/finish"
	"github.com/btflite/btflite/mmapelf"
)

// Options are the options of a run. The zero value encodes no features, refuses BTF that a
// kernel would refuse, and keeps the order of types.
type Options struct {
	// Encode says what is read from the inputs, and how. This package sets its Base and
	// For from the fields below.
	Encode encode.Options
	Base   *Base // what the output is split from; nil for BTF that stands alone
	// Distil makes a base of the types that the output needs of Base, see DistilBase.
	Distil bool
	Order  finish.Sorter // of the types; nil as they are encoded
	// Lenient turns errors about BTF that a kernel would refuse into warnings.
	Lenient bool
	// Target is the kernel that the output is lowered to; zero to write all that is encoded.
	Target verify.Release
	// Marks writes marks for what BTF cannot say, for programs that print types.
	Marks bool
	// Ready, if set, gets a function that writes the BTF, before it is known whether that may be
	// used. It runs beside the check, so what it writes must not be in use yet. It is not
	// called without anything to write, with Distil, and with less than two workers.
	Ready func(write func(io.Writer) error)
}

// BaseBTF is the BTF of the base, or nil.
func (o *Options) BaseBTF() *btf.Blob {
	if o.Base == nil {
		return nil
	}
	return o.Base.Blob
}

// encoder returns the options for package encode.
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

// work returns the options for package finish.
func (o *Options) work() *finish.Work {
	w := &finish.Work{Distil: o.Distil, Order: o.Order, Jobs: o.Encode.Jobs, Lenient: o.Lenient, Ready: o.Ready}
	if o.Target != (verify.Release{}) {
		w.Lower = &lower.Options{Kernel: o.Target}
	}
	if o.Base != nil {
		w.Base, w.Kernel = o.Base.Blob, o.Base.kernel
	}
	return w
}

// Run encodes the inputs as one, and sorts and verifies the result, which the caller frees.
// When ctx is done, Run ends soon with its error.
func (o *Options) Run(ctx context.Context, in []mmapelf.Source) (*finish.Encoded, error) {
	out, err := encode.RunSources(ctx, in, o.encoder())
	if err != nil {
		return nil, err
	}
	return o.work().Output(ctx, in, out)
}

// Copied returns the bytes of BTF that a file has already, for another place: data as it is, or
// lowered to o.Target, and then what it has lost. What a kernel refuses of its own BTF is a warning,
// but of lowered BTF an error, as everywhere.
func (o *Options) Copied(in finish.Given, data []byte) (_ []byte, lost lower.Report, warning *finish.Warning, err error) {
	w := &finish.Work{Base: in.BTF.Base, Lenient: true}
	if o.Target != (verify.Release{}) {
		w.Lower, w.Lenient = &lower.Options{Kernel: o.Target}, o.Lenient
		var b *btf.Blob
		if b, lost, err = w.Lowered(in); err != nil {
			return nil, lost, nil, err
		}
		data = b.Encode()
	}
	warning, err = w.Merged([]finish.Given{in}, data)
	return data, lost, warning, err
}

// DistilBase returns the BTF of e over a distilled base, and that base, both verified.
func (o *Options) DistilBase(ctx context.Context, e *finish.Encoded) (own, below []byte, err error) {
	return o.work().DistilBase(ctx, e)
}

// Session encodes one file after the other with the same options, and keeps memory and names
// from file to file; see encode.Session.
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
	return s.EncodeSource(mmapelf.Source{Path: path})
}

// EncodeSource is Options.Run for one file of any kind.
func (s *Session) EncodeSource(in mmapelf.Source) (*finish.Encoded, error) {
	out, err := s.encoder.EncodeSource(in)
	if err != nil {
		return nil, err
	}
	return s.work.Output(context.Background(), []mmapelf.Source{in}, out)
}

// Close gives the memory back.
func (s *Session) Close() { s.encoder.Close() }
