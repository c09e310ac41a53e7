//go:build !linux

package mmapelf

// dropPages, readRandom and readSoon are hints that only Linux is given.
func dropPages([]byte)  {}
func readRandom([]byte) {}
func readSoon([]byte)   {}
