package show

import (
	"io"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf/blocks"
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

// TestPosition: text that has been written counts for the start of a line.
func TestPosition(t *testing.T) {
	o := output{to: blocks.Writer{W: io.Discard}, limit: limit{end: 10 * blocks.Size}}
	for _, n := range []int{blocks.Size - 1, 2, 3 * blocks.Size, 6} {
		before := o.pos()
		o.text(strings.Repeat("x", n))
		if o.full() {
			t.Fatal(o.to.Err)
		}
		if o.pos() != before+n || len(o.buf) >= blocks.Size {
			t.Errorf("at %d, %d bytes held", o.pos(), len(o.buf))
		}
	}
	if err := o.flush(); err != nil || o.pos() != 4*blocks.Size+7 {
		t.Errorf("at %d: %v", o.pos(), err)
	}
}

// TestLimits: however much BTF there is, there is text that is too much for one type and for all, and
// the last type before that limit can be counted.
func TestLimits(t *testing.T) {
	for _, n := range []int{0, 1, 1 << 20, 8 << 20, 1 << 30, math.MaxInt} {
		l := limitFor(n)
		if l.one < mostText || l.all < mostTexts || l.end != l.one || l.all > math.MaxInt-mostHeld {
			t.Errorf("%d bytes of BTF: %+v", n, l)
		}
	}
}
