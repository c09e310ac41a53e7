//go:build !linux

package mmapelf

// dropPages, coldPages, readRandom and readSoon are hints that only Linux is given.
func dropPages([]byte)  {}
func coldPages([]byte)  {}
func readRandom([]byte) {}
func readSoon([]byte)   {}

// anonymous returns size bytes of zeros, giveBack leaves them to the collector.
func anonymous(size int) ([]byte, error) { return make([]byte, size), nil }
func giveBack([]byte)                    {}
