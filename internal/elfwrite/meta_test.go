//go:build unix

package elfwrite

import (
	"debug/elf"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/btflite/btflite/internal/elftest"
	"github.com/btflite/btflite/internal/fileid"
	"github.com/btflite/btflite/test/testfile"
)

func TestSetKeepsMode(t *testing.T) {
	for _, mode := range []os.FileMode{0o755, 0o640, 0o444, 0o755 | os.ModeSetuid, 0o600} {
		path := file(t, build(elftest.Little64, elftest.Image{}, plain...))
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if err := setText(path, ".BTF", "contents"); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode() != mode {
			t.Errorf("mode %v, want %v (%v)", info.Mode(), mode, err)
		}
	}
}

func TestSetKeepsOwner(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	path := file(t, build(elftest.Little64, elftest.Image{}, plain...))
	if err := os.Chown(path, 1234, 5678); err != nil {
		t.Skip(err)
	}
	if err := os.Chmod(path, 0o755|os.ModeSetuid); err != nil {
		t.Fatal(err)
	}
	if err := setText(path, ".BTF", "contents"); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if st := info.Sys().(*syscall.Stat_t); st.Uid != 1234 || st.Gid != 5678 || info.Mode() != 0o755|os.ModeSetuid {
		t.Errorf("owner %d:%d, mode %v", st.Uid, st.Gid, info.Mode())
	}
}

func TestSetRefusesHardLinks(t *testing.T) {
	path := file(t, build(elftest.Little64, elftest.Image{}, plain...))
	other := filepath.Join(t.TempDir(), "other")
	if err := os.Link(path, other); err != nil {
		t.Skip(err)
	}
	before := testfile.Read(t, path)
	err := setText(path, ".BTF", "contents")
	if err == nil || !strings.Contains(err.Error(), "2 hard links") {
		t.Errorf("error %v", err)
	}
	if string(testfile.Read(t, path)) != string(before) {
		t.Error("file changed")
	}
	onlyFile(t, path)
}

func TestSetKeepsSymlinks(t *testing.T) {
	path := file(t, build(elftest.Little64, elftest.Image{}, plain...))
	links := t.TempDir()
	link := filepath.Join(links, "link")
	second := filepath.Join(links, "second")
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	if err := os.Symlink("link", second); err != nil {
		t.Skip(err)
	}
	if err := setText(second, ".BTF", "contents"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{link, second} {
		if info, err := os.Lstat(name); err != nil || info.Mode().Type() != os.ModeSymlink {
			t.Errorf("%s is not a link any more: %v, %v", name, info.Mode(), err)
		}
	}
	if text, _ := contents(t, testfile.Read(t, path), ".BTF"); text != "contents" {
		t.Errorf("target has %q", text)
	}
	onlyFile(t, path)

	dangling := filepath.Join(links, "dangling")
	if err := os.Symlink("nowhere", dangling); err != nil {
		t.Fatal(err)
	}
	if err := setText(dangling, ".BTF", "contents"); err == nil {
		t.Error("dangling link accepted")
	}
}

func TestSetRefusesOtherThanRegularFiles(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Skip(err)
	}
	for _, path := range []string{dir, fifo, os.DevNull} {
		if err := setText(path, ".BTF", "contents"); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestSetWithLongFileName(t *testing.T) {
	path := filepath.Join(t.TempDir(), strings.Repeat("a", 255))
	if err := os.WriteFile(path, build(elftest.Little64, elftest.Image{}, plain...), 0o600); err != nil {
		t.Skip(err)
	}
	if err := setText(path, ".BTF", "contents"); err != nil {
		t.Error(err)
	}
}

func TestSetInParallelLeavesAWholeFile(t *testing.T) {
	path := file(t, build(elftest.Little64, elftest.Image{Linked: true}, plain...))
	var wg sync.WaitGroup
	var done atomic.Int32
	for range 8 {
		wg.Go(func() {
			switch err := setText(path, ".BTF", "contents"); {
			case err == nil:
				done.Add(1)
			case !errors.Is(err, fileid.ErrChanged):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if done.Load() == 0 {
		t.Error("none was the first")
	}
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for _, s := range f.Sections {
		if s.Name == ".BTF" {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d sections", n)
	}
	onlyFile(t, path)
}

func TestExecutableRunsAfterSet(t *testing.T) {
	cc, err := exec.LookPath("gcc")
	if err != nil {
		if cc, err = exec.LookPath("cc"); err != nil {
			t.Skip("no C compiler: neither gcc nor cc is in PATH")
		}
	}
	dir := t.TempDir()
	src := filepath.Join(dir, "hello.c")
	if err := os.WriteFile(src, []byte("#include <stdio.h>\nint main(void) { puts(\"still running\"); return 0; }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "hello")
	if out, err := exec.Command(cc, "-g", "-o", path, src).CombinedOutput(); err != nil {
		t.Skipf("the C compiler does not work: %v\n%s", err, out)
	}
	start := testfile.Read(t, path)
	for _, size := range []int64{1 << 20, 100, 1 << 20} {
		err := Set(path, nil, nil, Section{Name: ".BTF", Size: size, Write: func(w io.Writer) error {
			_, err := io.CopyN(w, zeros{}, size)
			return err
		}})
		if err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(path).CombinedOutput(); err != nil || string(out) != "still running\n" {
			t.Errorf("after %d bytes: %q, %v", size, out, err)
		}
	}
	want, _ := sections(t, start, ".shstrtab")
	if got, _ := sections(t, testfile.Read(t, path), ".shstrtab", ".BTF"); got != want {
		t.Error("other sections changed")
	}
}

// TestStop: while a large file is copied, whoever sets a section is asked whether to go on.
func TestStop(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Skip(err)
	}
	path := file(t, testfile.Read(t, self))
	const size = 40 << 20
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
	signal := errors.New("a signal")
	for after := 0; ; after++ {
		asked := 0
		err := Set(path, nil, nil, Section{Name: ".BTF", Size: 1, Write: func(w io.Writer) error { _, err := w.Write([]byte("x")); return err }, Stop: func() error {
			if asked++; asked > after {
				return signal
			}
			return nil
		}})
		if err == nil {
			if after < size/copyStep {
				t.Errorf("asked %d times while %d bytes are copied", after, size)
			}
			break
		}
		if info, failed := os.Stat(path); !errors.Is(err, signal) || failed != nil || info.Size() != size {
			t.Fatalf("after %d: %v, %v", after, err, failed)
		}
		if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
			t.Fatalf("after %d: %d files, %v", after, len(left), err)
		}
		after += 3
	}
}
