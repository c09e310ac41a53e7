package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup/btffile"
	"github.com/btflite/btflite/internal/finish"
	"github.com/btflite/btflite/internal/message"
)

// dedupCommand is "btflite dedup".
type dedupCommand struct {
	output  string // -o
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
	s.file(&d.output, "output", "o", "write the deduplicated BTF to the file `OUT`")
	s.bases(&d.bases, "btf_base", "the inputs are split over `BASE`, or a chain")
	s.value(func(v string) error { d.exact = v == "exact"; return nil }, "dedup", "",
		"deduplication `MODE`: stream (default) or exact", words("stream", "exact"))
	addVerify(cmd, &d.lenient, always)
	return cmd
}

func (d *dedupCommand) run(c *cli, paths []string) error {
	if d.output == "" {
		return usagef("no output; give -o OUT")
	}
	o, err := openOver(c, d.bases, paths, d.output, paths)
	if err != nil {
		return err
	}
	files := o.files
	files.OnlyGiven = true // all inputs have one base
	var blobs []*btf.Blob
	var given []finish.Given
	for _, p := range paths {
		b, err := files.Load(p, o.base)
		if err != nil {
			return err
		}
		if b, err = c.withoutSkipped(p, b); err != nil {
			return err
		}
		if len(blobs) > 0 && b.BigEndian != blobs[0].BigEndian {
			return fmt.Errorf("%s: its byte order differs from %s: the files are for different machines", message.OneLine(p), message.OneLine(paths[0]))
		}
		blobs, given = append(blobs, b), append(given, finish.Given{Name: p, BTF: b})
	}
	merged, err := btffile.Dedup(blobs, o.base, d.exact)
	if err != nil {
		return message.NamingFile(paths, err)
	}
	return c.writeMerged(o.out, given, o.base, merged.Encode(), d.lenient)
}
