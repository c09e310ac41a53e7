package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/btflite/btflite/btf/order"
	"github.com/btflite/btflite/internal/finish"
	"github.com/btflite/btflite/internal/message"
)

// sortCommand is "btflite sort".
type sortCommand struct {
	order   finish.Sorter
	bases   []string
	lenient bool // --verify=warn
}

func newSortCommand(c *cli) *cobra.Command {
	s := sortCommand{order: order.Canonical}
	cmd := &cobra.Command{
		Use: "sort [OPTION...] IN OUT",
		Long: `Write the BTF of IN, raw BTF or an ELF file with .BTF, to OUT as raw BTF with
its types in another order: canonical, which depends on the types alone, so
that what two builds have in common is in the same order in both; or by name,
as Linux 7.x and resolve_btfids have them. Split BTF keeps to the ids of BASE.`,
		Example: "  btflite sort vmlinux.btf sorted.btf",
		RunE:    func(_ *cobra.Command, args []string) error { return s.run(c, args) },
	}
	addOrder(cmd, &s.order)
	addVerify(cmd, &s.lenient, always)
	under(cmd, groupOutput).bases(&s.bases, "btf_base", "IN is split over `BASE`, or a chain")
	return cmd
}

func (s *sortCommand) run(c *cli, words []string) error {
	if len(words) != 2 {
		return &usageError{what: "sort takes the names of an input and an output file", lacksWord: len(words) < 2}
	}
	in := words[:1]
	o, err := openOver(c, s.bases, in, words[1], in)
	if err != nil {
		return err
	}
	b, err := o.files.Load(in[0], o.base)
	if err != nil {
		return err
	}
	if b, err = c.withoutSkipped(in[0], b); err != nil {
		return err
	}
	sorted, _, err := s.order(context.Background(), b)
	if err != nil {
		return message.NamingFile(in, err)
	}
	return c.writeMerged(o.out, []finish.Given{{Name: in[0], BTF: b}}, b.Base, sorted.Encode(), s.lenient)
}
