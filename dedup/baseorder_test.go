package dedup

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestOrderSettle compares with a count of the entries of a table that takes some of the types.
func TestOrderSettle(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 0))
		var o baseOrder
		var want []uint32
		last := uint32(rng.IntN(200))
		entries, next := 0, 1
		for id := uint32(1); id <= last; id++ {
			if rng.IntN(3) == 0 {
				o.unhashed = append(o.unhashed, id)
				continue
			}
			if entries++; entries == next {
				want = append(want, id)
				next = max(4, 2*next-1)
			}
		}
		if o.settle(last); !slices.Equal(o.doublings, want) {
			t.Errorf("seed %d: the table doubles before %d, not before %d", seed, o.doublings, want)
		}
	}
}
