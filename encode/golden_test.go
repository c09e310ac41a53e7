package encode_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/test/testfile"

	"github.com/google/go-cmp/cmp"
)

// goldenSets are the feature sets of scripts/golden.sh. The files are of pahole over
// libbpf 1.7, whose "all" has no layout section.
var goldenSets = map[string]encode.Features{
	"none":    encode.BasicFeatures,
	"default": encode.DefaultFeatures,
	"all":     encode.AllFeatures &^ encode.Layout,
	"merge":   encode.DefaultFeatures | encode.ForceCUMerging,
}

// goldenFiles are the ELF files that compilers wrote.
func goldenFiles(t testing.TB) []string {
	paths, err := filepath.Glob("testdata/golden/*.elf")
	if err != nil || len(paths) < 10 {
		t.Fatalf("%d golden files, %v", len(paths), err)
	}
	return paths
}

// TestGolden compares with what pahole 1.32 makes of compilers' output, byte
// for byte, however many workers there are.
func TestGolden(t *testing.T) {
	for _, procs := range []int{1, 4} {
		t.Run(fmt.Sprintf("procs=%d", procs), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
			merged := 0
			for _, path := range goldenFiles(t) {
				for set, features := range goldenSets {
					golden := strings.TrimSuffix(path, ".elf") + "." + set + ".btf"
					want, err := os.ReadFile(golden)
					if set == "merge" {
						if err != nil {
							continue // not of all files
						}
						merged++
					}
					t.Run(filepath.Base(golden), func(t *testing.T) {
						if err != nil {
							t.Fatal(err)
						}
						for _, jobs := range []int{1, 2, 4, 8} {
							got, err := runFiles([]string{path}, encode.Options{Features: features, Jobs: jobs})
							if err != nil {
								t.Fatalf("jobs=%d: %v", jobs, err)
							}
							if !bytes.Equal(got, want) {
								a, as := format(t, got)
								b, bs := format(t, want)
								t.Fatalf("jobs=%d: (-want +got)\n%s", jobs, cmp.Diff(b+bs, a+as))
							}
						}
					})
				}
			}
			if merged < 3 {
				t.Errorf("%d files are encoded with force_cu_merging", merged)
			}
		})
	}
}

// TestExactGolden holds the batch deduplication to the same bytes.
func TestExactGolden(t *testing.T) {
	for _, path := range goldenFiles(t) {
		want := testfile.Read(t, strings.TrimSuffix(path, ".elf")+".default.btf")
		got, err := runFiles([]string{path}, encode.Options{Features: encode.DefaultFeatures, Dedup: encode.DedupExact})
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: differs (%v)", path, err)
		}
	}
}

// TestFilesUnchanged: encoding only reads its input.
func TestFilesUnchanged(t *testing.T) {
	path := goldenFiles(t)[0]
	before := testfile.Read(t, path)
	p := filepath.Join(t.TempDir(), "input")
	if err := os.WriteFile(p, before, 0o444); err != nil {
		t.Fatal(err)
	}
	if _, err := runFiles([]string{p}, encode.Options{Features: encode.AllFeatures, Jobs: 2}); err != nil {
		t.Fatal(err)
	}
	if after, err := os.ReadFile(p); err != nil || !bytes.Equal(before, after) {
		t.Errorf("input changed (%v)", err)
	}
}

// TestGoldenOverBase encodes files whose units are merged over a base that has
// some of their types.
func TestGoldenOverBase(t *testing.T) {
	base := readBase(t, "testdata/golden/x86-clang4-o.default.btf")
	defer base.Free()
	for _, name := range []string{"x86-gcc4-alt", "x86-gcc5-dwz", "x86-gcc5-lto"} {
		for _, set := range []string{"default", "all"} {
			golden := "testdata/golden/" + name
			want := testfile.Read(t, golden+".over-"+set+".btf")
			for _, jobs := range []int{1, 4} {
				got, err := runFiles([]string{golden + ".elf"}, encode.Options{Features: goldenSets[set], Jobs: jobs, Base: base})
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s, %s, jobs=%d: %d bytes, want %d; %v", name, set, jobs, len(got), len(want), err)
				}
			}
		}
	}
}

// readBase reads BTF as a base.
func readBase(t *testing.T, path string) *encode.Base {
	t.Helper()
	return newBase(t, btftest.Read(t, path, nil))
}

// newBase makes a base of BTF.
func newBase(t testing.TB, blob *btf.Blob) *encode.Base {
	t.Helper()
	base, err := encode.NewBase(blob)
	if err != nil {
		t.Fatal(err)
	}
	return base
}

// TestGoldenWithoutRust leaves out the Rust unit of a file of many dialects.
func TestGoldenWithoutRust(t *testing.T) {
	want := testfile.Read(t, "testdata/golden/x86-mixture.norust.btf")
	const rust = 0x1c
	got, err := runFiles([]string{"testdata/golden/x86-mixture.elf"}, encode.Options{Features: encode.DefaultFeatures, LangExclude: []uint16{rust}})
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, want %d; %v", len(got), len(want), err)
	}
}
