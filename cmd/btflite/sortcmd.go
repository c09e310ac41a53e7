package main

import (
	"fmt"
	"slices"

	"github.com/btflite/btflite/btf"
)

// sorter puts the own types of BTF into an order; see package btfsort.
type sorter func(*btf.Blob) (*btf.Blob, error)

// sorted is data, which is BTF over base or without one, in the order.
func sorted(data []byte, base *btf.Blob, order sorter) ([]byte, error) {
	b, err := btf.Parse(data, base)
	if err != nil {
		return nil, err
	}
	if b, err = order(b); err != nil {
		return nil, err
	}
	return b.Encode(), nil
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
		sorted, err := cfg.order(b)
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
