package encode

import (
	"encoding/binary"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/internal/dwarf"
)

// Readers of single DIEs for the walk: everything that is rare enough not to
// stand in the loop itself.

// refKinds says what a DIE of ClassRef becomes, by the low byte of its tag. A
// name is kept by the mask named.
var refKinds = [256]struct{ info, named uint32 }{
	dwarf.TagPointerType:  {btf.Info(btf.KindPtr, 0, false), 0},
	dwarf.TagConstType:    {btf.Info(btf.KindConst, 0, false), 0},
	dwarf.TagVolatileType: {btf.Info(btf.KindVolatile, 0, false), 0},
	dwarf.TagRestrictType: {btf.Info(btf.KindRestrict, 0, false), 0},
	dwarf.TagTypedef:      {btf.Info(btf.KindTypedef, 0, false), 1<<32 - 1},
}

// langRust is DW_LANG_Rust; its members are sorted by offset.
const langRust = 0x1c

// number is a numeric attribute; 0 if the DIE does not have it.
func (f *file) number(u *unit, have uint32, v int) uint64 {
	if have>>v&1 == 0 {
		return 0
	}
	return u.vals[v].Numeric()
}

// refOf reads a reference as an offset in the unit; 0 if there is none.
func (f *file) refOf(u *unit, off int, have uint32, v int) (uint32, error) {
	if have>>v&1 == 0 {
		return 0, nil
	}
	x := u.vals[v]
	switch x.Form {
	case dwarf.FormRef1, dwarf.FormRef2, dwarf.FormRef4, dwarf.FormRef8, dwarf.FormRefUdata:
		if x.U >= uint64(len(u.hdr.Data)) {
			return 0, f.outOfUnit(u, off)
		}
		return uint32(x.U), nil
	case dwarf.FormRefAddr:
		if x.U < u.hdr.Off || x.U >= u.hdr.End() {
			return f.crossMark(u, off, u.base+x.U)
		}
		return uint32(x.U - u.hdr.Off), nil
	case dwarf.FormRefSig8:
		return f.signature(u, off, x.U)
	}
	if isAlt(x.Form) {
		target, ok := f.altTarget(&x)
		if !ok {
			return 0, f.dieError(u, off, "reference leads out of the alternate debug file, or there is none")
		}
		return f.crossMark(u, off, target)
	}
	return 0, f.noReference(u, off, x.Form)
}

// baseType adds a node for a DW_TAG_base_type.
func (f *file) baseType(u *unit, off int, have uint32) error {
	const (
		ateBoolean      = 2
		ateComplexFloat = 3
		ateFloat        = 4
		ateSigned       = 5
		ateSignedChar   = 6
		ateImaginary    = 9
	)
	size := uint32(uint16(f.number(u, have, dwarf.VByteSize)*8) / 8)
	n := dedup.Node{Name: f.nameOf(u, have), Third: size}
	if n.Name == 0 {
		return f.noName(u, off, "base type without a name")
	}
	var enc uint32
	isFloat := false
	switch f.number(u, have, dwarf.VEncoding) {
	case ateSigned, ateSignedChar:
		enc = 1
	case ateBoolean:
		enc = 4
	case ateFloat:
		isFloat = f.opt.Features&Float != 0
	case ateComplexFloat, ateImaginary:
		if f.opt.Features&Float != 0 {
			u.leaveOut(uint32(len(u.types.Nodes.S)), "complex floating-point type")
		}
	}
	if isFloat {
		switch size {
		case 2, 4, 8, 12, 16:
		default:
			u.leaveOut(uint32(len(u.types.Nodes.S)), "floating-point type of "+itoa(int(size))+" bytes")
		}
		n.Info = btf.Info(btf.KindFloat, 0, false)
	} else {
		isInt := u.firstInt == 0 && f.names.IsInt(n.Name)
		if size == 0 || size&(size-1) != 0 || size > 16 {
			n.Name, n.First, size = f.names.Unalias(f.names.FakeInt), size+1, 4
			n.Third = 4
		}
		n.Info = btf.Info(btf.KindInt, 0, false)
		n.Aux = enc<<24 | size*8
		if isInt {
			u.firstInt = uint32(len(u.types.Nodes.S)) + 1
		}
	}
	i := uint32(len(u.types.Nodes.S))
	u.types.Nodes.Append(n)
	u.starts.S[off>>6].bits |= 1 << (off & 63)
	u.types.Order.Append(i)
	return nil
}

