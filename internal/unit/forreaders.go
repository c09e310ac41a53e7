package unit

import (
	"math/bits"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/dwarf"
)

// Readers of DWARF also print types that BTF has no kind for. With Options.Marks these
// types are kept as marks, see btf.MarkKind. Types for which there is no mark either are
// counted as unencodable.

// Sorts of types without a mark, in Unencodable.Counts.
const (
	goneStatics = "static members of classes"
	goneVirtual = "virtual base classes, which have no fixed place"
	goneRanges  = "subrange types, which are void"
	goneUnknown = "types of a kind that is not known"
)

// marker reads DIEs that become marks.
type marker struct {
	*attrs
	walk *walker
}

// marker returns a marker for the DIE at which w stands.
func (w *walker) marker() marker { return marker{&w.attrs, w} }

// mark returns the name of a mark.
func (av *attrs) mark(k btf.MarkKind, text string) dedup.Name {
	return av.f.Names.Token(btf.AppendMark(nil, k, []byte(text)...))
}

// textAt returns the name of the type whose DIE is at an offset of the unit, "" if it has none. It
// keeps the decoded values of the current DIE.
func (av *attrs) textAt(off uint32) string {
	c := &av.r.Cursor
	defer func(saved dwarf.Values) { c.Vals = saved }(c.Vals)
	var name dedup.Name
	if _, have, ok := c.DecodeAt(uint64(off)); ok { // no place of another unit is in this one
		name, _ = av.typeName(int(off), have)
	}
	if name == 0 {
		return ""
	}
	return string(av.f.Names.Text(name))
}

// marked reads a type that BTF has no kind for. It returns -1, as rare does: the walk still has
// to skip the DIE's attributes and children.
func (mk marker) marked(d die) (next int, err error) {
	r := mk.r
	_, have, err := mk.decode(d)
	if err != nil {
		return 0, err
	}
	of, err := mk.refOf(d.off, have, dwarf.VType)
	if err != nil {
		return 0, err
	}
	name, size := r.Cursor.NameOf(have), uint32(r.Cursor.Number(have, dwarf.VByteSize))
	n := dedup.Node{Info: infoTypeTag, Third: of}
	switch d.a.Tag {
	case dwarf.TagAtomicType:
		n.Name = mk.mark(btf.MarkQualifier, "_Atomic")
	case dwarf.TagPackedType:
		n.Name = mk.mark(btf.MarkQualifier, "packed")
	case dwarf.TagSharedType:
		n.Name = mk.mark(btf.MarkQualifier, "shared")
	case dwarf.TagImmutableType:
		n.Name = mk.mark(btf.MarkQualifier, "immutable")
	case dwarf.TagReferenceType:
		n.Name, n.Third = mk.mark(btf.MarkReference, "&"), mk.pointerTo(of)
	case dwarf.TagRvalueReferenceType:
		n.Name, n.Third = mk.mark(btf.MarkReference, "&&"), mk.pointerTo(of)
	case dwarf.TagPtrToMemberType:
		class, err := mk.refOf(d.off, have, dwarf.VContaining)
		if err != nil {
			return 0, err
		}
		n.Name = mk.mark(btf.MarkMember, mk.textAt(class))
		if n.Third = mk.pointerTo(of); mk.leadsToProto(of) {
			// Two words: the place of the function, and the adjustment of this.
			n.Third = mk.arrayOf(n.Third, 2)
		}
	case dwarf.TagUnspecifiedType:
		text := string(mk.f.Names.Text(name))
		switch text {
		case "": // void
			return -1, nil
		case "decltype(nullptr)", "nullptr_t", "std::nullptr_t", "typeof (nullptr)": // the last one is gcc's, for C23
			n.Third = mk.pointerTo(0)
		}
		n.Name = mk.mark(btf.MarkName, text)
	case dwarf.TagTemplateAlias:
		if n.Info, n.Name = btf.Info(btf.KindTypedef, 0, false), name; name == 0 {
			n.Info, n.Name = infoTypeTag, mk.mark(btf.MarkQualifier, "")
		}
	case dwarf.TagStringType, dwarf.TagSetType, dwarf.TagFileType:
		n = dedup.Node{Info: btf.Info(btf.KindFloat, 1, false), Name: name, Third: size} // bytes
		if name == 0 {
			n.Name = mk.f.Names.Token([]byte([...]string{dwarf.TagStringType: "string", dwarf.TagSetType: "set", dwarf.TagFileType: "file"}[d.a.Tag]))
		}
	default: // thrown, coarray, dynamic
		n.Name = mk.mark(btf.MarkQualifier, "")
	}
	x, i := r.addNode(d.off)
	*x = n
	r.Unit.addOrder(i)
	return -1, nil
}

