package unit

import (
	"strconv"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/dwarf"
)

// Kinds of DIEs that describe types. Each method reads the DIE d and returns where it
// stopped: after its attributes, or after its children.

// members reads a member of the open type top.
func (w *walker) members(d die, top *frame) (next int, err error) {
	a := d.a
	if (d.direct || a.Inline && d.p+int(a.Size)+8 <= len(w.attrs.b)) && !a.Children {
		m, next, err := w.oneMember(a, d.off, d.p, top)
		if err == nil {
			w.r.addMember(top, m)
			top.comp++
			return next, nil
		}
		if err != errLongName {
			return 0, err
		}
	}
	if next, err = w.member(a, d.off, d.p, top); err != nil {
		return 0, err
	}
	if a.Children {
		w.r.push(inPart, a.Tag)
	}
	return next, nil
}

// typeOf reads a DIE for its DW_AT_type only.
func (w *walker) typeOf(d die) (next int, typ uint32, err error) {
	if d.direct {
		typ, err = w.attrs.refTo(d)
		return d.p + int(d.a.Size), typ, err
	}
	next, have, err := w.attrs.decode(d)
	if err != nil {
		return 0, 0, err
	}
	typ, err = w.attrs.refOf(d.off, have, dwarf.VType)
	return next, typ, err
}

// refKinds says what a DIE of ClassRef becomes, by the low byte of its tag. The name is
// masked with named.
var refKinds = [256]struct{ info, named uint32 }{
	dwarf.TagPointerType:  {btf.Info(btf.KindPtr, 0, false), 0},
	dwarf.TagConstType:    {btf.Info(btf.KindConst, 0, false), 0},
	dwarf.TagVolatileType: {btf.Info(btf.KindVolatile, 0, false), 0},
	dwarf.TagRestrictType: {btf.Info(btf.KindRestrict, 0, false), 0},
	dwarf.TagTypedef:      {btf.Info(btf.KindTypedef, 0, false), 1<<32 - 1},
}

// ref reads a type that refers to another one: pointer, typedef, qualifier.
func (w *walker) ref(d die) (next int, err error) {
	r, a := w.r, d.a
	var name, typ uint32
	if d.direct {
		name = w.attrs.name(a, d.p)
		next = d.p + int(a.Size)
		typ, err = w.attrs.refTo(d)
	} else {
		next, name, typ, err = w.anyRef(d)
	}
	if err != nil {
		return 0, err
	}
	k := &refKinds[a.Tag&0xff]
	if name &= k.named; name|^k.named == 0 {
		return 0, r.Cursor.NoName(d.off, "typedef without a name")
	}
	n, i := r.addNode(d.off)
	n.Info, n.Name, n.Third = k.info, name, typ
	if !a.Children {
		r.Unit.addOrder(i)
		return next, nil
	}
	fr, err := w.open(d, inType, a.Tag)
	if err == nil {
		fr.owner = i
	}
	return next, err
}

// anyRef reads name and reference of such a type that is not direct.
func (w *walker) anyRef(d die) (next int, name, typ uint32, err error) {
	r := w.r
	next, have, err := w.attrs.decode(d)
	if err != nil {
		return 0, 0, 0, err
	}
	if name, err = w.attrs.typeName(d.off, have); err != nil {
		return 0, 0, 0, err
	}
	if typ, err = w.attrs.refOf(d.off, have, dwarf.VType); err != nil {
		return 0, 0, 0, err
	}
	an := uint64(0)
	if have&(1<<dwarf.VAnnotation) != 0 {
		an = r.Cursor.Vals[dwarf.VAnnotation].U
	}
	if an != 0 && d.a.Tag == dwarf.TagPointerType && r.In.Options.TypeTag {
		typ = w.attrs.gnuTypeTags(uint32(an), typ)
	}
	return next, name, typ, nil
}

