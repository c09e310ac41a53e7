package arena

import "unsafe"

// Block is memory for several tables that are freed together. Their sizes must be known before
// the first one is made, and together they should use all of it. The system gives the memory at once,
// in huge pages if it has them: that takes a fraction of the time of single pages. The zero value is
// empty.
type Block struct {
	mem  Vec[uint64]
	used int // words of mem
}

// Populate gets memory for b, within the limit l: at least bytes, and up to a quarter of a huge
// page more if that fills huge pages. It does nothing if b has memory.
func (b *Block) Populate(bytes int, l *Limit) {
	if cap(b.mem.S) > 0 {
		return // it could be moved
	}
	b.mem.limit = l
	b.mem.Populate((bytes + 7) / 8)
}

// Room returns how many bytes of b are left; 0 for nil.
func (b *Block) Room() int {
	if b == nil {
		return 0
	}
	return 8 * (cap(b.mem.S) - b.used)
}

// Carve returns n zeros, of a type without pointers: in b, where they are valid until Free,
// or on the heap if too little is left of b, which may be nil.
func Carve[T any](b *Block, n int) []T {
	var z T
	words := (n*int(unsafe.Sizeof(z)) + 7) / 8
	if words == 0 || 8*words > b.Room() {
		return make([]T, n)
	}
	checkType[T]()
	part := b.mem.S[:b.used+words][b.used:]
	b.used += words
	// The argument for unsafe: the words are aligned for any T, nobody else gets them, and
	// T holds no pointers.
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(part))), n)[:n:n]
}

// Free gives the memory back, and with it all that was carved.
func (b *Block) Free() {
	b.mem.Free()
	b.used = 0
}
