package mmapelf

import "golang.org/x/sys/unix"

// dropPages drops the pages of b from this process. b starts on a page boundary of a
// mapping. Pages of a file come back when they are read, anonymous ones as zeros. A
// failure costs only memory.
func dropPages(b []byte) { _ = unix.Madvise(b, unix.MADV_DONTNEED) }

// coldPages marks the pages of b, which starts on a page boundary too. A kernel
// that is short of memory reclaims them before the pages of sections that are read at
// random. Without that, a run in a small cgroup drops .debug_str and reads it again
// all the time. It takes as long as dropping the pages.
func coldPages(b []byte) { _ = unix.Madvise(b, unix.MADV_COLD) }

// anonymous returns size bytes of zeros that take memory as they are written,
// and are not counted as promised until then.
func anonymous(size int) ([]byte, error) {
	return unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
}

// giveBack unmaps what anonymous gave.
func giveBack(b []byte) { _ = unix.Munmap(b) }

// readRandom turns read-ahead off for b: one page for each page touched.
func readRandom(b []byte) { _ = unix.Madvise(b, unix.MADV_RANDOM) }

// readSoon asks for the pages of b to be read in the background.
func readSoon(b []byte) { _ = unix.Madvise(b, unix.MADV_WILLNEED) }
