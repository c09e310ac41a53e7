package arena

import (
	"syscall"
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
		Advise(from, unix.MADV_DONTNEED)
	}
	return err
}

// populate makes the system give the memory of m, the part of a mapping, at once.
// Linux before 5.14 cannot: then each page comes when it is used.
func populate(m []byte) { Advise(m, unix.MADV_POPULATE_WRITE) }

// avoidHuge asks for small pages for m, because its end may stay unused.
func avoidHuge(m []byte) { Advise(m, unix.MADV_NOHUGEPAGE) }

// preferHuge asks for huge pages for m, the part of a mapping that is made of whole ones and
// will be used as a whole. One takes as long as a few small pages.
func preferHuge(m []byte) { Advise(m, unix.MADV_HUGEPAGE) }

// Advise gives the system the advice, one of the MADV_ constants, on the pages of m, which
// begins with a page of a mapping. An error is ignored: advice may only cost time or memory.
//
// The scheduler is not told of the call. A call of more than 20 microseconds would make it hand
// the processor to another thread, and look for such calls all the time from then on, which took
// more time than the calls.
//
// The argument for unsafe: the address comes from a slice, and the system changes no byte that
// the advice does not name.
func Advise(m []byte, advice int) {
	if len(m) > 0 {
		_, _, _ = syscall.RawSyscall(syscall.SYS_MADVISE, uintptr(unsafe.Pointer(unsafe.SliceData(m))), uintptr(len(m)), uintptr(advice))
	}
}
