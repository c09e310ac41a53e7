package dedup

import "github.com/btflite/btflite/btf"

// Type graphs are compared here; doc.go defines the words of equality.
//
// match compares down to the next names and remembers nothing. It decides nearly all types.
// Where a name has several definitions, walk (walk.go) compares whole graphs and remembers
// the pairs that it has met. Both use relate for the heads of two types, and inside for their
// elements and references.
//
// An operand of a comparison is an id of the Set, or idLocal | the index of a node.

// typ is an operand that has been read. Its references are operands, too.
type typ struct {
	info, third, first, aux uint32
	record                  btf.Record // of the Set, or nil
	members                 []Member   // of the unit
}

// head returns the name and the info of operand x. They decide most comparisons.
func (f finder) head(u *Unit, x uint32) (name, info uint32) {
	if x < idLocal {
		w := f.index.types.record(x)
		return w.Name(), w.Info()
	}
	n := &u.Nodes.S[x&^idLocal]
	return n.Name, n.Info
}

// read fills t, which is zero, with operand x.
func (ty *typ) read(f finder, u *Unit, x uint32) {
	if x < idLocal {
		w := f.index.types.record(x)
		ty.info, ty.third, ty.record = w.Info(), w.Third(), w
		switch w.Kind() {
		case btf.KindInt, btf.KindVar, btf.KindDeclTag:
			ty.aux = w.Data()
		case btf.KindArray:
			ty.third, ty.first, ty.aux = w.Array()
		}
		return
	}
	n := &u.Nodes.S[x&^idLocal]
	ty.info, ty.third, ty.first, ty.aux, ty.members = n.Info, n.Third, n.First, n.Aux, u.membersOf(n)
	switch btf.InfoKind(n.Info) {
	case btf.KindInt, btf.KindFloat, btf.KindStruct, btf.KindUnion, btf.KindEnum, btf.KindEnum64, btf.KindFwd:
	default:
		ty.third, ty.first = local(n.Third), local(n.First)
	}
}

// local turns a Ref of the unit into an operand.
func local(r Ref) uint32 {
	switch {
	case r == 0:
		return 0
	case r&Extern != 0:
		return r &^ Extern
	}
	return idLocal | (r - 1)
}

// member returns the name, type and offset of struct member j (stride 3), or the name and type
// of parameter j (stride 2).
func (ty *typ) member(j, stride int) (name, to, val uint32) {
	if ty.record != nil && stride == 3 {
		return ty.record.Member(j)
	} else if ty.record != nil {
		name, to = ty.record.Param(j)
		return name, to, 0
	}
	m := &ty.members[j]
	return m.Name, local(m.Type), m.Val
}

// links are the kinds of types that are equivalent if their targets are. They are half of all
// comparisons, so match and walk follow them without reading a typ.
const links = btf.Pointers | btf.Modifiers | btf.Typedefs | btf.Kinds(1<<btf.KindFunc)

// target returns the operand that x, of one of the kinds links, refers to.
func (f finder) target(u *Unit, x uint32) uint32 {
	if x < idLocal {
		return f.index.types.record(x).Third()
	}
	return local(u.Nodes.S[x&^idLocal].Third)
}

// inside reports whether two types with the same head are equivalent. It compares sizes and
// elements, and calls next for each pair of references. The kinds links do not come here.
func inside(x, y *typ, next func(x, y uint32) bool) bool {
	switch btf.InfoKind(x.info) {
	case btf.KindInt:
		return x.third == y.third && x.aux == y.aux
	case btf.KindFloat:
		return x.third == y.third
	case btf.KindArray:
		return x.aux == y.aux && next(x.first, y.first) && next(x.third, y.third)
	case btf.KindStruct, btf.KindUnion:
		return x.third == y.third && equalElements(x, y, 3) && elementsInside(x, y, 3, next)
	case btf.KindFuncProto:
		return equalElements(x, y, 2) && next(x.third, y.third) && elementsInside(x, y, 2, next)
	}
	return false
}

// equalElements compares the names of parameters (stride 2), or the names and offsets of
// members (stride 3).
func equalElements(x, y *typ, stride int) bool {
	for j := range int(btf.InfoVlen(x.info)) {
		name, _, val := x.member(j, stride)
		if other, _, at := y.member(j, stride); name != other || stride == 3 && val != at {
			return false
		}
	}
	return true
}

