package dedup

import (
	"sync"
	"testing"
)

// TestGate: writers exclude each other and readers, and a reader that lets
// writers in finds what they have written.
func TestGate(t *testing.T) {
	var g gate
	const writers, each = 3, 500
	a, b := 0, 0 // equal whenever a reader has the lock
	var group sync.WaitGroup
	for range writers {
		group.Go(func() {
			for range each {
				g.lock()
				a++
				b++
				g.unlock()
			}
		})
	}
	for range 2 {
		group.Go(func() {
			g.rlock()
			defer g.runlock()
			for seen := 0; seen < writers*each; {
				if a != b || a < seen {
					t.Errorf("%d and %d, after %d", a, b, seen)
					return
				}
				seen = a
				g.runlock()
				g.rlock()
			}
		})
	}
	group.Wait()
}
