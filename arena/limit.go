package arena

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// A limit turns the growth that would make the system end the process into a
// panic of type Exhausted, which the caller of the work recovers. All that is
// about to be taken in one step is told to CheckLimit before: by the Vecs, and
// by those who fill large slices of the heap.

// limits is what SetLimit has set.
type limits struct {
	Limit

	mu sync.Mutex
	// reclaimed is what was in use after the last reclaim.
	reclaimed uint64
}

var current atomic.Pointer[limits]

// Limit bounds what the process takes. Its functions are called when a large Vec
// grows, from any goroutine, several at once.
type Limit struct {
	Bytes uint64        // 0 is no limit
	Used  func() uint64 // how many bytes are taken
	// Drop, if set, gives back what comes again when it is needed. It is called
	// whenever there is too little left and must be cheap.
	Drop func()
	// Reclaim gives back what nobody needs, if there is still too little left.
	Reclaim func()
}

// SetLimit sets the limit for all Vecs of the process.
func SetLimit(l Limit) {
	if l.Bytes == 0 {
		current.Store(nil)
		return
	}
	current.Store(&limits{Limit: l})
}

// Exhausted is the panic of a Vec that cannot grow below the limit, in bytes.
type Exhausted struct{ Limit, Used uint64 }

func (e Exhausted) Error() string {
	return fmt.Sprintf("%d bytes are in use, the limit is %d", e.Used, e.Limit)
}

// checkBytes is the size below which the growth of a Vec is not checked:
// looking at what is taken costs microseconds.
const checkBytes = 256 << 10

// reclaimStep is how much more must have been taken since the last reclaim for
// another one: each costs a millisecond.
const reclaimStep = 512 << 10

// CheckLimit returns an Exhausted if n bytes more than are in use would break the
// limit.
func CheckLimit(n int) error {
	l := current.Load()
	if l == nil {
		return nil
	}
	used := l.Used()
	enough := func() bool { return used+uint64(n) <= l.Bytes }
	if enough() {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.Drop != nil {
		l.Drop()
	}
	if used = l.Used(); !enough() && used >= l.reclaimed+reclaimStep {
		l.Reclaim()
		used = l.Used()
		l.reclaimed = used
	}
	if !enough() {
		return Exhausted{l.Bytes, used}
	}
	return nil
}