// pointerTo adds a pointer that has no DIE.
func (mk marker) pointerTo(of uint32) uint32 {
	return mk.r.addExtra(dedup.Node{Info: btf.Info(btf.KindPtr, 0, false), Third: of})
}

// arrayOf adds an array that has no DIE.
func (mk marker) arrayOf(of, n uint32) uint32 {
	mk.r.Unit.Arrays = true
	return mk.r.addExtra(dedup.Node{Info: btf.Info(btf.KindArray, 0, false), Third: of, Aux: n})
}

// leadsToProto reports whether the type at an offset is a function type.
func (mk marker) leadsToProto(off uint32) bool {
	r := mk.r
	saved := r.Cursor.Vals
	defer func() { r.Cursor.Vals = saved }()
	for range maxStubs {
		if off == 0 || off&extraRef != 0 {
			break
		}
		class, have, ok := r.Cursor.DecodeAt(uint64(off))
		if ok && class == dwarf.ClassProto {
			return true
		}
		if !ok || class != dwarf.ClassRef {
			break
		}
		var err error
		if off, err = mk.refOf(int(off), have, dwarf.VType); err != nil {
			break
		}
	}
	return false
}

// inherited adds a base class to the open type top, as a member.
func (mk marker) inherited(d die, top *frame) error {
	_, have, err := mk.decode(d)
	if err != nil {
		return err
	}
	of, err := mk.refOf(d.off, have, dwarf.VType)
	if err != nil {
		return err
	}
	loc := mk.memberLoc(have)
	if loc > maxOffset {
		mk.r.Unit.Unencodable.count(goneVirtual, 1)
		return nil
	}
	mk.r.addMember(top, dedup.Member{Name: mk.mark(btf.MarkBase, mk.textAt(of)), Type: of, Val: loc * 8})
	return nil
}

// number makes n a base type that BTF's INT and FLOAT cannot express: of any size, with
// the alignment that compilers give it. It reports whether n is one.
func (mk marker) number(n *dedup.Node, size uint64, encoding uint64) bool {
	align := uint32(0) // as the size implies
	word := uint64(mk.r.Cursor.Hdr.AddrSize)
	switch {
	case encoding == ateComplexFloat || encoding == ateLowUser:
		part := size / 2
		if part&(part-1) != 0 {
			part = min(part&-part, word) // of 12 bytes
		}
		align = alignLog(min(part, 16))
	case encoding == ateFloat || encoding == ateImaginary:
		if bits.OnesCount64(size) == 1 && size <= 16 || size == 12 {
			return false
		}
	case size != 0 && size&(size-1) == 0 && size <= 16:
		return false
	default:
		align = alignLog(min(size&-size, word)) // wide integers, and no encoding at all
	}
	n.Info, n.Third = btf.Info(btf.KindFloat, align, false), uint32(min(size, 1<<32-1))
	return true
}

// alignLog encodes an alignment for a FLOAT with marks.
func alignLog(align uint64) uint32 { return uint32(bits.Len64(max(align, 1))) }
