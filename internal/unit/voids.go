package unit

import (
	"slices"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/callconv"
)

// pahole turns each type that it does not know into void, such as
// DW_TAG_unspecified_type, the type of nullptr. A pointer to void and a function that
// returns void are fine. But kernels refuse a member, parameter or array element of void,
// plain or behind typedefs and qualifiers, and a function that returns a typedef of void.
// One of these makes them refuse all of the BTF.
//
// So Options.ForKernel leaves them out, like the other types that BTF has no kind for:
// members, and arrays, prototypes and functions with them. A result becomes plain void.
// What kernels accept stays as in pahole: a last parameter of a prototype that is plain
// void without a name, which stands for an ellipsis.
//
// Almost no unit has such types, so linking only notes in Unencodable.voids that there
// may be some.

// voidTypes says for each node whether it is void behind modifiers. nil is for units that
// need no check: no type is void then.
type voidTypes []bool

// has reports whether a type is void.
func (v voidTypes) has(r dedup.Ref) bool {
	return v != nil && (r == 0 || r != Dropped && r&dedup.Extern == 0 && v[r-1])
}

// result returns the type for a result: plain void if r is any void.
func (v voidTypes) result(r dedup.Ref) dedup.Ref {
	if v.has(r) {
		return 0
	}
	return r
}

// needsTarget reports whether a node of kind k is meaningless without the type that Third
// refers to.
func needsTarget(k btf.Kind) bool {
	switch k {
	case btf.KindConst, btf.KindVolatile, btf.KindRestrict, btf.KindTypedef, btf.KindTypeTag, btf.KindArray, btf.KindFuncProto:
		return true
	}
	return false
}

// voidTypes finds the types that are void, if the unit may have a misplaced void.
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
		if state[s.node] = other; s.ref == 0 { // its type was left out
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

// modifies reports whether a type of kind k is only another name or a qualifier for the
// type in Third.
func modifies(k btf.Kind) bool {
	return needsTarget(k) && k != btf.KindArray && k != btf.KindFuncProto
}

// voidUsers lists the arrays and prototypes that a void makes unencodable.
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

// parameter reports whether one of the parameters of a prototype is void. The ellipsis
// does not count.
func (v voidTypes) parameter(ps []dedup.Member) bool {
	if n := len(ps); n > 0 && ps[n-1] == (dedup.Member{}) {
		ps = ps[:n-1]
	}
	return slices.ContainsFunc(ps, func(p dedup.Member) bool { return v.has(p.Type) })
}

// membersOf returns the members or parameters of n; nil for other kinds.
func (u *Unit) membersOf(n *dedup.Node) []dedup.Member {
	switch btf.InfoKind(n.Info) {
	case btf.KindStruct, btf.KindUnion, btf.KindFuncProto:
		return u.Types.Members.S[n.First:][:btf.InfoVlen(n.Info)]
	}
	return nil
}

// misplacedVoids reports whether there is void where C does not allow it.
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

// countVoids adds the DIEs that stand for void to Counts, if something was left out
// because of them.
func (x *Unencodable) countVoids() {
	for tag, n := range x.voidTags {
		x.count(tag, n)
	}
	x.voidTags = nil
}

// qualifies reports whether r is a node with a qualifier that BTF keeps before void.
func qualifies(nodes []dedup.Node, r dedup.Ref) bool {
	if r == 0 || r&dedup.Extern != 0 || int(r) > len(nodes) {
		return false
	}
	k := btf.InfoKind(nodes[r-1].Info)
	return k == btf.KindConst || k == btf.KindVolatile
}

// qualifiedResults reports whether a function, or a prototype among the nodes from from
// on, returns void with a qualifier.
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
