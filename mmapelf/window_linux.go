package mmapelf

import "golang.org/x/sys/unix"

// dropPages drops the pages of b, which starts on a page boundary of a file
// mapping, from this process. A failure costs memory, nothing else.
func dropPages(b []byte) {
	_ = unix.Madvise(b, unix.MADV_DONTNEED)
}
