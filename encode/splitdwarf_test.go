package encode_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/encode"
)

// copySplit copies a folder of testdata/splitdwarf.
func copySplit(t *testing.T, name string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/splitdwarf/"+name)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestSplitDWARF: the units of .dwo files and of a .dwp give what the same
// program gives without -gsplit-dwarf.
func TestSplitDWARF(t *testing.T) {
	for _, name := range []string{"x86-gcc5", "x86-gcc4"} {
		path := filepath.Join(copySplit(t, name), "prog")
		for set, features := range goldenSets {
			if set == "merge" {
				continue
			}
			want, err := os.ReadFile("testdata/golden/" + name + "." + set + ".btf")
			if err != nil {
				t.Fatal(err)
			}
			for _, jobs := range []int{1, 4} {
				got, err := runFiles([]string{path}, encode.Options{Features: features, Jobs: jobs})
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s, %s, jobs=%d: %d bytes of BTF, want %d; %v", name, set, jobs, len(got), len(want), err)
				}
			}
		}
	}
}

func TestSplitDWARFMissing(t *testing.T) {
	fails := func(path, why string) {
		t.Helper()
		for _, jobs := range []int{1, 3} {
			if _, err := runFiles([]string{path}, encode.Options{Jobs: jobs}); err == nil || !strings.Contains(err.Error(), why) {
				t.Errorf("jobs=%d: error %v, want %q", jobs, err, why)
			}
		}
	}
	dir := copySplit(t, "x86-gcc5")
	prog, more, funcs := filepath.Join(dir, "prog"), filepath.Join(dir, "more.dwo"), filepath.Join(dir, "funcs.dwo")
	if err := os.Rename(more, more+".away"); err != nil {
		t.Fatal(err)
	}
	fails(prog, "more.dwo\" is not there")
	// The .dwo of another unit, or of another build.
	data, err := os.ReadFile(funcs)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(more, data, 0o644); err != nil {
		t.Fatal(err)
	}
	fails(prog, "no unit has the id")
	if err := os.WriteFile(more, data[:200], 0o644); err != nil {
		t.Fatal(err)
	}
	fails(prog, "outside the file")

	// A .dwp that is cut off or does not have the unit.
	dir = copySplit(t, "x86-gcc4")
	prog = filepath.Join(dir, "prog")
	data, err = os.ReadFile(prog + ".dwp")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(prog+".dwp", data[:len(data)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	fails(prog, "outside the file")
	if err := os.Remove(prog + ".dwp"); err != nil {
		t.Fatal(err)
	}
	fails(prog, "prog.dwp)")
}
