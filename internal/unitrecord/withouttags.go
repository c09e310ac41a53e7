package unitrecord

import (
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/unit"
)

// withoutTags removes the TYPE_TAGs of a unit, for runs that do not want them. A reference
// to one then leads to the type that it tags.
func withoutTags(u *unit.Unit) {
	nodes := u.Types.Nodes.S
	isTag := func(r dedup.Ref) bool { return r != 0 && btf.InfoKind(nodes[r-1].Info) == btf.KindTypeTag }
	// to has the new Ref of each node that stays.
	to := make([]dedup.Ref, len(nodes)+1)
	kept := dedup.Ref(0)
	for i := range nodes {
		if r := dedup.Ref(i + 1); !isTag(r) {
			kept++
			to[r] = kept
		}
	}
	if int(kept) == len(nodes) {
		return
	}
	for i := range nodes {
		r := dedup.Ref(i + 1)
		if !isTag(r) {
			continue
		}
		at := r
		for hops := 0; isTag(at); hops++ {
			if at = nodes[at-1].Third; hops > len(nodes) {
				at = 0 // tags that refer to each other: no compiler has made this record
			}
		}
		to[r] = to[at]
	}
	gone := make([]bool, len(nodes))
	for i := range nodes {
		gone[i] = isTag(dedup.Ref(i + 1))
	}
	move(u, to, gone)
}

// move gives the types of u the Refs in to, and drops the nodes that are gone.
func move(u *unit.Unit, to []dedup.Ref, gone []bool) {
	nodes := u.Types.Nodes.S
	kept := nodes[:0]
	for i := range nodes {
		if gone[i] {
			continue
		}
		n := nodes[i]
		switch btf.InfoKind(n.Info) {
		case btf.KindPtr, btf.KindConst, btf.KindVolatile, btf.KindRestrict, btf.KindTypedef, btf.KindArray:
			n.Third = to[n.Third]
		case btf.KindFuncProto:
			n.Third = to[n.Third]
			moveMembers(u, &n, to)
		case btf.KindStruct, btf.KindUnion:
			moveMembers(u, &n, to)
		}
		kept = append(kept, n)
	}
	u.Types.Nodes.S = kept
	order := u.Types.Order.S[:0]
	for _, k := range u.Types.Order.S {
		if !gone[k] {
			order = append(order, to[k+1]-1)
		}
	}
	u.Types.Order.S = order
	u.FirstInt = to[u.FirstInt]
	for i := range u.Funcs.S {
		u.Funcs.S[i].Type = to[u.Funcs.S[i].Type]
	}
	for i := range u.Params.S {
		u.Params.S[i].Type = to[u.Params.S[i].Type]
	}
	for i := range u.Vars.S {
		u.Vars.S[i].Type = to[u.Vars.S[i].Type]
	}
	for i := range u.Tags.S {
		u.Tags.S[i].Node = to[u.Tags.S[i].Node+1] - 1
	}
	unsigned := make(map[uint32]bool)
	for k := range u.Unsigned {
		unsigned[to[k+1]-1] = true
	}
	u.Unsigned = unsigned
}

// moveMembers renumbers the types of the members of n.
func moveMembers(u *unit.Unit, n *dedup.Node, to []dedup.Ref) {
	ms := u.Types.Members.S[n.First:][:btf.InfoVlen(n.Info)]
	for i := range ms {
		ms[i].Type = to[ms[i].Type]
	}
}
