package show

import (
	"bytes"
	"strconv"
	"testing"
)

// TestOdd: every byte at every place of a string that is longer than a step of isOdd.
func TestOdd(t *testing.T) {
	for at := range 67 {
		for c := range 256 {
			s := bytes.Repeat([]byte{0, 'a', '~', ' '}, 17)[:67]
			s[at] = byte(c)
			if want := c != 0 && c < ' ' || c >= 0x7f; isOdd(s) != want {
				t.Errorf("byte %#x at %d: %t", c, at, !want)
			}
		}
	}
}

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
