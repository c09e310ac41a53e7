// Package deduptest has what tests of the deduplication share: vectors with
// libbpf's results, and random inputs.
package deduptest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
)

// Vectors is the path of dedup/testdata/vectors from the folder of a test. Its
// README.md describes the vectors.
type Vectors string

// File is the content of a file.
func (v Vectors) File(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(string(v), name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Parse reads a file of BTF.
func (v Vectors) Parse(t testing.TB, name string, base *btf.Blob) *btf.Blob {
	t.Helper()
	b, err := btf.Parse(v.File(t, name), base)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return b
}

// Names lists the inputs of a folder, with the folder and without the suffix.
func (v Vectors) Names(t testing.TB, folder string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(string(v), folder, "*.raw.btf"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors in %s (%v)", folder, err)
	}
	for i, f := range files {
		files[i] = folder + "/" + strings.TrimSuffix(filepath.Base(f), ".raw.btf")
	}
	return files
}

// Base returns the BTF that an input is split from, or nil.
func (v Vectors) Base(t testing.TB, name string) *btf.Blob {
	if strings.HasPrefix(name, "quirks/split-") {
		return v.Parse(t, "quirks/split.base.btf", nil)
	}
	return nil
}

// Units reads where the compile units of an input begin: the first type id of
// each, and the end.
func (v Vectors) Units(t testing.TB, name string) []uint32 {
	t.Helper()
	var firsts []uint32
	for _, f := range strings.Fields(string(v.File(t, name+".cus"))) {
		n, err := strconv.ParseUint(f, 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		firsts = append(firsts, uint32(n))
	}
	return firsts
}
