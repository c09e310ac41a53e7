package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup/btffile"
	"github.com/btflite/btflite/internal/finish"
	"github.com/btflite/btflite/internal/message"
)

// dedupCommand is "btflite dedup".
type dedupCommand struct {
	output  string // -o
	hasOut  bool
	bases   []string
	exact   bool
	lenient bool // --verify=warn
}

func newDedupCommand(c *cli) *cobra.Command {
	var d dedupCommand
	cmd := &cobra.Command{
		Use:     "dedup [OPTION...] -o OUT IN...",
		Long:    "Merge the BTF of raw BTF files or of ELF files with .BTF and deduplicate it.",
		Example: "  btflite dedup -o all.btf one.o two.o three.btf",
		RunE:    func(_ *cobra.Command, args []string) error { return d.run(c, args) },
	}
	s := under(cmd, groupOutput)
	s.value(func(v string) error { d.hasOut, d.output = true, v; return nil }, "output", "o",
		"write the deduplicated BTF to the file `OUT`", files)
	s.bases(&d.bases, "btf_base", "the inputs are split over `BASE`, or a chain")
	s.value(func(v string) error { d.exact = v == "exact"; return nil }, "dedup", "",
		"deduplication `MODE`: stream (default) or exact", words("stream", "exact"))
	addVerify(cmd, &d.lenient, always)
	return cmd
}

func (d *dedupCommand) run(c *cli, paths []string) error {
	if !d.hasOut {
		return usagef("no output file; give -o OUT")
	}
	if err := checkInputs(paths); err != nil {
		return err
	}
	bases := c.basePaths(d.bases, paths)
	out, err := c.resolveTarget(d.output, slices.Concat(bases, paths))
	if err != nil {
		return err
	}
	base, err := btfFiles.Chain(bases)
	if err != nil {
		return err
	}
	var blobs []*btf.Blob
	var given []finish.Given
	for _, p := range paths {
		b, err := btfFilesOver(bases).Load(p, base)
		if err != nil {
			return err
		}
		if b, err = c.withoutSkipped(p, b); err != nil {
			return err
		}
		if len(blobs) > 0 && b.BigEndian != blobs[0].BigEndian {
			return fmt.Errorf("%s: its byte order is not the one of %s", message.OneLine(p), message.OneLine(paths[0]))
		}
		blobs, given = append(blobs, b), append(given, finish.Given{Name: p, BTF: b})
	}
	merged, err := btffile.Dedup(blobs, base, d.exact)
	if err != nil {
		return message.NamingFile(paths, err)
	}
	return c.writeMerged(out, given, base, merged.Encode(), d.lenient)
}
