package unit

import (
	"cmp"
	"slices"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
)

// Settle does the work that needs all types of the unit, after linkRefs or after a unit
// record has filled the tables. It computes the offsets of old bit-fields, and drops what BTF has no
// kind for. Then it adds what pahole adds after a unit's types: the int for array indexes, if the
// unit needs one, and the declaration tags of structs, unions and typedefs.
func (r *Reader) Settle() error {
	if err := r.linkOldBits(); err != nil {
		return err
	}
	r.settle()
	r.Unit.declTags()
	return nil
}

// settle is Settle without bit-fields, which are linked before types are copied (imports.go), and
// without the declaration tags: in a merged file, they come after all types.
func (r *Reader) settle() {
	r.In.setArrayIndex(&r.Unit)
	if r.In.Options.WholeBitfields {
		r.Unit.dropWholeBitfields()
	}
	r.Unit.dropUnencodable(&r.Cursor.File.Names, r.stubs, r.In.Options.ForKernel)
}

// linkRefs turns the DIE offsets of the unit that was walked last into Refs. The nodes of r.extra
// move behind those of DIEs. If a reference leads nowhere, it sets Cursor.Err.
func (r *Reader) linkRefs() {
	u := &r.Unit
	nodes, refs := &u.Types.Nodes, r.proofs.refs.S // refs is empty unless types are left out
	if len(refs) == 0 {
		r.index() // otherwise proofs.add has done it
	}
	dies := len(nodes.S)
	nodes.AppendSlice(r.extra.S)
	starts := r.starts.S
	var dangling []uint32
	qualified := false // a type may be void behind qualifiers
	voids := false
	ref := func(off uint32) dedup.Ref {
		switch {
		case off&extraRef == 0:
			r := startRef(starts, off)
			if r == 0 && off != 0 {
				dangling = append(dangling, off)
			}
			if r != 0 && len(refs) > 0 {
				r = refs[r-1]
			}
			return r
		case off&crossRef != 0:
			return off &^ extraRef
		}
		return dedup.Ref(uint32(dies) + off&^extraRef + 1)
	}
	index := u.ArrayIndex | dedup.Extern
	all := u.Types.Members.S
	own := nodes.S[r.from.nodes:]
	for i := range own {
		n := &own[i]
		switch btf.InfoKind(n.Info) {
		case btf.KindPtr, btf.KindRestrict, btf.KindTypeTag:
			n.Third = ref(n.Third)
		case btf.KindConst, btf.KindVolatile:
			n.Third = ref(n.Third)
			qualified = qualified || n.Third == 0
		case btf.KindTypedef:
			n.Third = ref(n.Third)
			voids = voids || n.Third == 0
		case btf.KindArray:
			n.Third = ref(n.Third)
			voids = voids || n.Third == 0
			n.First = index
		case btf.KindFuncProto:
			n.Third = ref(n.Third)
			fallthrough
		case btf.KindStruct, btf.KindUnion:
			for m := all[n.First:][:btf.InfoVlen(n.Info)]; ; {
				k := linkMembers(m, starts, refs)
				if m = m[k:]; len(m) == 0 {
					break
				}
				m[0].Type = ref(m[0].Type)
				voids = voids || m[0].Type == 0 && btf.InfoKind(n.Info) != btf.KindFuncProto
				m = m[1:]
			}
		case btf.KindEnum, btf.KindEnum64:
			typ := ref(n.Aux)
			n.Aux = 0
			if typ&crossRef != 0 {
				n.Aux = typ // linkCross needs it
				continue
			}
			if typ&dedup.Extern != 0 {
				r.proofs.signEnum(n, typ)
				continue
			}
			u.signEnum(n, typ)
			if r.In.Options.KeepSigns {
				u.noteSign(uint32(r.from.nodes+i), typ)
			}
		}
	}
	funcs := u.Funcs.S[r.from.funcs:]
	for i := range funcs {
		funcs[i].Type = ref(funcs[i].Type)
	}
	if voids || qualified && qualifiedResults(nodes.S, r.from.nodes, funcs) {
		u.Unencodable.voids = true
	}
	params := u.Params.S[r.from.params:]
	for i := range params {
		params[i].Type = ref(params[i].Type)
	}
	linkClasses(r, ref)
	vars := u.Vars.S[r.from.vars:]
	for i := range vars {
		vars[i].Type = ref(vars[i].Type)
	}
	stubs := r.stubs[r.from.stubs:]
	for i := range stubs {
		stubs[i].ref = ref(stubs[i].ref)
	}
	for _, s := range r.specs {
		if decl := ref(s.ref); decl != 0 && decl != s.node+1 {
			r.stubs = append(r.stubs, stub{decl - 1, s.node + 1})
		}
	}
	r.specs = r.specs[:0]
	if len(dangling) > 0 {
		u.Unencodable.voids = true
		if r.Cursor.Err == nil {
			r.Cursor.Err = u.Unencodable.checkDangling(&r.Cursor, dangling, r.In.Options.Marks)
		}
	}
	if len(r.extra.S) == 0 {
		return
	}
	order := u.Types.Order.S[r.from.order:]
	for i, k := range order {
		if k&extraRef != 0 {
			order[i] = uint32(dies) + k&^extraRef
		}
	}
}

