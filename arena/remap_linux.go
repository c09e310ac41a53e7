package arena

import "golang.org/x/sys/unix"

// remap makes a mapping of grow longer, at another address if need be. Its
// pages are moved, not copied.
func remap(m []byte, size int) ([]byte, error) {
	return unix.Mremap(m, size, unix.MREMAP_MAYMOVE)
}

// populate makes the system give the memory of m, the part of a mapping, at once.
// Linux before 5.14 cannot: then each page comes when it is used.
func populate(m []byte) { _ = unix.Madvise(m, unix.MADV_POPULATE_WRITE) }

// avoidHuge asks for small pages for m, because its end may stay unused.
func avoidHuge(m []byte) { _ = unix.Madvise(m, unix.MADV_NOHUGEPAGE) }

// preferHuge asks for huge pages for m, the part of a mapping that is made of whole ones and
// will be used as a whole. One takes as long as a few small pages.
func preferHuge(m []byte) { _ = unix.Madvise(m, unix.MADV_HUGEPAGE) }
