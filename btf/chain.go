package btf

import (
	"errors"
	"fmt"
)

// CheckBase looks for signs that b was not split from the base that it was read
// over. Nothing in split BTF names its base, and over a wrong one ids and names
// lead to whatever stands there. Parse notices those beyond the end. CheckBase
// notices BTF that is whole by itself, and names that begin in the middle of a
// string of the base: writers of BTF refer to whole strings. It is linear in
// the size of b; without a base there is nothing to check.
func (b *Blob) CheckBase() error {
	if b.Base == nil {
		return nil
	}
	if b.isWhole() {
		return errors.New("btf: it is whole by itself, not split from the base")
	}
	for id := b.FirstID; id < b.TypeCount(); id++ {
		r := b.Record(id)
		bad := uint32(0)
		eachName(r, func(off uint32) {
			if off < b.StrBase && !b.Base.startsString(off) {
				bad = off
			}
		})
		if bad != 0 {
			return fmt.Errorf("btf: types: %s [%d]: name offset %d is inside a string of the base: this was split from other BTF",
				InfoKind(r[1]), id, bad)
		}
	}
	return nil
}

// isWhole tells whether b would be well-formed without its base.
func (b *Blob) isWhole() bool {
	if len(b.Off) == 0 || len(b.Strings) == 0 || b.Strings[0] != 0 {
		return false
	}
	whole := true
	for id := b.FirstID; id < b.TypeCount() && whole; id++ {
		r := b.Record(id)
		k, vlen := InfoKind(r[1]), InfoVlen(r[1])
		eachName(r, func(off uint32) { whole = whole && off < uint32(len(b.Strings)) })
		if ThirdIsRef(k) {
			whole = whole && r[2] <= uint32(len(b.Off))
		}
		start, stride, n := RefWords(k, vlen)
		for i := range n {
			whole = whole && r[start+i*stride] <= uint32(len(b.Off))
		}
	}
	return whole
}

// eachName calls fn with every string offset of a record.
func eachName(r []uint32, fn func(off uint32)) {
	fn(r[0])
	stride, n := NameWords(InfoKind(r[1]), InfoVlen(r[1]))
	for i := range n {
		fn(r[3+i*stride])
	}
}

// startsString tells whether a string begins at off, which must be below
// StrEnd.
func (b *Blob) startsString(off uint32) bool {
	for off < b.StrBase {
		b = b.Base
	}
	return off == b.StrBase || b.Strings[off-b.StrBase-1] == 0
}
