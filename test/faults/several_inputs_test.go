package faults

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/testfile"
)

// TestSeveralInputsAreNamed: a message about the BTF of several inputs named only the
// first one, which need not be at fault. Mended in cc6bd7b.
//
// Input: two and three copies of an object whose variables overlap, or that a filter
// leaves out. The message must say how many more inputs there are.
func TestSeveralInputsAreNamed(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	for _, name := range []string{"a", "b", "c"} {
		path := filepath.Join(dir, name)
		// Variables of one name are one; here, others lie in the same places of one section.
		data := bytes.ReplaceAll(testfile.Read(t, "../../encode/testdata/golden/x86-gcc5-r.elf"), []byte("pcpu_node\x00"), []byte("pcpu_nod"+name+"\x00"))
		testfile.Write(t, path, data)
		paths = append(paths, path)
	}
	for n, want := range map[int]string{2: " and 1 more input: ", 3: " and 2 more inputs: "} {
		_, stderr := btflite(t, 1, append([]string{"-J", "--btf_features=all", "--btf_encode_detached=" + filepath.Join(dir, "out")}, paths[:n]...)...)
		if text := "btflite: " + paths[0] + want + "nothing written: a kernel would refuse"; !strings.HasPrefix(stderr, text) {
			t.Errorf("got %q, want %q", stderr, text)
		}
		_, stderr = btflite(t, 0, append([]string{"-J", "--lang_exclude=c11", "--btf_encode_detached=" + filepath.Join(dir, "out")}, paths[:n]...)...)
		if text := "btflite: " + paths[0] + want + "all compile units are left out"; !strings.HasPrefix(stderr, text) {
			t.Errorf("got %q, want %q", stderr, text)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "out")); err == nil {
		t.Error("something was written")
	}
}
