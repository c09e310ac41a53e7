package show

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/btf/view"
	"github.com/btflite/btflite/test/testfile"
)

// load reads BTF of testdata. gcc for amd64, for i386 if the name ends in 32, or clang for constnone, compiled each file from the C source of the
// same name; twice.btf has pairs of structs of one name.
func load(t testing.TB, path string) *view.View {
	t.Helper()
	b := btftest.Read(t, path, nil)
	return view.New(b)
}

// TestAll: the whole of a file is as pahole 1.32 has printed it.
func TestAll(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.btf")
	if len(files) == 0 {
		t.Fatal("no files")
	}
	for _, f := range files {
		want := testfile.Read(t, strings.TrimSuffix(f, ".btf")+".txt")
		var got bytes.Buffer
		if err := New(&got, load(t, f), Options{}).List(&Filter{}, Text, ""); err != nil {
			t.Fatal(err)
		}
		if a, b := diffLine(got.Bytes(), want); a != b {
			t.Errorf("%s: got %q, want %q", f, a, b)
		}
	}
}

// TestOptions: with options, the whole of a file is as pahole 1.32 has printed it with the same
// ones.
func TestOptions(t *testing.T) {
	for _, x := range []struct {
		file, golden string
		opt          Options
	}{
		{"needs", "compile", Options{Compile: true}},
		{"enumforward", "compile", Options{Compile: true}},
		{"unions32", "compile", Options{Compile: true}},
		{"packed32", "expand", Options{Expand: true}},
		{"types", "expand", Options{Expand: true}},
		{"types", "biggest", Options{Biggest: true}},
		{"restrict", "expand", Options{Expand: true}},
		{"forced", "expand", Options{Expand: true}},
		{"forced", "pointers", Options{Expand: true, Pointers: true}},
		{"tags", "expand", Options{Expand: true}},
		{"tags", "follow", Options{Pointers: true}},
		{"tags", "pointers", Options{Expand: true, Pointers: true}},
		{"constnone", "pointers", Options{Expand: true, Pointers: true}},
		{"consts", "pointers", Options{Expand: true, Pointers: true}},
		{"constforward", "follow", Options{Pointers: true}},
		{"constforward", "pointers", Options{Expand: true, Pointers: true}},
		{"constforward", "quiet", Options{Expand: true, Pointers: true, Quiet: true, Relative: true}},
	} {
		want := testfile.Read(t, "testdata/"+x.file+"."+x.golden+".txt")
		var got bytes.Buffer
		if err := New(&got, load(t, "testdata/"+x.file+".btf"), x.opt).List(&Filter{}, Text, ""); err != nil {
			t.Fatal(err)
		}
		if a, b := diffLine(got.Bytes(), want); a != b {
			t.Errorf("%s, %s: got %q, want %q", x.file, x.golden, a, b)
		}
	}
}

// diffLine is the first line in which got and want differ.
func diffLine(got, want []byte) (g, w string) {
	a, b := strings.SplitAfter(string(got), "\n"), strings.SplitAfter(string(want), "\n")
	for i := range max(len(a), len(b)) {
		g, w = "", ""
		if i < len(a) {
			g = a[i]
		}
		if i < len(b) {
			w = b[i]
		}
		if g != w {
			break
		}
	}
	return g, w
}
