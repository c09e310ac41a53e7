package diff

import (
	"fmt"
	"slices"
	"strings"
)

// static is the linkage of all functions that pahole writes.
const static = "static"

// was and is are the changes of lines that show one thing before and after.
const (
	was Change = "was"
	is  Change = "is"
)

// sign begins a line.
func sign(c Change) string {
	switch c {
	case Added, is:
		return "+ "
	case Removed, was:
		return "- "
	case Changed, Moved, Defined, Declared:
		return "~ "
	}
	return ""
}

// behind returns the text after a name.
func behind(c Change) string {
	switch c {
	case Defined:
		return " declared -> defined"
	case Declared:
		return " defined -> declared"
	case Moved:
		return " moved"
	}
	return ""
}

// textLine is one line of a report.
type textLine struct {
	depth      int
	change     Change
	head, note string
	properties string // "" for none
}

// Lines returns a difference for people: a line for it and, indented by four
// blanks each, lines for its details. Names are as in the file, whatever bytes
// they hold.
func (d *Difference) Lines() []string {
	var lines []string
	for _, l := range d.lines() {
		text := strings.Repeat("    ", l.depth) + sign(l.change) + l.head + behind(l.change) + l.note
		if l.properties != "" {
			text += ": " + l.properties
		}
		lines = append(lines, text)
	}
	return lines
}

// lines is a difference as all forms for people show it.
func (d *Difference) lines() []textLine {
	head := d.Part + " " + d.Name
	if first := d.Details; d.Name == "" {
		head = d.Part + " (anonymous)"
		if len(first) > 0 && first[0].Part == "type" {
			nameless := *d
			nameless.Details = first[1:]
			head, d = shown(first[0].Before, first[0].After), &nameless
		}
	}
	t := &textWriter{}
	t.difference(d, head, 0)
	if n := d.Definitions; n != nil {
		t.lines[0].note = fmt.Sprintf(" (definitions: %d, %d)", n[0], n[1])
	}
	return t.lines
}

type textWriter struct{ lines []textLine }

func (t *textWriter) add(depth int, change Change, head string) {
	t.lines = append(t.lines, textLine{depth: depth, change: change, head: head})
}

// difference writes a difference: head with its properties, and lines for the rest.
func (t *textWriter) difference(d *Difference, head string, depth int) {
	var properties []string
	at := len(t.lines)
	t.add(depth, d.Change, head)
	inner := depth + 1
	list := d.Details
	if p := slices.IndexFunc(list, func(p Difference) bool { return p.Part == "prototype" }); p >= 0 && d.Change == Changed {
		before, after := list[p].Before, list[p].After
		if before != after {
			t.add(inner, was, fmt.Sprint(before))
			t.add(inner, is, fmt.Sprint(after))
			list = slices.DeleteFunc(slices.Clone(list), inPrototype)
		}
	}
	for i := 0; i < len(list); i++ {
		p := &list[i]
		switch p.Part {
		case "member", "parameter":
			if n := movedTogether(list[i:]); n > 1 {
				t.add(inner, Changed, movedText(p, &list[i+n-1], n))
				i += n - 1
				continue
			}
			name := p.Name
			if name == "" {
				name = "(anonymous)"
			}
			t.difference(p, p.Part+" "+name, inner)
		case "value":
			t.add(inner, p.Change, p.Name+" = "+change(p.Before, p.After))
		case "type", "returns":
			if len(p.Details) == 0 {
				properties = append(properties, property(p))
				continue
			}
			t.difference(p, p.Part+" "+shown(p.Before, p.After), inner)
		case "tag":
			t.add(inner, p.Change, "tag "+p.Name)
		case "linkage":
			if p.Change == Changed || p.Before != static && p.After != static {
				properties = append(properties, property(p))
			}
		default:
			properties = append(properties, property(p))
		}
	}
	t.lines[at].properties = strings.Join(properties, ", ")
}

// inPrototype reports whether two prototypes, one below the other, show p. Tags
// they do not show.
func inPrototype(p Difference) bool {
	tagged := slices.ContainsFunc(p.Details, func(t Difference) bool { return t.Part == "tag" })
	return p.Part == "prototype" || p.Part == "returns" || p.Part == "parameter" && !tagged
}

// property writes a property with its old and new value.
func property(p *Difference) string {
	switch p.Part {
	case "content":
		return "differs inside"
	case "defined":
		return "forward declaration"
	case "prototype":
		return change(p.Before, p.After)
	case "bit_offset":
		return "at " + change(bytesAndBits(p.Before), bytesAndBits(p.After))
	}
	before, after := p.Before, p.After
	if p.Change == Changed && before == nil {
		before = "none"
	} else if p.Change == Changed && after == nil {
		after = "none"
	}
	return p.Part + " " + change(before, after)
}

// bytesAndBits is a bit offset as pahole shows it: bytes, then bits if there
// are any.
func bytesAndBits(v any) any {
	n, ok := v.(int64)
	switch {
	case !ok:
		return nil
	case n%8 == 0:
		return n / 8
	}
	return fmt.Sprintf("%d:%d", n/8, n%8)
}

// change is "before -> after", or the one that is there.
func change(before, after any) string {
	switch {
	case before == nil:
		return fmt.Sprint(after)
	case after == nil:
		return fmt.Sprint(before)
	case before == after:
		return fmt.Sprint(before) + " differs inside"
	}
	return fmt.Sprint(before) + " -> " + fmt.Sprint(after)
}

// shown is a type that stands for a name.
func shown(before, after any) string {
	if before == after {
		return fmt.Sprint(before)
	}
	return change(before, after)
}

// shift is by how many bits a member moved that has not changed otherwise.
func shift(d *Difference) (int64, bool) {
	if d.Part != "member" || d.Change != Changed || len(d.Details) != 1 || d.Details[0].Part != "bit_offset" {
		return 0, false
	}
	return d.Details[0].After.(int64) - d.Details[0].Before.(int64), true
}

// movedTogether is how many members at the beginning of list moved by the same
// distance.
func movedTogether(list []Difference) int {
	by, ok := shift(&list[0])
	n := 0
	for ok && n < len(list) {
		if s, moved := shift(&list[n]); !moved || s != by {
			break
		}
		n++
	}
	return n
}

func movedText(first, last *Difference, n int) string {
	by, _ := shift(first)
	names := [2]string{}
	for i, d := range []*Difference{first, last} {
		if names[i] = d.Name; d.Name == "" {
			names[i] = "(anonymous)"
		}
	}
	unit, size := "bits", by
	if by%8 == 0 {
		unit, size = "bytes", by/8
	}
	return fmt.Sprintf("members %s to %s (%d): moved by %+d %s", names[0], names[1], n, size, unit)
}
