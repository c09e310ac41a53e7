package arena

import (
	"errors"
	"math"
	"testing"
)

func TestLimit(t *testing.T) {
	l := new(Limit)
	used, garbage, reclaims := uint64(0), uint64(0), 0
	pages := uint64(0)
	l.Set(Bounds{Bytes: 4 << 20, Used: func() uint64 { return used + garbage + pages }, Drop: func() { pages = 0 },
		Reclaim: func() { garbage, reclaims = 0, reclaims+1 }})
	var v, small Vec[byte]
	Bind(l, &v)
	Bind(l, &small)
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
	Bind(l, &w)
	exhausted("Resize of an empty Vec", used, func() { w.Resize(checkBytes / 8) })
	exhausted("Extend", used, func() { w.Extend(checkBytes / 8) })

	// What nobody needs is given back first, and not asked for again as long as
	// little has been taken since.
	used, garbage, reclaims = 1<<20, 3<<20, 0
	l.reclaimed = 0
	if err := l.Check(3 << 20); err != nil || reclaims != 1 {
		t.Errorf("with garbage: %v after %d reclaims", err, reclaims)
	}
	used += reclaimStep - 1
	if err := l.Check(3 << 20); !errors.As(err, new(Exhausted)) || reclaims != 1 {
		t.Errorf("without garbage: %v after %d reclaims", err, reclaims)
	}
	// What comes again goes first.
	used, garbage, pages, reclaims = 1<<20, 1<<20, 3<<20, 0
	l.reclaimed = 0
	if err := l.Check(1 << 20); err != nil || reclaims != 0 || pages != 0 {
		t.Errorf("with pages: %v after %d reclaims", err, reclaims)
	}
	l.Set(Bounds{})
	v.Grow(8 << 20)
	if err := l.Check(math.MaxInt); err != nil {
		t.Error(err)
	}
}

// TestLimitsAreApart: what one piece of work may take does not bind another.
func TestLimitsAreApart(t *testing.T) {
	tight := new(Limit)
	tight.Set(Bounds{Bytes: 1, Used: func() uint64 { return 1 }, Reclaim: func() {}})
	var free, bound Vec[byte]
	defer free.Free()
	Bind(tight, &bound)
	free.Resize(2 * checkBytes)
	defer func() {
		if _, ok := recover().(Exhausted); !ok {
			t.Error("the Vec that has the limit could grow")
		}
	}()
	bound.Resize(2 * checkBytes)
}

// TestStop: work that is to end ends at the next growth, with the reason.
func TestStop(t *testing.T) {
	l, reason := new(Limit), errors.New("enough")
	l.Set(Bounds{Stop: func() error { return reason }})
	if err := l.Check(0); !errors.Is(err, reason) {
		t.Error(err)
	}
	l.Set(Bounds{Stop: func() error { return nil }})
	if err := l.Check(math.MaxInt); err != nil {
		t.Error(err)
	}
}

// TestBind finds the Vecs in fields and arrays, exported or not, and no others.
func TestBind(t *testing.T) {
	type inner struct{ b Vec[uint16] }
	var s struct {
		A     Vec[byte]
		in    inner
		array [3]inner
		ptr   *inner
		words [4]uint32
	}
	s.ptr = new(inner)
	l := new(Limit)
	Bind(l, &s)
	for i, got := range []*Limit{s.A.Limit(), s.in.b.Limit(), s.array[2].b.Limit()} {
		if got != l {
			t.Errorf("Vec %d is not bound", i)
		}
	}
	if s.ptr.b.Limit() != nil {
		t.Error("a Vec behind a pointer is bound")
	}
	if another := s.A.Another(); another.Limit() != l {
		t.Error("another Vec is not bound")
	}
}
