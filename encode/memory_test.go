package encode_test

import (
	"runtime/debug"
	"strings"
	"testing"

	"github.com/btflite/btflite/encode"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/internal/memlimit"
	"github.com/btflite/btflite/test/testfile"
)

// TestMemoryLimit: a run that cannot go on below the limit says so, whatever
// the number of workers, and one that can gives the same BTF.
func TestMemoryLimit(t *testing.T) {
	debug.FreeOSMemory() // what tests before have left would be free memory later
	used := memlimit.Used()
	if used == 0 {
		t.Skip("the memory in use is not known on this system")
	}
	// Enough units for the check between units; each has types of its own.
	f := &dt.File{}
	for i := range 64 {
		var root []any
		for j := range 100 {
			root = append(root, dt.N(dt.TagTypedef, dt.Name(strings.Repeat("n", 100)+string(rune('a'+i))+string(rune('a'+j)))))
		}
		f.Units = append(f.Units, dt.CU(root...))
	}
	path := testfile.New(t, "input", f.Bytes())
	want, err := runFiles([]string{path}, encode.Options{})
	if err != nil || len(want) < 64*100*12 {
		t.Fatalf("%d bytes, %v", len(want), err)
	}
	for _, jobs := range []int{1, 3} {
		_, err := runFiles([]string{path}, encode.Options{Jobs: jobs, MemoryLimit: 1 << 20})
		if err == nil || !strings.HasPrefix(err.Error(), path+": the memory limit of 1 MiB cannot suffice") {
			t.Errorf("jobs %d, 1 MiB: %v", jobs, err)
		}
		if advice := map[int]string{1: "need 10 MiB", 3: "need 11 MiB with -j3, and 10 MiB with -j1"}[jobs]; err == nil || !strings.HasSuffix(err.Error(), advice) {
			t.Errorf("jobs %d: %v, want the advice %q", jobs, err, advice)
		}
		_, err = runFiles([]string{path}, encode.Options{Jobs: jobs, MemoryLimit: max(used, 8<<20)})
		if err == nil || !strings.Contains(err.Error(), "is reached") {
			t.Errorf("jobs %d, %d bytes: %v", jobs, used, err)
		}
		got, err := runFiles([]string{path}, encode.Options{Jobs: jobs, MemoryLimit: 1 << 40})
		if err != nil || string(got) != string(want) {
			t.Errorf("jobs %d, enough: %d bytes, %v", jobs, len(got), err)
		}
	}
}
