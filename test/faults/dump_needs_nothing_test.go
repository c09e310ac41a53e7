package faults

import (
	"strings"
	"testing"

	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/test/testfile"
)

// TestDumpNeedsNothing: dump --format=c of a function without types printed all types of
// the file: 127,451 lines for sched_init of Linux 6.12. Mended in 43be0f7.
//
// Input: such a function and a struct. The C must not have the struct.
func TestDumpNeedsNothing(t *testing.T) {
	b := btftest.New()
	b.Struct("other", 4, b.Member("m", b.Int("int", 4), 0))
	b.Func("f", 1, b.Proto(0))
	path := testfile.New(t, "in.btf", b.Encode(false))
	for _, what := range []string{"--name=f", "--id=4"} {
		if got, _ := btflite(t, 0, "dump", "--format=c", what, path); strings.Contains(got, "struct other") || !strings.Contains(got, "#endif") {
			t.Errorf("%s: %s", what, got)
		}
	}
}
