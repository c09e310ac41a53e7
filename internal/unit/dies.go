package unit

import (
	"strconv"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/internal/names"
)

// The methods here decode all attributes of a DIE, because it is rare or its class is never
// direct: base types, members that oneMember cannot read, functions, parameters and annotations.

// Values of DW_AT_encoding (DWARF 5, section 7.8).
const (
	ateBoolean      = 2
	ateComplexFloat = 3
	ateFloat        = 4
	ateSigned       = 5
	ateSignedChar   = 6
	ateImaginary    = 9
	ateLowUser      = 0x80 // GCC and clang use it for complex integers
)

// ccNocall is DW_CC_nocall (DWARF 5, section 7.15).
const ccNocall = 3

// baseType adds a node for a DW_TAG_base_type.
func (w *walker) baseType(off int, have uint32) error {
	r, names := w.r, &w.attrs.f.Names
	size := uint32(uint16(r.Cursor.Number(have, dwarf.VByteSize)*8) / 8)
	n := dedup.Node{Name: r.Cursor.NameOf(have), Third: size}
	if n.Name == 0 {
		return r.Cursor.NoName(off, "base type without a name")
	}
	encoding := r.Cursor.Number(have, dwarf.VEncoding)
	if r.In.Options.Marks && w.marker().number(&n, r.Cursor.Number(have, dwarf.VByteSize), encoding) {
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
		isFloat = r.In.Options.Float
	case ateComplexFloat, ateImaginary:
		if r.In.Options.Float {
			r.Unit.Unencodable.add(r.Unit.nodes(), "complex floating-point type")
		}
	}
	if isFloat {
		switch size {
		case 2, 4, 8, 12, 16:
		default:
			r.Unit.Unencodable.add(r.Unit.nodes(), "floating-point type of "+strconv.Itoa(int(size))+" bytes")
		}
		n.Info = btf.Info(btf.KindFloat, 0, false)
	} else {
		if r.Unit.FirstInt == 0 && names.IsInt(n.Name) {
			r.Unit.FirstInt = r.Unit.nodes() + 1
		}
		if !isIntSize(size) {
			r.Unit.Unencodable.count("numbers of "+strconv.Itoa(int(size))+" bytes, which have 4 in BTF", 1)
		}
		SetInt(&n, size, enc, names)
	}
	w.addBase(off, n)
	return nil
}

// addBase adds the node of the base type at off.
func (w *walker) addBase(off int, n dedup.Node) {
	r := w.r
	i := r.Unit.nodes()
	r.Unit.Types.Nodes.Append(n)
	m := &r.starts.S[off>>6]
	if r.proofs.on {
		r.proofs.add(m, dedup.Ref(i+1))
	}
	m.bits |= 1 << (off & 63)
	r.Unit.Types.Order.Append(i)
}

// isIntSize reports whether BTF has an INT of this size in bytes.
func isIntSize(size uint32) bool { return size != 0 && size&(size-1) == 0 && size <= 16 }

// SetInt makes n, which has its name, an INT of a size in bytes and an encoding of BTF.
// For an encoding that BTF does not know, it does what pahole does.
func SetInt(n *dedup.Node, size uint32, encoding byte, names *names.Text) {
	if !isIntSize(size) {
		n.Name, n.First, size = names.Unalias(names.FakeInt), size+1, 4
	}
	n.Info, n.Third = btf.Info(btf.KindInt, 0, false), size
	n.Aux = uint32(encoding)<<24 | size*8
}

