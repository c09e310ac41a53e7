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
	bytes   uint64
	used    func() uint64
	reclaim func()

	mu sync.Mutex
	// reclaimed is what was in use after the last reclaim.
	reclaimed uint64
}

var current atomic.Pointer[limits]

// SetLimit sets how many bytes the process may take, of which used tells how
// many it has taken. If there is too little left, reclaim is called to give
// back what nobody needs. Both are called when a large Vec grows, from any
// goroutine. 0 is no limit. It holds for all Vecs of the process.
func SetLimit(bytes uint64, used func() uint64, reclaim func()) {
	if bytes == 0 {
		current.Store(nil)
		return
	}
	current.Store(&limits{bytes: bytes, used: used, reclaim: reclaim})
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
	used := l.used()
	if used+uint64(n) <= l.bytes {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if used = l.used(); used >= l.reclaimed+reclaimStep {
		l.reclaim()
		used = l.used()
		l.reclaimed = used
	}
	if used+uint64(n) > l.bytes {
		return Exhausted{l.bytes, used}
	}
	return nil
}
