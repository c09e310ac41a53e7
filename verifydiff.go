package btflite

import (
	"context"
	"runtime/debug"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/diff"
	"github.com/btflite/btflite/btf/verify"
	"github.com/btflite/btflite/internal/loadbtf"
)

// Verify checks BTF by the rules of a release of Linux, such as "6.12", or of the
// newest one known if release is empty. If base is not nil, data is split BTF over it. If
// the kernel would refuse the BTF, the error wraps a *verify.Fault. When ctx is done,
// Verify returns soon with its error. Package btf/verify can do more.
func Verify(ctx context.Context, data []byte, base *Base, release string) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // base may be a mapped file
	defer recovered("BTF", &err, func() {})
	if _, err := checked(ctx); err != nil {
		return err
	}
	rules := verify.Rules{Stop: ctx.Err}
	if release != "" {
		if rules.Kernel, err = verify.ParseRelease(release); err != nil {
			return err
		}
	}
	below, err := base.read()
	if err == nil {
		_, err = verify.Check(data, below.Blob, rules)
	}
	return err
}

// Diff compares the BTF of two sources and returns how b differs from a. baseA and baseB
// may be nil if the BTF stands alone. When ctx is done, Diff returns its error. Package
// btf/diff can do more.
func Diff(ctx context.Context, a, b Source, baseA, baseB *Base, o diff.Options) (found []diff.Difference, err error) {
	in, err := checked(ctx, a, b)
	if err != nil {
		return nil, err
	}
	a, b = in[0], in[1]
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer recovered(a.Path, &err, func() { found = nil })
	x, doneX, err := a.open(ctx, baseA)
	if err != nil {
		return nil, err
	}
	defer doneX()
	y, doneY, err := b.open(ctx, baseB)
	if err != nil {
		return nil, err
	}
	defer doneY()
	if err = ctx.Err(); err != nil {
		return nil, asError(err, in)
	}
	_, err = diff.Compare(x, y, o, func(d *diff.Difference) error {
		found = append(found, *d)
		return ctx.Err()
	})
	if err != nil {
		return nil, asError(err, in)
	}
	return found, nil
}

// open opens the BTF of s over base, which may be nil. The BTF is valid until done is
// called.
func (s *Source) open(ctx context.Context, base *Base) (blob *btf.Blob, done func(), err error) {
	below, err := base.read()
	if err != nil {
		return nil, nil, err
	}
	in, unload, err := s.below(ctx)
	if err != nil {
		return nil, nil, asError(err, []Source{*s})
	}
	blob, closed, err := loadbtf.Loader{BaseFiles: below.Files}.OpenSource(in, below.Blob)
	if err != nil {
		unload()
		return nil, nil, asError(err, []Source{*s})
	}
	return blob, func() { closed(); unload() }, nil
}
