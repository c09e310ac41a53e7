package dedup

import "github.com/btflite/btflite/btf"

// The comparison of type graphs; doc.go defines the words of equality.
//
// match compares down to the next names and remembers nothing: that decides nearly all
// types. Where names do not tell, walk (walk.go) compares whole graphs and remembers the
// pairs that it has met. Both ask relate about the heads of two types and inside about what
// is behind them.

// typ is a type that is compared, be it a node of the unit or a type of the Set. What it
// refers to is an id of the Set, or idLocal with the index of a node.
type typ struct {
	info, third, first, aux uint32
	record                  btf.Record // of the Set, or nil
	members                 []Member   // of the unit
}

// head is the name and the info of the type that x stands for, an id of the Set or idLocal
// with the index of a node. They decide most comparisons.
func (s finder) head(u *Unit, x uint32) (name, info uint32) {
	if x < idLocal {
		w := s.index.types.record(x)
		return w.Name(), w.Info()
	}
	n := &u.Nodes.S[x&^idLocal]
	return n.Name, n.Info
}

// read fills t, which is zero, with the type that x stands for.
func (t *typ) read(s finder, u *Unit, x uint32) {
	if x < idLocal {
		w := s.index.types.record(x)
		t.info, t.third, t.record = w.Info(), w.Third(), w
		switch w.Kind() {
		case btf.KindInt, btf.KindVar, btf.KindDeclTag:
			t.aux = w.Data()
		case btf.KindArray:
			t.third, t.first, t.aux = w.Array()
		}
		return
	}
	n := &u.Nodes.S[x&^idLocal]
	t.info, t.third, t.first, t.aux, t.members = n.Info, n.Third, n.First, n.Aux, u.membersOf(n)
	switch btf.InfoKind(n.Info) {
	case btf.KindInt, btf.KindFloat, btf.KindStruct, btf.KindUnion, btf.KindEnum, btf.KindEnum64, btf.KindFwd:
	default:
		t.third, t.first = local(n.Third), local(n.First)
	}
}

// local is what a Ref of the unit leads to, in the form that typ takes.
func local(r Ref) uint32 {
	switch {
	case r == 0:
		return 0
	case r&Extern != 0:
		return r &^ Extern
	}
	return idLocal | (r - 1)
}

// member is the name, type and offset of struct member or parameter j, as many words as
// stride says.
func (t *typ) member(j, stride int) (name, to, val uint32) {
	if t.record != nil && stride == 3 {
		return t.record.Member(j)
	} else if t.record != nil {
		name, to = t.record.Param(j)
		return name, to, 0
	}
	m := &t.members[j]
	return m.Name, local(m.Type), m.Val
}

// links are the kinds that are equivalent if what they refer to is. They are half of all that
// is compared, so nobody makes a typ of them.
const links = btf.Pointers | btf.Modifiers | btf.Typedefs | btf.Kinds(1<<btf.KindFunc)

// target is what the type of one of the kinds links refers to.
func (s finder) target(u *Unit, x uint32) uint32 {
	if x < idLocal {
		return s.index.types.record(x).Third()
	}
	return local(u.Nodes.S[x&^idLocal].Third)
}

// inside says whether two types of one kind, vlen and name are equivalent, going by what is
// behind their heads. next says so of what they refer to. The kinds links do not come here.
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

// equalElements compares the names of as many parameters, or the names and offsets of
// members. x is a node nearly always, and y a record: the loop for these is written out.
func equalElements(x, y *typ, stride int) bool {
	n := int(btf.InfoVlen(x.info))
	if x.record == nil && y.record != nil {
		r := y.record[3:]
		for j, m := range x.members[:n] {
			e := r[j*stride : (j+1)*stride]
			if e[0] != m.Name || stride == 3 && e[2] != m.Val {
				return false
			}
		}
		return true
	}
	for j := range n {
		name, _, val := x.member(j, stride)
		if other, _, at := y.member(j, stride); name != other || stride == 3 && val != at {
			return false
		}
	}
	return true
}

// elementsInside is inside for the types of members or parameters.
func elementsInside(x, y *typ, stride int, next func(x, y uint32) bool) bool {
	n := int(btf.InfoVlen(x.info))
	if x.record == nil && y.record != nil {
		r := y.record[3:]
		for j, m := range x.members[:n] {
			if !next(local(m.Type), r[j*stride+1]) {
				return false
			}
		}
		return true
	}
	for j := range n {
		_, from, _ := x.member(j, stride)
		if _, to, _ := y.member(j, stride); !next(from, to) {
			return false
		}
	}
	return true
}

// maxMatch bounds the depth of match, which goes through types without names and chains of
// references only.
const maxMatch = 128

