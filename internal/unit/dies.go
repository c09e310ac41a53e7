package unit

import (
	"strconv"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/internal/names"
)

// Readers of single DIEs: everything that is rare enough not to stand in a run.

// baseType adds a node for a DW_TAG_base_type.
func (w *walker) baseType(off int, have uint32) error {
	const (
		ateBoolean      = 2
		ateComplexFloat = 3
		ateFloat        = 4
		ateSigned       = 5
		ateSignedChar   = 6
		ateImaginary    = 9
	)
	u, names := w.u, &w.f.Names
	size := uint32(uint16(u.Number(have, dwarf.VByteSize)*8) / 8)
	n := dedup.Node{Name: u.NameOf(have), Third: size}
	if n.Name == 0 {
		return u.NoName(off, "base type without a name")
	}
	encoding := u.Number(have, dwarf.VEncoding)
	if w.in.Marks && (marker{w}).number(&n, u.Number(have, dwarf.VByteSize), encoding) {
		w.addBase(off, n)
		return nil
	}
	var enc byte
	isFloat := false
	switch encoding {
	case ateSigned, ateSignedChar:
		enc = 1
	case ateBoolean:
		enc = 4
	case ateFloat:
		isFloat = w.in.Float
	case ateComplexFloat, ateImaginary:
		if w.in.Float {
			u.Unencodable.add(u.nodes(), "complex floating-point type")
		}
	}
	if isFloat {
		switch size {
		case 2, 4, 8, 12, 16:
		default:
			u.Unencodable.add(u.nodes(), "floating-point type of "+strconv.Itoa(int(size))+" bytes")
		}
		n.Info = btf.Info(btf.KindFloat, 0, false)
	} else {
		if u.FirstInt == 0 && names.IsInt(n.Name) {
			u.FirstInt = u.nodes() + 1
		}
		if !isIntSize(size) {
			u.Unencodable.count("numbers of "+strconv.Itoa(int(size))+" bytes, which have 4 in BTF", 1)
		}
		SetInt(&n, size, enc, names)
	}
	w.addBase(off, n)
	return nil
}

// addBase adds the node of the base type at off.
func (w *walker) addBase(off int, n dedup.Node) {
	u := w.u
	i := u.nodes()
	u.Types.Nodes.Append(n)
	u.starts.S[off>>6].bits |= 1 << (off & 63)
	u.Types.Order.Append(i)
}

// isIntSize tells whether BTF has an INT of so many bytes.
func isIntSize(size uint32) bool { return size != 0 && size&(size-1) == 0 && size <= 16 }

// SetInt makes n, which has its name, an INT of a size in bytes and an encoding as BTF
// has it. One that BTF does not know becomes what pahole makes of it.
func SetInt(n *dedup.Node, size uint32, encoding byte, names *names.Text) {
	if !isIntSize(size) {
		n.Name, n.First, size = names.Unalias(names.FakeInt), size+1, 4
	}
	n.Info, n.Third = btf.Info(btf.KindInt, 0, false), size
	n.Aux = uint32(encoding)<<24 | size*8
}

// member reads a member DIE that the hot loop does not take.
func (w *walker) member(a *dwarf.Abbrev, off, p int, top *frame) (int, error) {
	u := w.u
	next, have, err := w.decode(die{a: a, off: off, p: p})
	if err != nil {
		return 0, err
	}
	m := dedup.Member{Name: u.NameOf(have)}
	if w.in.Marks && have&(1<<dwarf.VExternal) != 0 {
		top.comp++
		u.Unencodable.count(goneStatics, 1)
		return next, nil
	}
	if m.Type, err = w.refOf(off, have, dwarf.VType); err != nil {
		return 0, err
	}
	long := u.Number(have, dwarf.VBitSize)
	if long > 0xff {
		return 0, u.DIEError(off, "bit-field of over 255 bits")
	}
	size := uint32(long)
	loc := w.memberLoc(have)
	if loc > maxOffset && int32(loc) > 0 {
		return 0, u.DIEError(off, "member at an offset over 536870911 bytes")
	}
	bit := loc * 8
	if have&(1<<dwarf.VDataBitOffset) != 0 {
		bit = uint32(u.Vals[dwarf.VDataBitOffset].Numeric())
	} else if size != 0 {
		u.oldBits.Append(oldBitfield{
			Node: top.owner, Member: top.n, Loc: loc, Bits: uint8(size),
			Size: uint32(u.Number(have, dwarf.VByteSize)), BitOff: int8(u.Number(have, dwarf.VBitOffset)),
		})
		bit = 0 // until linked
	}
	if size != 0 {
		top.kflag = true
		if bit > 0xffffff {
			return 0, u.DIEError(off, "bit-field offset over 16777215 bits")
		}
		bit |= size << 24
	} else if bit&7 != 0 {
		return 0, u.DIEError(off, "member at a bit offset that is not a whole byte")
	}
	if top.tag == dwarf.TagUnionType && bit&0xffffff != 0 {
		return 0, u.DIEError(off, "union member at an offset that is not 0")
	}
	m.Val = bit
	if have&(1<<dwarf.VAnnotation) != 0 {
		w.gnuDeclTags(uint32(u.Vals[dwarf.VAnnotation].U), top.owner, top.comp)
	}
	u.addMember(top, m)
	top.comp++
	return next, nil
}

