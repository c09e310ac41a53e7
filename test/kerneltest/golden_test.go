package kerneltest

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/btflite/btflite/test/corpus"
	"github.com/btflite/btflite/test/testfile"
)

// TestMakeGolden runs make golden in a copy of the files that it writes. Nothing may differ afterwards: so
// the committed BTF is pahole's, and the scripts work. Nobody runs them for months, and one had
// stopped halfway. Where a linker for another machine is missing, its files stay as they are.
func TestMakeGolden(t *testing.T) {
	pahole := corpus.Pahole()
	if pahole == "" {
		t.Skip("no pahole 1.32: scripts/kernels.sh pahole gets it")
	}
	corpus.Installed(t, "make", "ld", "objcopy")
	tree := t.TempDir()
	folders := []string{"scripts", "testdata", "encode/testdata", "test/kerneltest/testdata"}
	for _, name := range folders {
		if err := os.CopyFS(filepath.Join(tree, name), os.DirFS(filepath.Join("../..", name))); err != nil {
			t.Fatal(err)
		}
	}
	testfile.Write(t, filepath.Join(tree, "Makefile"), testfile.Read(t, "../../Makefile"))
	c := exec.Command("make", "golden", "PAHOLE="+pahole)
	c.Dir = tree
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("make golden: %v\n%s", err, out)
	}
	for _, name := range folders {
		committed, written := os.DirFS(filepath.Join("../..", name)), os.DirFS(filepath.Join(tree, name))
		differ(t, name+" as committed", committed, written)
		differ(t, name+" as written again", written, committed)
	}
}

// differ reports the files of one folder that the other lacks, or has with another content.
func differ(t *testing.T, name string, one, other fs.FS) {
	t.Helper()
	err := fs.WalkDir(one, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		want, err := fs.ReadFile(one, path)
		if err != nil {
			return err
		}
		if got, err := fs.ReadFile(other, path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %s is another one, or is missing (%v)", name, path, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