// member reads a member of the open type top that oneMember cannot read. It returns where the
// attributes end.
func (w *walker) member(a *dwarf.Abbrev, off, p int, top *frame) (int, error) {
	r := w.r
	next, have, err := w.attrs.decode(die{a: a, off: off, p: p})
	if err != nil {
		return 0, err
	}
	m := dedup.Member{Name: r.Cursor.NameOf(have)}
	if r.In.Options.Marks && have&(1<<dwarf.VExternal|1<<dwarf.VDeclaration) != 0 {
		// GCC calls a static member of a class without linkage a declaration only.
		top.comp++
		r.Unit.Unencodable.count(goneStatics, 1)
		return next, nil
	}
	if m.Type, err = w.attrs.refOf(off, have, dwarf.VType); err != nil {
		return 0, err
	}
	long := r.Cursor.Number(have, dwarf.VBitSize)
	if long > 0xff {
		if !isWhole(r, long, top) {
			return 0, r.Cursor.DIEError(off, "bit-field of over 255 bits")
		}
		long = 0
	}
	size := uint32(long)
	loc := w.attrs.memberLoc(have)
	// Above 2 GiB, a number is an offset before the struct, unless the struct is as large.
	if loc > maxOffset && (int32(loc) > 0 || loc < r.Unit.Types.Nodes.S[top.owner].Third) {
		return 0, r.Cursor.DIEError(off, "member at an offset over 536870911 bytes")
	}
	bit := loc * 8
	if have&(1<<dwarf.VDataBitOffset) != 0 {
		n := int64(r.Cursor.Vals[dwarf.VDataBitOffset].Numeric())
		if n > 1<<32-1 {
			return 0, r.Cursor.DIEError(off, "member at an offset over 536870911 bytes")
		}
		bit = uint32(n)
	} else if size != 0 {
		r.oldBits.Append(oldBitfield{
			Node: top.owner, Member: top.n, Loc: loc, Bits: uint8(size),
			Size: uint32(r.Cursor.Number(have, dwarf.VByteSize)), BitOff: int8(r.Cursor.Number(have, dwarf.VBitOffset)),
		})
		bit = 0 // linkOldBits computes it
	}
	if size != 0 {
		top.kflag = true
		if bit > 0xffffff {
			return 0, r.Cursor.DIEError(off, "bit-field offset over 16777215 bits")
		}
		bit |= size << 24
	} else if bit&7 != 0 {
		return 0, r.Cursor.DIEError(off, "member at a bit offset that is not a whole byte")
	}
	if top.tag == dwarf.TagUnionType && bit&0xffffff != 0 {
		return 0, r.Cursor.DIEError(off, "union member at an offset that is not 0")
	}
	m.Val = bit
	if have&(1<<dwarf.VAnnotation) != 0 {
		w.attrs.gnuDeclTags(uint32(r.Cursor.Vals[dwarf.VAnnotation].U), top.owner, top.comp)
	}
	r.addMember(top, m)
	top.comp++
	return next, nil
}