// elementsInside calls next for the types of members or parameters.
func elementsInside(x, y *typ, stride int, next func(x, y uint32) bool) bool {
	for j := range int(btf.InfoVlen(x.info)) {
		_, from, _ := x.member(j, stride)
		if _, to, _ := y.member(j, stride); !next(from, to) {
			return false
		}
	}
	return true
}

// maxMatch bounds the depth of match, which only passes chains of references and types without
// names.
const maxMatch = 128

// match reports whether operands x and y are equivalent, by the rules of the unit's mode. If it
// cannot know, it sets needsWalk, and walk decides.
//
//go:noinline
func (f finder) match(u *Unit, x, y uint32, depth int) bool {
	for {
		if x == y || x == 0 || y == 0 {
			return x == y
		}
		id, otherID := f.idOf(u, x), f.idOf(u, y)
		switch {
		case id == otherID && id != 0 && id < idBusy:
			return true
		case u.rules.mode != within && x < idLocal && u.chunks.left == 0:
			return false
		}
		if u.rules.budget--; depth > maxMatch || u.rules.budget < 0 {
			u.needsWalk = true // walk can go this far: it remembers the pairs that it has compared
			return false
		}
		if x < idLocal {
			x = id
		}
		if y < idLocal {
			y = otherID
		}
		name, info := f.head(u, x)
		other, otherInfo := f.head(u, y)
		if name != other {
			return false
		}
		if info != otherInfo || !links.Has(btf.InfoKind(info)) {
			return f.matchHeads(u, x, y, name, info, otherInfo, depth)
		}
		x, y = f.target(u, x), f.target(u, y)
		depth++
	}
}

// matchHeads continues match for x and y, which have the same name. match calls it if their words of info differ, or if
// their kind is not in links.
func (f finder) matchHeads(u *Unit, x, y, name, info, otherInfo uint32, depth int) bool {
	var same, decided bool
	if u.rules.mode == within {
		same, decided = f.decideWithin(u, x, y, name, info, otherInfo)
	} else {
		same, decided = f.decide(u, x, y, name, info, otherInfo)
	}
	if decided {
		return same
	}
	var v, w typ
	v.read(f, u, x)
	w.read(f, u, y)
	return inside(&v, &w, func(x, y uint32) bool { return f.match(u, x, y, depth+1) })
}

// idOf returns the final id of operand x; for a node without one, its state in Unit.ID.
func (f finder) idOf(u *Unit, x uint32) uint32 {
	if x >= idLocal {
		if x = u.ID.S[x&^idLocal]; x >= idLocal {
			return x
		}
	}
	return f.index.types.Final(x)
}

// decide compares the heads of x and y, which have the same name, in the modes prove and guess.
// decided is false if the heads alone do not tell. y is a type of the Set.
func (f finder) decide(u *Unit, x, y, name, info, otherInfo uint32) (same, decided bool) {
	sameKind := btf.InfoKind(info) == btf.InfoKind(otherInfo)
	switch r := relate(name, info, otherInfo); r {
	case different:
		return false, true
	case equivalent:
		return true, true
	case forwardOf, defines:
		if r == defines && u.rules.inBase && y <= f.index.baseIDs {
			// The base's type must not take in the unit's: see base.go.
			u.needsWalk = true
			if x >= idLocal {
				u.slow.seed(x &^ idLocal)
			}
			return false, true
		}
		if x >= idLocal {
			if id := u.ID.S[x&^idLocal]; id != 0 && id < MaxIDs {
				x = id
			}
		}
		u.pairs.Append(r.pair(x, y))
		return true, true
	case named:
		// A look-up of the whole unit would see a FWD here, which y could define.
		if sameKind && x < idLocal && f.standsIn(u, x) {
			u.rules.unsure = true
			return true, true
		}
		switch {
		case !sameKind || u.rules.mode == prove:
			return false, true
		case u.rules.mode == guess:
			return f.mayBecome(u, x, y), true
		case x >= idLocal:
			return !u.isNewDef(x &^ idLocal), true
		case u.rules.cuts == maxCuts:
			return true, true
		}
		u.rules.cuts++
		same = f.mayMatch(u, x, y)
		u.rules.cuts--
		return same, true
	case enums:
		if btf.InfoVlen(info) > 0 && btf.InfoVlen(otherInfo) > 0 {
			// A look-up of the whole unit may see a declaration in place of x, which the unit left out.
			if x < idLocal && name != 0 && u.rules.mode != doubt {
				u.rules.unsure = true
				return true, true
			}
			return u.rules.mode == doubt && name != 0 || u.rules.mode != prove && sameKind && f.equalEnums(u, x, y), true
		}
		return name != 0 || u.rules.mode == doubt, true // walk lets all declarations without a name be equivalent
	}
	if k := btf.InfoKind(info); k == btf.KindInt || k == btf.KindFloat {
		return false, u.rules.mode == prove // equal ones have one id
	}
	return false, false
}

