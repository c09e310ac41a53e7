package corpus

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/btflite/btflite/test/testfile"
)

func TestModulesLargestFirst(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("BTFLITE_CORPUS", dir)
	for name, size := range map[string]int{"modules/v/fs/a.ko": 10, "modules/v/fs/b.ko": 30, "modules/v/net/c.ko": 30, "modules/v/vmlinux": 99,
		"some-modules/v/d.ko": 5, "some-modules/w/e.ko": 5} {
		path := filepath.Join(dir, name)
		os.MkdirAll(filepath.Dir(path), 0o755)
		testfile.Write(t, path, make([]byte, size))
	}
	for kernel, want := range map[string]string{"v": "bca", "w": "e", "none": ""} {
		mods, err := Modules(kernel)
		if err != nil {
			t.Fatal(err)
		}
		names := ""
		for _, m := range mods {
			names += m.Name
		}
		if names != want {
			t.Errorf("%s: order %s, want %s", kernel, names, want)
		}
	}
}

func TestKernels(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("BTFLITE_CORPUS", dir)
	if _, err := Kernels(); err == nil {
		t.Error("no error without kernels")
	}
	testfile.Write(t, filepath.Join(dir, "v1-test"), "")
	if got, err := Kernels(); err != nil || len(got) != 1 || got[0] != filepath.Join(dir, "v1-test") {
		t.Errorf("%q, %v", got, err)
	}
}
