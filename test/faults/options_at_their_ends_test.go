package faults

import (
	"math"
	"testing"

	lib "github.com/btflite/btflite"
	"github.com/btflite/btflite/test/testfile"
)

// TestOptionsAtTheirEnds: Jobs of math.MaxInt was an internal error about the length of a
// slice, and a FunctionQuery without Tell one about a nil pointer. Mended in 5cf1b36.
//
// Input: a small object. The bytes must be the same as without these options.
func TestOptionsAtTheirEnds(t *testing.T) {
	want := testfile.Read(t, splitFiles+"x86.base.btf")
	for _, o := range []lib.Options{
		{Jobs: math.MaxInt}, {Jobs: math.MinInt}, {Functions: new(lib.FunctionQuery)},
	} {
		r, err := lib.Encode(t.Context(), lib.Paths(splitFiles+"x86.base.o"), o)
		if err != nil {
			t.Errorf("%d workers, functions %v: %v", o.Jobs, o.Functions, err)
			continue
		}
		if string(r.BTF) != string(want) {
			t.Errorf("%d workers: other bytes", o.Jobs)
		}
		r.Close()
	}
}
