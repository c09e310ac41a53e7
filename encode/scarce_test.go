package encode

import (
	"bytes"
	"fmt"
	"sync/atomic"
	"testing"

	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/test/testfile"
)

// TestFewerUnits: each call lets one unit less be in work, but always one, and only workspaces
// that get no unit lose their memory.
func TestFewerUnits(t *testing.T) {
	p := &pipeline{workspaces: make([]workspace, 5), maxBusy: 5}
	for i := range p.workspaces {
		u := &p.workspaces[i]
		u.init(nil)
		u.raw.Append(1)
		if i < 3 { // the other two have units
			p.free = append(p.free, u)
		}
	}
	for _, want := range []struct{ most, kept int }{{4, 4}, {3, 3}, {2, 2}, {1, 2}, {1, 2}} {
		p.useLess()
		kept := 0
		for i := range p.workspaces {
			if p.workspaces[i].raw.Bytes() > 0 {
				kept++
			}
		}
		if p.maxBusy != want.most || kept != want.kept {
			t.Errorf("%d units may be in work, and %d workspaces have memory; want %+v", p.maxBusy, kept, want)
		}
	}
	p.free = append(p.free, &p.workspaces[3]) // its unit was committed
	p.freeIdle()
	if p.workspaces[3].raw.Bytes() > 0 || p.workspaces[4].raw.Bytes() == 0 {
		t.Error("the wrong workspace was freed")
	}
}

// TestScarceMemory: a run that has little memory left from its first check on gives the same
// BTF, with any number of workers.
func TestScarceMemory(t *testing.T) {
	f := &dt.File{}
	for i := range 200 {
		root := []any{dt.N(dt.TagTypedef, dt.Name("shared"))}
		for j := range 20 {
			root = append(root, dt.N(dt.TagTypedef, dt.Name(fmt.Sprintf("t%d_%d", i/2, j))))
		}
		f.Units = append(f.Units, dt.CU(root...))
	}
	path := testfile.New(t, "input", f.Bytes())
	want := encoded(t, path, Options{})
	defer func(old func() uint64) { memoryUsed = old }(memoryUsed)
	for _, jobs := range []int{1, 2, 4, 8} {
		opt := Options{Jobs: jobs, MemoryLimit: 1 << 30}
		b := budget{opt: &opt}
		used := b.bounds().Bytes - uint64(scarce(jobs))/2
		var checks atomic.Int64
		memoryUsed = func() uint64 { checks.Add(1); return used }
		if got := encoded(t, path, opt); !bytes.Equal(got, want) {
			t.Errorf("%d workers: %d bytes, want %d", jobs, len(got), len(want))
		}
		if checks.Load() < 10 {
			t.Errorf("%d workers: the memory was checked %d times only", jobs, checks.Load())
		}
	}
}
