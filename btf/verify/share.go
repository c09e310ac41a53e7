package verify

import (
	"sync/atomic"

	"github.com/btflite/btflite/internal/workers"
)

// Work on all own types is divided among goroutines. They share tables, in which every
// type has its own entries. All other data that a goroutine changes is its own.

// chunkTypes is how many types a worker takes at a time: 10 to 40 µs of work. A
// variable for tests.
var chunkTypes = 1024

// both calls f and g, at the same time if there are workers for it.
func both(k int, f, g func()) {
	if k == 1 {
		f()
		g()
		return
	}
	workers.Both(f, g)
}

// workersFor is how many of the workers share out n types.
func workersFor(workers, n int) int {
	return max(1, min(workers, n/chunkTypes))
}

// inChunks calls do for n types, a range of indexes at a time, in ascending order. Several
// goroutines do the work, each with its own copy of state. No new range begins after do has
// returned false, or ended an error; then all ranges before this one are done or in work. inChunks
// returns the copies, and whether all types were done.
func inChunks[S any](n, most int, ended func() error, state *S, do func(s *S, from, to int) bool) (each []*S, ok bool) {
	k := workersFor(most, n)
	each = make([]*S, k) // apart, so that they share no cache line
	for i := range each {
		each[i] = new(S)
		*each[i] = *state
	}
	if k == 1 {
		for from := 0; from < n; from += chunkTypes {
			if ended() != nil || !do(each[0], from, min(from+chunkTypes, n)) {
				return each, false
			}
		}
		return each, true
	}
	var next atomic.Int64
	var stop atomic.Bool
	workers.Do(k, func(k int) {
		for !stop.Load() {
			from := int(next.Add(int64(chunkTypes))) - chunkTypes
			if from >= n {
				return
			}
			if ended() != nil || !do(each[k], from, min(from+chunkTypes, n)) {
				stop.Store(true)
			}
		}
	})
	return each, !stop.Load()
}
