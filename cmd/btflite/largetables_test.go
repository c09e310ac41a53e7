package main

import (
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/test/testfile"
)

// leastTable is how many bytes a slice of the heap has at least that TestLargeTables looks at.
const leastTable = 300 << 10

// TestLargeTables: commands that read BTF make their large tables by package arena, which checks the
// memory limit. Below a control group, a table of the heap that is not checked can be the end of the
// process.
func TestLargeTables(t *testing.T) {
	dir := t.TempDir()
	testfile.Write(t, filepath.Join(dir, "FILE"), btftest.Large(12000))
	testfile.Write(t, filepath.Join(dir, "HALF"), btftest.Large(6000))
	limit := new(arena.Limit)
	limit.Set(arena.Bounds{Bytes: 1 << 40, Used: func() uint64 { return 0 }, Reclaim: func() {}})
	defer arena.LimitProcess(nil)
	defer func(rate int) { runtime.MemProfileRate = rate }(runtime.MemProfileRate)
	runtime.MemProfileRate = leastTable / 20 // which misses none of that size
	old := largeTables()
	for _, line := range []string{
		"dump FILE", "dump --format=c FILE", "dump --format=c HALF FILE", "dump --strict-c FILE", "dump -j FILE", "funcs FILE", "stats FILE",
		"show FILE", "show --sort FILE", "sort FILE OUT", "sort --btf_sort=name FILE OUT", "dedup -o OUT FILE HALF", "dedup --dedup=exact -o OUT FILE HALF",
		"diff HALF FILE", "verify FILE", "verify --no-dups FILE", "lower --kernel=5.10 FILE OUT", "flatten -o OUT FILE",
	} {
		words := strings.Fields(line)
		for i, w := range words {
			if w == strings.ToUpper(w) {
				words[i] = filepath.Join(dir, w)
			}
		}
		arena.LimitProcess(limit)
		c := newCLI(io.Discard, io.Discard, func(string) (string, bool) { return "", false })
		if status := c.run(words); status > exitFailure {
			t.Errorf("%s: status %d", line, status)
		}
		for stack, size := range largeTables() {
			if _, ok := old[stack]; !ok {
				old[stack] = size
				if why := uncheckedTable(stack); why != "" {
					t.Errorf("%s: %d KiB: %s", line, size>>10, why)
				}
			}
		}
	}
}

// largeTables are the places where large slices were made so far, with the size of the largest.
func largeTables() map[[32]uintptr]int64 {
	runtime.GC() // the profile shows the heap of two cycles ago
	runtime.GC()
	records := make([]runtime.MemProfileRecord, 1<<16)
	n, _ := runtime.MemProfile(records, true)
	places := map[[32]uintptr]int64{}
	for _, r := range records[:n] {
		if r.AllocObjects > 0 && r.AllocBytes/r.AllocObjects >= leastTable {
			places[r.Stack0] = max(places[r.Stack0], r.AllocBytes/r.AllocObjects)
		}
	}
	return places
}

// filled are functions whose tables have more room than they use. They check the limit as they use it.
var filled = []string{"btf/diff.(*table).init"}

// uncheckedTable is the place of a stack if package arena has not made the slice; else "".
func uncheckedTable(stack [32]uintptr) (place string) {
	n := 0
	for n < len(stack) && stack[n] != 0 {
		n++
	}
	frames := runtime.CallersFrames(stack[:n])
	for {
		f, more := frames.Next()
		name, ours := strings.CutPrefix(f.Function, "github.com/btflite/btflite/")
		switch {
		case ours && strings.HasPrefix(name, "arena."):
			return ""
		case ours || strings.HasPrefix(f.Function, "main."):
			for _, other := range filled {
				if name == other {
					return ""
				}
			}
			if strings.HasSuffix(f.File, "_test.go") {
				return ""
			}
			return fmt.Sprintf("%s:%d", name, f.Line)
		case !more:
			return ""
		}
	}
}
