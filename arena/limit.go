package arena

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// A limit turns the growth that would make the system end the process into a
// panic, which the caller of the work recovers. All that is about to be taken in
// one step is told to Limit.Check before: by the Vecs that are bound to the limit,
// and by those who fill large slices of the heap.

// Limit bounds the memory of one piece of work; others may go on side by side with
// limits of their own. The zero value and a nil Limit are none. Its methods may be
// called by several goroutines at once.
type Limit struct {
	bounds atomic.Pointer[Bounds]

	mu sync.Mutex
	// reclaimed is what was in use after the last reclaim.
	reclaimed uint64
}

// Bounds say how far the work may go. The functions are called when a large Vec
// grows, from any goroutine, several at once.
type Bounds struct {
	// Stop, if set, says why the work is to end, whatever is in use; nil for no
	// reason. It must be cheap.
	Stop  func() error
	Bytes uint64        // 0 is no limit
	Used  func() uint64 // how many bytes are taken
	// Drop, if set, gives back what comes again when it is needed. It is called
	// whenever there is too little left and must be cheap.
	Drop func()
	// Reclaim gives back what nobody needs, if there is still too little left.
	Reclaim func()
}

// Set sets the bounds.
func (l *Limit) Set(b Bounds) {
	l.mu.Lock()
	l.reclaimed = 0
	l.mu.Unlock()
	l.bounds.Store(&b)
}

// Exhausted is the panic of a Vec that cannot grow below the limit, in bytes.
type Exhausted struct{ Limit, Used uint64 }

func (e Exhausted) Error() string {
	return fmt.Sprintf("%d bytes are in use, the limit is %d", e.Used, e.Limit)
}

// Stopped is the panic of a Vec that cannot grow because the work is to end.
type Stopped struct{ Err error }

func (s Stopped) Error() string { return s.Err.Error() }

// Unwrap returns the reason.
func (s Stopped) Unwrap() error { return s.Err }

// checkBytes is how far a Vec grows between two checks, in bytes: looking at what is
// taken costs microseconds.
const checkBytes = 256 << 10

// reclaimStep is how much more must have been taken since the last reclaim for
// another one: each costs a millisecond.
const reclaimStep = 512 << 10

// Check returns an Exhausted if n bytes more than are in use would break the
// limit, and a Stopped if the work is to end.
func (l *Limit) Check(n int) error {
	if l == nil {
		return nil
	}
	b := l.bounds.Load()
	if b == nil {
		return nil
	}
	if b.Stop != nil {
		if err := b.Stop(); err != nil {
			return Stopped{err}
		}
	}
	if b.Bytes == 0 {
		return nil
	}
	used := b.Used()
	enough := func() bool { return used+uint64(n) <= b.Bytes }
	if enough() {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if b.Drop != nil {
		b.Drop()
	}
	if used = b.Used(); !enough() && used >= l.reclaimed+reclaimStep {
		b.Reclaim()
		used = b.Used()
		l.reclaimed = used
	}
	if !enough() {
		return Exhausted{b.Bytes, used}
	}
	return nil
}
