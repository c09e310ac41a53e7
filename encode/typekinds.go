package encode

import (
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/dwarf"
)

// The kinds of DIE that describe types. Each method reads the DIE d and returns
// where it stopped: behind its attributes, or behind all of it.

// members reads members into the open type top.
func (w *walker) members(d die, top *frame) (next int, err error) {
	f, u, a := w.f, w.u, d.a
	if (d.direct || a.Inline && d.p+int(a.Size)+8 <= len(w.b)) && !top.open && !a.Children {
		next, n, err := f.memberRun(u, a, d.off, d.p, top)
		u.dies += n
		if err == nil {
			return w.closePlain(next, top), nil
		}
		if err != errLongName {
			return 0, err
		}
		// Back to where the code of the member with it was read.
		d.off = next
		code, q := dwarf.ULEB(w.b, d.off)
		a, d.p = u.abbrevs.Lookup(code), q
		top = &u.frames.S[len(u.frames.S)-1]
	}
	if next, err = f.member(u, a, d.off, d.p, top); err != nil {
		return 0, err
	}
	if a.Children {
		u.push(ctxOther, a.Tag)
	}
	return next, nil
}

// closePlain closes top if it ends at p with nothing to settle. It returns where
// the next DIE is.
func (w *walker) closePlain(p int, top *frame) (next int) {
	u := w.u
	if p >= len(w.b) || w.b[p] != 0 || top.n > maxVlen || top.an != 0 || u.language == langRust {
		return p
	}
	x := &u.types.Nodes.S[top.owner]
	x.First = top.first
	x.Info = btf.Info(btf.InfoKind(x.Info), top.n, top.kflag)
	u.addOrder(top.owner)
	u.frames.S = u.frames.S[:len(u.frames.S)-1]
	return p + 1
}

// refTo is the reference of the direct slot 1.
func (w *walker) refTo(d die) (third uint32, err error) {
	third = load(w.b[d.p:], &d.a.Slots[1], w.f.bigEndian)
	if third >= uint32(len(w.b)) {
		return 0, w.f.outOfUnit(w.u, d.off)
	}
	return third, nil
}

// typeOf reads a DIE of which only DW_AT_type counts.
func (w *walker) typeOf(d die) (next int, third uint32, err error) {
	if d.direct {
		third, err = w.refTo(d)
		return d.p + int(d.a.Size), third, err
	}
	next, have, err := w.decode(d)
	if err != nil {
		return 0, 0, err
	}
	third, err = w.f.refOf(w.u, d.off, have, dwarf.VType)
	return next, third, err
}

// ref reads a type that is a reference to another one: pointer, typedef, qualifier.
func (w *walker) ref(d die) (next int, err error) {
	f, u, a := w.f, w.u, d.a
	var name, third uint32
	if d.direct {
		if !a.Children {
			if next, n := f.plainRefs(u, a, d.off, d.p); n != 0 {
				u.dies += n - 1
				return next, nil
			}
		}
		name = f.direct(u, a, w.b[d.p:])
		next = d.p + int(a.Size)
		third, err = w.refTo(d)
	} else {
		next, name, third, err = w.anyRef(d)
	}
	if err != nil {
		return 0, err
	}
	k := &refKinds[a.Tag&0xff]
	if name &= k.named; name|^k.named == 0 {
		return 0, f.noName(u, d.off, "typedef without a name")
	}
	n, i := u.addNode(d.off)
	n.Info, n.Name, n.Third = k.info, name, third
	if !a.Children {
		u.addOrder(i)
		return next, nil
	}
	fr, err := w.open(d, ctxType, a.Tag)
	if err == nil {
		fr.owner = i
	}
	return next, err
}

// anyRef reads name and reference of a type that is not direct.
func (w *walker) anyRef(d die) (next int, name, third uint32, err error) {
	f, u := w.f, w.u
	next, have, err := w.decode(d)
	if err != nil {
		return 0, 0, 0, err
	}
	name = f.nameOf(u, have)
	if third, err = f.refOf(u, d.off, have, dwarf.VType); err != nil {
		return 0, 0, 0, err
	}
	an := uint64(0)
	if have&(1<<dwarf.VAnnotation) != 0 {
		an = u.vals[dwarf.VAnnotation].U
	}
	if name == 0 && have&(1<<dwarf.VSpec) != 0 && d.a.Tag == dwarf.TagTypedef {
		name = f.nameAt(u, u.vals[dwarf.VSpec].U)
	}
	if an != 0 && d.a.Tag == dwarf.TagPointerType && f.opt.Features&TypeTag != 0 {
		third = f.gnuTypeTags(u, uint32(an), third)
	}
	return next, name, third, nil
}

