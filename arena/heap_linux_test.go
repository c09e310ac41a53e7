package arena

import (
	"errors"
	"runtime/debug"
	"slices"
	"testing"
)

// limitProcess sets a limit of the process for a test: some bytes are in use, and some more left.
func limitProcess(t *testing.T, used, left uint64) {
	l := new(Limit)
	l.Set(Bounds{Bytes: used + left, Used: func() uint64 { return used }, Reclaim: func() {}})
	LimitProcess(l)
	t.Cleanup(func() { LimitProcess(nil) })
}

// exhausts reports whether f panics because the limit is reached.
func exhausts(t *testing.T, f func()) (yes bool) {
	t.Helper()
	defer func() {
		switch x := recover().(type) {
		case nil:
		case Exhausted:
			yes = true
		default:
			t.Error(x)
		}
	}()
	f()
	return false
}

// takers take n words of the heap, in the ways that there are.
var takers = map[string]func(n int) []uint32{
	"Make":  Make[uint32],
	"Clone": func(n int) []uint32 { return Clone(make([]uint32, n)) },
	"Room":  func(n int) []uint32 { return Room([]uint32{}, n)[:n] },
	"Room for one": func(n int) (s []uint32) {
		for i := range n {
			s = append(Room(s, 1), uint32(i))
		}
		clear(s)
		return s
	},
}

func TestLimitOfHeap(t *testing.T) {
	const large, small = 4 << 20, leastChecked/4 - 1
	for name, take := range takers {
		same := func(n int) {
			t.Helper()
			if name == "Room" && n < large {
				return // the slice has no room yet
			}
			if got := take(n); !slices.Equal(got, make([]uint32, n)) {
				t.Errorf("%s: %d words, not %d zeros", name, len(got), n)
			}
		}
		if name != "Room" {
			same(large)
		}
		limitProcess(t, 1<<20, 64<<20)
		same(large)
		limitProcess(t, 1<<20, 16<<20-1)
		if !exhausts(t, func() { take(large) }) {
			t.Errorf("%s takes 16 MiB of 16 MiB - 1", name)
		}
		limitProcess(t, 1<<20, 0)
		if name != "Room for one" { // it makes a slice that is larger
			if exhausts(t, func() { same(small) }) {
				t.Errorf("%s checks the limit for a small slice", name)
			}
		}
		LimitProcess(nil)
	}
}

// TestTakenIsUsed: what Make returns is in use, so that the next check counts it.
func TestTakenIsUsed(t *testing.T) {
	const words = 8 << 20
	l := new(Limit)
	debug.FreeOSMemory() // else what other tests have left is used again
	before := residentNow(t)
	l.Set(Bounds{Bytes: before + 6*words, Used: func() uint64 { return residentNow(t) }, Reclaim: func() {}})
	LimitProcess(l)
	defer LimitProcess(nil)
	first := Make[uint32](words)
	if !exhausts(t, func() { Make[uint32](words) }) {
		t.Errorf("two slices of %d MiB fit into %d MiB", words>>18, 6*words>>20)
	}
	if first[words-1] != 0 {
		t.Error("not zero")
	}
}

// TestLimitOfProcess: it counts for what has no limit of its own.
func TestLimitOfProcess(t *testing.T) {
	own := new(Limit)
	limitProcess(t, 1<<20, 1<<20)
	resize := func(v Vec[byte]) bool {
		defer v.Free()
		return exhausts(t, func() { v.Resize(2 << 20) })
	}
	if !resize(Vec[byte]{}) || !resize(Vec[byte]{limit: own}) {
		t.Error("a Vec without a limit can grow")
	}
	stopped := errors.New("stopped")
	own.Set(Bounds{Stop: func() error { return stopped }})
	if err := own.Check(0); !errors.Is(err, stopped) {
		t.Error(err)
	}
	own.Set(Bounds{Bytes: 8 << 20, Used: func() uint64 { return 0 }, Reclaim: func() {}})
	if resize(Vec[byte]{limit: own}) {
		t.Error("a Vec with a limit of its own cannot grow")
	}
	LimitProcess(nil)
	if resize(Vec[byte]{}) {
		t.Error("without a limit, a Vec cannot grow")
	}
}
