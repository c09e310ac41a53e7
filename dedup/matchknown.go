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
	switch j := judge(v.Name(), v.Info(), w.Info()); j {
	case differ, agree:
		return j == agree
	case ahead, behind:
		u.pairs.Append(j.pair(x, y))
		return true
	case byName:
		return u.byName && v.Kind() == w.Kind() && x >= y
	case values:
		return false // equal ones have one id
	}
	switch v.Kind() {
	case btf.KindStruct, btf.KindUnion:
		if v.Third() != w.Third() {
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
	case btf.KindPtr, btf.KindConst, btf.KindVolatile, btf.KindRestrict, btf.KindTypedef, btf.KindTypeTag, btf.KindFunc:
		return s.matchKnown(u, v.Third(), w.Third(), depth+1)
	case btf.KindArray:
		elem, index, n := v.Array()
		otherElem, otherIndex, other := w.Array()
		return n == other && s.matchKnown(u, index, otherIndex, depth+1) && s.matchKnown(u, elem, otherElem, depth+1)
	case btf.KindFuncProto:
		return s.matchKnownParams(u, v, w, depth)
	}
	return false // INT and FLOAT: likewise
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
