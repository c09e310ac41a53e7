package mmapelf

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/btflite/btflite/arena"
)

// dropPages drops the pages of b from this process. b starts on a page boundary of a
// mapping. Pages of a file come back when they are read, anonymous ones as zeros. A
// failure costs only memory.
func dropPages(b []byte) { arena.Advise(b, unix.MADV_DONTNEED) }

// coldPages marks the pages of b, which starts on a page boundary too. A kernel
// that is short of memory reclaims them before the pages of sections that are read at
// random. Without that, a run in a small cgroup drops .debug_str and reads it again
// all the time. It takes as long as dropping the pages.
func coldPages(b []byte) { arena.Advise(b, unix.MADV_COLD) }

// anonymous returns size bytes of zeros that take memory as they are written,
// and are not counted as promised until then.
func anonymous(size int) ([]byte, error) {
	return unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
}

// giveBack unmaps what anonymous gave.
func giveBack(b []byte) { _ = unix.Munmap(b) }

// readRandom turns read-ahead off for b: one page for each page touched.
func readRandom(b []byte) { arena.Advise(b, unix.MADV_RANDOM) }

// readSoon asks for the pages of b to be read in the background.
func readSoon(b []byte) { arena.Advise(b, unix.MADV_WILLNEED) }

// readNow maps all pages of b, and reads them from the disk if need be. Linux before 5.14
// cannot: then each page comes when it is touched.
func readNow(b []byte) { arena.Advise(b, unix.MADV_POPULATE_READ) }

// isCached reports whether the byte of file at offset off can be read without waiting for the
// disk. It reports false if the file system cannot tell.
func isCached(file *os.File, off uint64) bool {
	var b [1]byte
	n, _ := unix.Preadv2(int(file.Fd()), [][]byte{b[:]}, int64(off), unix.RWF_NOWAIT)
	return n == 1
}