// aggregate reads a struct or union.
func (w *walker) aggregate(d die, top *frame) (next int, err error) {
	f, u, a := w.f, w.u, d.a
	var name, size, decl uint32
	if d.direct {
		x := w.b[d.p:]
		name = f.direct(u, a, x)
		size = load(x, &a.Slots[2], f.bigEndian)
		decl = load(x, &a.Slots[3], f.bigEndian)
		next = d.p + int(a.Size)
	} else if next, name, size, decl, err = w.anyAggregate(d); err != nil {
		return 0, err
	}
	kind := btf.KindStruct
	if a.Tag == dwarf.TagUnionType {
		kind = btf.KindUnion
	}
	ctx, tag := ctxAggregate, a.Tag
	info := btf.Info(kind, 0, false)
	signed := !d.direct && a.Present&(1<<dwarf.VSignature) != 0
	if decl != 0 || signed {
		info, size = btf.Info(btf.KindFwd, 0, kind == btf.KindUnion), 0
		if ctx, tag, err = w.forward(d, name, signed); err != nil {
			return 0, err
		}
	}
	n, i := u.addNode(d.off)
	n.Info, n.Name, n.Third = info, name, size
	if decl == 0 && !signed {
		n.First = uint32(len(u.types.Members.S))
	}
	an := uint32(0)
	if !d.direct && a.Present&(1<<dwarf.VAnnotation) != 0 && a.Tag != dwarf.TagUnionType {
		an = uint32(u.vals[dwarf.VAnnotation].U)
	}
	if a.Present&(1<<dwarf.VSpec) != 0 {
		f.defines(u, i)
	}
	if !a.Children {
		if an != 0 {
			f.gnuDeclTags(u, an, i, -1)
		}
		u.addOrder(i)
		return next, nil
	}
	f.suspend(u, top)
	first, count := uint32(len(u.types.Members.S)), uint32(0)
	if ctx == ctxAggregate && an == 0 {
		var closed bool
		next, count, closed = f.plainStruct(u, i, next)
		u.dies += uint64(count)
		if closed {
			return next, nil
		}
	}
	fr, err := w.open(d, ctx, tag)
	if err != nil {
		return 0, err
	}
	fr.owner, fr.first, fr.an, fr.n, fr.comp = i, first, an, count, int32(count)
	return next, nil
}

// anyAggregate reads the attributes of a struct or union that is not direct.
func (w *walker) anyAggregate(d die) (next int, name, size, decl uint32, err error) {
	next, have, err := w.decode(d)
	if err != nil {
		return 0, 0, 0, 0, err
	}
	name = w.f.nameOf(w.u, have)
	long := w.f.number(w.u, have, dwarf.VByteSize)
	if long>>32 != 0 {
		return 0, 0, 0, 0, w.f.dieError(w.u, d.off, "size over 4294967295 bytes")
	}
	return next, name, uint32(long), uint32(w.f.number(w.u, have, dwarf.VDeclaration)), nil
}

// forward prepares for a struct or union that is declared here only; signed says
// that it is described in a type unit. It returns what its children are read as.
func (w *walker) forward(d die, name uint32, signed bool) (role, dwarf.Tag, error) {
	u := w.u
	if !signed {
		if name == 0 {
			if u.reader.Bad {
				return 0, 0, w.f.noName(u, d.off, "")
			}
			u.leaveOut(uint32(len(u.types.Nodes.S)), "declaration of a struct without a name")
		}
		return ctxType, 0, nil
	}
	// What is declared in it may be described here.
	return ctxNamespace, 0, w.f.addStub(u, d.off, d.a.Present)
}

// protoParam reads a parameter of a prototype.
func (w *walker) protoParam(d die, top *frame) (next int, err error) {
	f, u, a := w.f, w.u, d.a
	m := dedup.Member{}
	if d.direct && a.Present&(1<<dwarf.VOrigin|1<<dwarf.VLocation) == 0 {
		m.Name = f.direct(u, a, w.b[d.p:])
		m.Type, err = w.refTo(d)
		next = d.p + int(a.Size)
	} else {
		var have uint32
		if next, have, err = w.decode(d); err != nil {
			return 0, err
		}
		m.Name = f.nameOf(u, have)
		m.Type, err = f.refOf(u, d.off, have, dwarf.VType)
	}
	if err != nil {
		return 0, err
	}
	f.addMember(u, top, m)
	if a.Children {
		u.push(ctxOther, a.Tag)
	}
	return next, nil
}

// proto reads the type of functions.
func (w *walker) proto(d die, top *frame) (next int, err error) {
	f, u := w.f, w.u
	next, third, err := w.typeOf(d)
	if err != nil {
		return 0, err
	}
	n, i := u.addNode(d.off)
	n.Third = third
	n.Info = btf.Info(btf.KindFuncProto, 0, false)
	n.First = uint32(len(u.types.Members.S))
	if !d.a.Children {
		u.addOrder(i)
		return next, nil
	}
	f.suspend(u, top)
	if end, n := f.plainProto(u, i, next); end != 0 {
		u.dies += n
		return end, nil
	}
	fr, err := w.open(d, ctxProto, d.a.Tag)
	if err == nil {
		fr.owner, fr.first = i, uint32(len(u.types.Members.S))
	}
	return next, err
}

