package show

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestNumber: numbers of all lengths in fields of several widths.
func TestNumber(t *testing.T) {
	for n := uint64(1); ; n *= 10 {
		for _, x := range []uint64{0, n, n - 1, n + 1, ^uint64(0)} {
			for _, width := range []int{0, 1, 5, 20} {
				var o output
				o.number(x, width)
				want := strconv.FormatUint(x, 10)
				want = spaces[:max(0, width-len(want))] + want
				if string(o.buf) != want {
					t.Fatalf("%d in %d: %q", x, width, o.buf)
				}
			}
		}
		if n > ^uint64(0)/10 {
			break
		}
	}
}

// sizes notes how much is written at a time.
type sizes []int

func (s *sizes) Write(p []byte) (int, error) {
	*s = append(*s, len(p))
	return len(p), nil
}

// TestBlocks: what is written before the end is whole blocks.
func TestBlocks(t *testing.T) {
	var got sizes
	o := output{w: &got, most: 10 * bufSize}
	for _, n := range []int{bufSize - 1, 2, 1, 3*bufSize - 3, 8} {
		o.text(strings.Repeat("x", n))
		if o.full() {
			t.Fatal(o.err)
		}
	}
	if err := o.Flush(); err != nil || !slices.Equal(got, sizes{bufSize, 2 * bufSize, bufSize, 7}) {
		t.Errorf("pieces of %v: %v", got, err)
	}
	if o.pos() != 4*bufSize+7 {
		t.Errorf("%d bytes printed, want %d", o.pos(), 4*bufSize+7)
	}
}
