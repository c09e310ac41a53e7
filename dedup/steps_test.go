package dedup_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/dedup/btffile"
)

// streamSteps is streamUnits with the nodes of up to window units looked up in
// turns, which r decides, while the units in front of them are committed: as
// Resolve does it when there is a writer all the time.
func streamSteps(in *btf.Blob, cus []uint32, window int, r *rand.Rand) (*btf.Blob, int, error) {
	names := btffile.NewTokens(in)
	defer names.Free()
	reader := btffile.NewReader(in, names.Token)
	s := dedup.NewSet(names, 16)
	defer s.Free()
	type step struct {
		dedup.Unit
		from, to     uint32
		ended, stale bool
	}
	var open []*step
	renewed := 0
	for len(cus) > 1 || len(open) > 0 {
		if len(cus) > 1 && len(open) < window {
			u := &step{from: cus[0], to: cus[1]}
			defer u.Free()
			if err := reader.Read(&u.Unit, u.from, u.to); err != nil {
				return nil, 0, err
			}
			s.Prepare(&u.Unit)
			open, cus = append(open, u), cus[1:]
			continue
		}
		if u := open[r.IntN(len(open))]; !u.ended {
			if u.stale {
				s.CatchUp(&u.Unit)
				u.stale = false
				renewed++
			}
			s.WantWrite(true)
			u.ended = s.LookUpNodes(&u.Unit)
		}
		if u := open[0]; u.ended {
			s.WantWrite(false)
			if err := s.Commit(&u.Unit); err != nil {
				return nil, 0, err
			}
			copy(reader.Placed[u.from:u.to], u.ID.S)
			open = open[1:]
			for _, u := range open {
				u.stale = !u.ended
			}
		}
	}
	out, _, err := btffile.Finish(s, in.BigEndian, reader.Placed)
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
