package dedup

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// gate is a lock for many readers, which hold it long, and one writer, which holds
// it for a moment. Readers call wanted often and let a writer in. A goroutine spins
// for a while before it sleeps: to sleep and wake up mostly takes longer than the
// other goroutine holds the lock.
type gate struct {
	mu      sync.RWMutex
	writing atomic.Uint32 // 1: a writer has the lock or wants it
}

// patience is how many times a goroutine spins before it sleeps, some 20 µs.
const patience = 20_000

// pause is called in each turn of a spin. Now and then it lets other goroutines run: with more
// workers than processors, the one that this one waits for may need its processor.
func pause(turn int) {
	if turn%256 == 255 {
		runtime.Gosched()
	}
}

func (g *gate) lock() {
	g.writing.Store(1)
	for i := range patience {
		if i%16 == 0 && g.mu.TryLock() {
			return
		}
		pause(i)
	}
	g.mu.Lock()
}

func (g *gate) unlock() {
	g.writing.Store(0)
	g.mu.Unlock()
}

func (g *gate) rlock() {
	for i := 0; i < patience && g.wanted(); i++ {
		pause(i)
	}
	g.mu.RLock()
}

func (g *gate) runlock() { g.mu.RUnlock() }

// wanted reports whether a writer waits, so that readers should let it in.
func (g *gate) wanted() bool { return g.writing.Load() != 0 }
