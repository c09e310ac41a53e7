package encode_test

import (
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/btflite/btflite/encode"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/test/testfile"
)

// alikeUnits is a file of n units that are alike.
func alikeUnits(n int) []byte {
	f := dt.File{}
	for range n {
		i := intType()
		parts := []any{i}
		for range 20 {
			parts = append(parts, typedef(strings.Repeat("long", 10), i))
		}
		u := dt.CU(parts...)
		u.StrForm = dt.FormString
		f.Units = append(f.Units, u)
	}
	return f.Bytes()
}

// TestCutShortWhileRead: a file that another process truncates while it is
// mapped is an error, for any number of workers.
func TestCutShortWhileRead(t *testing.T) {
	image := alikeUnits(400)
	for _, jobs := range []int{1, 3} {
		path := testfile.New(t, "in", image)
		var once sync.Once
		out, err := encode.Run([]string{path}, encode.Options{Features: encode.DefaultFeatures, Jobs: jobs,
			Progress: func(done, total uint64) {
				once.Do(func() {
					if err := os.Truncate(path, 4096); err != nil {
						t.Error(err)
					}
				})
			}})
		if out != nil || err == nil || !strings.HasPrefix(err.Error(), path+": ") ||
			!strings.HasSuffix(err.Error(), "the file was changed while it was read, or cannot be read") {
			t.Errorf("jobs=%d: %v", jobs, err)
		}
	}
}

// TestCrash: a panic in the work on a unit becomes an error that names it.
func TestCrash(t *testing.T) {
	path := testfile.New(t, "in", alikeUnits(3))
	for _, jobs := range []int{1, 3} {
		var none map[string]int
		out, err := encode.Run([]string{path}, encode.Options{Features: encode.DefaultFeatures, Jobs: jobs,
			Progress: func(done, total uint64) { none["a"] = 1 }})
		var crash *encode.Crash
		if out != nil || !errors.As(err, &crash) {
			t.Fatalf("jobs=%d: %v", jobs, err)
		}
		want := path + ": .debug_info: unit at 0x0: internal error: assignment to entry in nil map at encode_test.TestCrash.func1:"
		if !strings.HasPrefix(err.Error(), want) {
			t.Errorf("jobs=%d: %v\nwant %s", jobs, err, want)
		}
	}
}
