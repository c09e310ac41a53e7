package main

import (
	"fmt"
	"slices"

	"github.com/btflite/btflite/btf"
)

// sorter puts the own types of BTF into an order and tells the new id of each;
// see package btfsort.
type sorter func(*btf.Blob) (out *btf.Blob, ids []uint32, err error)

// sorted is the BTF main, over f.base or without one, and the BTF extra over that,
// both in the order. Either may be empty.
func (f *finish) sorted(main, extra []byte) ([]byte, []byte, error) {
	old, to := f.base, f.base // what extra was over, and is
	var ids []uint32
	var err error
	if len(main) > 0 {
		if old, err = btf.Parse(main, f.base); err == nil {
			to, ids, err = f.order(old)
		}
		if err != nil {
			return nil, nil, err
		}
		main = to.Encode()
	}
	if len(extra) == 0 {
		return main, nil, nil
	}
	x, err := btf.Parse(extra, old)
	if err == nil && old != to {
		x, err = btf.Rebase(x, to, func(id uint32) uint32 {
			if id < old.FirstID {
				return id
			}
			return ids[id-old.FirstID]
		})
	}
	if err == nil {
		x, _, err = f.order(x)
	}
	if err != nil {
		return nil, nil, err
	}
	return main, x.Encode(), nil
}

// runSort is "btflite sort".
func (c *cli) runSort(args []string) error {
	cfg := newConfig()
	if err := cfg.setSort(""); err != nil {
		return err
	}
	words, err := parse(sortOptions, args, cfg)
	if err != nil {
		return err
	}
	if cfg.action != doWork {
		return c.showAction(cfg.action, sortIntro, sortOptions)
	}
	if len(words) != 2 {
		return usagef("sort takes the names of an input and an output file")
	}
	in, err := inputs(words[:1])
	if err != nil {
		return err
	}
	out, err := c.resolveTarget(words[1].text)
	if err != nil {
		return err
	}
	bases := c.basePaths(cfg, in)
	if err := out.refuseInputs(slices.Concat(bases, in)); err != nil {
		return err
	}
	base, err := loadChain(bases)
	if err != nil {
		return err
	}
	var data []byte
	err = withBTF(in[0], func(raw rawBTF) error {
		base, err := over(raw, base)
		if err != nil {
			return err
		}
		b, err := btf.Parse(raw.btf, base)
		if err != nil {
			return fmt.Errorf("%s:%s %w", oneLine(in[0]), raw.section, err)
		}
		sorted, _, err := cfg.order(b)
		if err != nil {
			return err
		}
		data = sorted.Encode()
		return checkMerged(data, []*btf.Blob{b}, base)
	})
	if err != nil {
		return namingFile(in, err)
	}
	return out.write(c.guard, writeBytes(data))
}
