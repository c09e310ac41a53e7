package arena

import (
	"errors"
	"testing"
)

func TestLimit(t *testing.T) {
	defer SetLimit(Limit{})
	used, garbage, reclaims := uint64(0), uint64(0), 0
	pages := uint64(0)
	SetLimit(Limit{Bytes: 4 << 20, Used: func() uint64 { return used + garbage + pages }, Drop: func() { pages = 0 },
		Reclaim: func() { garbage, reclaims = 0, reclaims+1 }})
	var v, small Vec[byte]
	defer v.Free()
	defer small.Free()
	v.Resize(1 << 20)
	used = 1 << 20
	v.Grow(4 << 20) // 3 MiB more
	v.Resize(2 << 20)
	used = 4 << 20
	small.Resize(checkBytes - 1)
	exhausted := func(what string, want uint64, f func()) {
		defer func() {
			if e, ok := recover().(Exhausted); !ok || e.Limit != 4<<20 || e.Used != want {
				t.Errorf("%s: %v", what, e)
			}
		}()
		f()
		t.Error(what, "is possible beyond the limit")
	}
	exhausted("Grow", used, func() { v.Grow(5 << 20) })
	if len(v.S) != 2<<20 || v.S[1<<20] != 0 {
		t.Error("the Vec has not kept its elements")
	}
	var w Vec[uint64]
	exhausted("Resize of an empty Vec", used, func() { w.Resize(checkBytes / 8) })
	exhausted("Extend", used, func() { w.Extend(checkBytes / 8) })

	// What nobody needs is given back first, and not asked for again as long as
	// little has been taken since.
	used, garbage, reclaims = 1<<20, 3<<20, 0
	current.Load().reclaimed = 0
	if err := CheckLimit(3 << 20); err != nil || reclaims != 1 {
		t.Errorf("with garbage: %v after %d reclaims", err, reclaims)
	}
	used += reclaimStep - 1
	if err := CheckLimit(3 << 20); !errors.As(err, new(Exhausted)) || reclaims != 1 {
		t.Errorf("without garbage: %v after %d reclaims", err, reclaims)
	}
	// What comes again goes first.
	used, garbage, pages, reclaims = 1<<20, 1<<20, 3<<20, 0
	current.Load().reclaimed = 0
	if err := CheckLimit(1 << 20); err != nil || reclaims != 0 || pages != 0 {
		t.Errorf("with pages: %v after %d reclaims", err, reclaims)
	}
	SetLimit(Limit{})
	v.Grow(8 << 20)
	if err := CheckLimit(1 << 40); err != nil {
		t.Error(err)
	}
}