// member reads a member DIE that the hot loop does not take.
func (f *file) member(u *unit, a *dwarf.Abbrev, off, p int, top *frame) (int, error) {
	next, have := u.abbrevs.Decode(a, u.hdr.Data, p, &u.vals)
	if next < 0 {
		return 0, f.cutOff(u, off)
	}
	m := dedup.Member{Name: f.nameOf(u, have)}
	var err error
	if m.Type, err = f.refOf(u, off, have, dwarf.VType); err != nil {
		return 0, err
	}
	long := f.number(u, have, dwarf.VBitSize)
	if long > 0xff {
		return 0, f.dieError(u, off, "bit-field of over 255 bits")
	}
	size := uint32(long)
	loc := f.memberLoc(u, have)
	if loc > maxOffset && int32(loc) > 0 {
		return 0, f.dieError(u, off, "member at an offset over 536870911 bytes")
	}
	bit := loc * 8
	if have&(1<<dwarf.VDataBitOffset) != 0 {
		bit = uint32(u.vals[dwarf.VDataBitOffset].Numeric())
	} else if size != 0 {
		u.oldBits.Append(oldBitfield{
			Node: top.owner, Member: top.n, Loc: loc, Bits: uint8(size),
			Size: uint32(f.number(u, have, dwarf.VByteSize)), BitOff: int8(f.number(u, have, dwarf.VBitOffset)),
		})
		bit = 0 // until linked
	}
	if size != 0 {
		top.kflag = true
		if bit > 0xffffff {
			return 0, f.dieError(u, off, "bit-field offset over 16777215 bits")
		}
		bit |= size << 24
	} else if bit&7 != 0 {
		return 0, f.dieError(u, off, "member at a bit offset that is not a whole byte")
	}
	if top.tag == dwarf.TagUnionType && bit&0xffffff != 0 {
		return 0, f.dieError(u, off, "union member at an offset that is not 0")
	}
	m.Val = bit
	if have&(1<<dwarf.VAnnotation) != 0 {
		f.gnuDeclTags(u, uint32(u.vals[dwarf.VAnnotation].U), top.owner, top.comp)
	}
	f.addMember(u, top, m)
	top.comp++
	return next, nil
}

// memberLoc is DW_AT_data_member_location in bytes: a constant, or a block
// that starts with DW_OP_plus_uconst or DW_OP_constu.
func (f *file) memberLoc(u *unit, have uint32) uint32 {
	if have&(1<<dwarf.VMemberLoc) == 0 {
		return 0
	}
	v := &u.vals[dwarf.VMemberLoc]
	if off, n, ok := v.Block(); ok {
		e := u.hdr.Data[off : off+n]
		const opConstu, opPlusUconst = 0x10, 0x23
		if len(e) > 1 && (e[0] == opConstu || e[0] == opPlusUconst) {
			if x, q := dwarf.ULEB(e, 1); q > 0 {
				return uint32(x)
			}
		}
		return ^uint32(0)
	}
	if x := int64(v.Numeric()); x >= -1<<31 && x < 1<<32 {
		return uint32(x)
	}
	return ^uint32(0) // which is behind the end of every struct
}

// linkOldBits settles DWARF 2/3 bit-fields once types are linked.
func (f *file) linkOldBits(u *unit) error {
	for i := range u.oldBits.S {
		o := &u.oldBits.S[i]
		n := &u.types.Nodes.S[o.Node]
		m := &u.types.Members.S[n.First+o.Member]
		size := o.Size
		if size == 0 {
			size = u.strippedSize(m.Type)
		}
		bit := int64(o.Loc) * 8
		if size != 0 {
			at := int64(o.BitOff)
			if !f.bigEndian {
				at = int64(size)*8 - at - int64(o.Bits)
			}
			bit += at
		}
		if bit < 0 || bit > 0xffffff {
			return f.nodeError(u, o.Node, "bit-field offset over 16777215 bits")
		}
		if btf.InfoKind(n.Info) == btf.KindUnion && bit != 0 {
			return f.nodeError(u, o.Node, "union member at an offset that is not 0")
		}
		m.Val = uint32(bit) | uint32(o.Bits)<<24
	}
	return nil
}

// dimension is the number of elements of one array dimension.
func dimension(u *unit, have uint32) uint32 {
	if have&(1<<dwarf.VUpperBound) != 0 {
		if v := &u.vals[dwarf.VUpperBound]; isConstant(v.Form) {
			return uint32(v.U) + 1
		}
		return 0
	}
	if have&(1<<dwarf.VCount) != 0 {
		if v := &u.vals[dwarf.VCount]; isConstant(v.Form) {
			return uint32(v.U)
		}
	}
	return 0
}

func isConstant(form dwarf.Form) bool {
	switch form {
	case dwarf.FormData1, dwarf.FormData2, dwarf.FormData4, dwarf.FormData8,
		dwarf.FormSdata, dwarf.FormUdata, dwarf.FormImplicitConst:
		return true
	}
	return false
}

