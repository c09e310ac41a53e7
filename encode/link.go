package encode

import (
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
)

const infoTypeTag = uint32(btf.KindTypeTag) << 24

// link turns the unit's DIE offsets into Refs, puts the extra nodes behind
// those of DIEs, and adds what pahole adds behind a unit's
// types: the int for array indexes if the unit needs one, and the
// declaration tags of structs, unions and typedefs.
func (f *file) link(u *unit) error {
	f.linkRefs(u)
	if len(u.needTypes) > 0 {
		u.addPart(u.hdr.Off)
		if err := f.readTypes(u); err != nil {
			return err
		}
	}
	return f.linkRest(u)
}

// linkRest is link behind linkRefs.
func (f *file) linkRest(u *unit) error {
	f.arrayIndex(u)
	if len(u.oldBits.S) > 0 {
		if err := f.linkOldBits(u); err != nil {
			return err
		}
	}
	if f.opt.PlainBitfields {
		u.plainBitfields()
	}
	f.dropLeftOut(u)
	f.declTags(u)
	return nil
}

// linkRefs turns the DIE offsets of the unit that has been walked last into
// Refs.
func (f *file) linkRefs(u *unit) {
	u.index()
	nodes := &u.types.Nodes
	dies := len(nodes.S)
	nodes.AppendSlice(u.extra.S)
	starts := u.starts.S
	var dangling []uint32
	ref := func(off uint32) dedup.Ref {
		switch {
		case off&extraRef == 0:
			r := startRef(starts, off)
			if r == 0 && off != 0 {
				dangling = append(dangling, off)
			}
			return r
		case off&crossRef != 0:
			return off &^ extraRef
		}
		return dedup.Ref(uint32(dies) + off&^extraRef + 1)
	}
	index := f.run.intID.Load() | dedup.Extern
	all := u.types.Members.S
	own := nodes.S[u.from.nodes:]
	for i := range own {
		n := &own[i]
		switch btf.InfoKind(n.Info) {
		case btf.KindPtr, btf.KindConst, btf.KindVolatile, btf.KindRestrict, btf.KindTypedef, btf.KindTypeTag:
			n.Third = ref(n.Third)
		case btf.KindArray:
			n.Third = ref(n.Third)
			n.First = index
		case btf.KindFuncProto:
			n.Third = ref(n.Third)
			fallthrough
		case btf.KindStruct, btf.KindUnion:
			for m := all[n.First:][:btf.InfoVlen(n.Info)]; ; {
				k := linkMembers(m, starts)
				if m = m[k:]; len(m) == 0 {
					break
				}
				m[0].Type = ref(m[0].Type)
				m = m[1:]
			}
		case btf.KindEnum, btf.KindEnum64:
			r := ref(n.Aux)
			n.Aux = 0
			if r&crossRef != 0 {
				n.Aux = r // for linkCross
				continue
			}
			u.signEnum(n, r)
			if f.run.raw != nil {
				u.noteEnum(uint32(u.from.nodes+i), r)
			}
		}
	}
	funcs := u.funcs.S[u.from.funcs:]
	for i := range funcs {
		funcs[i].Type = ref(funcs[i].Type)
	}
	params := u.params.S[u.from.params:]
	for i := range params {
		params[i].Type = ref(params[i].Type)
	}
	vars := u.vars.S[u.from.vars:]
	for i := range vars {
		vars[i].Type = ref(vars[i].Type)
	}
	stubs := u.stubs[u.from.stubs:]
	for i := range stubs {
		stubs[i].ref = ref(stubs[i].ref)
	}
	for _, s := range u.specs {
		if r := ref(s.ref); r != 0 && r != s.node+1 {
			u.stubs = append(u.stubs, stub{r - 1, s.node + 1})
		}
	}
	u.specs = u.specs[:0]
	if len(dangling) > 0 && u.fail == nil {
		u.fail = f.checkDangling(u, dangling)
	}
	if len(u.extra.S) == 0 {
		return
	}
	order := u.types.Order.S[u.from.order:]
	for i, k := range order {
		if k&extraRef != 0 {
			order[i] = uint32(dies) + k&^extraRef
		}
	}
}

// linkMembers turns DIE offsets into Refs up to the first that is another kind of
// reference, or none, and returns how many those are.
//
//go:noinline
func linkMembers(m []dedup.Member, starts []startWord) (n int) {
	for ; n < len(m); n++ {
		r := startRef(starts, m[n].Type)
		if r == 0 {
			break
		}
		m[n].Type = r
	}
	return n
}

// signEnum gives an ENUM64 whose type is r the sign of that.
func (u *unit) signEnum(n *dedup.Node, r dedup.Ref) {
	if btf.InfoKind(n.Info) == btf.KindEnum64 && u.isSigned(r) {
		n.Info = btf.Info(btf.KindEnum64, btf.InfoVlen(n.Info), true)
	}
}

// isSigned reports whether a type is a signed INT, not behind a typedef.
func (u *unit) isSigned(r dedup.Ref) bool {
	if r == 0 {
		return false
	}
	t := &u.types.Nodes.S[r-1]
	return btf.InfoKind(t.Info) == btf.KindInt && t.Aux>>24 == 1
}

// declTags adds a DECL_TAG for each tag, in the raw order of their types.
func (f *file) declTags(u *unit) {
	u.sortTags()
	t := u.tags.S
	for i := range t {
		u.types.Order.Append(uint32(len(u.types.Nodes.S)))
		u.types.Nodes.Append(dedup.Node{
			Info: btf.Info(btf.KindDeclTag, 0, false), Name: t[i].Value,
			Third: t[i].Node + 1, Aux: uint32(t[i].Component),
		})
	}
}

// sortTags puts the tags into the raw order of their types.
func (u *unit) sortTags() {
	if len(u.tags.S) == 0 {
		return
	}
	// Few units have tags at all and most lists are in order already:
	// insertion sort by the type's place in Order.
	place := make(map[uint32]int, len(u.tags.S))
	for _, t := range u.tags.S {
		place[t.Node] = 0
	}
	for i, k := range u.types.Order.S {
		if _, ok := place[k]; ok {
			place[k] = i
		}
	}
	t := u.tags.S
	for i := 1; i < len(t); i++ {
		for j := i; j > 0 && place[t[j-1].Node] > place[t[j].Node]; j-- {
			t[j-1], t[j] = t[j], t[j-1]
		}
	}
}

// arrayIndex gives all arrays of the unit their index type: one int for the
// whole run. Until one is known, it is the unit's own, which is added if the
// unit has arrays and no int.
func (f *file) arrayIndex(u *unit) {
	index := dedup.Ref(0)
	switch {
	case f.run.intID.Load() != 0:
		index = f.run.intID.Load() | dedup.Extern
	case u.firstInt != 0:
		index = u.firstInt
	case u.arrays:
		u.types.Order.Append(uint32(len(u.types.Nodes.S)))
		u.types.Nodes.Append(dedup.Node{
			Info: btf.Info(btf.KindInt, 0, false), Name: f.names.Unalias(f.names.Int), Third: 4, Aux: 1<<24 | 32,
		})
		index = uint32(len(u.types.Nodes.S))
		u.firstInt = index
	}
	if !u.arrays {
		return
	}
	if index&dedup.Extern != 0 {
		return // link has set it
	}
	for i := range u.types.Nodes.S {
		if n := &u.types.Nodes.S[i]; btf.InfoKind(n.Info) == btf.KindArray {
			n.First = index
		}
	}
}
