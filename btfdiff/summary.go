package btfdiff

import (
	"fmt"
	"slices"
	"strings"
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

// Lines returns the counts that are not 0, a line for each part, in the order
// of the report.
func (s Summary) Lines() []string {
	var lines []string
	for _, part := range partNames {
		var counts []string
		for _, c := range []Change{Added, Removed, Changed, Moved, Defined, Declared} {
			if n := s[part][c]; n > 0 {
				counts = append(counts, fmt.Sprintf("%d %s", n, c))
			}
		}
		if len(counts) > 0 {
			lines = append(lines, part+": "+strings.Join(counts, ", "))
		}
	}
	return slices.Clip(lines)
}
