package lower

import (
	"fmt"
	"math"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/verify"
)

// intSigned is the encoding of an INT with a sign.
const intSigned = 1

// enum rewrites the ENUM at an offset of the new words.
func (l *lowering) enum(at int) {
	r := btf.Record(l.out.Words[at:])
	signed := uint32(0)
	if btf.InfoKflag(r.Info()) {
		signed = intSigned
	}
	switch {
	case l.lacks(verify.EnumSize) && r.Third() != 4:
		l.out.Words = l.out.Words[:at]
		l.integer(r.Name(), r.Third(), signed)
	case l.lacks(verify.SignedEnum):
		r[1] = btf.Info(btf.KindEnum, r.Vlen(), false)
	}
}

// enum64 adds what takes the place of an ENUM64: an ENUM of its size with the lower halves of
// the values, as pahole writes it, or a UNION.
func (l *lowering) enum64(id uint32, r btf.Record) error {
	signed := btf.InfoKflag(r.Info())
	for j := range int(r.Vlen()) {
		name, low, high := r.Value64(j)
		if v := uint64(high)<<32 | uint64(low); !fits(v, signed) {
			l.report.Cut = append(l.report.Cut, Enum{ID: id, Name: l.in.Name(r.Name()), Value: l.in.Name(name), Full: v, Left: low, Union: l.opt.Unions})
			if l.opt.Unions {
				return l.union(id, r)
			}
			break
		}
	}
	at := len(l.out.Words)
	l.add(r.Name(), btf.Info(btf.KindEnum, r.Vlen(), signed), r.Third())
	for j := range int(r.Vlen()) {
		name, low, _ := r.Value64(j)
		l.add(name, low)
	}
	l.enum(at)
	return nil
}

// fits tells whether a value is the same in an ENUM.
func fits(v uint64, signed bool) bool {
	if signed {
		return int64(v) >= math.MinInt32 && int64(v) <= math.MaxInt32
	}
	return v <= math.MaxUint32
}

// union adds a UNION with a member in place of each value of an ENUM64.
func (l *lowering) union(id uint32, r btf.Record) error {
	if l.member == 0 {
		l.member = l.smallestInt()
	}
	if l.member == 0 || l.in.Head(l.member).Third() > r.Third() {
		return fmt.Errorf("btf: types: ENUM64 [%d] cannot become a UNION: no INT is small enough to be the type of its members", id)
	}
	l.add(r.Name(), btf.Info(btf.KindUnion, r.Vlen(), false), r.Third())
	for j := range int(r.Vlen()) {
		name, _, _ := r.Value64(j)
		l.add(name, l.member, 0)
	}
	return nil
}

// smallestInt returns the id of the smallest INT of the input and its bases, the first one of
// several, or 0 without an INT. A new INT cannot be added: split BTF already uses the next id.
func (l *lowering) smallestInt() (id uint32) {
	for i := uint32(1); i < l.in.TypeCount(); i++ {
		r := l.in.Head(i)
		if r.Kind() == btf.KindInt && r.Third() > 0 && (id == 0 || r.Third() < l.in.Head(id).Third()) {
			id = i
		}
	}
	return id
}
