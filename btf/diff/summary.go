package diff

import (
	"slices"
	"strings"

	"github.com/btflite/btflite/internal/message"
)

// Summary counts differences by part and change.
type Summary map[string]map[Change]int

// Add counts one difference.
func (s Summary) Add(d *Difference) {
	if s[d.Part] == nil {
		s[d.Part] = map[Change]int{}
	}
	s[d.Part][d.Change]++
}

// Total is how many differences were counted.
func (s Summary) Total() int {
	n := 0
	for _, counts := range s {
		for _, c := range counts {
			n += c
		}
	}
	return n
}

// changes are the columns of a summary, in their order.
var changes = []Change{Added, Removed, Changed, Moved, Defined, Declared}

// Lines returns the counts that are not 0, a line for each part, in the order
// of the report.
func (s Summary) Lines() []string {
	var lines []string
	for _, part := range partNames {
		var counts []string
		for _, c := range changes {
			if n := s[part][c]; n > 0 {
				counts = append(counts, message.Grouped(uint64(n))+" "+string(c))
			}
		}
		if len(counts) > 0 {
			lines = append(lines, part+": "+strings.Join(counts, ", "))
		}
	}
	return slices.Clip(lines)
}
