//go:build !linux

package mmapelf

// dropPages does nothing: only Linux promises that MADV_DONTNEED on a shared
// file mapping keeps the contents.
func dropPages([]byte) {}
