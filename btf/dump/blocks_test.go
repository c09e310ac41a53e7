package dump

import (
	"slices"
	"strings"
	"testing"
)

// pieces notes how much is written at a time.
type pieces []int

func (s *pieces) Write(p []byte) (int, error) {
	*s = append(*s, len(p))
	return len(p), nil
}

// TestBlocks: what is written before the end is whole blocks.
func TestBlocks(t *testing.T) {
	var got pieces
	o := newOut(&got)
	for _, n := range []int{flushAt - 1, 2, 1, 3*flushAt - 3, 8} {
		o.text(strings.Repeat("x", n))
		o.keepUp()
	}
	if err := o.end(); err != nil || !slices.Equal(got, pieces{flushAt, 2 * flushAt, flushAt, 7}) {
		t.Errorf("pieces of %v: %v", got, err)
	}
}
