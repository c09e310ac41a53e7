package dedup

import "github.com/btflite/btflite/btf"

// id returns the id, or the state in u.ID, of the type that r refers to.
func (u *Unit) id(r Ref) uint32 {
	switch {
	case r == 0:
		return 0
	case r&Extern != 0:
		return r &^ Extern
	}
	return u.ID.S[r-1]
}

// own makes node i the owner of the pairs from index k on that have none yet.
func (u *Unit) own(k int, i uint32) {
	for ; k < len(u.pairs.S); k++ {
		if p := &u.pairs.S[k]; p.owner == noOwner {
			p.owner = i
		}
	}
}

// disown removes the pairs from index k on that belong to node i or to no node, because
// the comparison of node i failed. Pairs of nested look-ups have other owners.
func (u *Unit) disown(k int, i uint32) {
	keep := u.pairs.S[:k]
	for _, p := range u.pairs.S[k:] {
		if p.owner != noOwner && p.owner != i {
			keep = append(keep, p)
		}
	}
	u.pairs.S = keep
}

// content appends to w the record of a reference node, with ids, or states of u.ID, as references.
func (u *Unit) content(w []uint32, n *Node) []uint32 {
	c := u.id(n.Third)
	switch btf.InfoKind(n.Info) {
	case btf.KindArray:
		return append(w, 0, n.Info, 0, c, u.id(n.First), n.Aux)
	case btf.KindDeclTag:
		return append(w, n.Name, n.Info, c, n.Aux)
	case btf.KindFuncProto:
		w = append(w, 0, n.Info, c)
		for _, m := range u.members(n) {
			w = append(w, m.Name, u.id(m.Type))
		}
		return w
	}
	return append(w, n.Name, n.Info, c)
}

// members returns the elements of node n.
func (u *Unit) members(n *Node) []Member {
	return u.Members.S[n.First:][:btf.InfoVlen(n.Info)]
}

// membersOf is members for kinds with elements that are compared, nil for others.
func (u *Unit) membersOf(n *Node) []Member {
	switch btf.InfoKind(n.Info) {
	case btf.KindStruct, btf.KindUnion, btf.KindEnum, btf.KindEnum64, btf.KindFuncProto:
		return u.members(n)
	}
	return nil
}

// refs returns the references of node n in the order in which placeRef places them:
// first its own (of an ARRAY, the index type first), then the types of elements. A
// Ref that the kind lacks is 0. It is fast because it looks at the kind only once:
// spreadTaint asks for the references of every node of a large module.
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
