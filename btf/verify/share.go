package verify

import (
	"sync/atomic"

	"github.com/btflite/btflite/internal/workers"
)

// Work on all own types, divided among goroutines. Each has a copy of the
// checker: the tables are common, and in these every type has entries of its
// own; the rest is one worker's.

// chunkTypes is how many types a worker takes at a time: 10 to 40 µs of work. A
// variable for tests.
var chunkTypes = 1024

// both calls f and g, at the same time if there are workers for it.
func (c *checker) both(f, g func()) {
	if c.workersFor(len(c.types)/24) == 1 {
		f()
		g()
		return
	}
	workers.Do(2, func(k int) { [...]func(){f, g}[k]() })
}

// workersFor is how many workers share out n types.
func (c *checker) workersFor(n int) int {
	return max(1, min(c.rules.Workers, n/chunkTypes))
}

// inChunks has do called for all own types, from index from to before index to
// at a time, in ascending order. Once do returns false no more begin: by then
// all types before these have been done, or are being done. It reports whether
// do never returned false.
func (c *checker) inChunks(do func(c *checker, from, to int) bool) bool {
	n := len(c.kinds)
	k := c.workersFor(n)
	if k == 1 {
		return do(c, 0, n)
	}
	var next atomic.Int64
	var stop atomic.Bool
	each := make([]*checker, k) // apart, so that they share no cache line
	workers.Do(k, func(k int) {
		w := new(checker)
		*w = *c
		each[k] = w
		for !stop.Load() {
			from := int(next.Add(int64(chunkTypes))) - chunkTypes
			if from >= n {
				return
			}
			if !do(w, from, min(from+chunkTypes, n)) {
				stop.Store(true)
			}
		}
	})
	for _, w := range each {
		c.maxRef = max(c.maxRef, w.maxRef)
		c.reach.merge(w.reach)
		c.needs.merge(&w.needs)
		if w.found != nil && (c.found == nil || w.found.ID < c.found.ID) {
			c.found = w.found
		}
	}
	return !stop.Load()
}
