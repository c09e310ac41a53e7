package main

import (
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"github.com/btflite/btflite/btf/stats"
	"github.com/btflite/btflite/internal/message"
)

// statsCommand is "btflite stats".
type statsCommand struct {
	in     *typeReader
	top    int
	json   bool
	format string // "" for text
}

// statsTop is the default number of entries in a list.
const statsTop = 20

func newStatsCommand(c *cli) *cobra.Command {
	s := statsCommand{in: newTypeReader(c), top: statsTop}
	cmd := &cobra.Command{
		Use: "stats [OPTION...] [FILE]",
		Long: `Say what the bytes of the BTF of FILE are spent on: kinds of types, strings,
the largest types, names with several definitions, unused bytes in structs,
and what a base saves. Without FILE it is the running kernel.`,
		Example: `  btflite stats vmlinux
  btflite stats --json --top=100 vmlinux.btf
  btflite stats --btf_base=vmlinux fs/xfs/xfs.ko`,
		RunE: func(_ *cobra.Command, args []string) error { return s.run(c, args) },
	}
	o := under(cmd, groupReport)
	s.in.options(cmd, groupReport)
	o.value(between(&s.top, 0, math.MaxInt32, "a number of entries"), "top", "n", fmt.Sprintf("at most `N` entries in each list; without, %d", statsTop), numbers)
	o.toggle(&s.json, "json", "", "print one JSON object")
	o.text(&s.format, "format", "", "print `FORMAT`: text (default), json or svg", words("text", "json", "svg"))
	return cmd
}

func (s *statsCommand) run(c *cli, words []string) error {
	if len(words) > 1 {
		return usagef("stats takes one file; to print types by their names, use btflite show NAME FILE")
	}
	if s.json && s.format != "" && s.format != "json" {
		return usagef("--json and --format=%s exclude each other", s.format)
	}
	defer s.in.close()
	files, err := s.in.open(words)
	if err != nil {
		return err
	}
	report := stats.Of(files[0].view(), s.top)
	switch {
	case s.format == "svg":
		return c.page(report.SVG())
	case s.json || s.format == "json":
		return c.page(message.IndentedJSON(report, false))
	}
	return c.page(report.Text())
}
