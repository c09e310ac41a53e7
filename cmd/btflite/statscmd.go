package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/btflite/btflite/btf/stats"
	"github.com/btflite/btflite/btf/view"
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
	o.value(s.setTop, "top", "n", fmt.Sprintf("at most `N` entries in each list; without, %d", statsTop), numbers)
	o.toggle(&s.json, "json", "", "print one JSON object")
	o.value(func(v string) error { s.format = v; return nil }, "format", "",
		"print `FORMAT`: text (default), json or svg", words("text", "json", "svg"))
	return cmd
}

func (s *statsCommand) setTop(v string) error {
	n, err := strconv.ParseUint(v, 10, 31)
	if err != nil {
		return usagef("'%s' is not a number of entries", message.OneLine(v))
	}
	s.top = int(n)
	return nil
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
	t := &files[0]
	c.warnNotes(files)
	v := view.New(t.Blob)
	if t.pointerSize != 0 {
		v.SetPointerSize(t.pointerSize)
	}
	report := stats.Of(v, s.top)
	to, end := c.screen(colorNever, nil)
	defer end()
	out := newLineWriter(to)
	switch {
	case s.format == "svg":
		out.bytes(report.SVG())
	case s.json || s.format == "json":
		var text bytes.Buffer
		e := json.NewEncoder(&text)
		e.SetEscapeHTML(false)
		e.SetIndent("", " ")
		if err := e.Encode(report); err != nil {
			return err
		}
		out.bytes(printableJSON(text.Bytes()))
	default:
		statsTables{out}.all(report)
	}
	return stdoutError(out.flush())
}

// statsTables prints a report as tables.
type statsTables struct{ out *lineWriter }

// row prints a line of columns, formatted by format.
func (w statsTables) row(format string, args ...any) {
	text := strings.TrimRight(fmt.Sprintf(format, args...), " ")
	w.out.line(string(printable([]byte(text))))
}

func (w statsTables) all(r *stats.Report) {
	w.row("%s bytes: %s of %s types, %s of strings", grouped(r.Bytes), grouped(r.TypeBytes), grouped(uint64(r.Types)), grouped(r.StringBytes))
	w.kinds(r)
	w.largest(r.Largest)
	w.repeated(r)
	w.waste(&r.Waste)
	w.base(r)
}

// share prints n of all as a percentage and a bar.
func share(n, all uint64) string {
	if all == 0 {
		return ""
	}
	const width = 40
	part := float64(n) / float64(all)
	return fmt.Sprintf("%5.1f %%  %s", 100*part, strings.Repeat("#", int(part*width+0.5)))
}

func (w statsTables) kinds(r *stats.Report) {
	w.row("\n%-11s %12s %12s %12s", "kind", "types", "elements", "bytes")
	for _, k := range r.Kinds {
		w.row("%-11s %12s %12s %12s %s", k.Kind, grouped(uint64(k.Types)), grouped(k.Elements), grouped(k.Bytes), share(k.Bytes, r.TypeBytes))
	}
	w.row("\n%-11s %12s %25s", "names of", "strings", "bytes")
	for _, s := range r.Strings {
		w.row("%-11s %12s %25s %s", s.Of, grouped(uint64(s.Count)), grouped(s.Bytes), share(s.Bytes, r.StringBytes))
	}
}

func (w statsTables) largest(list []stats.Type) {
	if len(list) == 0 {
		return
	}
	w.row("\n%12s %12s %10s  largest types, with the strings that they use first", "bytes", "of strings", "elements")
	for _, t := range list {
		w.row("%12s %12s %10s  [%d] %s %s", grouped(t.Bytes+t.StringBytes), grouped(t.StringBytes), grouped(uint64(t.Elements)), t.ID, t.Kind, shownName(t.Name))
	}
}

// shownName cuts a name that is very long.
func shownName(s string) string {
	const most = 128
	switch {
	case s == "":
		return "(anon)"
	case len(s) > most:
		return s[:most] + "..."
	}
	return s
}

func (w statsTables) repeated(r *stats.Report) {
	if r.RepeatedNames == 0 {
		return
	}
	w.row("\n%s names have several definitions, which take %s bytes more", grouped(uint64(r.RepeatedNames)), grouped(r.RepeatedBytes))
	if len(r.Repeated) == 0 {
		return
	}
	w.row("%12s %12s %10s", "definitions", "in the base", "bytes")
	for _, x := range r.Repeated {
		w.row("%12s %12s %10s  %s %s %s", grouped(uint64(x.Count)), grouped(uint64(x.InBase)), grouped(x.Bytes), x.Kind, shownName(x.Name), idList(x.IDs, x.Count))
	}
}

// idList lists some ids, of n in all.
func idList(ids []uint32, n int) string {
	const most = 4
	var words []string
	for _, id := range ids[:min(most, len(ids))] {
		words = append(words, fmt.Sprintf("[%d]", id))
	}
	if n > most {
		words = append(words, "...")
	}
	return strings.Join(words, " ")
}

func (w statsTables) waste(x *stats.Waste) {
	if x.Structs == 0 {
		return
	}
	w.row("\n%s structs have holes or padding: %s bytes in one of each", grouped(uint64(x.Structs)), grouped(x.Bytes))
	w.structs("most unused bytes", x.Most)
	w.structs("most holes", x.Holes)
}

func (w statsTables) structs(what string, list []stats.Struct) {
	if len(list) == 0 {
		return
	}
	w.row("%8s %6s %8s %8s %10s  %s", "unused", "holes", "bytes", "padding", "size", what)
	for _, s := range list {
		w.row("%8s %6s %8s %8s %10s  [%d] %s", grouped(s.Unused), grouped(uint64(s.Holes)), grouped(s.HoleSize), grouped(s.Padding), grouped(s.Size), s.ID, shownName(s.Name))
	}
}

func (w statsTables) base(r *stats.Report) {
	if r.Base == nil {
		return
	}
	w.row("\nThe base saves %s bytes: %s types of it are needed, %s of them directly. Without it there would be %s bytes.",
		grouped(r.Base.Bytes()), grouped(uint64(r.Base.Types)), grouped(uint64(r.Base.Direct)), grouped(r.Bytes+r.Base.Bytes()))
}
