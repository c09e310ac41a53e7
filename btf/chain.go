package btf

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
)

// ErrWhole is wrapped by CheckBase's error if the BTF does not need a base.
var ErrWhole = errors.New("it is whole by itself, not split from the base")

// CheckBase looks for signs that b was read over a wrong base. Split BTF does not name
// its base, and over a wrong one its ids and names lead to arbitrary types and texts. Parse
// only notices an id or name beyond the end of the base. CheckBase also notices BTF that
// does not need a base, and a name that begins inside a string of the base, or in the
// padding between its strings that a linker may add. A writer of BTF produces neither: it
// refers to whole strings, and to offset 0 for no name. The time is linear in the size of
// b. Without a base there is nothing to check.
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

// isWhole reports whether b would be valid BTF without its base.
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

// startsString reports whether a string begins at off. off must be below
// StrEnd.
func (b *Blob) startsString(off uint32) bool {
	for off < b.StrBase {
		b = b.Base
	}
	return off == b.StrBase || b.Strings[off-b.StrBase-1] == 0
}

// isEmpty reports whether the string at off is empty. off must be below StrEnd.
func (b *Blob) isEmpty(off uint32) bool {
	for off < b.StrBase {
		b = b.Base
	}
	return b.Strings[off-b.StrBase] == 0
}

// Rebase returns the types of b as split BTF over another base. id translates an id of
// b's base to the id of the same type in the new base. b does not change, and the result
// has its Form. It is an error if the byte orders differ, or if ids or strings exceed
// the limits of the format.
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

// Sum returns the SHA-256 of the byte order, types and strings of b and of all its bases,
// the root first. The form of their headers does not matter. Two bases with the same sum
// have the same ids and string offsets.
func (b *Blob) Sum() (sum [sha256.Size]byte) {
	var chain []*Blob
	for ; b != nil; b = b.Base {
		if b.Base != nil && len(b.Off)+len(b.Strings) == 0 {
			continue // it is empty, so it changes no id and no offset
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
