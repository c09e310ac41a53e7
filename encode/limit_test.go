package encode_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/btflite/btflite/encode"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/test/testfile"
)

// TestCULimit: with a limit of n units, a file gives the same BTF as a file with only its
// first n units, for any number of workers. Later units are not even looked at.
func TestCULimit(t *testing.T) {
	make := func(units int) dt.File {
		f := dt.File{Symbols: funcs()}
		for n := range units {
			i := intType()
			f.Units = append(f.Units, dt.CU(i, structure(string(rune('a'+n)), 4, member("x", i, 0))))
		}
		return f
	}
	const all = 6
	dir := t.TempDir()
	write := func(name string, f dt.File) string {
		p := filepath.Join(dir, name)
		testfile.Write(t, p, f.Bytes())
		return p
	}
	broken := make(all)
	broken.Units = append(broken.Units, &dt.Unit{Root: intType()})
	path := write("all", broken)
	for limit := 1; limit <= all; limit++ {
		want := mustRun(t, []string{write("some", make(limit))}, encode.Options{Jobs: 1})
		for _, jobs := range []int{1, 2, 8} {
			got, err := runFiles([]string{path}, encode.Options{Jobs: jobs, CULimit: limit})
			if err != nil {
				t.Fatalf("limit %d, jobs %d: %v", limit, jobs, err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("limit %d, jobs %d: %d bytes, want the %d of a file with as many units", limit, jobs, len(got), len(want))
			}
		}
	}
	if _, err := runFiles([]string{path}, encode.Options{Jobs: 2}); err == nil {
		t.Error("no limit: the bad unit after the others was not read")
	}
}