// match says whether two types are equivalent, as far as the unit's mode can tell. x and y
// are ids of the Set, or idLocal with the index of a node. It makes the unit dirty if it
// cannot tell: then walk decides.
func (s finder) match(u *Unit, x, y uint32, depth int) bool {
	for {
		if x == y || x == 0 || y == 0 {
			return x == y
		}
		id, otherID := s.idOf(u, x), s.idOf(u, y)
		switch {
		case id == otherID && id != 0 && id < idBusy:
			return true
		case u.mode == within && (x < idLocal || y < idLocal):
			u.dirty = u.dirty || u.chunks.left > 0 // they may be equivalent
			return false
		case u.mode != within && x < idLocal && u.chunks.left == 0:
			return false
		}
		if u.budget--; depth > maxMatch || u.budget < 0 {
			u.dirty = true // walk remembers what it compared
			return false
		}
		if x < idLocal {
			x = id
		}
		if y < idLocal {
			y = otherID
		}
		name, info := s.head(u, x)
		other, otherInfo := s.head(u, y)
		if name != other {
			return false
		}
		if info != otherInfo || !links.Has(btf.InfoKind(info)) {
			return s.matchHeads(u, x, y, name, info, otherInfo, depth)
		}
		x, y = s.target(u, x), s.target(u, y)
		depth++
	}
}

// matchHeads is match for two types of one name of which one is not of the kinds links, or whose infos differ.
func (s finder) matchHeads(u *Unit, x, y, name, info, otherInfo uint32, depth int) bool {
	same, decided := false, false
	if u.mode == within {
		same, decided = s.decideWithin(u, x, y, name, info, otherInfo)
	} else {
		same, decided = s.decide(u, x, y, name, info, otherInfo)
	}
	if decided {
		return same
	}
	var v, w typ
	v.read(s, u, x)
	w.read(s, u, y)
	return inside(&v, &w, func(x, y uint32) bool { return s.match(u, x, y, depth+1) })
}

// idOf is the id of a type, or what is known of the id of a node.
func (s finder) idOf(u *Unit, x uint32) uint32 {
	if x >= idLocal {
		if x = u.ID.S[x&^idLocal]; x >= idLocal {
			return x
		}
	}
	return s.index.types.Final(x)
}

// decide says what the heads of x and y, which have one name, mean for prove and guess, or
// that what is behind them decides. y is a type of the Set.
func (s finder) decide(u *Unit, x, y, name, info, otherInfo uint32) (same, decided bool) {
	sameKind := btf.InfoKind(info) == btf.InfoKind(otherInfo)
	switch r := relate(name, info, otherInfo); r {
	case different:
		return false, true
	case equivalent:
		return true, true
	case forwardOf, defines:
		if r == defines && u.inBase && y <= s.index.baseIDs && x >= idLocal {
			// The base's type cannot take in the unit's: see base.go.
			u.dirty = true
			u.slow.seed(x &^ idLocal)
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
		return u.mode == guess && sameKind && s.mayBecome(u, x, y), true
	case enums:
		if btf.InfoVlen(info) > 0 && btf.InfoVlen(otherInfo) > 0 {
			return u.mode == guess && sameKind && s.equalEnums(u, x, y), true
		}
		return name != 0, true
	}
	if k := btf.InfoKind(info); k == btf.KindInt || k == btf.KindFloat {
		return false, u.mode != guess // equal ones have one id
	}
	return false, false
}

// decideWithin is decide for two nodes.
func (s finder) decideWithin(u *Unit, x, y, name, info, otherInfo uint32) (same, decided bool) {
	vk, wk := btf.InfoKind(info), btf.InfoKind(otherInfo)
	switch {
	case vk != wk:
		// A forward declaration beside its definition: the unit has the name twice.
		u.dirty = u.dirty || vk == btf.KindFwd || wk == btf.KindFwd
		return false, true
	case vk == btf.KindEnum || vk == btf.KindEnum64 || vk == btf.KindFwd:
		return equalNodes(u, &u.Nodes.S[x&^idLocal], &u.Nodes.S[y&^idLocal]), true
	case info != otherInfo:
		return false, true
	case name != 0 && (vk == btf.KindStruct || vk == btf.KindUnion):
		same = u.Nodes.S[x&^idLocal].Third == u.Nodes.S[y&^idLocal].Third
		u.dirty = u.dirty || !same
		return same, true
	}
	return false, false
}

// equalEnums compares two enumerations with values.
func (s finder) equalEnums(u *Unit, x, y uint32) bool {
	if x < idLocal {
		return x == y // equal ones have one id
	}
	n := &u.Nodes.S[x&^idLocal]
	if y < idLocal {
		return equalEnum(s.index.types.record(y), n, u.members(n))
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