// linkClasses turns the DIE offsets of classes into Refs.
func linkClasses(r *Reader, ref func(off uint32) dedup.Ref) {
	for _, off := range r.classes.S {
		r.Unit.Classes.Append(ref(off))
	}
	r.classes.Reset()
}

// linkMembers turns the DIE offsets of members into Refs, up to the first that has extraRef or
// leads to no node. It returns how many it has turned.
//
//go:noinline
func linkMembers(m []dedup.Member, starts []startWord, refs []dedup.Ref) (n int) {
	for ; n < len(m); n++ {
		r := startRef(starts, m[n].Type)
		if r == 0 {
			break
		}
		if len(refs) > 0 {
			r = refs[r-1]
		}
		m[n].Type = r
	}
	return n
}

// signEnum sets the sign of an ENUM64 whose type is r.
func (u *Unit) signEnum(n *dedup.Node, r dedup.Ref) {
	if btf.InfoKind(n.Info) == btf.KindEnum64 && u.isSigned(r) {
		n.Info = btf.Info(btf.KindEnum64, btf.InfoVlen(n.Info), true)
	}
}

// isSigned reports whether a type is a signed INT. A typedef of one does not count.
func (u *Unit) isSigned(r dedup.Ref) bool {
	if r == 0 {
		return false
	}
	t := &u.Types.Nodes.S[r-1]
	return btf.InfoKind(t.Info) == btf.KindInt && t.Aux>>24 == 1
}

// declTags adds a DECL_TAG for each tag, in the raw order of the tags' types.
func (u *Unit) declTags() {
	u.SortTags()
	t := u.Tags.S
	for i := range t {
		u.Types.Order.Append(uint32(len(u.Types.Nodes.S)))
		u.Types.Nodes.Append(dedup.Node{
			Info: btf.Info(btf.KindDeclTag, 0, false), Name: t[i].Value,
			Third: t[i].Node + 1, Aux: uint32(t[i].Component),
		})
	}
}

// SortTags sorts the tags in the raw order of their types.
func (u *Unit) SortTags() {
	if len(u.Tags.S) == 0 {
		return
	}
	place := make(map[uint32]int, len(u.Tags.S))
	for _, t := range u.Tags.S {
		place[t.Node] = 0
	}
	for i, k := range u.Types.Order.S {
		if _, ok := place[k]; ok {
			place[k] = i
		}
	}
	slices.SortStableFunc(u.Tags.S, func(a, b Tag) int { return cmp.Compare(place[a.Node], place[b.Node]) })
}

// setArrayIndex gives all arrays of the unit their index type: one int for the whole run. If linkRefs
// did not know it, it is the unit's own int, which setArrayIndex adds if the unit has arrays
// and no int.
func (in *Input) setArrayIndex(u *Unit) {
	index := u.FirstInt
	switch {
	case u.ArrayIndex != 0 || !u.Arrays:
		return // linkRefs has set it
	case index == 0:
		u.Types.Order.Append(uint32(len(u.Types.Nodes.S)))
		u.Types.Nodes.Append(dedup.Node{
			Info: btf.Info(btf.KindInt, 0, false), Name: in.File.Names.Unalias(in.File.Names.Int), Third: 4, Aux: 1<<24 | 32,
		})
		index = uint32(len(u.Types.Nodes.S))
		u.FirstInt = index
	}
	for i := range u.Types.Nodes.S {
		if n := &u.Types.Nodes.S[i]; btf.InfoKind(n.Info) == btf.KindArray {
			n.First = index
		}
	}
}

// noteSign notes node k, an enumeration with negative values, if its type r has no sign.
func (u *Unit) noteSign(k uint32, r dedup.Ref) {
	n := &u.Types.Nodes.S[k]
	if btf.InfoKind(n.Info) == btf.KindEnum && btf.InfoKflag(n.Info) && !u.isSigned(r) {
		if u.Unsigned == nil {
			u.Unsigned = make(map[uint32]bool)
		}
		u.Unsigned[k] = true
	}
}