// array reads an array.
func (w *walker) array(d die, top *frame) (next int, err error) {
	f, u := w.f, w.u
	next, third, err := w.typeOf(d)
	if err != nil {
		return 0, err
	}
	n, i := u.addNode(d.off)
	n.Third = third
	n.Info = btf.Info(btf.KindArray, 0, false)
	u.arrays = true
	if !d.a.Children {
		u.addOrder(i)
		return next, nil
	}
	if end := f.plainArray(u, i, next); end != 0 {
		u.dies++
		return end, nil
	}
	// Dimensions wait in open: only the last one says how many inner arrays
	// there are.
	f.suspend(u, top)
	fr := u.push(ctxArray, d.a.Tag)
	fr.owner, fr.first, fr.open = i, uint32(len(u.open.S)), true
	return next, nil
}

// subrange reads a dimension of the open array top.
func (w *walker) subrange(d die, top *frame) (next int, err error) {
	u, a := w.u, d.a
	var count uint32
	if d.direct {
		count = directDimension(a, w.b[d.p:], w.f.bigEndian)
		next = d.p + int(a.Size)
	} else {
		var have uint32
		if next, have, err = w.decode(d); err != nil {
			return 0, err
		}
		count = dimension(u, have)
	}
	if top.n < 64 {
		u.open.Append(dedup.Member{Val: count})
		top.n++
	}
	if a.Children {
		u.push(ctxOther, a.Tag)
	}
	return next, nil
}

// base reads a base type.
func (w *walker) base(d die) (next int, err error) {
	next, have, err := w.decode(d)
	if err != nil {
		return 0, err
	}
	if err := w.f.baseType(w.u, d.off, have); err != nil {
		return 0, err
	}
	if d.a.Children {
		w.u.push(ctxOther, d.a.Tag)
	}
	return next, nil
}

// enum reads an enumeration.
func (w *walker) enum(d die, top *frame) (next int, err error) {
	f, u, a := w.f, w.u, d.a
	var name, typ, size uint32
	if d.direct {
		x := w.b[d.p:]
		name = f.direct(u, a, x)
		typ, err = w.refTo(d)
		size = load(x, &a.Slots[2], f.bigEndian)
		next = d.p + int(a.Size)
	} else {
		var have uint32
		if next, have, err = w.decode(d); err != nil {
			return 0, err
		}
		name = f.nameOf(u, have)
		size = uint32(f.number(u, have, dwarf.VByteSize))
		typ, err = f.refOf(u, d.off, have, dwarf.VType)
	}
	if err != nil {
		return 0, err
	}
	if size == 0 {
		size = 4
	}
	if size > 8 || size&(size-1) != 0 {
		u.leaveOut(uint32(len(u.types.Nodes.S)), "enumeration of "+itoa(int(size))+" bytes")
	}
	if !d.direct && a.Present&(1<<dwarf.VSignature) != 0 {
		if err := f.addStub(u, d.off, a.Present); err != nil {
			return 0, err
		}
	}
	n, i := u.addNode(d.off)
	n.Info, n.Name, n.Third, n.Aux = btf.Info(btf.KindEnum, 0, false), name, size, typ
	n.First = uint32(len(u.types.Members.S))
	if a.Present&(1<<dwarf.VSpec) != 0 {
		f.defines(u, i)
	}
	if !a.Children {
		if err := f.closeEnum(u, &frame{owner: i, first: n.First}); err != nil {
			return 0, err
		}
		u.addOrder(i)
		return next, nil
	}
	f.suspend(u, top)
	if end, n, err := f.plainEnum(u, i, next); err != nil || end != 0 {
		u.dies += n
		return end, err
	}
	fr := u.push(ctxEnum, a.Tag)
	fr.owner, fr.first = i, uint32(len(u.types.Members.S))
	return next, nil
}

// enumerator reads a value of the open enumeration top.
func (w *walker) enumerator(d die, top *frame) (next int, err error) {
	f, u, a := w.f, w.u, d.a
	var m dedup.Member
	var v int64
	if d.direct {
		x := w.b[d.p:]
		m.Name = f.direct(u, a, x)
		v = int64(load(x, &a.Slots[2], f.bigEndian))
		next = d.p + int(a.Size)
	} else {
		var have uint32
		if next, have, err = w.decode(d); err != nil {
			return 0, err
		}
		m.Name = f.nameOf(u, have)
		v = int64(f.number(u, have, dwarf.VConst))
	}
	if m.Name == 0 {
		return 0, f.noName(u, d.off, "enumerator without a name")
	}
	if v < 0 {
		top.neg = true
	}
	if v < -1<<31 || v > 1<<32-1 {
		top.big = true
	}
	m.Type, m.Val = uint32(v), uint32(uint64(v)>>32)
	f.addMember(u, top, m)
	if a.Children {
		u.push(ctxOther, a.Tag)
	}
	return next, nil
}
