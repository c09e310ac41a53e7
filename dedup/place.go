package dedup

import (
	"slices"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
)

// placer finds new nodes of a unit that are equivalent to each other.
type placer struct {
	find  finder
	local localIndex // of the new nodes
	other []uint32   // scratch of placeRef
}

// isRefKind reports whether placeRefs places a kind.
func isRefKind(k btf.Kind) bool {
	switch k {
	case btf.KindPtr, btf.KindConst, btf.KindVolatile, btf.KindRestrict, btf.KindTypeTag, btf.KindFunc,
		btf.KindArray, btf.KindFuncProto, btf.KindDeclTag:
		return true
	}
	return false
}

// placeTypes places the new nodes that are not references: it sets u.ID of each to
// idLocal | the node itself or an earlier equivalent node of the unit. It places first
// primitives, then structs, unions and typedefs, each in raw order. It sets u.needsWalk
// if the unit defines a name twice.
func (p *placer) placeTypes(u *Unit) {
	p.local.reset(len(u.newNodes.S))
	u.rules.mode = within
	defer func() { u.rules.mode = prove }()
	for _, i := range u.newNodes.S {
		n := &u.Nodes.S[i]
		switch k := btf.InfoKind(n.Info); k {
		case btf.KindInt, btf.KindFloat, btf.KindFwd, btf.KindEnum, btf.KindEnum64:
			p.placePrimitive(u, i)
		case btf.KindVar, btf.KindDatasec:
			u.ID.S[i] = idLocal | i
		}
	}
	for _, i := range u.newNodes.S {
		n := &u.Nodes.S[i]
		switch btf.InfoKind(n.Info) {
		case btf.KindStruct, btf.KindUnion, btf.KindTypedef:
		default:
			continue
		}
		h := arena.Spread(n.Name) | 1
		if n.Name == 0 {
			h = p.find.anonHash(u, i, u.membersOf(n))
		}
		rep := idLocal | i
		for s := p.local.search(i, h); s.id != 0; p.find.next(u, &s) {
			o := p.local.node.S[s.id-1]
			on := &u.Nodes.S[o]
			if on.Info>>24&0x1f != n.Info>>24&0x1f || on.Name != n.Name {
				continue
			}
			if n.Name != 0 && btf.InfoKind(n.Info) != btf.KindTypedef {
				u.needsWalk = true
				return
			}
			if p.find.match(u, idLocal|i, idLocal|o, 0) {
				rep = idLocal | o
				break
			}
		}
		if u.needsWalk {
			return
		}
		u.ID.S[i] = rep
		if rep == idLocal|i {
			p.enter(u, h, i)
		}
	}
}

// placePrimitive merges a new INT, FLOAT, FWD or enumeration with an equal earlier
// node of the unit.
func (p *placer) placePrimitive(u *Unit, i uint32) {
	n := &u.Nodes.S[i]
	m := u.membersOf(n)
	h := arena.Mix(uint64(enumHash(n, m)), n.Aux)
	h32 := uint32(h>>32) | 1
	u.ID.S[i] = idLocal | i
	for j := p.local.first(h32); j != 0; j = p.local.next.S[j-1] {
		o := p.local.node.S[j-1]
		if on := &u.Nodes.S[o]; equalNodes(u, n, on) {
			u.ID.S[i] = idLocal | o
			return
		}
	}
	if btf.Enums.Has(btf.InfoKind(n.Info)) && n.Name != 0 {
		// Enumerations are also indexed by name. Hashes of names are even, hashes of
		// content odd.
		hn := arena.Spread(n.Name) &^ 1
		if len(m) == 0 {
			// A forward declaration stands for any enumeration of its name.
			for j := p.local.first(hn); j != 0; j = p.local.next.S[j-1] {
				o := p.local.node.S[j-1]
				on := &u.Nodes.S[o]
				if p.local.key.S[j-1] != hn || on.Name != n.Name {
					continue
				}
				if btf.Enums.Has(btf.InfoKind(on.Info)) {
					u.ID.S[i] = u.ID.S[o]
					return
				}
			}
		}
		p.local.add(hn, i)
	}
	p.local.add(h32, i)
}

// placeRefs places the new references in raw order, each after its targets. Of
// equal references, the first that is placed survives.
func (p *placer) placeRefs(u *Unit) {
	p.local.reset(len(u.newNodes.S))
	u.placedRefs.Reset()
	for _, i := range u.newNodes.S {
		if isRefKind(btf.InfoKind(u.Nodes.S[i].Info)) && u.ID.S[i] == idNew {
			p.placeRef(u, i, 0)
		}
	}
}

// placeRef places reference i and, before it, the references that it leads to.
func (p *placer) placeRef(u *Unit, i uint32, depth int) {
	if depth > maxChain {
		u.err = ErrChain
		return
	}
	n := &u.Nodes.S[i]
	u.ID.S[i] = idBusy
	first, second, elements := u.refs(n)
	p.placeTarget(u, first, depth)
	p.placeTarget(u, second, depth)
	for k := range elements {
		p.placeTarget(u, elements[k].Type, depth)
	}
	if u.err != nil {
		return
	}
	w := u.content(u.scratch[:0], n)
	u.scratch = w
	h := contentHash(w)
	// After a graph walk, all targets may be in the Set, and so may this node.
	inSet := true
	btf.EachRef(w, func(to *uint32) { inSet = inSet && *to < MaxIDs })
	if inSet {
		if id := p.find.index.findRef(w, h); id != idNew {
			u.ID.S[i] = id
			return
		}
	}
	for j := p.local.first(h); j != 0; j = p.local.next.S[j-1] {
		o := p.local.node.S[j-1]
		if p.other = u.content(p.other[:0], &u.Nodes.S[o]); slices.Equal(p.other, w) {
			u.ID.S[i] = idLocal | o
			return
		}
	}
	u.ID.S[i] = idLocal | i
	p.local.add(h, i)
	u.placedRefs.Append(i)
}

// placeTarget places the target r of a reference at a depth, unless that is done.
func (p *placer) placeTarget(u *Unit, r Ref, depth int) {
	if u.err != nil || r == 0 || r&Extern != 0 {
		return
	}
	switch u.ID.S[r-1] {
	case idNew:
		p.placeRef(u, r-1, depth+1)
	case idBusy:
		u.err = ErrChain
	}
}
