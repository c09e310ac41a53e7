package unit

import (
	"slices"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/callconv"
)

// What is void where C allows no void. pahole makes void of a type that it does not know, such as
// DW_TAG_unspecified_type, which is the type of nullptr. A pointer to void and a function that
// returns it are as good as any, but a kernel takes no member, parameter or array element
// of void, plain or behind typedefs and qualifiers, and no function that returns a typedef of it. One
// of these makes it refuse all of the BTF.
//
// So Options.ForKernel has them left out as the other types that BTF cannot say: members,
// and arrays, prototypes and functions with them. A result becomes plain void, which it is. What a
// kernel takes stays as pahole has it: a last parameter of a prototype that is plain void and
// has no name, which says that more may follow.
//
// Almost no unit has such types, so linking only notes in Unencodable.voids whether there may be any.

// voidTypes says of each node whether it is void behind modifiers. nil is for units
// that are not looked at: then no type is void.
type voidTypes []bool

// has reports whether a type is void.
func (v voidTypes) has(r dedup.Ref) bool {
	return v != nil && (r == 0 || r != Dropped && r&dedup.Extern == 0 && v[r-1])
}

// result is the type of a result: plain void for what is void.
func (v voidTypes) result(r dedup.Ref) dedup.Ref {
	if v.has(r) {
		return 0
	}
	return r
}

// voidTypes finds the types that are void, if there may be any out of place.
func (u *Unit) voidTypes(stubs stubs) voidTypes {
	if !u.Unencodable.voids {
		return nil
	}
	const (
		unknown = iota
		open
		isVoid
		other
	)
	nodes := u.Types.Nodes.S
	state := make([]uint8, len(nodes))
	for _, s := range stubs {
		if state[s.node] = other; s.ref == 0 { // what it stands for was left out
			state[s.node] = isVoid
		}
	}
	for _, i := range u.Unencodable.nodes {
		state[i] = other
	}
	var path []uint32
	for i := range nodes {
		path = path[:0]
		typ := dedup.Ref(i + 1)
		for typ != 0 && typ&dedup.Extern == 0 && state[typ-1] == unknown && modifies(btf.InfoKind(nodes[typ-1].Info)) {
			state[typ-1] = open
			path = append(path, typ-1)
			typ = nodes[typ-1].Third
		}
		found := uint8(other)
		if typ == 0 || typ&dedup.Extern == 0 && state[typ-1] == isVoid {
			found = isVoid
		}
		for _, k := range path {
			state[k] = found
		}
	}
	v := make(voidTypes, len(nodes))
	for i := range state {
		v[i] = state[i] == isVoid
	}
	return v
}

// modifies reports whether a type of kind k is the type that Third refers to, under
// another name or with a qualifier.
func modifies(k btf.Kind) bool {
	return needsTarget(k) && k != btf.KindArray && k != btf.KindFuncProto
}

// voidUsers lists the arrays and prototypes that a void makes impossible.
func (u *Unit) voidUsers(voids voidTypes) (users []uint32) {
	for i := range voids {
		if n := &u.Types.Nodes.S[i]; voids.element(n) || voids.parameter(u.membersOf(n)) && btf.InfoKind(n.Info) == btf.KindFuncProto {
			users = append(users, uint32(i))
		}
	}
	return users
}

// element reports whether n is an array of void.
func (v voidTypes) element(n *dedup.Node) bool {
	return btf.InfoKind(n.Info) == btf.KindArray && v.has(n.Third)
}

// parameter reports whether one of the parameters of a prototype is void, other than by saying
// that more may follow.
func (v voidTypes) parameter(ps []dedup.Member) bool {
	if n := len(ps); n > 0 && ps[n-1] == (dedup.Member{}) {
		ps = ps[:n-1]
	}
	return slices.ContainsFunc(ps, func(p dedup.Member) bool { return v.has(p.Type) })
}

// membersOf is the members or parameters of n; nil for other kinds.
func (u *Unit) membersOf(n *dedup.Node) []dedup.Member {
	switch btf.InfoKind(n.Info) {
	case btf.KindStruct, btf.KindUnion, btf.KindFuncProto:
		return u.Types.Members.S[n.First:][:btf.InfoVlen(n.Info)]
	}
	return nil
}

// misplacedVoids reports whether anything is void where C allows no void.
func (u *Unit) misplacedVoids() bool {
	v := u.voidTypes(nil)
	for i := range v {
		n := &u.Types.Nodes.S[i]
		switch btf.InfoKind(n.Info) {
		case btf.KindArray:
			if v.element(n) {
				return true
			}
		case btf.KindStruct, btf.KindUnion:
			if slices.ContainsFunc(u.membersOf(n), func(m dedup.Member) bool { return v.has(m.Type) }) {
				return true
			}
		case btf.KindFuncProto:
			if n.Third != v.result(n.Third) || v.parameter(u.membersOf(n)) {
				return true
			}
		}
	}
	for i := range u.Funcs.S {
		if t := u.Funcs.S[i].Type; t != v.result(t) {
			return true
		}
	}
	for i := range u.Params.S {
		if p := &u.Params.S[i]; (p.HasType || p.Origin == 0) && v.has(p.Type) {
			return true
		}
	}
	return false
}

// addVoid counts a DIE that stands for void, by its tag.
func (x *Unencodable) addVoid(tag string) {
	if x.voidTags == nil {
		x.voidTags = make(map[string]int)
	}
	x.voidTags[tag]++
}

// countVoids counts the DIEs that stand for void, if anything was left out because of them.
func (x *Unencodable) countVoids() {
	for tag, n := range x.voidTags {
		x.count(tag, n)
	}
	x.voidTags = nil
}

// refFilter is a set of Refs that may seem to have more than it has.
type refFilter [16]uint64

func (f *refFilter) add(r dedup.Ref) { f[r>>6&15] |= 1 << (r & 63) }

// meets reports whether one Ref may be in both sets.
func (f *refFilter) meets(other *refFilter) bool {
	for i := range f {
		if f[i]&other[i] != 0 {
			return true
		}
	}
	return false
}

// qualifies reports whether a type is a node and a qualifier that BTF has before void.
func qualifies(nodes []dedup.Node, r dedup.Ref) bool {
	if r == 0 || r&dedup.Extern != 0 || int(r) > len(nodes) {
		return false
	}
	k := btf.InfoKind(nodes[r-1].Info)
	return k == btf.KindConst || k == btf.KindVolatile
}

// qualifiedResults reports whether a prototype, one of the nodes from from on, or a function
// returns void with a qualifier.
func qualifiedResults(nodes []dedup.Node, from int, funcs []callconv.Func) bool {
	qualified := func(r dedup.Ref) bool {
		for n := range btf.MaxDepth {
			if !qualifies(nodes, r) {
				return n > 0 && r == 0
			}
			r = nodes[r-1].Third
		}
		return false
	}
	for i := from; i < len(nodes); i++ {
		if n := &nodes[i]; btf.InfoKind(n.Info) == btf.KindFuncProto && qualified(n.Third) {
			return true
		}
	}
	return slices.ContainsFunc(funcs, func(fn callconv.Func) bool { return qualified(fn.Type) })
}
