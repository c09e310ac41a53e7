package hostile

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/test/cachegrind"
	"github.com/btflite/btflite/test/testfile"
)

// mostGrowth is how many times as many instructions for each part an input of 16 times as many parts may
// take.
const mostGrowth = 1.15

// TestGrowth encodes inputs of 1, 4 and 16 times as many parts, and counts instructions: a part
// costs the same in all. BTFLITE_COSTS is a regular expression for the names of the inputs;
// without it a few are tried. It logs a table.
func TestGrowth(t *testing.T) {
	if missing := cachegrind.Missing(); missing != "" {
		t.Skip(missing)
	}
	few := regexp.MustCompile("^(definitions of one name below six structs|unnamed unions of one shape|functions of one prototype)$")
	if all, ok := os.LookupEnv("BTFLITE_COSTS"); ok {
		few = regexp.MustCompile(all)
	}
	dir := t.TempDir()
	var rows strings.Builder
	for _, in := range dwarftest.Growth {
		if !few.MatchString(in.Name) {
			continue
		}
		cost := func(n int) float64 {
			testfile.Write(t, filepath.Join(dir, "f.o"), in.Build(n).Bytes())
			count, err := cachegrind.Count(dir, program, append(encodeTo("out", "f.o"), "-j1")...)
			if err != nil {
				t.Fatal(err)
			}
			return float64(count)
		}
		one := cost(1) // the cost of a run with hardly any part
		var part [3]float64
		for k := range part {
			n := in.X1 << (2 * k)
			part[k] = (cost(n) - one) / float64(n-1)
		}
		fmt.Fprintf(&rows, "| %s | %d | %.0f | %.0f | %.0f | %.2f |\n", in.Name, in.X1, part[0], part[1], part[2], part[2]/part[0])
		if part[2] > mostGrowth*part[0] {
			t.Errorf("%s: %.0f instructions for each of %d parts, %.0f for each of %d, %.0f for each of %d",
				in.Name, part[0], in.X1, part[1], 4*in.X1, part[2], 16*in.X1)
		}
	}
	t.Log("\n| input | n | for a part of n | of 4 n | of 16 n | growth |\n|---|--:|--:|--:|--:|--:|\n" + rows.String())
}
