package core

import (
	"maps"
	"slices"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
)

// Needs is the part of a target's types that relocations need to have the same results:
//
//   - for a field, the root type, the members on the way, and their types. A pointer
//     that is not followed points to void in the result.
//   - for a type as a whole, what compatible looks at, with structs and unions that have
//     a size and no members. For one that is to match, the members too.
//   - for a value, its enum.
type Needs struct {
	target *Target
	types  map[uint32]members
	seen   map[seenType]bool // what needType has followed
}

// members are the members of a struct or union that are needed.
type members map[int]struct{}

// seenType is a type, and how it was followed.
type seenType struct {
	id  uint32
	how follow
}

// follow says how far the needs of a type go.
type follow uint8

const (
	atPointer follow = iota // pointers end it
	throughAll
	forMatch       // with the members of structs
	forMatchBehind // behind a pointer, where names are enough
)

// NewNeeds makes Needs that need nothing.
func (t *Target) NewNeeds() *Needs {
	return &Needs{t, map[uint32]members{}, map[seenType]bool{}}
}

// Add adds what a relocation needs, by its result for this target.
func (n *Needs) Add(x *Reloc, r *Result) {
	for i := range r.matches {
		m := &r.matches[i]
		switch {
		case x.Kind == TypeMatches:
			n.need(m.root, forMatch)
		case x.Kind.isField() || x.Kind.isEnumval():
			n.need(m.root, atPointer)
		default:
			n.need(m.root, throughAll)
		}
		for _, hop := range m.hops {
			n.member(hop.in, int(hop.index), atPointer)
		}
	}
}

func (n *Needs) member(t view.Type, i int, how follow) {
	n.add(t)
	if n.types[t.ID] == nil {
		n.types[t.ID] = members{}
	}
	n.types[t.ID][i] = struct{}{}
	n.need(t.Member(i).Type(), how)
}

func (n *Needs) add(t view.Type) {
	if _, ok := n.types[t.ID]; !ok && t.ID != 0 {
		n.types[t.ID] = nil
	}
}

// need adds a type and what it refers to.
func (n *Needs) need(t view.Type, how follow) {
	todo := []seenType{{t.ID, how}}
	for len(todo) > 0 {
		x := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if x.id == 0 || n.seen[x] {
			continue
		}
		n.seen[x] = true
		t := n.target.types.Type(x.id)
		n.add(t)
		inside := x.how // of what the type is made of
		if inside == forMatchBehind {
			inside = forMatch
		}
		switch t.Kind() {
		case btf.KindStruct, btf.KindUnion:
			if x.how == forMatch {
				for i, m := range t.Members() {
					n.member(t, i, atPointer)
					todo = append(todo, seenType{m.TypeID, forMatch})
				}
			}
		case btf.KindPtr:
			switch x.how {
			case throughAll:
				todo = append(todo, seenType{t.TargetID(), throughAll})
			case forMatch, forMatchBehind:
				todo = append(todo, seenType{t.TargetID(), forMatchBehind})
			}
		case btf.KindArray:
			elem, index, _ := t.Record().Array()
			todo = append(todo, seenType{index, inside}, seenType{elem, inside})
		case btf.KindFuncProto:
			todo = append(todo, seenType{t.TargetID(), inside})
			for _, p := range t.Params() {
				todo = append(todo, seenType{p.TypeID, inside})
			}
		default: // modifiers, typedefs and tags; others refer to nothing
			todo = append(todo, seenType{t.TargetID(), x.how})
		}
	}
}

// bitFieldShift is where the offset of a member has the size of a bit-field, if the struct has
// its kind_flag.
const bitFieldShift = 24

// Blob makes BTF of what is needed, in the order of the target's ids and in its byte order. It
// has no base.
func (n *Needs) Blob() (*btf.Blob, error) {
	ids := slices.Sorted(maps.Keys(n.types))
	place := make(map[uint32]uint32, len(ids))
	for i, id := range ids {
		place[id] = uint32(i) + 1
	}
	from := n.target.types.Blob()
	out := btf.NewBuilder(from.BigEndian, nil)
	for _, id := range ids {
		r := n.record(id)
		name := from.Name(r.Name())
		btf.EachRef(r, func(ref *uint32) { *ref = place[*ref] })
		btf.EachName(r, func(off *uint32) { *off = out.Str(from.Name(*off)) })
		out.Add(name, r.Info(), r.Third(), r.Extra()...)
	}
	return out.Blob()
}

// record returns a copy of a type's record, a struct's with the members that are needed. As in
// bpftool's output, the kind_flag of a struct is set only if one of them is a bit-field.
func (n *Needs) record(id uint32) btf.Record {
	r := n.target.types.Type(id).Record()
	if k := r.Kind(); k != btf.KindStruct && k != btf.KindUnion {
		return slices.Clone(r)
	}
	needed := slices.Sorted(maps.Keys(n.types[id]))
	out := btf.MakeRecord(r.Name(), 0, r.Third())
	bitField := false
	for _, i := range needed {
		name, typ, offset := r.Member(i)
		out = append(out, name, typ, offset)
		bitField = bitField || btf.InfoKflag(r.Info()) && offset>>bitFieldShift != 0
	}
	out[1] = btf.Info(r.Kind(), uint32(len(needed)), bitField)
	return out
}
