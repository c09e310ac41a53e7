package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/diff"
	"github.com/btflite/btflite/btf/sites"
	"github.com/btflite/btflite/internal/message"
	"github.com/spf13/cobra"
)

// diffCommand is "btflite diff".
type diffCommand struct {
	bases, basesB []string
	compare       diff.Options
	format        string // "" for text
	json          bool
	color         string // --color
	// summaryOnly is --summary, noSummary is --no-summary.
	summaryOnly, noSummary bool
}

func newDiffCommand(c *cli) *cobra.Command {
	var d diffCommand
	cmd := &cobra.Command{
		Use: "diff [OPTION...] A B",
		Long: `Say what differs between the BTF of two files, raw BTF files or ELF files with
.BTF: types, functions and variables by name, not ids, order or duplicates.
Status 0: nothing, 1: something, 2: there is no answer.`,
		Example: `  btflite diff --summary old/vmlinux new/vmlinux
  btflite diff --abi --name='tcp_*' --name=sk_buff old/vmlinux new/vmlinux
  btflite diff --functions --format=markdown old.btf new.btf > report.md
  btflite diff --format=html old/vmlinux new/vmlinux > layouts.html
  btflite diff --json --btf_base=old/vmlinux --btf_base_b=new/vmlinux old.ko new.ko`,
		RunE:        func(_ *cobra.Command, args []string) error { return d.run(c, args) },
		Annotations: map[string]string{troubleKey: ""},
	}
	s := under(cmd, groupCompared)
	s.bases(&d.bases, "btf_base", "A and B are split over `BASE`, or a chain")
	s.bases(&d.basesB, "btf_base_b", "B is split over this `BASE`, or chain, instead")
	s.pattern(&d.compare.Names, "name", "", "only names that `GLOB` fits; repeatable")
	note := "; such options add up"
	for _, p := range diff.Parts() {
		shown := always
		if !diff.IsABI(p) {
			shown = rare
		}
		s.call(func() { d.compare.Parts = append(d.compare.Parts, p) }, p+"s", "", "only "+p+"s"+note, shown)
		note = ""
	}
	s.toggle(&d.compare.ABI, "abi", "", "only layouts, types of prototypes, enum values")
	r := under(cmd, groupReport)
	r.text(&d.format, "format", "", "print text, or in `FORMAT`: json, markdown, html", words("text", "json", "markdown", "html"))
	r.toggle(&d.json, "json", "", "the same as --format=json")
	colorOption(cmd, &d.color)
	r.toggle(&d.summaryOnly, "summary", "", "print only how many there are of each kind")
	r.toggle(&d.noSummary, "no-summary", "", "do not print that at the end", alias("no_summary"))
	return cmd
}

// groupCompared is the heading of what to compare.
const groupCompared = "What to compare"

// check refuses options that exclude each other.
func (d *diffCommand) check() error {
	switch {
	case d.json && d.format != "" && d.format != "json":
		return usagef("--json and --format=%s exclude each other", d.format)
	case d.summaryOnly && d.format == "html":
		return usagef("--summary and --format=html exclude each other")
	case d.summaryOnly && d.noSummary:
		return usagef("--summary and --no-summary exclude each other")
	}
	for _, p := range d.compare.Parts {
		if d.compare.ABI && !diff.IsABI(p) {
			return usagef("--abi compares no %ss by themselves: leave out --%ss", p, p)
		}
	}
	return nil
}

func (d *diffCommand) run(c *cli, words []string) error {
	var usage *usageError
	if err := byOption("diff", "name", words); len(words) > 2 && errors.As(err, &usage) {
		return err
	}
	if len(words) != 2 {
		return &usageError{what: "diff takes two files", lacksWord: len(words) < 2}
	}
	if err := checkNames(words); err != nil {
		return err
	}
	for _, w := range words {
		if info, err := os.Stat(w); err == nil && info.IsDir() {
			return fmt.Errorf("%s: a folder; diff compares two files, so give one of each folder at a time", message.OneLine(w))
		}
	}
	if err := d.check(); err != nil {
		return err
	}
	same, err := d.print(c, words[0], words[1])
	if err == nil && !same {
		return printedFailure{exitFailure}
	}
	return err
}

// errDiffer ends a comparison without any output.
var errDiffer = errors.New("the files differ")

// print prints how the files a and b differ.
func (d *diffCommand) print(c *cli, a, b string) (same bool, err error) {
	blobs, err := d.inputs(c, a, b)
	if err != nil {
		return false, err
	}
	if c.quiet {
		_, err := diff.Compare(blobs[0], blobs[1], d.compare, func(*diff.Difference) error { return errDiffer })
		if err == errDiffer {
			return false, nil
		}
		return err != nil || d.sites(c, blobs), err
	}
	var paint paintLine
	if !d.json && (d.format == "" || d.format == "text") {
		paint = (*painter).paintDifference
	}
	to, end := c.screen(d.color, paint)
	out := d.writer(newLineWriter(to), a, b, blobs)
	counts := diff.Summary{}
	unmatched, err := diff.Compare(blobs[0], blobs[1], d.compare, func(found *diff.Difference) error {
		counts.Add(found)
		if d.summaryOnly {
			return nil
		}
		return out.difference(found)
	})
	if err == nil {
		err = out.end(counts)
	}
	end()
	for _, p := range unmatched {
		c.warn(fmt.Sprintf("note: --name=%s fits no name%s in these files", p, d.partsText()))
	}
	same = d.sites(c, blobs)
	return same && len(counts) == 0, stdoutError(err)
}

// sites compares the sites of inlined functions, unless only some types are compared, and
// returns true if they are the same.
func (d *diffCommand) sites(c *cli, blobs [2]*btf.Blob) (same bool) {
	if len(d.compare.Parts)+len(d.compare.Names) > 0 || d.compare.ABI {
		return true
	}
	s := sites.Compare(blobs[0], blobs[1])
	if s.Same() {
		return true
	}
	of := func(n sites.Counts) string {
		return fmt.Sprintf("%s, %s with all parameters", countOf(n.Sites, "site"), grouped(uint64(n.All)))
	}
	c.warn(fmt.Sprintf("note: inlined functions: %s gone, %s come; %s before, %s now",
		grouped(uint64(s.Gone)), grouped(uint64(s.Come)), of(s.A), of(s.B)))
	return false
}

// partsText says what the names are names of, if not everything is compared.
func (d *diffCommand) partsText() string {
	if len(d.compare.Parts) == 0 {
		return ""
	}
	return " of " + strings.Join(d.compare.Parts, "s, ") + "s"
}

// inputs reads the two files, each over its base.
func (d *diffCommand) inputs(c *cli, a, b string) (blobs [2]*btf.Blob, err error) {
	basePaths := [2][]string{c.basePaths(d.bases, []string{a}), d.basesB}
	if len(d.basesB) == 0 {
		basePaths[1] = c.basePaths(d.bases, []string{b})
	}
	var bases [2]*btf.Blob
	for i, paths := range basePaths {
		if i == 1 && slices.Equal(paths, basePaths[0]) {
			bases[1] = bases[0]
		} else if bases[i], err = btfFiles.Chain(paths); err != nil {
			return blobs, err
		}
	}
	for i, path := range []string{a, b} {
		if blobs[i], err = btfFilesOver(basePaths[i]).Load(path, bases[i]); err != nil {
			return blobs, err
		}
		c.warnSkipped(path, blobs[i], "they are not compared")
	}
	return blobs, nil
}
