package unit

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/debuginfo"
	"github.com/btflite/btflite/internal/dwarf"
)

// attrs reads the attributes of the DIEs of one unit.
type attrs struct {
	in *Input
	f  *debuginfo.File // that the unit is in
	r  *Reader
	b  []byte // of the unit
	be bool   // big-endian
}

// attrs are those of the unit that r stands at.
func (r *Reader) attrs() attrs {
	f := r.Cursor.File
	return attrs{r.In, f, r, r.Cursor.Hdr.Data, f.BigEndian}
}

// load reads the direct value in a slot of the DIE with attributes at p. It is kept
// small enough to be inlined everywhere. Cutting four bytes out of all of the unit, in
// this form, takes one check and no arithmetic on pointers.
func (w *attrs) load(p int, a *dwarf.Abbrev, slot int) uint32 {
	s := &a.Slots[slot]
	p += int(s.Off)
	x := binary.LittleEndian.Uint32(w.b[p : p+4 : p+4])
	if w.be {
		x = bits.ReverseBytes32(x) >> bits.LeadingZeros32(s.Mask)
	}
	return x&s.Mask + uint32(s.Const)
}

// decode reads the attributes of d into the values of the unit. It returns where
// they end, and the bits of those that the class captures.
func (w *attrs) decode(d die) (next int, have uint32, err error) {
	next, have = w.r.Cursor.Abbrevs.Decode(d.a, w.b, d.p, &w.r.Cursor.Vals)
	if next < 0 {
		return 0, 0, w.r.Cursor.CutOff(d.off)
	}
	return next, have, nil
}

// name is the token of the direct name slot of the DIE with attributes at p.
func (w *attrs) name(a *dwarf.Abbrev, p int) dedup.Name {
	t := w.namePlace(a, p)
	n := &w.f.Names
	if t != 0 && n.Look() && (n.ByText || n.MayBeAlias(t)) {
		return n.Settle(&w.r.Cursor.Reader, t)
	}
	return t
}

// namePlace is name for a name that is still to be looked at: the
// abbreviations are compiled so that names.Base + 1 is added to the offset, and 0
// is read where there is no name.
func (w *attrs) namePlace(a *dwarf.Abbrev, p int) dedup.Name {
	t := w.load(p, a, dwarf.SlotName) + a.NameBase
	if t-1 >= w.f.Names.Last && (t != 0 || a.Present&(1<<dwarf.VName) != 0) {
		w.r.Cursor.Reader.Bad = true
		return 0
	}
	return t
}

// refTo is the reference of the direct type slot.
func (w *attrs) refTo(d die) (third uint32, err error) {
	third = w.load(d.p, d.a, dwarf.SlotType)
	if third >= uint32(len(w.b)) {
		return 0, w.r.Cursor.OutOfUnit(d.off)
	}
	return third, nil
}

// refOf reads a reference as an offset in the unit; 0 if there is none.
func (w *attrs) refOf(off int, have uint32, v int) (uint32, error) {
	if have>>v&1 == 0 {
		return 0, nil
	}
	r := w.r
	x := r.Cursor.Vals[v]
	switch x.Form {
	case dwarf.FormRef1, dwarf.FormRef2, dwarf.FormRef4, dwarf.FormRef8, dwarf.FormRefUdata:
		if x.U >= uint64(len(w.b)) {
			return 0, r.Cursor.OutOfUnit(off)
		}
		return uint32(x.U), nil
	case dwarf.FormRefAddr:
		if x.U < r.Cursor.Hdr.Off || x.U >= r.Cursor.Hdr.End() {
			return w.far(off, r.Cursor.Base+x.U)
		}
		return uint32(x.U - r.Cursor.Hdr.Off), nil
	case dwarf.FormRefSig8:
		return w.signature(off, x.U)
	}
	if debuginfo.IsAlt(x.Form) {
		target, ok := w.f.InAlt(&x)
		if !ok {
			return 0, r.Cursor.DIEError(off, "reference leads out of the alternate debug file, or there is none")
		}
		return w.far(off, target)
	}
	return 0, r.Cursor.NoReference(off, x.Form)
}

// crossRef marks a reference by section offset to another unit: the rest is
// the index in Reader.cross. While DIEs are walked extraRef is set as well.
const crossRef = 1 << 30

