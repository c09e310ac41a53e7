package view

import (
	"bytes"
	"slices"

	"github.com/btflite/btflite/btf"
)

// Named gives the ids of all types of the name, those of bases included, in
// ascending order; with kinds only those that are of one of them. It looks
// through all strings and all types once: a few milliseconds for a kernel, and no
// memory but the result. Whoever has many names takes an Index.
func (v *View) Named(name string, kinds ...btf.Kind) (ids []uint32) {
	offs := v.offsets(name)
	if len(offs) == 0 {
		return nil
	}
	for _, b := range v.chain() {
		for i, w := range b.Off {
			off := b.Words[w]
			if off < offs[0] || off > offs[len(offs)-1] {
				continue
			}
			if _, ok := slices.BinarySearch(offs, off); !ok {
				continue
			}
			if k := btf.InfoKind(b.Words[w+1]); len(kinds) == 0 || slices.Contains(kinds, k) {
				ids = append(ids, b.FirstID+uint32(i))
			}
		}
	}
	return ids
}

// chain is the blob and its bases, the lowest first.
func (v *View) chain() (chain []*btf.Blob) {
	for b := v.blob; b != nil; b = b.Base {
		chain = append(chain, b)
	}
	slices.Reverse(chain)
	return chain
}

// offsets are the offsets at which the string stands, alone or as the end of
// another one, in ascending order.
func (v *View) offsets(name string) (offs []uint32) {
	if name == "" || bytes.IndexByte([]byte(name), 0) >= 0 {
		return nil
	}
	last := name[len(name)-1]
	for _, b := range v.chain() {
		for s, at := b.Strings, 0; ; at++ {
			n := bytes.IndexByte(s[at:], 0)
			if n < 0 {
				break
			}
			at += n
			if start := at - len(name); start >= 0 && s[at-1] == last && string(s[start:at]) == name {
				offs = append(offs, b.StrBase+uint32(start))
			}
		}
	}
	return offs
}

// Index finds types by name, for many look-ups. It may be used by several
// goroutines.
type Index struct {
	v     *View
	heads map[string]uint32 // the lowest id of a name
	next  []uint32          // by id: the next one of the same name, or 0
}

// Index reads the names of all types of the kinds, of all kinds if none is given.
// It takes some 100 bytes for each type; its names are copies.
func (v *View) Index(kinds ...btf.Kind) *Index {
	x := &Index{v: v, heads: map[string]uint32{}, next: make([]uint32, v.Count())}
	for id := v.Count() - 1; id > 0; id-- {
		t := v.Type(id)
		if len(kinds) > 0 && !slices.Contains(kinds, t.Kind()) {
			continue
		}
		if name := t.Name(); len(name) > 0 {
			x.next[id] = x.heads[string(name)]
			x.heads[string(name)] = id
		}
	}
	return x
}

// Named gives the ids of the types of the name, in ascending order.
func (x *Index) Named(name []byte) (ids []uint32) {
	for id := x.heads[string(name)]; id != 0; id = x.next[id] {
		ids = append(ids, id)
	}
	return ids
}

// First is the lowest id of the name, 0 if there is none.
func (x *Index) First(name []byte) uint32 { return x.heads[string(name)] }
