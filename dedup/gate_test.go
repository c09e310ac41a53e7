package dedup

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/btflite/btflite/btf"
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

// streamSteps is streamUnits with the nodes of up to window units looked up in
// turns, which r decides, while the units in front of them are committed: as
// Resolve does it when there is a writer all the time.
func streamSteps(in *btf.Blob, cus []uint32, window int, r *rand.Rand) (*btf.Blob, int, error) {
	reader := newBTFReader(in)
	defer reader.free()
	s := NewSet(reader, 16)
	defer s.Free()
	type step struct {
		Unit
		from, to     uint32
		ended, stale bool
	}
	var open []*step
	renewed := 0
	for len(cus) > 1 || len(open) > 0 {
		if len(cus) > 1 && len(open) < window {
			u := &step{from: cus[0], to: cus[1]}
			defer u.Free()
			if err := reader.read(&u.Unit, u.from, u.to); err != nil {
				return nil, 0, err
			}
			s.begin(&u.Unit)
			open, cus = append(open, u), cus[1:]
			continue
		}
		if u := open[r.IntN(len(open))]; !u.ended {
			if u.stale {
				s.renew(&u.Unit)
				u.stale = false
				renewed++
			}
			s.gate.writing.Store(1)
			u.ended = s.resume(&u.Unit, true)
		}
		if u := open[0]; u.ended {
			s.gate.writing.Store(0)
			if err := s.Commit(&u.Unit); err != nil {
				return nil, 0, err
			}
			copy(reader.placed[u.from:u.to], u.ID.S)
			open = open[1:]
			for _, u := range open {
				u.stale = !u.ended
			}
		}
	}
	out, _, err := s.blob(in.BigEndian, reader.placed)
	return out, renewed, err
}

// TestStreamDoesNotDependOnWhenWritersAreLetIn commits units while others are
// looked up in part.
func TestStreamDoesNotDependOnWhenWritersAreLetIn(t *testing.T) {
	for _, opt := range timings {
		t.Run(fmt.Sprintf("%+v", opt), func(t *testing.T) {
			renewed := 0
			eachTiming(t, opt, func(seed uint64, raw *btf.Blob, cus []uint32, same func(string, *btf.Blob, error)) {
				for _, window := range []int{2, 3, 8} {
					got, n, err := streamSteps(raw, cus, window, rand.New(rand.NewPCG(seed, uint64(window))))
					same(fmt.Sprintf("window %d", window), got, err)
					renewed += n
				}
			})
			if renewed == 0 {
				t.Error("no unit was looked up in parts")
			}
		})
	}
}