// aggregate reads a struct or union.
func (w *walker) aggregate(d die, top *frame) (next int, err error) {
	r, a := w.r, d.a
	var name, size, decl uint32
	if d.direct {
		name = w.attrs.name(a, d.p)
		size = w.attrs.load(d.p, a, dwarf.SlotByteSize)
		decl = w.attrs.load(d.p, a, dwarf.SlotDeclaration)
		next = d.p + int(a.Size)
	} else if next, name, size, decl, err = w.anyAggregate(d); err != nil {
		return 0, err
	}
	kind := btf.KindStruct
	switch a.Tag {
	case dwarf.TagUnionType:
		kind = btf.KindUnion
	case dwarf.TagClassType:
		r.classes.Append(uint32(d.off))
	}
	ctx, tag := inAggregate, a.Tag
	info := btf.Info(kind, 0, false)
	signed := !d.direct && a.Present&(1<<dwarf.VSignature) != 0
	if decl != 0 || signed {
		info, size = btf.Info(btf.KindFwd, 0, kind == btf.KindUnion), 0
		if ctx, tag, err = w.forward(d, name, signed); err != nil {
			return 0, err
		}
	}
	n, i := r.addNode(d.off)
	n.Info, n.Name, n.Third = info, name, size
	if r.In.Options.Marks && inFunction(r.frames.S) {
		r.Unit.declaredInFunction(i)
	}
	if decl == 0 && !signed {
		n.First = uint32(len(r.Unit.Types.Members.S))
	}
	an := uint32(0)
	if !d.direct && a.Present&(1<<dwarf.VAnnotation) != 0 && a.Tag != dwarf.TagUnionType {
		an = uint32(r.Cursor.Vals[dwarf.VAnnotation].U)
	}
	if a.Present&(1<<dwarf.VSpec) != 0 {
		w.attrs.defines(i)
	}
	if !a.Children {
		if an != 0 {
			w.attrs.gnuDeclTags(an, i, -1)
		}
		r.Unit.addOrder(i)
		return next, nil
	}
	r.suspend(top)
	fr, err := w.open(d, ctx, tag)
	if err == nil {
		fr.owner, fr.first, fr.an = i, uint32(len(r.Unit.Types.Members.S)), an
	}
	return next, err
}

// anyAggregate reads the attributes of a struct or union that is not direct.
func (w *walker) anyAggregate(d die) (next int, name, size, decl uint32, err error) {
	next, have, err := w.attrs.decode(d)
	if err != nil {
		return 0, 0, 0, 0, err
	}
	if name, err = w.attrs.typeName(d.off, have); err != nil {
		return 0, 0, 0, 0, err
	}
	long := w.r.Cursor.Number(have, dwarf.VByteSize)
	if long>>32 != 0 {
		return 0, 0, 0, 0, w.r.Cursor.DIEError(d.off, "size over 4294967295 bytes")
	}
	return next, name, uint32(long), uint32(w.r.Cursor.Number(have, dwarf.VDeclaration)), nil
}

// forward handles a struct or union that is only declared here. signed says that a type
// unit describes it. It returns how to read its children.
func (w *walker) forward(d die, name uint32, signed bool) (role, dwarf.Tag, error) {
	r := w.r
	if !signed {
		if name == 0 {
			if r.Cursor.Reader.Bad {
				return 0, 0, r.Cursor.NoName(d.off, "")
			}
			r.Unit.Unencodable.add(r.Unit.nodes(), "declaration of a struct without a name")
		}
		return inDeclared, 0, nil
	}
	// Types declared inside it may be described here.
	return inNamespace, 0, w.attrs.addStub(d.off, d.a.Present)
}

// protoParam reads a parameter of a function type.
func (w *walker) protoParam(d die, top *frame) (next int, err error) {
	r, a := w.r, d.a
	m := dedup.Member{}
	if d.direct && a.Present&(1<<dwarf.VOrigin|1<<dwarf.VLocation) == 0 {
		m.Name = w.attrs.name(a, d.p)
		m.Type, err = w.attrs.refTo(d)
		next = d.p + int(a.Size)
	} else {
		var have uint32
		if next, have, err = w.attrs.decode(d); err != nil {
			return 0, err
		}
		m.Name = r.Cursor.NameOf(have)
		m.Type, err = w.attrs.refOf(d.off, have, dwarf.VType)
	}
	if err != nil {
		return 0, err
	}
	r.addMember(top, m)
	if a.Children {
		r.push(inPart, a.Tag)
	}
	return next, nil
}

// proto reads a function type.
func (w *walker) proto(d die, top *frame) (next int, err error) {
	r := w.r
	next, typ, err := w.typeOf(d)
	if err != nil {
		return 0, err
	}
	n, i := r.addNode(d.off)
	n.Third = typ
	n.Info = btf.Info(btf.KindFuncProto, 0, false)
	n.First = uint32(len(r.Unit.Types.Members.S))
	if !d.a.Children {
		r.Unit.addOrder(i)
		return next, nil
	}
	r.suspend(top)
	fr, err := w.open(d, inProto, d.a.Tag)
	if err == nil {
		fr.owner, fr.first = i, uint32(len(r.Unit.Types.Members.S))
	}
	return next, err
}

