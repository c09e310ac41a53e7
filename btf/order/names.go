package order

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
)

// names are the strings that types use, in the order of their bytes.
type names struct {
	rank   []uint32 // by string offset, of those in use; 0 for the empty one
	sorted []uint32 // by rank, the lowest offset of the string
	final  []uint32 // by rank, the offset that write has given
}

// maxNames limits the bytes of all names, unless the strings of the file have more. It
// is the limit of kernels for the string section (BTF_MAX_NAME_OFFSET).
const maxNames = 16 << 20

// rankNames ranks the strings at the offsets used, which may come in any order
// and repeat; the slice is used up. Offsets into the middle of a string make names that overlap: if
// all of them together take much more than the sections that hold them, that is
// an error, since writing and comparing them would take any time and memory.
func rankNames(ctx context.Context, b *btf.Blob, used []uint32) (*names, error) {
	if err := b.CheckKnown(); err != nil {
		return nil, err
	}
	n := &names{rank: arena.Make[uint32](int(b.StrEnd()) + 1)}
	for _, off := range used {
		n.rank[off] = 1 // which sorts them, and is replaced below
	}
	used = used[:0]
	for off, is := range n.rank {
		if is != 0 {
			used = append(used, uint32(off))
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	total, limit := uint64(0), max(uint64(b.StrEnd()), maxNames)
	for _, off := range used {
		// A long string is looked through once for each offset in it, which
		// the limit bounds too.
		if total += uint64(len(b.NameBytes(off))) + 1; total > limit {
			return nil, fmt.Errorf("btf: strings: overlapping names take more than %d bytes", limit)
		}
	}
	err := sortUntil(ctx, used, func(x, y uint32) int {
		return cmp.Or(bytes.Compare(b.NameBytes(x), b.NameBytes(y)), cmp.Compare(x, y))
	})
	if err != nil {
		return nil, err
	}
	n.sorted = []uint32{0}
	for _, off := range used {
		last := n.sorted[len(n.sorted)-1]
		if !bytes.Equal(b.NameBytes(off), b.NameBytes(last)) {
			n.sorted = append(arena.Room(n.sorted, 1), off)
		}
		n.rank[off] = uint32(len(n.sorted) - 1)
	}
	return n, nil
}

// sortUntil is slices.SortFunc that ends with the error of ctx when that is done.
func sortUntil(ctx context.Context, s []uint32, compare func(x, y uint32) int) (err error) {
	comparisons := 0
	slices.SortFunc(s, func(x, y uint32) int {
		if comparisons++; comparisons%4096 == 0 && err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return 0 // soon all is in order
		}
		return compare(x, y)
	})
	return err
}

// write returns the own strings of BTF with these names, over the base of b:
// each once, sorted, without those that the base has.
func (n *names) write(b *btf.Blob) []byte {
	t := btf.NewStringTable(b.Base)
	n.final = arena.Make[uint32](len(n.sorted))
	for rank, off := range n.sorted {
		n.final[rank] = t.Intern(b.NameBytes(off))
	}
	return t.Bytes()
}
