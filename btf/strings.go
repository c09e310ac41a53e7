package btf

import (
	"bytes"

	"github.com/btflite/btflite/arena"
)

// StringTable collects distinct strings in order of first use. Strings that a
// base already has keep the base's offset and are not stored again.
type StringTable struct {
	start uint32 // string offset of data[0]
	data  []byte
	index map[string]uint32
}

// NewStringTable returns a table that continues the string space of base, or
// that starts with the empty string if base is nil. Of equal strings in the base
// chain the one with the lowest offset is used.
func NewStringTable(base *Blob) *StringTable {
	t := &StringTable{index: map[string]uint32{"": 0}}
	if base == nil {
		t.data = []byte{0}
		return t
	}
	t.start = base.StrEnd()
	t.addChain(base)
	return t
}

// addChain enters the whole strings of b and its bases, lowest offset first.
func (t *StringTable) addChain(b *Blob) {
	var chain []*Blob
	for ; b != nil; b = b.Base {
		chain = append(chain, b)
	}
	for i := len(chain) - 1; i >= 0; i-- {
		s, off := chain[i].Strings, chain[i].StrBase
		for len(s) > 0 {
			n := bytes.IndexByte(s, 0)
			if n < 0 {
				break
			}
			if _, ok := t.index[string(s[:n])]; !ok {
				t.index[string(s[:n])] = off
			}
			s, off = s[n+1:], off+uint32(n)+1
		}
	}
}

// Intern returns the offset of s. If s is new, it is copied to the end. s must not
// contain NUL bytes.
func (t *StringTable) Intern(s []byte) uint32 {
	if off, ok := t.index[string(s)]; ok {
		return off
	}
	off := t.start + uint32(len(t.data))
	t.index[string(s)] = off
	t.data = append(arena.Room(t.data, len(s)+1), s...)
	t.data = append(t.data, 0)
	return off
}

// Bytes returns the table's own strings, but not the base's, each with a NUL
// after it. The table goes on using the slice, so a caller who keeps it must not
// use the table any more.
func (t *StringTable) Bytes() []byte { return t.data }
