package dedup

import (
	"sync"
	"sync/atomic"
)

// gate is a lock for many readers, which hold it long, and a writer, which does
// not: readers look often whether there is a writer and let it in. Goroutines
// wait for each other in a loop for a moment before they sleep, because to sleep
// and to be woken up takes longer than what the other one mostly has to do.
type gate struct {
	mu      sync.RWMutex
	writing atomic.Uint32 // 1: a writer has the lock or wants it
}

// patience is how often a goroutine looks before it sleeps, some 20 µs.
const patience = 20_000

func (g *gate) lock() {
	g.writing.Store(1)
	for i := range patience {
		if i%16 == 0 && g.mu.TryLock() {
			return
		}
	}
	g.mu.Lock()
}

func (g *gate) unlock() {
	g.writing.Store(0)
	g.mu.Unlock()
}

func (g *gate) rlock() {
	for i := 0; i < patience && g.wanted(); i++ {
	}
	g.mu.RLock()
}

func (g *gate) runlock() { g.mu.RUnlock() }

// wanted says whether a reader is to let a writer in.
func (g *gate) wanted() bool { return g.writing.Load() != 0 }
