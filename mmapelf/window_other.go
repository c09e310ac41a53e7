//go:build !linux

package mmapelf

import "os"

// dropPages, coldPages, readRandom, readSoon and readNow are hints that only Linux is given.
func dropPages([]byte)  {}
func coldPages([]byte)  {}
func readRandom([]byte) {}
func readSoon([]byte)   {}
func readNow([]byte)    {}

// isCached says that nothing is known.
func isCached(*os.File, uint64) bool { return false }

// anonymous returns size bytes of zeros, giveBack leaves them to the collector.
func anonymous(size int) ([]byte, error) { return make([]byte, size), nil }
func giveBack([]byte)                    {}
