package stats

import (
	"fmt"
	"strings"

	"github.com/btflite/btflite/internal/message"
)

// Text returns the report as tables.
func (r *Report) Text() []byte {
	var t tables
	t.row("%s bytes: %s of %s types, %s of strings", message.Grouped(r.Bytes), message.Grouped(r.TypeBytes), message.Grouped(uint64(r.Types)), message.Grouped(r.StringBytes))
	t.kinds(r)
	t.largest(r.Largest)
	t.repeated(r)
	t.waste(&r.Waste)
	t.base(r)
	return t.text
}

// tables is text in columns.
type tables struct{ text []byte }

// row adds a line of columns, formatted by format.
func (t *tables) row(format string, args ...any) {
	t.text = append(t.text, strings.TrimRight(fmt.Sprintf(format, args...), " ")+"\n"...)
}

// share returns n of all as a percentage and a bar.
func share(n, all uint64) string {
	if all == 0 {
		return ""
	}
	const width = 40
	part := float64(n) / float64(all)
	return fmt.Sprintf("%5.1f %%  %s", 100*part, strings.Repeat("#", int(part*width+0.5)))
}

func (t *tables) kinds(r *Report) {
	t.row("\n%-11s %12s %12s %12s", "kind", "types", "elements", "bytes")
	for _, k := range r.Kinds {
		t.row("%-11s %12s %12s %12s %s", k.Kind, message.Grouped(uint64(k.Types)), message.Grouped(k.Elements), message.Grouped(k.Bytes), share(k.Bytes, r.TypeBytes))
	}
	t.row("\n%-11s %12s %25s", "names of", "strings", "bytes")
	for _, s := range r.Strings {
		t.row("%-11s %12s %25s %s", s.Of, message.Grouped(uint64(s.Count)), message.Grouped(s.Bytes), share(s.Bytes, r.StringBytes))
	}
}

func (t *tables) largest(list []Type) {
	if len(list) == 0 {
		return
	}
	t.row("\n%12s %12s %10s  largest types, with the strings that they use first", "bytes", "of strings", "elements")
	for _, x := range list {
		t.row("%12s %12s %10s  [%d] %s %s", message.Grouped(x.Bytes+x.StringBytes), message.Grouped(x.StringBytes), message.Grouped(uint64(x.Elements)), x.ID, x.Kind, shownName(x.Name))
	}
}

// shownName makes a name fit for a line. It cuts a very long one.
func shownName(s string) string {
	const most = 128
	switch {
	case s == "":
		return "(anon)"
	case len(s) > most:
		return message.OneLine(s[:most]) + "..."
	}
	return message.OneLine(s)
}

func (t *tables) repeated(r *Report) {
	if r.RepeatedNames == 0 {
		return
	}
	t.row("\n%s with several definitions, which take %s bytes more", message.Count(r.RepeatedNames, "name"), message.Grouped(r.RepeatedBytes))
	if len(r.Repeated) == 0 {
		return
	}
	t.row("%12s %12s %10s", "definitions", "in the base", "bytes")
	for _, x := range r.Repeated {
		t.row("%12s %12s %10s  %s %s %s", message.Grouped(uint64(x.Count)), message.Grouped(uint64(x.InBase)), message.Grouped(x.Bytes), x.Kind, shownName(x.Name), idList(x.IDs, x.Count))
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

func (t *tables) waste(x *Waste) {
	if x.Structs == 0 {
		return
	}
	t.row("\n%s with holes or padding: %s bytes in one of each", message.Count(int(x.Structs), "struct"), message.Grouped(x.Bytes))
	t.structs("most unused bytes", x.Most)
	t.structs("most holes", x.Holes)
}

func (t *tables) structs(what string, list []Struct) {
	if len(list) == 0 {
		return
	}
	t.row("%8s %6s %8s %8s %10s  %s", "unused", "holes", "bytes", "padding", "size", what)
	for _, s := range list {
		t.row("%8s %6s %8s %8s %10s  [%d] %s", message.Grouped(s.Unused), message.Grouped(uint64(s.Holes)), message.Grouped(s.HoleSize), message.Grouped(s.Padding), message.Grouped(s.Size), s.ID, shownName(s.Name))
	}
}

func (t *tables) base(r *Report) {
	if r.Base == nil {
		return
	}
	t.row("\nThe base saves %s bytes: %s types of it are needed, %s of them directly. Without it there would be %s bytes.",
		message.Grouped(r.Base.Bytes()), message.Grouped(uint64(r.Base.Types)), message.Grouped(uint64(r.Base.Direct)), message.Grouped(r.Bytes+r.Base.Bytes()))
}
