package dedup

import "github.com/btflite/btflite/btf"

// verdict is what the heads of two types say of them.
type verdict uint8

const (
	differ verdict = iota
	agree          // they count as equal
	ahead          // the first is a forward declaration of the second
	behind         // the second is one of the first
	byName         // two structs or unions with a name, which may be of different kinds
	values         // two enumerations: what they have in them decides, or their kinds
	inside         // what is behind the heads decides
)

// judge compares two types of one name, a token or 0, by their words of info.
func judge(name, x, y uint32) verdict {
	xk, yk := btf.InfoKind(x), btf.InfoKind(y)
	switch xk {
	case btf.KindFwd:
		switch {
		case yk == btf.KindFwd && x == y:
			return agree
		case (yk == btf.KindStruct || yk == btf.KindUnion) && fwdAggregate(x) == aggregate(y):
			return ahead
		}
		return differ
	case btf.KindStruct, btf.KindUnion:
		switch {
		case yk == btf.KindFwd && aggregate(x) == fwdAggregate(y):
			return behind
		case yk != btf.KindFwd && name != 0:
			return byName
		}
	case btf.KindEnum, btf.KindEnum64:
		switch {
		case yk != btf.KindEnum && yk != btf.KindEnum64:
			return differ
		case btf.InfoVlen(x) > 0 && btf.InfoVlen(y) > 0:
			return values
		case name != 0:
			return agree
		}
		return differ
	}
	if x != y {
		return differ
	}
	return inside
}

// pair is that of a forward declaration and its definition, of which x is the first.
func (v verdict) pair(x, y uint32) fwdPair {
	if v == ahead {
		return fwdPair{x, y, noOwner}
	}
	return fwdPair{y, x, noOwner}
}
