package order

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/btflite/btflite/btf"
)

// names are the strings that types use, in the order of their bytes.
type names struct {
	rank   []uint32 // by string offset, of those in use
	sorted []uint32 // by rank, the lowest offset of the string
	final  []uint32 // by rank, the offset that write has given
}

// of is the rank of the string at an offset: 0 for the empty one.
func (n *names) of(off uint32) uint32 { return n.rank[off] }

// maxNames is what names may take in all, if the strings of a file do not have
// more: the limit of kernels for the string section (BTF_MAX_NAME_OFFSET).
const maxNames = 16 << 20

// rankNames ranks the strings at the offsets used, which may come in any order
// and repeat. Offsets into the middle of a string make names that overlap: if
// all of them together take much more than the sections that hold them, that is
// an error, since writing and comparing them would take any time and memory.
func rankNames(b *btf.Blob, used []uint32) (*names, error) {
	if err := b.CheckKnown(); err != nil {
		return nil, err
	}
	slices.Sort(used)
	used = slices.Compact(used)
	total, limit := uint64(0), max(uint64(b.StrEnd()), maxNames)
	for _, off := range used {
		// A long string is looked through once for each offset in it, which
		// the limit bounds too.
		if total += uint64(len(b.NameBytes(off))) + 1; total > limit {
			return nil, fmt.Errorf("btf: strings: overlapping names take more than %d bytes", limit)
		}
	}
	n := &names{rank: make([]uint32, b.StrEnd()+1), sorted: []uint32{0}}
	byName := slices.Clone(used)
	slices.SortFunc(byName, func(x, y uint32) int {
		return cmp.Or(bytes.Compare(b.NameBytes(x), b.NameBytes(y)), cmp.Compare(x, y))
	})
	for _, off := range byName {
		last := n.sorted[len(n.sorted)-1]
		if !bytes.Equal(b.NameBytes(off), b.NameBytes(last)) {
			n.sorted = append(n.sorted, off)
		}
		n.rank[off] = uint32(len(n.sorted) - 1)
	}
	return n, nil
}

// write returns the own strings of BTF with these names, over the base of b:
// each once, sorted, without those that the base has.
func (n *names) write(b *btf.Blob) []byte {
	t := btf.NewStringTable(b.Base)
	n.final = make([]uint32, len(n.sorted))
	for rank, off := range n.sorted {
		n.final[rank] = t.Intern(b.NameBytes(off))
	}
	return t.Bytes()
}

// written is the offset that write has given to the string at an old offset.
func (n *names) written(off uint32) uint32 { return n.final[n.rank[off]] }
