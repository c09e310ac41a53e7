package arena

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// Without a limit, the system may end a process that takes too much memory. A Limit
// makes the growth panic first, and the caller of the work recovers. Limit.Check is
// called before memory is taken: by the Vecs that are bound to the limit, and by code
// that fills large slices of the heap.

// Limit bounds the memory of one piece of work; other work may run at the same time
// with limits of its own. If a Limit is nil or has no number of bytes, like the zero value, the limit
// of the process counts (LimitProcess). Several goroutines may call its methods at once.
type Limit struct {
	bounds atomic.Pointer[Bounds]

	mu sync.Mutex
	// reclaimed is how many bytes were in use after the last Reclaim.
	reclaimed uint64
}

// Bounds say how far the work may go. The functions are called when a large Vec
// grows, from any goroutine, several at once.
type Bounds struct {
	// Stop, if set, returns an error if the work must end, whatever memory is in
	// use. It must be cheap.
	Stop  func() error
	Bytes uint64        // 0 means no limit
	Used  func() uint64 // how many bytes are taken
	// Drop, if set, releases pages that come back when they are used. It is called
	// whenever too little memory is left, and must be cheap.
	Drop func()
	// Reclaim collects garbage. It is called if too little memory is left after Drop.
	Reclaim func()
}

// process is the limit of LimitProcess.
var process atomic.Pointer[Limit]

// LimitProcess makes l the limit of the process. It counts for all memory that has no other limit: Vecs
// without one, and large slices of the heap (Make, Clone, Room). nil ends that. A program calls it,
// because the memory is the program's; a library does not.
func LimitProcess(l *Limit) { process.Store(l) }

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

// checkBytes is how many bytes a Vec grows between two checks: a check takes
// microseconds.
const checkBytes = 256 << 10

// reclaimStep is how many bytes must be taken between two calls of Reclaim: each
// takes a millisecond.
const reclaimStep = 512 << 10

// leastLarge is the size in bytes from which on goroutines take turns to get memory: see large.
const leastLarge = 1 << 20

// A goroutine holds large from its check until the bytes are in use. Otherwise several goroutines, with
// one Limit or with several, could all be told that the same memory is left.
var large sync.Mutex

// takeLarge calls take, which checks the limit for n bytes and makes the system give them. If these
// are many, and there is a limit, no other goroutine does that meanwhile.
func (l *Limit) takeLarge(n int, take func()) {
	if n >= leastLarge {
		if _, b := l.inForce(); b != nil {
			large.Lock()
			defer large.Unlock() // take may panic
		}
	}
	take()
}

// inForce returns the limit that counts, and its bounds; nil if nothing limits.
func (l *Limit) inForce() (*Limit, *Bounds) {
	for _, l := range [...]*Limit{l, process.Load()} {
		if l == nil {
			continue
		}
		if b := l.bounds.Load(); b != nil && b.Bytes != 0 {
			return l, b
		}
	}
	return nil, nil
}

// Check returns an Exhausted if n bytes more than are in use would break the
// limit, and a Stopped if the work is to end.
func (l *Limit) Check(n int) error {
	if l != nil {
		if b := l.bounds.Load(); b != nil && b.Stop != nil {
			if err := b.Stop(); err != nil {
				return Stopped{err}
			}
		}
	}
	l, b := l.inForce()
	if b == nil {
		return nil
	}
	used := b.Used()
	enough := func() bool { return used+uint64(n) <= b.Bytes }
	if enough() {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	freeSpare()
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
