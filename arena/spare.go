package arena

import (
	"sync"

	"github.com/edsrzf/mmap-go"
)

// A run over thousands of modules needs the same small Vecs for each module. To unmap one
// interrupts the other processors, which takes longer than to fill it with zeros. So a few small
// mappings are kept for the next Vec, until a Limit is reached.

// spareSizes are the sizes in bytes of mappings that are kept, and spareEach is how many of each:
// less than half a megabyte in all.
var spareSizes = [...]int{16 << 10, 32 << 10, 64 << 10}

const spareEach = 4

var spare struct {
	sync.Mutex
	held [len(spareSizes)][]mmap.MMap
}

// spareSize returns the number of a size that is kept, -1 if it is not.
func spareSize(bytes int) int {
	for i, size := range spareSizes {
		if bytes == size {
			return i
		}
	}
	return -1
}

// takeSpare returns a mapping of zeros, or nil.
func takeSpare(bytes int) mmap.MMap {
	k := spareSize(bytes)
	if k < 0 {
		return nil
	}
	spare.Lock()
	held := spare.held[k]
	if len(held) == 0 {
		spare.Unlock()
		return nil
	}
	m := held[len(held)-1]
	spare.held[k] = held[:len(held)-1]
	spare.Unlock()
	clear(m)
	return m
}

// giveBack keeps m, an anonymous mapping, for takeSpare, or unmaps it.
func giveBack(m mmap.MMap) {
	if k := spareSize(len(m)); k >= 0 {
		spare.Lock()
		if len(spare.held[k]) < spareEach {
			spare.held[k] = append(spare.held[k], m)
			m = nil
		}
		spare.Unlock()
	}
	if m != nil {
		_ = m.Unmap() // nothing to lose
	}
}

// freeSpare unmaps all mappings that are kept. It is called if memory is short.
func freeSpare() {
	spare.Lock()
	defer spare.Unlock()
	for k, held := range spare.held {
		for _, m := range held {
			_ = m.Unmap()
		}
		spare.held[k] = held[:0]
	}
}
