package dedup

import "github.com/btflite/btflite/btf"

// matchKnown is matchRef for a node that was left out of the unit and is the known
// type x.
func (s *lookup) matchKnown(u *Unit, x, y uint32, depth int) bool {
	if x == 0 || y == 0 {
		return x == 0 && y == 0
	}
	if x, y = s.Final(x), s.Final(y); x == y {
		return true
	}
	if u.budget--; depth > maxMatch || u.budget < 0 {
		u.dirty = true
		return false
	}
	v, w := s.record(x), s.record(y)
	if v.Name() != w.Name() {
		return false
	}
	xk, yk := v.Kind(), w.Kind()
	switch xk {
	case btf.KindFwd:
		switch yk {
		case btf.KindFwd:
			return v.Info() == w.Info()
		case btf.KindStruct, btf.KindUnion:
			if fwdAggregate(v.Info()) != aggregate(w.Info()) {
				return false
			}
			u.pairs.Append(fwdPair{x, y, noOwner})
			return true
		}
		return false
	case btf.KindStruct, btf.KindUnion:
		if yk == btf.KindFwd {
			if aggregate(v.Info()) != fwdAggregate(w.Info()) {
				return false
			}
			u.pairs.Append(fwdPair{y, x, noOwner})
			return true
		}
		if v.Name() != 0 {
			return u.byName && xk == yk && x >= y
		}
		if xk != yk || v.Info() != w.Info() || v.Third() != w.Third() {
			return false
		}
		for j := range int(v.Vlen()) {
			name, typ, offset := v.Member(j)
			other, to, at := w.Member(j)
			if name != other || offset != at || !s.matchKnown(u, typ, to, depth+1) {
				return false
			}
		}
		return true
	case btf.KindEnum, btf.KindEnum64:
		if yk != btf.KindEnum && yk != btf.KindEnum64 {
			return false
		}
		if v.Vlen() == 0 || w.Vlen() == 0 {
			return v.Name() != 0
		}
		return false // equal ones have one id
	case btf.KindInt, btf.KindFloat:
		return false // likewise
	}
	if v.Info() != w.Info() {
		return false
	}
	switch xk {
	case btf.KindPtr, btf.KindConst, btf.KindVolatile, btf.KindRestrict, btf.KindTypedef, btf.KindTypeTag, btf.KindFunc:
		return s.matchKnown(u, v.Third(), w.Third(), depth+1)
	case btf.KindArray:
		elem, index, n := v.Array()
		otherElem, otherIndex, other := w.Array()
		return n == other && s.matchKnown(u, index, otherIndex, depth+1) && s.matchKnown(u, elem, otherElem, depth+1)
	case btf.KindFuncProto:
		return s.matchKnownParams(u, v, w, depth)
	}
	return false
}

// matchKnownParams is matchKnown for two prototypes with as many parameters.
func (s *lookup) matchKnownParams(u *Unit, v, w btf.Record, depth int) bool {
	if !s.matchKnown(u, v.Third(), w.Third(), depth+1) {
		return false
	}
	for j := range int(v.Vlen()) {
		name, typ := v.Param(j)
		other, to := w.Param(j)
		if name != other || !s.matchKnown(u, typ, to, depth+1) {
			return false
		}
	}
	return true
}