// array reads an array.
func (w *walker) array(d die, top *frame) (next int, err error) {
	r := w.r
	next, typ, err := w.typeOf(d)
	if err != nil {
		return 0, err
	}
	n, i := r.addNode(d.off)
	n.Third = typ
	n.Info = btf.Info(btf.KindArray, 0, false)
	r.Unit.Arrays = true
	if !d.a.Children {
		r.Unit.addOrder(i)
		return next, nil
	}
	// Dimensions wait in open, because only the last one tells how many inner arrays
	// there are.
	r.suspend(top)
	fr := r.push(inArray, d.a.Tag)
	fr.owner, fr.first, fr.open = i, uint32(len(r.open.S)), true
	return next, nil
}

// subrange reads a dimension of the open array top.
func (w *walker) subrange(d die, top *frame) (next int, err error) {
	r, a := w.r, d.a
	var count uint32
	if d.direct {
		count = w.attrs.directDimension(a, d.p)
		next = d.p + int(a.Size)
	} else {
		var have uint32
		if next, have, err = w.attrs.decode(d); err != nil {
			return 0, err
		}
		count = w.attrs.dimension(have)
	}
	if top.n < 64 {
		r.open.Append(dedup.Member{Val: count})
		top.n++
	}
	if a.Children {
		r.push(inPart, a.Tag)
	}
	return next, nil
}

// base reads a base type.
func (w *walker) base(d die) (next int, err error) {
	next, have, err := w.attrs.decode(d)
	if err != nil {
		return 0, err
	}
	if err := w.baseType(d.off, have); err != nil {
		return 0, err
	}
	if d.a.Children {
		w.r.push(inPart, d.a.Tag)
	}
	return next, nil
}

// enum reads an enumeration.
func (w *walker) enum(d die, top *frame) (next int, err error) {
	r, a := w.r, d.a
	var name, typ, size uint32
	if d.direct {
		name = w.attrs.name(a, d.p)
		typ, err = w.attrs.refTo(d)
		size = w.attrs.load(d.p, a, dwarf.SlotByteSize)
		next = d.p + int(a.Size)
	} else {
		var have uint32
		if next, have, err = w.attrs.decode(d); err != nil {
			return 0, err
		}
		if name, err = w.attrs.typeName(d.off, have); err != nil {
			return 0, err
		}
		size = uint32(r.Cursor.Number(have, dwarf.VByteSize))
		typ, err = w.attrs.refOf(d.off, have, dwarf.VType)
	}
	if err != nil {
		return 0, err
	}
	if size == 0 {
		size = 4
	}
	if (size > 8 || size&(size-1) != 0) && !r.In.Options.Marks {
		r.Unit.Unencodable.add(r.Unit.nodes(), "enumeration of "+strconv.Itoa(int(size))+" bytes")
	}
	if !d.direct && a.Present&(1<<dwarf.VSignature) != 0 {
		if err := w.attrs.addStub(d.off, a.Present); err != nil {
			return 0, err
		}
	}
	n, i := r.addNode(d.off)
	n.Info, n.Name, n.Third, n.Aux = btf.Info(btf.KindEnum, 0, false), name, size, typ
	n.First = uint32(len(r.Unit.Types.Members.S))
	if a.Present&(1<<dwarf.VSpec) != 0 {
		w.attrs.defines(i)
	}
	if !a.Children {
		if err := closeEnum(r, &frame{owner: i, first: n.First}); err != nil {
			return 0, err
		}
		r.Unit.addOrder(i)
		return next, nil
	}
	r.suspend(top)
	fr := r.push(inEnum, a.Tag)
	fr.owner, fr.first = i, uint32(len(r.Unit.Types.Members.S))
	return next, nil
}

// enumerator reads a value of the open enumeration top.
func (w *walker) enumerator(d die, top *frame) (next int, err error) {
	r, a := w.r, d.a
	var m dedup.Member
	var v int64
	if d.direct {
		m.Name = w.attrs.name(a, d.p)
		v = int64(w.attrs.load(d.p, a, dwarf.SlotConst))
		next = d.p + int(a.Size)
	} else {
		var have uint32
		if next, have, err = w.attrs.decode(d); err != nil {
			return 0, err
		}
		m.Name = r.Cursor.NameOf(have)
		v = int64(r.Cursor.Number(have, dwarf.VConst))
	}
	if m.Name == 0 {
		return 0, r.Cursor.NoName(d.off, "enumerator without a name")
	}
	if v < 0 {
		top.neg = true
	}
	if v < -1<<31 || v > 1<<32-1 {
		top.big = true
	}
	m.Type, m.Val = uint32(v), uint32(uint64(v)>>32)
	r.addMember(top, m)
	if a.Children {
		r.push(inPart, a.Tag)
	}
	return next, nil
}
