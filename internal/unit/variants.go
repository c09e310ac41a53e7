package unit

import (
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/dwarf"
)

// Parts of a struct that overlap: an enum of Rust, or a record of Ada with a
// discriminant. For readers they become a union without a name.
//
//	DW_TAG_structure_type        struct En {
//	  DW_TAG_variant_part          union {
//	    DW_TAG_member                u32 discriminant;
//	    DW_TAG_variant
//	      DW_TAG_member A            struct A A;
//	    DW_TAG_variant
//	      DW_TAG_member B            struct B B;
//	                               };
//	                             };

// discriminant is the name of the member that selects the variant.
const discriminant = "discriminant"

// variant opens a variant part of the open type top, or a variant of that part.
func (mk marker) variant(d die, top *frame) (next int, err error) {
	r := mk.r
	switch {
	case !d.a.Children:
		return -1, nil
	case d.a.Tag == dwarf.TagVariant && top.role == inVariants:
		return mk.walk.scope(d, inVariant)
	case d.a.Tag != dwarf.TagVariantPart || top.role != inAggregate:
		return -1, nil
	}
	r.suspend(top)
	owner := top.owner
	if next, err = mk.walk.scope(d, inVariants); err == nil {
		fr := &r.frames.S[len(r.frames.S)-1]
		fr.owner, fr.open, fr.first = owner, true, uint32(len(r.open.S))
	}
	return next, err
}

// variantMember reads a member of the open variant part.
func (mk marker) variantMember(d die) (next int, err error) {
	r := mk.r
	next, have, err := mk.decode(d)
	if err != nil {
		return 0, err
	}
	m := dedup.Member{Name: r.Cursor.NameOf(have)}
	if m.Type, err = mk.refOf(d.off, have, dwarf.VType); err != nil {
		return 0, err
	}
	if m.Name == 0 {
		m.Name = mk.f.Names.Token([]byte(discriminant))
	}
	fr := &r.frames.S[len(r.frames.S)-1]
	if fr.role == inVariant {
		fr = &r.frames.S[len(r.frames.S)-2]
	}
	switch loc := mk.memberLoc(have); {
	case loc > maxOffset || r.Cursor.Number(have, dwarf.VBitSize) != 0:
		r.Unit.Unencodable.count(goneMembers, 1)
	case loc != 0:
		// Members of a union have the offset 0.
		m.Val = loc * 8
		n := dedup.Node{Info: btf.Info(btf.KindStruct, 1, false), Third: r.Unit.Types.Nodes.S[fr.owner].Third, First: uint32(len(r.Unit.Types.Members.S))}
		r.Unit.Types.Members.Append(m)
		m = dedup.Member{Type: r.addExtra(n)}
		fallthrough
	default:
		r.addMember(fr, m)
	}
	if d.a.Children {
		r.push(inPart, d.a.Tag)
	}
	return next, nil
}

// closeVariants makes a union of the members of a variant part, and adds it as a member
// to the type around it.
func (mk marker) closeVariants(fr *frame) {
	r := mk.r
	n := dedup.Node{Info: btf.Info(btf.KindUnion, min(fr.n, MaxVlen), false), Third: r.Unit.Types.Nodes.S[fr.owner].Third, First: uint32(len(r.Unit.Types.Members.S))}
	r.Unit.Types.Members.AppendSlice(r.open.S[fr.first:][:min(fr.n, MaxVlen)])
	r.open.S = r.open.S[:fr.first]
	k := r.addExtra(n)
	r.addMember(&r.frames.S[len(r.frames.S)-1], dedup.Member{Type: k})
}
