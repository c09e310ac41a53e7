package diff

import (
	"slices"
	"strings"

	"github.com/btflite/btflite/internal/message"
)

// Markdown returns a difference as items of a list of Markdown: an item for it
// and, indented by two blanks each, items for its details. Text from the files is in
// code spans, so that nothing in it counts as markup. As in Lines, its bytes are not
// changed.
func (d *Difference) Markdown() []string {
	var lines []string
	for _, l := range d.lines() {
		text := strings.Repeat("  ", l.depth) + "- " + string(l.change) + " " + MarkdownCode(l.head) + l.note
		if l.properties != "" {
			text += ": " + MarkdownCode(l.properties)
		}
		lines = append(lines, text)
	}
	return lines
}

// headings has the heading of each part.
var headings = [noPart]string{"Structs", "Unions", "Enums", "Typedefs", "Integers", "Floats", "Functions", "Variables", "Sections"}

// Heading is the heading under which a report in Markdown has a difference.
// Compare reports all that have the same one after another.
func (d *Difference) Heading() string {
	i := slices.Index(partNames[:], d.Part)
	switch {
	case d.Name == "":
		return "Without a name"
	case i < 0:
		return d.Part
	}
	return headings[i]
}

// MarkdownCode is text as a code span. The text must not have line breaks.
func MarkdownCode(text string) string {
	longest, run := 0, 0
	for i := range len(text) {
		if text[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	blank := ""
	if text == "" || strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		blank = " " // is taken off again, on both sides
	}
	return fence + blank + text + blank + fence
}

// Markdown returns the counts as a table of Markdown: a row for each part, a
// column for each change that occurs.
func (s Summary) Markdown() []string {
	columns := slices.DeleteFunc(slices.Clone(changes), func(c Change) bool {
		return !slices.ContainsFunc(partNames[:], func(p string) bool { return s[p][c] > 0 })
	})
	if len(columns) == 0 {
		return nil
	}
	head, rule := "| |", "|---|"
	for _, c := range columns {
		head += " " + string(c) + " |"
		rule += "--:|"
	}
	lines := []string{head, rule}
	for _, p := range partNames {
		if len(s[p]) == 0 {
			continue
		}
		row := "| " + p + " |"
		for _, c := range columns {
			row += " " + message.Grouped(uint64(s[p][c])) + " |"
		}
		lines = append(lines, row)
	}
	return lines
}
