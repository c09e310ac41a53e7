package unit

import (
	"math/bits"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/dwarf"
)

// What readers of DWARF print though BTF has no kind for it. With Options.Marks these
// types are written by marks, see btf.MarkKind. What even marks cannot say is counted
// as unencodable types are.

// Sorts of what marks cannot say, in Unencodable.Counts.
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

// marker reads the DIE that w has met.
func (w *walker) marker() marker { return marker{&w.attrs, w} }

// mark is the name that is a mark.
func (w *attrs) mark(k btf.MarkKind, text string) dedup.Name {
	return w.f.Names.Token(btf.AppendMark(nil, k, []byte(text)...))
}

// textAt is the name of the DIE at an offset of the unit, "" if it has none. It leaves
// the values of the DIE in work as they are.
func (w *attrs) textAt(off uint32) string {
	r := w.r
	if off == 0 || off&extraRef != 0 {
		return ""
	}
	saved := r.Cursor.Vals
	name := r.Cursor.NameAt(uint64(off))
	r.Cursor.Vals = saved
	if name == 0 {
		return ""
	}
	return string(w.f.Names.Text(name))
}

// marked reads a type that BTF has no kind for. It returns -1, as rare does.
func (w marker) marked(d die) (next int, err error) {
	r := w.r
	_, have, err := w.decode(d)
	if err != nil {
		return 0, err
	}
	of, err := w.refOf(d.off, have, dwarf.VType)
	if err != nil {
		return 0, err
	}
	name, size := r.Cursor.NameOf(have), uint32(r.Cursor.Number(have, dwarf.VByteSize))
	n := dedup.Node{Info: infoTypeTag, Third: of}
	switch d.a.Tag {
	case dwarf.TagAtomicType:
		n.Name = w.mark(btf.MarkQualifier, "_Atomic")
	case dwarf.TagPackedType:
		n.Name = w.mark(btf.MarkQualifier, "packed")
	case dwarf.TagSharedType:
		n.Name = w.mark(btf.MarkQualifier, "shared")
	case dwarf.TagImmutableType:
		n.Name = w.mark(btf.MarkQualifier, "immutable")
	case dwarf.TagReferenceType:
		n.Name, n.Third = w.mark(btf.MarkReference, "&"), w.pointerTo(of)
	case dwarf.TagRvalueReferenceType:
		n.Name, n.Third = w.mark(btf.MarkReference, "&&"), w.pointerTo(of)
	case dwarf.TagPtrToMemberType:
		class, err := w.refOf(d.off, have, dwarf.VContaining)
		if err != nil {
			return 0, err
		}
		n.Name = w.mark(btf.MarkMember, w.textAt(class))
		if n.Third = w.pointerTo(of); w.leadsToProto(of) {
			// Where the function is, and what is added to this: two words.
			n.Third = w.arrayOf(n.Third, 2)
		}
	case dwarf.TagUnspecifiedType:
		text := string(w.f.Names.Text(name))
		switch text {
		case "": // void
			return -1, nil
		case "decltype(nullptr)", "nullptr_t", "std::nullptr_t", "typeof (nullptr)": // the last is gcc's in C23
			n.Third = w.pointerTo(0)
		}
		n.Name = w.mark(btf.MarkName, text)
	case dwarf.TagTemplateAlias:
		if n.Info, n.Name = btf.Info(btf.KindTypedef, 0, false), name; name == 0 {
			n.Info, n.Name = infoTypeTag, w.mark(btf.MarkQualifier, "")
		}
	case dwarf.TagStringType, dwarf.TagSetType, dwarf.TagFileType:
		n = dedup.Node{Info: btf.Info(btf.KindFloat, 1, false), Name: name, Third: size} // bytes
		if name == 0 {
			n.Name = w.f.Names.Token([]byte([...]string{dwarf.TagStringType: "string", dwarf.TagSetType: "set", dwarf.TagFileType: "file"}[d.a.Tag]))
		}
	default: // thrown, coarray, dynamic
		n.Name = w.mark(btf.MarkQualifier, "")
	}
	x, i := r.addNode(d.off)
	*x = n
	r.Unit.addOrder(i)
	return -1, nil
}

// pointerTo is a pointer without a DIE.
func (w marker) pointerTo(of uint32) uint32 {
	return w.r.addExtra(dedup.Node{Info: btf.Info(btf.KindPtr, 0, false), Third: of})
}

// arrayOf is an array without a DIE.
func (w marker) arrayOf(of, n uint32) uint32 {
	w.r.Unit.Arrays = true
	return w.r.addExtra(dedup.Node{Info: btf.Info(btf.KindArray, 0, false), Third: of, Aux: n})
}

// leadsToProto tells whether the type at an offset is that of functions.
func (w marker) leadsToProto(off uint32) bool {
	r := w.r
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
		if off, err = w.refOf(int(off), have, dwarf.VType); err != nil {
			break
		}
	}
	return false
}

// inherited adds a base class to the open type top, as a member.
func (w marker) inherited(d die, top *frame) error {
	_, have, err := w.decode(d)
	if err != nil {
		return err
	}
	of, err := w.refOf(d.off, have, dwarf.VType)
	if err != nil {
		return err
	}
	loc := w.memberLoc(have)
	if loc > maxOffset {
		w.r.Unit.Unencodable.count(goneVirtual, 1)
		return nil
	}
	w.r.addMember(top, dedup.Member{Name: w.mark(btf.MarkBase, w.textAt(of)), Type: of, Val: loc * 8})
	return nil
}

// number makes n the node of a base type that INT and FLOAT of BTF cannot say: of any
// size, with the alignment that compilers give it. It tells whether that is so.
func (w marker) number(n *dedup.Node, size uint64, encoding uint64) bool {
	const (
		ateComplexFloat = 3
		ateFloat        = 4
		ateImaginary    = 9
		ateLowUser      = 0x80 // which GCC and clang have for complex integers
	)
	align := uint32(0) // what the size tells
	word := uint64(w.r.Cursor.Hdr.AddrSize)
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
		align = alignLog(min(size&-size, word)) // wide integers, and none at all
	}
	n.Info, n.Third = btf.Info(btf.KindFloat, align, false), uint32(min(size, 1<<32-1))
	return true
}

// alignLog is an alignment as a FLOAT with marks has it.
func alignLog(align uint64) uint32 { return uint32(bits.Len64(max(align, 1))) }
