package arena

import "golang.org/x/sys/unix"

// remap makes a mapping of grow longer, at another address if need be. Its
// pages are moved, not copied.
func remap(m []byte, size int) ([]byte, error) {
	return unix.Mremap(m, size, unix.MREMAP_MAYMOVE)
}