// function adds the record of a DW_TAG_subprogram.
func (f *file) function(u *unit, a *dwarf.Abbrev, off int, have uint32) error {
	fn := callconv.Func{Off: uint32(off), Name: f.nameOf(u, have), First: uint32(len(u.params.S)), FirstAn: uint32(len(u.annots.S))}
	var err error
	if fn.Type, err = f.refOf(u, off, have, dwarf.VType); err != nil {
		return err
	}
	if fn.Origin, err = f.refOf(u, off, have, dwarf.VOrigin); err != nil {
		return err
	}
	if fn.Spec, err = f.refOf(u, off, have, dwarf.VSpec); err != nil {
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
	if f.number(u, have, dwarf.VCC) == 3 {
		fn.Flags |= callconv.FuncNoCall
	}
	if have&(1<<dwarf.VLowPC) != 0 {
		fn.LowPC = f.address(u, &u.vals[dwarf.VLowPC])
	}
	u.funcs.Append(fn)
	return nil
}

// address reads DW_FORM_addr or an index into .debug_addr; 0 if there is none.
func (f *file) address(u *unit, v *dwarf.Value) uint64 {
	switch v.Form {
	case dwarf.FormAddr:
		return v.U
	case dwarf.FormAddrx, dwarf.FormAddrx1, dwarf.FormAddrx2, dwarf.FormAddrx3, dwarf.FormAddrx4, dwarf.FormGNUAddrIndex:
		return f.addressAt(u, v.U)
	}
	return 0
}

func (f *file) addressAt(u *unit, index uint64) uint64 {
	size := uint64(u.hdr.AddrSize)
	if index > uint64(len(f.addr)) {
		return 0
	}
	p := u.addrBase + index*size
	if p > uint64(len(f.addr)) || uint64(len(f.addr))-p < size {
		return 0
	}
	if size != 4 && size != 8 {
		return 0
	}
	return f.relocated(u, relAddr, f.addr, p, size)
}

func (f *file) order() binary.ByteOrder {
	if f.bigEndian {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// closeFunc ends a function: it takes its place in the functions table.
func (f *file) closeFunc(u *unit, i, an uint32) {
	fn := &u.funcs.S[i]
	if an != 0 {
		f.gnuChain(u, an, "btf_decl_tag", func(value dedup.Name) {
			if f.opt.Features&DeclTag != 0 {
				u.annots.Append(annotRec{value, -1})
			}
		})
	}
	fn.NAn = uint32(len(u.annots.S)) - fn.FirstAn
	u.funcOrder.Append(i)
}

// param adds a record to the open function top.
func (f *file) param(u *unit, a *dwarf.Abbrev, off, p int, top *frame) (int, error) {
	fn := &u.funcs.S[top.owner]
	if b := u.hdr.Data; a.Direct && p+int(a.Size)+4 <= len(b) {
		d := b[p:]
		be := f.bigEndian
		pm := callconv.Param{Off: uint32(off), Reg: -1}
		pm.Name = f.direct(u, a, d)
		pm.Type = load(d, &a.Slots[1], be)
		pm.Origin = load(d, &a.Slots[2], be)
		if max(pm.Type, pm.Origin) >= uint32(len(b)) {
			return 0, f.outOfUnit(u, off)
		}
		pm.HasType = a.Present&(1<<dwarf.VType) != 0
		if a.Present&(1<<dwarf.VLocation) != 0 {
			pm.Flags |= callconv.ParamHasLoc
			pm.LocKind, pm.LocOff = callconv.LocList, load(d, &a.Slots[3], be)
		}
		f.addParam(u, fn, top, pm)
		return p + int(a.Size), nil
	}
	next, have := u.abbrevs.Decode(a, u.hdr.Data, p, &u.vals)
	if next < 0 {
		return 0, f.cutOff(u, off)
	}
	if fn.Flags&callconv.FuncDeclaration != 0 {
		return next, nil // never emitted, and nobody's origin
	}
	pm := callconv.Param{Off: uint32(off), Name: f.nameOf(u, have), Reg: -1}
	var err error
	if pm.Type, err = f.refOf(u, off, have, dwarf.VType); err != nil {
		return 0, err
	}
	if pm.Origin, err = f.refOf(u, off, have, dwarf.VOrigin); err != nil {
		return 0, err
	}
	pm.HasType = have&(1<<dwarf.VType) != 0
	if have&(1<<dwarf.VConst) != 0 {
		pm.Flags |= callconv.ParamHasConst
	}
	if have&(1<<dwarf.VLocation) != 0 {
		pm.Flags |= callconv.ParamHasLoc
		v := &u.vals[dwarf.VLocation]
		switch v.Form {
		case dwarf.FormSecOffset, dwarf.FormData4, dwarf.FormData8:
			pm.LocKind, pm.LocOff = callconv.LocList, uint32(v.U)
			if v.U>>32 != 0 {
				pm.LocKind = callconv.LocBad
			}
		case dwarf.FormLoclistx:
			pm.LocKind = callconv.LocBad
			if o, ok := f.loclist(u, v.U); ok {
				pm.LocKind, pm.LocOff = callconv.LocList, o
			}
		default:
			pm.LocKind = callconv.LocBad
			if o, n, ok := v.Block(); ok {
				pm.LocKind, pm.LocOff, pm.LocLen = callconv.LocExpr, uint32(o), uint32(n)
			}
		}
	}
	if have&(1<<dwarf.VAnnotation) != 0 && f.opt.Features&DeclTag != 0 {
		f.gnuChain(u, uint32(u.vals[dwarf.VAnnotation].U), "btf_decl_tag", func(value dedup.Name) {
			u.annots.Append(annotRec{value, int32(fn.N)})
		})
	}
	f.addParam(u, fn, top, pm)
	return next, nil
}

// addParam adds a parameter to its function.
func (f *file) addParam(u *unit, fn *callconv.Func, top *frame, pm callconv.Param) {
	if fn.First+fn.N != uint32(len(u.params.S)) {
		// A nested function came between this one's parameters.
		k := len(u.params.S)
		u.params.AppendSlice(append([]callconv.Param(nil), u.params.S[fn.First:fn.First+fn.N]...))
		fn.First = uint32(k)
	}
	u.params.Append(pm)
	fn.N++
	top.n++
}

// loclist turns an index of DW_FORM_loclistx into an offset in .debug_loclists.
func (f *file) loclist(u *unit, index uint64) (uint32, bool) {
	osz := uint64(u.hdr.OffsetSize())
	if index > uint64(len(f.loclists)) {
		return 0, false
	}
	p := u.loclistsBase + index*osz
	if p > uint64(len(f.loclists)) || uint64(len(f.loclists))-p < osz {
		return 0, false
	}
	if _, err := f.loclistsSec.need(u, f.loclists, p, osz); err != nil {
		u.fail = err
		return 0, false
	}
	o := f.relocated(u, relLoclists, f.loclists, p, osz) + u.loclistsBase
	return uint32(o), o <= 1<<32-1
}

// annotation reads an LLVM annotation DIE below what the open frame stands for.
func (f *file) annotation(u *unit, have uint32) {
	if len(u.frames.S) == 0 || have&(1<<dwarf.VConst) == 0 {
		return
	}
	top := &u.frames.S[len(u.frames.S)-1]
	name := f.names.Text(f.nameOf(u, have))
	value := f.nameValue(u, &u.vals[dwarf.VConst])
	switch {
	case top.ctx == ctxType && top.tag == dwarf.TagPointerType:
		if string(name) == "btf_type_tag" && f.opt.Features&TypeTag != 0 {
			n := &u.types.Nodes.S[top.owner]
			k := uint32(len(u.extra.S)) | extraRef
			u.extra.Append(dedup.Node{Info: btf.Info(btf.KindTypeTag, 0, false), Name: value, Third: n.Third})
			u.types.Order.Append(k)
			n.Third = k
		}
		return
	}
	if string(name) != "btf_decl_tag" || f.opt.Features&DeclTag == 0 {
		return
	}
	switch top.ctx {
	case ctxType:
		if top.tag == dwarf.TagTypedef {
			u.tags.Append(tagRec{top.owner, value, -1})
		}
	case ctxAggregate:
		if top.tag != dwarf.TagClassType {
			u.tags.Append(tagRec{top.owner, value, -1})
		}
	case ctxFunc:
		u.annots.Append(annotRec{value, -1})
	case ctxOther:
		switch {
		case top.tag == dwarf.TagMember && len(u.frames.S) > 1:
			if up := &u.frames.S[len(u.frames.S)-2]; up.ctx == ctxAggregate && up.tag != dwarf.TagClassType {
				u.tags.Append(tagRec{up.owner, value, up.comp - 1})
			}
		case top.an == 1: // parameter
			if u.funcs.S[top.owner].Flags&callconv.FuncDeclaration == 0 {
				u.annots.Append(annotRec{value, top.comp})
			}
		case top.an == 2: // variable
			v := &u.vars.S[top.owner]
			if v.NAn == 0 {
				v.FirstAn = uint32(len(u.annots.S))
			}
			u.annots.Append(annotRec{value, -1})
			v.NAn++
		}
	}
}
