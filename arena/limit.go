package arena

import (
	"fmt"
	"sync/atomic"
)

// A limit turns the growth that would make the system end the process into a
// panic of type Exhausted, which the caller of the work recovers.

// limits is what SetLimit has set.
type limits struct {
	bytes uint64
	used  func() uint64
}

var current atomic.Pointer[limits]

// SetLimit sets how many bytes the process may take, of which used tells how
// many it has taken; used is called when a large Vec grows, from any
// goroutine. 0 is no limit. It holds for all Vecs of the process.
func SetLimit(bytes uint64, used func() uint64) {
	if bytes == 0 {
		current.Store(nil)
		return
	}
	current.Store(&limits{bytes, used})
}

// Exhausted is the panic of a Vec that cannot grow below the limit, in bytes.
type Exhausted struct{ Limit, Used uint64 }

func (e Exhausted) Error() string {
	return fmt.Sprintf("%d bytes are in use, the limit is %d", e.Used, e.Limit)
}

// checkBytes is the size below which growth is not checked: looking at what is
// taken costs microseconds.
const checkBytes = 256 << 10

// checkLimit panics if copying n bytes to new memory, beside the old, would
// break the limit.
func checkLimit(n int) {
	l := current.Load()
	if l == nil || n < checkBytes {
		return
	}
	if used := l.used(); used+uint64(n) > l.bytes {
		panic(Exhausted{l.bytes, used})
	}
}
