package dwarf

import (
	"bytes"
	"math"
	"testing"
)

func TestULEB(t *testing.T) {
	ones := func(n int) []byte { return bytes.Repeat([]byte{0xff}, n) }
	for _, c := range []struct {
		in   []byte
		p    int
		want uint64
		next int
	}{
		{[]byte{0}, 0, 0, 1},
		{[]byte{0x7f}, 0, 127, 1},
		{[]byte{0x80, 1}, 0, 128, 2},
		{[]byte{9, 9, 0xe5, 0x8e, 0x26}, 2, 624485, 5},
		{append(ones(9), 1), 0, math.MaxUint64, 10},
		{append(ones(9), 0x7f), 0, math.MaxUint64, 10}, // bits beyond 64 are dropped
		{append(ones(10), 0), 0, 0, -1},                // too long
		{nil, 0, 0, -1},
		{[]byte{1}, 1, 0, -1},
		{[]byte{1}, -1, 0, -1},
		{[]byte{0x80}, 0, 0, -1},
	} {
		if v, next := ULEB(c.in, c.p); v != c.want || next != c.next {
			t.Errorf("ULEB(%x, %d) = %d, %d; want %d, %d", c.in, c.p, v, next, c.want, c.next)
		}
	}
}

func TestSLEB(t *testing.T) {
	fill := func(b byte, n int, last byte) []byte { return append(bytes.Repeat([]byte{b}, n), last) }
	for _, c := range []struct {
		in   []byte
		p    int
		want int64
		next int
	}{
		{[]byte{2}, 0, 2, 1},
		{[]byte{0x3f}, 0, 63, 1},
		{[]byte{0x40}, 0, -64, 1},
		{[]byte{0x7e}, 0, -2, 1},
		{[]byte{9, 0xff, 0}, 1, 127, 3},
		{[]byte{0x81, 0x7f}, 0, -127, 2},
		{fill(0x80, 8, 0x40), 0, -1 << 62, 9},
		{fill(0x80, 9, 0x7f), 0, math.MinInt64, 10},
		{fill(0x80, 9, 0x40), 0, 0, 10}, // bits beyond 64 are dropped, the sign too
		{fill(0xff, 10, 0), 0, 0, -1},
		{[]byte{1}, 1, 0, -1},
		{[]byte{1}, -1, 0, -1},
		{[]byte{0x80, 0x80}, 0, 0, -1},
	} {
		if v, next := SLEB(c.in, c.p); v != c.want || next != c.next {
			t.Errorf("SLEB(%x, %d) = %d, %d; want %d, %d", c.in, c.p, v, next, c.want, c.next)
		}
	}
}
