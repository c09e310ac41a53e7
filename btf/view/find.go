package view

import (
	"hash/maphash"
	"slices"
	"strings"

	"github.com/btflite/btflite/btf"
)

// Named gives the ids of all types of the name, also in bases, in ascending order; with
// kinds, only types of these kinds. It compares the names in the BTF and ignores Rename.
// It looks at every type, which takes a millisecond for a kernel and no memory except the
// result. After fewNames calls, it builds a table of 20 bytes for each type and uses that
// instead.
func (v *View) Named(name string, kinds ...btf.Kind) (ids []uint32) {
	if name == "" || strings.IndexByte(name, 0) >= 0 {
		return nil
	}
	wanted := ^uint64(0)
	if len(kinds) > 0 {
		wanted = maskOf(kinds)
	}
	if v.asked.Add(1) > fewNames {
		v.once.Do(func() { v.places = v.newPlaces() })
		return v.places.named(v, name, wanted)
	}
	for _, b := range v.chain() {
		for i, w := range b.Off {
			if k := btf.InfoKind(b.Words[w+1]); wanted>>k&1 != 0 && v.is(b.Words[w], name) {
				ids = append(ids, b.FirstID+uint32(i))
			}
		}
	}
	return ids
}

// fewNames is how many calls of Named look at every type.
const fewNames = 128

// places finds types by hashes of their names.
type places struct {
	seed  maphash.Seed
	heads map[uint64]uint32 // the lowest id of a hash
	next  []uint32          // by id: the next one of the same hash, or 0
}

func (v *View) newPlaces() places {
	p := places{maphash.MakeSeed(), map[uint64]uint32{}, make([]uint32, v.Count())}
	for id := v.Count() - 1; id > 0; id-- {
		if name := v.Name(v.blob.Record(id).Name()); len(name) > 0 {
			h := maphash.Bytes(p.seed, name)
			p.next[id] = p.heads[h]
			p.heads[h] = id
		}
	}
	return p
}

// named are the ids of the name whose kinds are wanted.
func (p *places) named(v *View, name string, wanted uint64) (ids []uint32) {
	for id := p.heads[maphash.String(p.seed, name)]; id != 0; id = p.next[id] {
		if r := v.blob.Record(id); wanted>>r.Kind()&1 != 0 && v.is(r.Name(), name) {
			ids = append(ids, id)
		}
	}
	return ids
}

// is reports whether the string at an offset is the name.
func (v *View) is(off uint32, name string) bool {
	b := v.blob
	for b != nil && off < b.StrBase {
		b = b.Base
	}
	if b == nil || uint64(off-b.StrBase)+uint64(len(name)) >= uint64(len(b.Strings)) {
		return false
	}
	s := b.Strings[off-b.StrBase:]
	return s[len(name)] == 0 && s[0] == name[0] && string(s[:len(name)]) == name
}

// chain is the blob and its bases, the lowest first.
func (v *View) chain() (chain []*btf.Blob) {
	for b := v.blob; b != nil; b = b.Base {
		chain = append(chain, b)
	}
	slices.Reverse(chain)
	return chain
}
