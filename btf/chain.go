package btf

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
)

// ErrWhole is in the error of CheckBase for BTF that needs no base.
var ErrWhole = errors.New("it is whole by itself, not split from the base")

// CheckBase looks for signs that b was not split from the base that it was read
// over. Nothing in split BTF names its base, and over a wrong one ids and names
// lead to whatever stands there. Parse notices those beyond the end. CheckBase
// notices BTF that is whole by itself, and names that begin in the middle of a
// string of the base or between its strings, where the .BTF of a linked kernel may be
// padded: writers of BTF refer to whole strings, and for no name to offset 0. It is
// linear in the size of b; without a base there is nothing to check.
func (b *Blob) CheckBase() error {
	if b.Base == nil {
		return nil
	}
	if b.isWhole() {
		return fmt.Errorf("btf: %w", ErrWhole)
	}
	for id := b.FirstID; id < b.TypeCount(); id++ {
		r := b.Record(id)
		bad, where := uint32(0), ""
		EachName(r, func(off *uint32) {
			switch {
			case *off == 0 || *off >= b.StrBase:
			case !b.Base.startsString(*off):
				bad, where = *off, "inside a string of the base"
			case b.Base.isEmpty(*off):
				bad, where = *off, "between the strings of the base"
			}
		})
		if bad != 0 {
			return fmt.Errorf("btf: types: %s [%d]: name offset %d is %s: this was split from other BTF",
				InfoKind(r[1]), id, bad, where)
		}
	}
	return nil
}

// isWhole reports whether b would be well-formed without its base.
func (b *Blob) isWhole() bool {
	if len(b.Off) == 0 || len(b.Strings) == 0 || b.Strings[0] != 0 {
		return false
	}
	whole := true
	for id := b.FirstID; id < b.TypeCount() && whole; id++ {
		r := b.Record(id)
		EachName(r, func(off *uint32) { whole = whole && *off < uint32(len(b.Strings)) })
		EachRef(r, func(id *uint32) { whole = whole && *id <= uint32(len(b.Off)) })
	}
	return whole
}

// startsString reports whether a string begins at off, which must be below
// StrEnd.
func (b *Blob) startsString(off uint32) bool {
	for off < b.StrBase {
		b = b.Base
	}
	return off == b.StrBase || b.Strings[off-b.StrBase-1] == 0
}

// isEmpty reports whether the string at off, which must be below StrEnd, is empty.
func (b *Blob) isEmpty(off uint32) bool {
	for off < b.StrBase {
		b = b.Base
	}
	return b.Strings[off-b.StrBase] == 0
}

// Rebase returns the types of b over other BTF than its base, which has been
// renumbered: id gives the type id there of each id of b's base. b is left
// unchanged. Errors: the byte orders differ, or ids or strings would exceed the
// format. It keeps its Form.
func Rebase(b, base *Blob, id func(uint32) uint32) (*Blob, error) {
	out := NewBuilder(b.BigEndian, base)
	first := base.TypeCount()
	for old := b.FirstID; old < b.TypeCount(); old++ {
		r := slices.Clone(b.Record(old))
		name := b.Name(r[0])
		EachRef(r, func(ref *uint32) {
			if *ref >= b.FirstID {
				*ref += first - b.FirstID
			} else {
				*ref = id(*ref)
			}
		})
		EachName(r, func(off *uint32) { *off = out.Str(b.Name(*off)) })
		out.Add(name, r[1], r[2], r[3:]...)
	}
	res, err := out.Blob()
	if err != nil {
		return nil, err
	}
	res.Form = b.Form
	return res, nil
}

// Sum is the SHA-256 of b with all its bases, root first: byte order, types and
// strings, however they were stored. Two bases of one sum have the same ids and
// string offsets for the same things.
func (b *Blob) Sum() (sum [sha256.Size]byte) {
	var chain []*Blob
	for ; b != nil; b = b.Base {
		if b.Base != nil && len(b.Off)+len(b.Strings) == 0 {
			continue // it adds nothing, so BTF over it is over its base
		}
		chain = append(chain, b)
	}
	h := sha256.New()
	for _, b := range slices.Backward(chain) {
		plain := *b
		plain.Form = Form{}
		h.Write(plain.Encode())
	}
	h.Sum(sum[:0])
	return sum
}