// subprogram adds the function for the DW_TAG_subprogram at off. Up to closeFunc, its FirstAn is an index
// in openTags.
func (w *walker) subprogram(off int, have uint32) error {
	r := w.r
	fn := callconv.Func{Off: uint32(off), Name: r.Cursor.NameOf(have), First: uint32(len(r.Unit.Params.S)), FirstAn: uint32(len(r.openTags.S))}
	var err error
	if fn.Type, err = w.attrs.refOf(off, have, dwarf.VType); err != nil {
		return err
	}
	if fn.Origin, err = w.attrs.refOf(off, have, dwarf.VOrigin); err != nil {
		return err
	}
	if fn.Spec, err = w.attrs.refOf(off, have, dwarf.VSpec); err != nil {
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
	if r.Cursor.Number(have, dwarf.VCC) == ccNocall {
		fn.Flags |= callconv.FuncNoCall
	}
	if have&(1<<dwarf.VLowPC) != 0 {
		fn.LowPC = r.Cursor.Address(&r.Cursor.Vals[dwarf.VLowPC])
	}
	r.Unit.Funcs.Append(fn)
	return nil
}

// closeFunc ends function i after its last child: its tags, which waited in openTags, move to the unit,
// and it gets its place in FuncOrder. an is the offset of its first GCC annotation, 0 if it has none.
func (w *walker) closeFunc(i, an uint32) {
	r := w.r
	if an != 0 && r.In.Options.DeclTag {
		w.attrs.gnuChain(an, "btf_decl_tag", func(value dedup.Name) { r.openTags.Append(Annot{value, -1}) })
	}
	if len(r.openTags.S) > 0 {
		fn := &r.Unit.Funcs.S[i]
		tags := r.openTags.S[fn.FirstAn:]
		r.openTags.S = r.openTags.S[:fn.FirstAn]
		fn.FirstAn, fn.NAn = uint32(len(r.Unit.Annots.S)), uint32(len(tags))
		r.Unit.Annots.AppendSlice(tags)
	}
	r.Unit.FuncOrder.Append(i)
}

// param reads a parameter of the open function top, whose attributes are at p. It returns where
// they end.
func (w *walker) param(a *dwarf.Abbrev, off, p int, top *frame) (int, error) {
	r := w.r
	fn := &r.Unit.Funcs.S[top.owner]
	if b := w.attrs.b; a.Direct && p+int(a.Size)+4 <= len(b) {
		pm := callconv.Param{Off: uint32(off), Reg: -1}
		pm.Name = w.attrs.name(a, p)
		pm.Type = w.attrs.load(p, a, dwarf.SlotType)
		pm.Origin = w.attrs.load(p, a, dwarf.SlotOrigin)
		if max(pm.Type, pm.Origin) >= uint32(len(b)) {
			return 0, r.Cursor.OutOfUnit(off)
		}
		pm.HasType = a.Present&(1<<dwarf.VType) != 0
		if a.Present&(1<<dwarf.VLocation) != 0 {
			pm.Flags |= callconv.ParamHasLoc
			pm.LocKind, pm.LocOff = callconv.LocList, w.attrs.load(p, a, dwarf.SlotLocation)
		}
		addParam(r, fn, top, pm)
		return p + int(a.Size), nil
	}
	next, have, err := w.attrs.decode(die{a: a, off: off, p: p})
	if err != nil {
		return 0, err
	}
	if fn.Flags&callconv.FuncDeclaration != 0 {
		return next, nil // it is never emitted and never an origin
	}
	pm := callconv.Param{Off: uint32(off), Name: r.Cursor.NameOf(have), Reg: -1}
	if pm.Type, err = w.attrs.refOf(off, have, dwarf.VType); err != nil {
		return 0, err
	}
	if pm.Origin, err = w.attrs.refOf(off, have, dwarf.VOrigin); err != nil {
		return 0, err
	}
	pm.HasType = have&(1<<dwarf.VType) != 0
	if have&(1<<dwarf.VConst) != 0 {
		pm.Flags |= callconv.ParamHasConst
	}
	if have&(1<<dwarf.VLocation) != 0 {
		w.location(&pm)
	}
	if have&(1<<dwarf.VAnnotation) != 0 && r.In.Options.DeclTag {
		w.attrs.gnuChain(uint32(r.Cursor.Vals[dwarf.VAnnotation].U), "btf_decl_tag", func(value dedup.Name) {
			r.openTags.Append(Annot{value, int32(fn.N)})
		})
	}
	addParam(r, fn, top, pm)
	return next, nil
}

// location notes where a parameter is, from its DW_AT_location.
func (w *walker) location(pm *callconv.Param) {
	pm.Flags |= callconv.ParamHasLoc
	v := &w.r.Cursor.Vals[dwarf.VLocation]
	switch v.Form {
	case dwarf.FormSecOffset, dwarf.FormData4, dwarf.FormData8:
		pm.LocKind, pm.LocOff = callconv.LocList, uint32(v.U)
		if v.U>>32 != 0 {
			pm.LocKind = callconv.LocBad
		}
	case dwarf.FormLoclistx:
		pm.LocKind = callconv.LocBad
		if o, ok := w.r.Cursor.ListAt(v.U); ok {
			pm.LocKind, pm.LocOff = callconv.LocList, o
		}
	default:
		pm.LocKind = callconv.LocBad
		if o, n, ok := v.Expr(w.r.Cursor.Hdr.Version); ok {
			pm.LocKind, pm.LocOff, pm.LocLen = callconv.LocExpr, uint32(o), uint32(n)
		}
	}
}

// addParam adds a parameter to the open function top. After the parameters of a nested function, all
// parameters of top wait in openParams for its end.
func addParam(r *Reader, fn *callconv.Func, top *frame, pm callconv.Param) {
	params := &r.Unit.Params
	if !top.open && fn.First+fn.N == uint32(len(params.S)) {
		params.Append(pm)
	} else {
		if !top.open {
			top.open, top.first = true, uint32(len(r.openParams.S))
			r.openParams.AppendSlice(params.S[fn.First:][:fn.N])
		}
		r.openParams.Append(pm)
	}
	fn.N++
	top.n++
}

// annotate reads an LLVM annotation DIE, a child of the open frame's DIE.
func (w *walker) annotate(have uint32) {
	r := w.r
	if len(r.frames.S) == 0 || have&(1<<dwarf.VConst) == 0 {
		return
	}
	top := &r.frames.S[len(r.frames.S)-1]
	name := w.attrs.f.Names.Text(r.Cursor.NameOf(have))
	value := r.Cursor.NameValue(&r.Cursor.Vals[dwarf.VConst])
	if top.role == inType && top.tag == dwarf.TagPointerType {
		if string(name) == "btf_type_tag" && r.In.Options.TypeTag {
			n := &r.Unit.Types.Nodes.S[top.owner]
			n.Third = r.addExtra(dedup.Node{Info: infoTypeTag, Name: value, Third: n.Third})
		}
		return
	}
	if string(name) != "btf_decl_tag" || !r.In.Options.DeclTag {
		return
	}
	switch top.role {
	case inType:
		if top.tag == dwarf.TagTypedef {
			r.Unit.Tags.Append(Tag{top.owner, value, -1})
		}
	case inAggregate:
		if top.tag != dwarf.TagClassType {
			r.Unit.Tags.Append(Tag{top.owner, value, -1})
		}
	case inFunc:
		r.openTags.Append(Annot{value, -1})
	case inPart:
		switch {
		case top.tag == dwarf.TagMember && len(r.frames.S) > 1:
			if up := &r.frames.S[len(r.frames.S)-2]; up.role == inAggregate && up.tag != dwarf.TagClassType {
				r.Unit.Tags.Append(Tag{up.owner, value, up.comp - 1})
			}
		case top.an == ofParam:
			if r.Unit.Funcs.S[top.owner].Flags&callconv.FuncDeclaration == 0 {
				r.openTags.Append(Annot{value, top.comp})
			}
		case top.an == ofVariable:
			v := &r.Unit.Vars.S[top.owner]
			if v.NAn == 0 {
				v.FirstAn = uint32(len(r.Unit.Annots.S))
			}
			r.Unit.Annots.Append(Annot{value, -1})
			v.NAn++
		}
	}
}
