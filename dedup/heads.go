package dedup

import "github.com/btflite/btflite/btf"

// relation is what the heads of two types, their words of name and info, say of them.
type relation uint8

const (
	different  relation = iota
	equivalent          // two forward declarations of one kind
	forwardOf           // the first is a forward declaration, the second is a definition of it
	defines             // the other way round
	named               // two structs or unions with a name, which may be of different kinds
	enums               // two enumerations, of which either may have no values
	open                // what is behind the heads decides
)

// relate compares the heads of two types of one name, a token or 0, by their words of info.
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
		if yk == btf.KindEnum || yk == btf.KindEnum64 {
			return enums
		}
		return different
	}
	if x != y {
		return different
	}
	return open
}

// pair is x and y as forward declaration and definition.
func (r relation) pair(x, y uint32) fwdPair {
	if r == forwardOf {
		return fwdPair{x, y, noOwner}
	}
	return fwdPair{y, x, noOwner}
}

// fwdPair is a forward declaration and the definition met in its place, while node owner
// was compared. Each is an id of the Set or idLocal with a node index.
type fwdPair struct{ fwd, def, owner uint32 }

// noOwner is the owner of a pair that has just been met.
const noOwner = 0xffffffff

// Which of the definitions of a name: see entity.
const (
	entStruct = iota
	entUnion
	entEnum
)

// aggregate is which definitions of a name a struct or union is among, and fwdAggregate
// which ones a forward declaration stands for.
func aggregate(info uint32) int {
	if btf.InfoKind(info) == btf.KindUnion {
		return entUnion
	}
	return entStruct
}

func fwdAggregate(info uint32) int {
	if btf.InfoKflag(info) {
		return entUnion
	}
	return entStruct
}