// subprogram adds the record of the DW_TAG_subprogram at off.
func (w *walker) subprogram(off int, have uint32) error {
	u := w.u
	fn := callconv.Func{Off: uint32(off), Name: u.NameOf(have), First: uint32(len(u.Params.S)), FirstAn: uint32(len(u.Annots.S))}
	var err error
	if fn.Type, err = w.refOf(off, have, dwarf.VType); err != nil {
		return err
	}
	if fn.Origin, err = w.refOf(off, have, dwarf.VOrigin); err != nil {
		return err
	}
	if fn.Spec, err = w.refOf(off, have, dwarf.VSpec); err != nil {
		return err
	}
	if have&(1<<dwarf.VType) != 0 {
		fn.Flags |= callconv.FuncHasType
	}
	if have&(1<<dwarf.VDeclaration) != 0 {
		fn.Flags |= callconv.FuncDeclaration
	}
	if have&(1<<dwarf.VInline) != 0 {
		fn.Flags |= callconv.FuncInline
	}
	if u.Number(have, dwarf.VCC) == 3 {
		fn.Flags |= callconv.FuncNoCall
	}
	if have&(1<<dwarf.VLowPC) != 0 {
		fn.LowPC = u.Address(&u.Vals[dwarf.VLowPC])
	}
	u.Funcs.Append(fn)
	return nil
}

// closeFunc ends a function: it takes its place in the functions table.
func (w *walker) closeFunc(i, an uint32) {
	u := w.u
	fn := &u.Funcs.S[i]
	if an != 0 {
		w.gnuChain(an, "btf_decl_tag", func(value dedup.Name) {
			if w.in.DeclTag {
				u.Annots.Append(Annot{value, -1})
			}
		})
	}
	fn.NAn = uint32(len(u.Annots.S)) - fn.FirstAn
	u.FuncOrder.Append(i)
}

// param adds a record to the open function top.
func (w *walker) param(a *dwarf.Abbrev, off, p int, top *frame) (int, error) {
	u := w.u
	fn := &u.Funcs.S[top.owner]
	if b := w.b; a.Direct && p+int(a.Size)+4 <= len(b) {
		pm := callconv.Param{Off: uint32(off), Reg: -1}
		pm.Name = w.name(a, p)
		pm.Type = w.load(p, a, dwarf.SlotType)
		pm.Origin = w.load(p, a, dwarf.SlotOrigin)
		if max(pm.Type, pm.Origin) >= uint32(len(b)) {
			return 0, u.OutOfUnit(off)
		}
		pm.HasType = a.Present&(1<<dwarf.VType) != 0
		if a.Present&(1<<dwarf.VLocation) != 0 {
			pm.Flags |= callconv.ParamHasLoc
			pm.LocKind, pm.LocOff = callconv.LocList, w.load(p, a, dwarf.SlotLocation)
		}
		u.addParam(fn, top, pm)
		return p + int(a.Size), nil
	}
	next, have, err := w.decode(die{a: a, off: off, p: p})
	if err != nil {
		return 0, err
	}
	if fn.Flags&callconv.FuncDeclaration != 0 {
		return next, nil // never emitted, and nobody's origin
	}
	pm := callconv.Param{Off: uint32(off), Name: u.NameOf(have), Reg: -1}
	if pm.Type, err = w.refOf(off, have, dwarf.VType); err != nil {
		return 0, err
	}
	if pm.Origin, err = w.refOf(off, have, dwarf.VOrigin); err != nil {
		return 0, err
	}
	pm.HasType = have&(1<<dwarf.VType) != 0
	if have&(1<<dwarf.VConst) != 0 {
		pm.Flags |= callconv.ParamHasConst
	}
	if have&(1<<dwarf.VLocation) != 0 {
		w.location(&pm)
	}
	if have&(1<<dwarf.VAnnotation) != 0 && w.in.DeclTag {
		w.gnuChain(uint32(u.Vals[dwarf.VAnnotation].U), "btf_decl_tag", func(value dedup.Name) {
			u.Annots.Append(Annot{value, int32(fn.N)})
		})
	}
	u.addParam(fn, top, pm)
	return next, nil
}

