package arena

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// remap makes a mapping of grow longer, at another address if need be. Its
// pages are moved, not copied.
func remap(m []byte, size int) ([]byte, error) {
	return unix.Mremap(m, size, unix.MREMAP_MAYMOVE)
}

// duplicate puts the pages of from, a part of a shared mapping, into the place of the first pages of
// to, a mapping that is not in use. Both begin with a page. From itself gets its pages again when it
// is used: otherwise they would count twice.
//
// The argument for unsafe: both addresses come from slices of mappings, and to has room for the
// pages of from.
func duplicate(to, from []byte) error {
	_, err := unix.MremapPtr(unsafe.Pointer(unsafe.SliceData(from)), 0,
		unsafe.Pointer(unsafe.SliceData(to)), uintptr(len(from)), unix.MREMAP_MAYMOVE|unix.MREMAP_FIXED)
	if err == nil {
		_ = unix.Madvise(from, unix.MADV_DONTNEED)
	}
	return err
}

// populate makes the system give the memory of m, the part of a mapping, at once.
// Linux before 5.14 cannot: then each page comes when it is used.
func populate(m []byte) { _ = unix.Madvise(m, unix.MADV_POPULATE_WRITE) }

// avoidHuge asks for small pages for m, because its end may stay unused.
func avoidHuge(m []byte) { _ = unix.Madvise(m, unix.MADV_NOHUGEPAGE) }

// preferHuge asks for huge pages for m, the part of a mapping that is made of whole ones and
// will be used as a whole. One takes as long as a few small pages.
func preferHuge(m []byte) { _ = unix.Madvise(m, unix.MADV_HUGEPAGE) }
