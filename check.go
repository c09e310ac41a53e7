package btflite

import (
	"context"

	"github.com/btflite/btflite/btf/diff"
	"github.com/btflite/btflite/btf/verify"
	"github.com/btflite/btflite/internal/loadbtf"
)

// Verify checks BTF, split from base unless that is nil, by the rules of a release of
// Linux as "6.12"; "" is the newest one known. What a kernel refuses is an error
// that wraps a *verify.Fault. Package btf/verify says more.
func Verify(data []byte, base *Base, release string) error {
	var rules verify.Rules
	if release != "" {
		var err error
		if rules.Kernel, err = verify.ParseRelease(release); err != nil {
			return err
		}
	}
	_, err := verify.Check(data, blobOf(base), rules)
	return err
}

// Diff compares the BTF of two sources, each over its base or over nil, and returns
// how b differs from a. Package btf/diff says more.
func Diff(ctx context.Context, a, b Source, baseA, baseB *Base, o diff.Options) (found []diff.Difference, err error) {
	defer recovered(a.Path, &err)
	x, doneX, err := loadbtf.Loader{}.OpenSource(a.below(ctx), blobOf(baseA))
	if err != nil {
		return nil, asError(err, []Source{a})
	}
	defer doneX()
	y, doneY, err := loadbtf.Loader{}.OpenSource(b.below(ctx), blobOf(baseB))
	if err != nil {
		return nil, asError(err, []Source{b})
	}
	defer doneY()
	_, err = diff.Compare(x, y, o, func(d *diff.Difference) error {
		found = append(found, *d)
		return ctx.Err()
	})
	if err != nil {
		return nil, asError(err, []Source{a, b})
	}
	return found, nil
}