// decideWithin is decide for two types of a unit, in the mode within. A type that the unit left out
// is compared by its record.
func (f finder) decideWithin(u *Unit, x, y, name, info, otherInfo uint32) (same, decided bool) {
	vk, wk := btf.InfoKind(info), btf.InfoKind(otherInfo)
	leftOut := x < idLocal || y < idLocal
	switch {
	case leftOut && name != 0 && relate(name, info, otherInfo) == enums:
		u.needsWalk = true // the unit may have a declaration in place of the record
		return false, true
	case vk != wk:
		// A FWD and its definition: the unit has the name twice.
		u.needsWalk = u.needsWalk || vk == btf.KindFwd || wk == btf.KindFwd
		return false, true
	case leftOut && info == otherInfo && (name != 0 && (vk == btf.KindStruct || vk == btf.KindUnion) || vk == btf.KindEnum || vk == btf.KindEnum64 || vk == btf.KindFwd):
		u.needsWalk = true // the unit may have a FWD in place of the record
		return false, true
	case vk == btf.KindEnum || vk == btf.KindEnum64 || vk == btf.KindFwd:
		return !leftOut && equalNodes(u, &u.Nodes.S[x&^idLocal], &u.Nodes.S[y&^idLocal]), true
	case info != otherInfo:
		return false, true
	case name != 0 && (vk == btf.KindStruct || vk == btf.KindUnion):
		same = u.Nodes.S[x&^idLocal].Third == u.Nodes.S[y&^idLocal].Third
		u.needsWalk = u.needsWalk || !same
		return same, true
	}
	return false, false
}

// standsIn reports whether struct or union id may stand for a FWD of u. The FWD counts as any
// definition of its name, but id only as itself.
func (f finder) standsIn(u *Unit, id uint32) bool {
	name, info := f.head(u, id)
	return f.hasForward(u, name, aggregate(info))
}

// equalEnums compares two enumerations with values.
func (f finder) equalEnums(u *Unit, x, y uint32) bool {
	if x < idLocal {
		w := f.index.types.record(y) // over a base, several may be equal
		return equalWords(f.index.types.record(x), w[:w.Len()])
	}
	n := &u.Nodes.S[x&^idLocal]
	if y < idLocal {
		return equalEnum(f.index.types.record(y), n, u.members(n))
	}
	return equalNodes(u, n, &u.Nodes.S[y&^idLocal])
}

// equalEnum compares enumeration n, whose values are m, with a record.
func equalEnum(r btf.Record, n *Node, m []Member) bool {
	if r.Info() != n.Info || r.Name() != n.Name || r.Third() != n.Third {
		return false
	}
	if btf.InfoKind(n.Info) == btf.KindEnum64 {
		for j := range m {
			if name, low, high := r.Value64(j); name != m[j].Name || low != m[j].Type || high != m[j].Val {
				return false
			}
		}
		return true
	}
	for j := range m {
		if name, value := r.Value(j); name != m[j].Name || value != m[j].Type {
			return false
		}
	}
	return true
}

// equalNodes compares two nodes of a unit that refer to nothing.
func equalNodes(u *Unit, a, b *Node) bool {
	if a.Info != b.Info || a.Name != b.Name || a.Third != b.Third || a.Aux != b.Aux {
		return false
	}
	x, y := u.membersOf(a), u.membersOf(b)
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if x[i] != y[i] {
			return false
		}
	}
	return true
}
