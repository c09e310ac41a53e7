package dedup

import "github.com/btflite/btflite/btf"

// relation is how two types relate, by their heads: the words of name and info.
type relation uint8

const (
	different  relation = iota
	equivalent          // two FWDs of one kind
	forwardOf           // the first is a FWD, the second is a definition of it
	defines             // the first is a definition, the second is a FWD of it
	named               // two structs or unions with a name; one may be a struct, one a union
	enums               // two enumerations; either may have no values
	undecided           // the heads are equal: elements and references decide
)

// relate relates two types with the same name, which may be 0, by their words of info.
func relate(name, x, y uint32) relation {
	xk, yk := btf.InfoKind(x), btf.InfoKind(y)
	switch xk {
	case btf.KindFwd:
		switch {
		case yk == btf.KindFwd && x == y:
			return equivalent
		case (yk == btf.KindStruct || yk == btf.KindUnion) && fwdAggregate(x) == aggregate(y):
			return forwardOf
		}
		return different
	case btf.KindStruct, btf.KindUnion:
		switch {
		case yk == btf.KindFwd && aggregate(x) == fwdAggregate(y):
			return defines
		case yk != btf.KindFwd && name != 0:
			return named
		}
	case btf.KindEnum, btf.KindEnum64:
		if btf.Enums.Has(yk) {
			return enums
		}
		return different
	}
	if x != y {
		return different
	}
	return undecided
}

// pair makes a fwdPair of x and y, whose relation is forwardOf or defines.
func (r relation) pair(x, y uint32) fwdPair {
	if r == forwardOf {
		return fwdPair{x, y, noOwner}
	}
	return fwdPair{y, x, noOwner}
}

// fwdPair is a FWD and the definition met in its place, while node owner was compared. fwd
// and def are ids of the Set, or idLocal with a node index.
type fwdPair struct{ fwd, def, owner uint32 }

// noOwner is the owner of a pair before own sets it.
const noOwner = 0xffffffff

// Indexes of entity.defs and entity.fwds.
const (
	entStruct = iota
	entUnion
	entEnum
)

// aggregate returns the index in entity.defs of a struct or union.
func aggregate(info uint32) int {
	if btf.InfoKind(info) == btf.KindUnion {
		return entUnion
	}
	return entStruct
}

// fwdAggregate returns the index in entity.defs of the definitions that a FWD stands for.
func fwdAggregate(info uint32) int {
	if btf.InfoKflag(info) {
		return entUnion
	}
	return entStruct
}

// forwarding returns the ids of the FWD and of the definition in a pair. ok is false if the FWD is
// not forwarded: it already leads to a definition, or its node has the id of a definition. A node
// of u that is not in the Set yet counts as a FWD without a definition.
func (ix *index) forwarding(u *Unit, p fwdPair) (f, d uint32, ok bool) {
	id := func(x uint32) uint32 {
		if x >= idLocal {
			return u.ID.S[x&^idLocal]
		}
		return x
	}
	f, d = id(p.fwd), id(p.def)
	return f, d, f >= MaxIDs || f != d && ix.types.ids.S[f].fwd == f && ix.types.record(f).Kind() == btf.KindFwd
}
