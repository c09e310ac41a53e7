package encode_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/test/testfile"
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
	for _, name := range []string{"x86-gcc5", "x86-gcc4", "x86-clang5-dwp"} {
		path := filepath.Join(copySplit(t, name), "prog")
		for set, features := range goldenSets {
			if set == "merge" {
				continue
			}
			want := testfile.Read(t, "testdata/golden/"+strings.TrimSuffix(name, "-dwp")+"."+set+".btf")
			for _, jobs := range []int{1, 4} {
				got, err := runFiles([]string{path}, encode.Options{Features: features, Jobs: jobs})
				if err == nil && name == "x86-clang5-dwp" {
					gotText, _ := format(t, got)
					wantText, _ := format(t, want)
					// Clang leaves an integer of DWARF expressions out, so that the one of arrays is not invented.
					lost := onlyIn(kindNames(typesOf(wantText)), kindNames(typesOf(gotText)))
					if more := onlyIn(kindNames(typesOf(gotText)), kindNames(typesOf(wantText))); more != "" || lost != "INT DW_ATE_unsigned_8,INT __SANITIZED_FAKE_INT__" {
						t.Errorf("%s, %s, jobs=%d: missing %q, more %q", name, set, jobs, lost, more)
					}
					continue
				}
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s, %s, jobs=%d: %d bytes of BTF, want %d; %v", name, set, jobs, len(got), len(want), err)
				}
			}
		}
	}
}

// TestSplitTypeUnits: type units of .dwo files give the types of the same program without
// split DWARF. In a .dwp, types are missing if only local variables have them. Clang leaves
// out integers of DWARF expressions.
func TestSplitTypeUnits(t *testing.T) {
	const local = "ARRAY (anon),ENUM (anon),STRUCT two,UNION unseen"
	for _, c := range []struct{ name, missing, more string }{
		{"x86-gcc5-types", "", ""},
		{"x86-gcc4-types", "", ""},
		{"x86-gcc4-types-dwp", local, "FWD unseen"},
		{"x86-clang++5-types-dwp", "INT DW_ATE_unsigned_1,INT DW_ATE_unsigned_8", ""},
	} {
		path := filepath.Join(copySplit(t, c.name), "prog")
		golden, _, _ := strings.Cut(c.name, "-types")
		for _, set := range []string{"none", "default", "all"} {
			text, _ := format(t, testfile.Read(t, "testdata/golden/"+golden+"."+set+".btf"))
			want := typesOf(text)
			text, _ = format(t, sameForJobs(t, path, goldenSets[set]))
			types := typesOf(text)
			if c.missing == "" && !slices.Equal(types, want) {
				t.Errorf("%s, %s: (-want +got)\n%s", c.name, set, cmp.Diff(want, types))
			}
			wantMissing, wantMore := c.missing, c.more
			if set == "all" && wantMissing == local {
				wantMissing, wantMore = "ENUM (anon)", "" // global variables lead to the others
			}
			missing, more := onlyIn(kindNames(want), kindNames(types)), onlyIn(kindNames(types), kindNames(want))
			if missing != wantMissing || more != wantMore {
				t.Errorf("%s, %s: missing %q, want %q; more: %q, want %q", c.name, set, missing, wantMissing, more, wantMore)
			}
		}
	}
}

// kindNames is the kinds and names of types.
func kindNames(types []string) (names []string) {
	for _, l := range types {
		w := strings.Fields(l)
		names = append(names, w[0]+" "+strings.Trim(w[1], "'"))
	}
	return names
}

// onlyIn lists what a has more often than b.
func onlyIn(a, b []string) string {
	b = slices.Clone(b)
	var only []string
	for _, s := range a {
		if i := slices.Index(b, s); i >= 0 {
			b = slices.Delete(b, i, i+1)
		} else {
			only = append(only, s)
		}
	}
	return strings.Join(only, ",")
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
	data := testfile.Read(t, funcs)
	testfile.Write(t, more, data)
	fails(prog, "no unit has the id")
	testfile.Write(t, more, data[:200])
	fails(prog, "outside the file")

	// A .dwp that is cut off or does not have the unit.
	dir = copySplit(t, "x86-gcc4")
	prog = filepath.Join(dir, "prog")
	data = testfile.Read(t, prog+".dwp")
	testfile.Write(t, prog+".dwp", data[:len(data)/2])
	fails(prog, "outside the file")
	if err := os.Remove(prog + ".dwp"); err != nil {
		t.Fatal(err)
	}
	fails(prog, "prog.dwp)")
}
