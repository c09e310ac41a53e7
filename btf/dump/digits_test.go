package dump

import (
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestDecimal: the digits equal strconv's, for every capacity of the slice.
func TestAppendUint32(t *testing.T) {
	numbers := []uint32{0, 1<<32 - 1}
	for p := uint64(1); p < 1<<32; p *= 10 {
		numbers = append(numbers, uint32(p-1), uint32(p), uint32(p+1))
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		numbers = append(numbers, r.Uint32()>>r.IntN(32))
	}
	for _, n := range numbers {
		for room := range 2 * maxDigits {
			want := strconv.AppendUint([]byte{'x'}, uint64(n), 10)
			o := out{buf: append(make([]byte, 0, 1+room), 'x')}
			if o.decimal(n); string(o.buf) != string(want) {
				t.Fatalf("%s, want %s", o.buf, want)
			}
		}
	}
}
