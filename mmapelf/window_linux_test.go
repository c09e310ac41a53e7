package mmapelf

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/btflite/btflite/internal/elftest"
	"github.com/btflite/btflite/test/testfile"
)

// TestIsCached: pages that were just written are in the page cache. A range that goes beyond the end
// of the file does not count as cached. After the system was told to drop the pages, none is cached.
func TestIsCached(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	const size = 4 * probeStep
	testfile.Write(t, path, make([]byte, size))
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if !isCached(file, 0) {
		t.Skip("the file system cannot tell what is cached")
	}
	f := &File{cached: file}
	for _, x := range []struct {
		off, size uint64
		want      bool
	}{
		{0, size, true},
		{probeStep / 2, size / 2, true},
		{size - 1, 1, true},
		{0, 0, false},
		{0, size + 1, false},
		{size, 1, false},
		{1 << 63, 1 << 63, false},
		{1<<64 - 1, 1<<64 - 1, false},
	} {
		if got := f.isCached(x.off, x.size); got != x.want {
			t.Errorf("isCached(%#x, %#x) = %t", x.off, x.size, got)
		}
	}
	if err := unix.Fsync(int(file.Fd())); err != nil {
		t.Fatal(err)
	}
	if err := unix.Fadvise(int(file.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		t.Fatal(err)
	}
	if isCached(file, 0) {
		t.Skip("the file system keeps its pages")
	}
	if f.isCached(0, size) {
		t.Error("a file that is not cached seems to be cached")
	}
	if n, err := file.ReadAt(make([]byte, 1), 0); n != 1 || !isCached(file, 0) { // and what the system read ahead
		t.Errorf("the first byte is not cached after it was read (%v)", err)
	}
	if (&File{}).isCached(0, 1) {
		t.Error("a file that nobody can ask about seems to be cached")
	}
}

// TestSmallAndLarge: MapSmall knows small files, and a large one stays open until Close.
func TestSmallAndLarge(t *testing.T) {
	for _, x := range []struct {
		size          int64
		small, cached bool
	}{{smallFile, true, false}, {smallFile + 1, false, false}, {largeFile - 1, false, false}, {largeFile, false, true}} {
		path := testfile.New(t, "file", sample(elftest.Little64))
		if err := os.Truncate(path, x.size); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if small := f.MapSmall(); small != x.small || (f.cached != nil) != x.cached {
			t.Errorf("%d bytes: small %t, stays open %t", x.size, small, f.cached != nil)
		}
		f.PrefetchRange(0, uint64(x.size))
		f.ReleaseRange(0, uint64(x.size))
		if string(f.Bytes()[1:4]) != "ELF" {
			t.Errorf("%d bytes: other contents after a release", x.size)
		}
		open := f.cached
		f.Close()
		if open != nil && open.Close() == nil {
			t.Errorf("%d bytes: the file was still open after Close", x.size)
		}
	}
}
