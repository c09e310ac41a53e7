package arena

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
)

// TestLimitOfTwo: two pieces of work that take much memory at the same time do not take the same
// memory, each by a limit of its own.
func TestLimitOfTwo(t *testing.T) {
	resident := func() uint64 { return residentNow(t) }
	const much = 16 << 20
	for name, take := range map[string]func(*Vec[byte]){
		"Populate": func(v *Vec[byte]) { v.Populate(much) },
		"Resize":   func(v *Vec[byte]) { v.Resize(much) },
		"Expect":   func(v *Vec[byte]) { v.Expect(2*much, much) },
	} {
		for range 20 {
			bounds := Bounds{Bytes: resident() + much*3/2, Used: resident, Reclaim: func() {}}
			var vecs [2]Vec[byte]
			var taken atomic.Int32
			var wg sync.WaitGroup
			for k := range vecs {
				l := new(Limit)
				l.Set(bounds)
				Bind(l, &vecs[k])
				wg.Go(func() {
					defer func() {
						if x := recover(); x == nil {
							taken.Add(1)
						} else if _, ok := x.(Exhausted); !ok {
							t.Errorf("%s: %v", name, x)
						}
					}()
					take(&vecs[k])
				})
			}
			wg.Wait()
			for k := range vecs {
				vecs[k].Free()
			}
			if n := taken.Load(); n != 1 {
				t.Fatalf("%s: %d of 2 have taken %d MiB, of %d that were left", name, n, much>>20, much*3/2>>20)
			}
		}
	}
}

// residentNow is how many bytes of this process are resident.
func residentNow(t *testing.T) uint64 {
	var size, pages uint64
	statm, err := os.ReadFile("/proc/self/statm")
	if err == nil {
		_, err = fmt.Sscan(string(statm), &size, &pages)
	}
	if err != nil {
		t.Error(err)
	}
	return pages * uint64(os.Getpagesize())
}