// far keeps a reference to a section offset until the group is read.
func (w *attrs) far(at int, off uint64) (uint32, error) {
	r := w.r
	if w.in.Merged == nil {
		return 0, alone(&r.Cursor, at)
	}
	end := r.Cursor.Base + uint64(len(w.f.Info))
	if w.f.Alt != nil {
		end += uint64(len(w.f.Alt.Info))
	}
	if off >= end {
		return 0, r.Cursor.DIEError(at, "reference leads out of .debug_info")
	}
	k := len(r.cross.S)
	if k >= crossRef {
		return 0, r.Cursor.DIEError(at, "too many references between units")
	}
	r.cross.Append(off)
	return extraRef | crossRef | uint32(k), nil
}

// signature keeps a reference to the type with a signature until its type
// unit has been read.
func (w *attrs) signature(at int, sig uint64) (uint32, error) {
	r := w.r
	t, err := w.f.Types()
	if err != nil {
		return 0, err
	}
	i, place, ok, err := t.Find(sig)
	if err != nil {
		return 0, err
	}
	if !ok {
		return 0, r.Cursor.DIEError(at, fmt.Sprintf("no type unit has the signature %#016x", sig))
	}
	k := len(r.cross.S)
	if k >= crossRef || len(r.Cursor.Hdr.Data) >= crossRef {
		return 0, r.Cursor.DIEError(at, "too many references to type units")
	}
	r.cross.Append(place)
	r.NeedTypes = append(r.NeedTypes, uint32(i))
	return extraRef | crossRef | uint32(k), nil
}

// addStub makes the next node stand for the type that DW_AT_signature names,
// which GCC also writes for types of the same unit. have is from the DIE at off.
func (w *attrs) addStub(off int, have uint32) error {
	to, err := w.refOf(off, have, dwarf.VSignature)
	w.r.stubs = append(w.r.stubs, stub{w.r.Unit.nodes(), to})
	return err
}

// defines is called for node i with a DW_AT_specification: in a type unit GCC
// declares the type where it belongs, and the declaration stands for it.
func (w *attrs) defines(i uint32) {
	r := w.r
	if spec := r.Cursor.Vals[dwarf.VSpec].U; r.Cursor.Hdr.IsType() && spec < uint64(len(r.Cursor.Hdr.Data)) {
		r.specs = append(r.specs, stub{node: i, ref: uint32(spec)})
	}
}

// memberLoc is DW_AT_data_member_location in bytes: a constant, or a block
// that starts with DW_OP_plus_uconst or DW_OP_constu.
func (w *attrs) memberLoc(have uint32) uint32 {
	if have&(1<<dwarf.VMemberLoc) == 0 {
		return 0
	}
	v := &w.r.Cursor.Vals[dwarf.VMemberLoc]
	if off, n, ok := v.Block(); ok {
		e := w.b[off : off+n]
		if len(e) > 1 && (e[0] == dwarf.OpConstu || e[0] == dwarf.OpPlusUconst) {
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

// dimension is the number of elements of one array dimension.
func (w *attrs) dimension(have uint32) uint32 {
	if have&(1<<dwarf.VUpperBound) != 0 {
		if v := &w.r.Cursor.Vals[dwarf.VUpperBound]; isConstant(v.Form) {
			return uint32(v.U) + 1
		}
		return 0
	}
	if have&(1<<dwarf.VCount) != 0 {
		if v := &w.r.Cursor.Vals[dwarf.VCount]; isConstant(v.Form) {
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

// directDimension is the number of elements of a direct DW_TAG_subrange_type.
func (w *attrs) directDimension(a *dwarf.Abbrev, p int) uint32 {
	if a.Present&(1<<dwarf.VUpperBound) != 0 {
		return w.load(p, a, dwarf.SlotUpperBound) + 1
	}
	return w.load(p, a, dwarf.SlotCount)
}

// staticAddress is the address that a location expression starts with.
func (w *attrs) staticAddress(v *dwarf.Value) (uint64, bool) {
	off, n, ok := v.Block()
	if !ok {
		return 0, false
	}
	s, ok := dwarf.StaticAddress(w.b[off:off+n], w.r.Cursor.ExprFormat())
	if s.Indexed {
		s.Value = w.r.Cursor.AddressAt(s.Value)
	}
	return s.Value + s.Extra, ok
}
