package dedup

import "github.com/btflite/btflite/btf"

// What belongs to a node of a unit: its elements, what it refers to, its contents.

// id is the id of what r refers to, once it has been looked up.
func (u *Unit) id(r Ref) uint32 {
	switch {
	case r == 0:
		return 0
	case r&Extern != 0:
		return r &^ Extern
	}
	return u.ID.S[r-1]
}

// own marks the new pairs from index k on as met while node i was compared.
func (u *Unit) own(k int, i uint32) {
	for ; k < len(u.pairs.S); k++ {
		if p := &u.pairs.S[k]; p.owner == noOwner {
			p.owner = i
		}
	}
}

// disown forgets the pairs from index k on that were met while node i was
// compared: it was found to be different.
func (u *Unit) disown(k int, i uint32) {
	keep := u.pairs.S[:k]
	for _, p := range u.pairs.S[k:] {
		if p.owner != noOwner && p.owner != i {
			keep = append(keep, p)
		}
	}
	u.pairs.S = keep
}

// content is the record of a reference node all of whose references have been
// looked up; nil for kinds that are never equal to another. The slice is
// valid until the next call.
func (u *Unit) content(n *Node) []uint32 {
	w := u.scratch[:0]
	c := u.id(n.Third)
	switch btf.InfoKind(n.Info) {
	case btf.KindVar, btf.KindDatasec:
		return nil
	case btf.KindArray:
		w = append(w, 0, n.Info, 0, c, u.id(n.First), n.Aux)
	case btf.KindDeclTag:
		w = append(w, n.Name, n.Info, c, n.Aux)
	case btf.KindFuncProto:
		w = append(w, 0, n.Info, c)
		for _, m := range u.members(n) {
			w = append(w, m.Name, u.id(m.Type))
		}
	default:
		w = append(w, n.Name, n.Info, c)
	}
	u.scratch = w
	return w
}

// members are the elements of node n.
func (u *Unit) members(n *Node) []Member {
	return u.Members.S[n.First:][:btf.InfoVlen(n.Info)]
}

// membersOf is members for kinds that have any, nil for others.
func (u *Unit) membersOf(n *Node) []Member {
	switch btf.InfoKind(n.Info) {
	case btf.KindStruct, btf.KindUnion, btf.KindEnum, btf.KindEnum64, btf.KindFuncProto:
		return u.members(n)
	}
	return nil
}

// hasAux says whether a node that refers to others has more to compare in Aux.
func (n *Node) hasAux() bool {
	switch btf.InfoKind(n.Info) {
	case btf.KindArray, btf.KindVar, btf.KindDeclTag:
		return true
	}
	return false
}

// refs is what node n refers to, in the order in which it is placed: types of its
// own, of an ARRAY the index type first, where 0 may also stand for none, and the
// types of its elements. It takes one look at the kind for all of them: the walk
// over a large module asks for the references of every node.
func (u *Unit) refs(n *Node) (first, second Ref, elements []Member) {
	switch btf.InfoKind(n.Info) {
	case btf.KindInt, btf.KindFloat, btf.KindFwd, btf.KindEnum, btf.KindEnum64:
	case btf.KindStruct, btf.KindUnion, btf.KindDatasec:
		elements = u.members(n)
	case btf.KindFuncProto:
		first, elements = n.Third, u.members(n)
	case btf.KindArray:
		first, second = n.First, n.Third
	default:
		first = n.Third
	}
	return first, second, elements
}
