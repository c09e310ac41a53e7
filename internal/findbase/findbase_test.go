package findbase

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/internal/loadbtf"
	"github.com/btflite/btflite/test/testfile"
)

// kernelAndModules are a kernel, a module over it, and a module over a kernel with other strings.
func kernelAndModules(t *testing.T) (kernel, own, other *btf.Blob) {
	kernel = btftest.Build(t, nil, func(b *btftest.Builder) { b.Int("int", 4) })
	longer := btftest.Build(t, nil, func(b *btftest.Builder) { b.Int("unsigned int", 4); b.Int("char", 1) })
	module := func(b *btftest.Builder) { b.Struct("s", 4, b.Member("m", 1, 0)) }
	return kernel, btftest.Build(t, kernel, module), btftest.Build(t, longer, module)
}

// TestFind: the base is the first candidate that fits, and else the first one with the signs against it.
func TestFind(t *testing.T) {
	kernel, own, other := kernelAndModules(t)
	root := t.TempDir()
	dir := filepath.Join(root, "lib/modules/1.0/kernel/fs")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "s.btf")
	find := func(module *btf.Blob) (best *Fit, found int) {
		f := New(loadbtf.Loader{}, "")
		t.Cleanup(f.Close)
		return f.Find(path, &loadbtf.Raw{BTF: module.Encode()}, nil)
	}
	if best, found := find(kernel); best != nil || found != 0 {
		t.Errorf("a kernel has %d bases: %v", found, best)
	}
	for _, name := range []string{"lib/modules/1.0/vmlinux", "boot/vmlinux-1.0.xz", "usr/lib/debug/boot/vmlinux-1.0", "vmlinux.btf"} {
		at := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		testfile.Write(t, at, kernel.Encode())
		if best, _ := find(own); best == nil || !best.Fits() || best.Base.Path != at || best.Err() != nil {
			t.Errorf("%s is not found: %+v", name, best)
		}
		best, found := find(other)
		if best == nil || best.Fits() || found != 1 {
			t.Errorf("%s: %d bases: %+v", name, found, best)
		} else if err := error(&Misfit{best, found}); !errors.Is(err, btf.ErrNoBase) || !strings.Contains(err.Error(), "it does not fit the base "+at) {
			t.Errorf("%s: %v", name, err)
		}
		os.Remove(at)
	}
}

// TestFix: the base that is given is taken, whether it fits or not.
func TestFix(t *testing.T) {
	kernel, own, other := kernelAndModules(t)
	path := filepath.Join(t.TempDir(), "base")
	testfile.Write(t, path, kernel.Encode())
	f := New(loadbtf.Loader{}, "")
	defer f.Close()
	if err := f.Fix([]string{path}); err != nil {
		t.Fatal(err)
	}
	for module, fits := range map[*btf.Blob]bool{own: true, other: false} {
		if best, found := f.Find("none", &loadbtf.Raw{BTF: module.Encode()}, nil); found != 1 || best.Base != f.Fixed() || best.Fits() != fits {
			t.Errorf("fits: %v, want %v: %+v", best.Fits(), fits, best)
		}
	}
	if f.Len() != 1 {
		t.Errorf("%d bases are open", f.Len())
	}
}
