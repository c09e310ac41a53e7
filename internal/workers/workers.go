// Package workers runs pieces of one job side by side, for the parts of a run
// that come when there are no compile units left to share out.
package workers

import (
	"iter"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Do calls fn(0) to fn(n-1), each on a goroutine of its own, and returns when
// all have returned. If one panics, Do panics with its value, so that the
// caller's recover sees it. Memory faults panic, too, as they do where files
// are read: a mapped file may be cut short.
func Do(n int, fn func(k int)) {
	var wg sync.WaitGroup
	panics := make([]any, n)
	for k := range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer func() { panics[k] = recover() }()
			debug.SetPanicOnFault(true)
			fn(k)
		}()
	}
	wg.Wait()
	for _, x := range panics {
		if x != nil {
			panic(x)
		}
	}
}

// Shared returns the numbers from 0 to n-1, for goroutines that range over it at the same time: each gets
// the next number that no other has.
func Shared(n int) iter.Seq[int] {
	var next atomic.Int64
	return func(yield func(int) bool) {
		for i := int(next.Add(1)) - 1; i < n && yield(i); i = int(next.Add(1)) - 1 {
		}
	}
}

// Both calls f and g at the same time, and returns when both have returned, see Do.
func Both(f, g func()) { Do(2, func(k int) { [...]func(){f, g}[k]() }) }