// location notes where a parameter is.
func (w *walker) location(pm *callconv.Param) {
	pm.Flags |= callconv.ParamHasLoc
	v := &w.u.Vals[dwarf.VLocation]
	switch v.Form {
	case dwarf.FormSecOffset, dwarf.FormData4, dwarf.FormData8:
		pm.LocKind, pm.LocOff = callconv.LocList, uint32(v.U)
		if v.U>>32 != 0 {
			pm.LocKind = callconv.LocBad
		}
	case dwarf.FormLoclistx:
		pm.LocKind = callconv.LocBad
		if o, ok := w.u.ListAt(v.U); ok {
			pm.LocKind, pm.LocOff = callconv.LocList, o
		}
	default:
		pm.LocKind = callconv.LocBad
		if o, n, ok := v.Block(); ok {
			pm.LocKind, pm.LocOff, pm.LocLen = callconv.LocExpr, uint32(o), uint32(n)
		}
	}
}

// addParam adds a parameter to its function.
func (u *Functions) addParam(fn *callconv.Func, top *frame, pm callconv.Param) {
	if fn.First+fn.N != uint32(len(u.Params.S)) {
		// A nested function came between this one's parameters.
		k := len(u.Params.S)
		u.Params.AppendSlice(append([]callconv.Param(nil), u.Params.S[fn.First:fn.First+fn.N]...))
		fn.First = uint32(k)
	}
	u.Params.Append(pm)
	fn.N++
	top.n++
}

// annotate reads an LLVM annotation DIE below what the open frame stands for.
func (w *walker) annotate(have uint32) {
	u := w.u
	if len(u.frames.S) == 0 || have&(1<<dwarf.VConst) == 0 {
		return
	}
	top := &u.frames.S[len(u.frames.S)-1]
	name := w.f.Names.Text(u.NameOf(have))
	value := u.NameValue(&u.Vals[dwarf.VConst])
	if top.role == inType && top.tag == dwarf.TagPointerType {
		if string(name) == "btf_type_tag" && w.in.TypeTag {
			n := &u.Types.Nodes.S[top.owner]
			n.Third = u.addExtra(dedup.Node{Info: infoTypeTag, Name: value, Third: n.Third})
		}
		return
	}
	if string(name) != "btf_decl_tag" || !w.in.DeclTag {
		return
	}
	switch top.role {
	case inType:
		if top.tag == dwarf.TagTypedef {
			u.Tags.Append(Tag{top.owner, value, -1})
		}
	case inAggregate:
		if top.tag != dwarf.TagClassType {
			u.Tags.Append(Tag{top.owner, value, -1})
		}
	case inFunc:
		u.Annots.Append(Annot{value, -1})
	case inPart:
		switch {
		case top.tag == dwarf.TagMember && len(u.frames.S) > 1:
			if up := &u.frames.S[len(u.frames.S)-2]; up.role == inAggregate && up.tag != dwarf.TagClassType {
				u.Tags.Append(Tag{up.owner, value, up.comp - 1})
			}
		case top.an == ofParam:
			if u.Funcs.S[top.owner].Flags&callconv.FuncDeclaration == 0 {
				u.Annots.Append(Annot{value, top.comp})
			}
		case top.an == ofVariable:
			v := &u.Vars.S[top.owner]
			if v.NAn == 0 {
				v.FirstAn = uint32(len(u.Annots.S))
			}
			u.Annots.Append(Annot{value, -1})
			v.NAn++
		}
	}
}
