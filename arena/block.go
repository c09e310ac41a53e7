package arena

import "unsafe"

// Block is memory for several tables whose sizes are known before, which are used to the full
// and given back together. The system gives it at once, in huge pages where it has them: that
// takes a fraction of the time that page by page takes. The zero value is empty.
type Block struct {
	mem  Vec[uint64]
	used int // words of mem
}

// Populate gets bytes of memory, of the limit l, for b, or up to a quarter of a huge page more
// if that makes whole ones. If b has memory, it is all that it gets.
func (b *Block) Populate(bytes int, l *Limit) {
	if cap(b.mem.S) > 0 {
		return // it could be moved
	}
	if whole := (bytes + hugePage - 1) / hugePage * hugePage; whole-bytes <= hugePage/4 {
		bytes = whole
	}
	b.mem.limit = l
	b.mem.Populate((bytes + 7) / 8)
}

// Room is how many bytes of b are left; none of nil.
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
