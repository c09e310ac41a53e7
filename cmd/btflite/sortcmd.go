package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/order"
)

// sorter puts the own types of BTF into an order and tells the new id of each;
// see package order.
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

// sortCommand is "btflite sort".
type sortCommand struct {
	order sorter
	bases []string
}

func (c *cli) sortCommand() *cobra.Command {
	s := sortCommand{order: order.CanonicalWithMap}
	cmd := &cobra.Command{
		Use: "sort [OPTION...] IN OUT", Short: "put the types of BTF into another order",
		Long: `Write the BTF of IN, raw BTF or an ELF file with .BTF, to OUT as raw BTF with
its types in another order: canonical, which depends on the types alone, so
that what two builds have in common is in the same order in both; or by name,
as Linux 7.x and resolve_btfids have them. Split BTF keeps to the ids of BASE.`,
		Example: "  btflite sort vmlinux.btf sorted.btf",
		RunE:    func(_ *cobra.Command, args []string) error { return c.runSort(&s, args) },
	}
	addOrder(cmd, &s.order)
	under(cmd, groupOutput).bases(&s.bases, "btf_base", "IN is split over `BASE`, or a chain")
	return cmd
}

func (c *cli) runSort(cfg *sortCommand, words []string) error {
	if len(words) != 2 {
		return usagef("sort takes the names of an input and an output file")
	}
	in := words[:1]
	if err := checkInputs(in); err != nil {
		return err
	}
	out, err := c.resolveTarget(words[1])
	if err != nil {
		return err
	}
	bases := c.basePaths(cfg.bases, in)
	if err := out.refuseInputs(slices.Concat(bases, in)); err != nil {
		return err
	}
	base, err := loadChain(bases)
	if err != nil {
		return err
	}
	b, err := loadOver(in[0], base)
	if err != nil {
		return err
	}
	sorted, _, err := cfg.order(b)
	if err != nil {
		return namingFile(in, err)
	}
	data := sorted.Encode()
	if err := checkMerged(data, []*btf.Blob{b}, b.Base); err != nil {
		return namingFile(in, err)
	}
	return out.write(c.guard, writeBytes(data))
}
