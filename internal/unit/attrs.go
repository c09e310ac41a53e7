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
	f  *debuginfo.File // the file of the unit
	r  *Reader
	b  []byte // the bytes of the unit, header included
	be bool   // the file is big-endian
}

// die is a DIE whose abbreviation code has been read. Offsets count from the unit header.
type die struct {
	a      *dwarf.Abbrev
	off    int  // where it starts
	p      int  // where its attributes start
	direct bool // a is Direct, and load may read 4 bytes at each of its slots
}

// attrs returns the attribute reader for the unit at r's cursor.
func (r *Reader) attrs() attrs {
	f := r.Cursor.File
	return attrs{r.In, f, r, r.Cursor.Hdr.Data, f.BigEndian}
}

// load reads the direct value in a slot of the DIE with attributes at p. It is small
// enough to be inlined everywhere. To slice four bytes from the bytes of the whole unit
// takes one bounds check and no pointer arithmetic.
func (av *attrs) load(p int, a *dwarf.Abbrev, slot int) uint32 {
	s := &a.Slots[slot]
	p += int(s.Off)
	x := binary.LittleEndian.Uint32(av.b[p : p+4 : p+4])
	if av.be {
		x = bits.ReverseBytes32(x) >> bits.LeadingZeros32(s.Mask)
	}
	return x&s.Mask + uint32(s.Const)
}

// decode reads the attributes of d into the values of the cursor. It returns where they
// end, and a bit for each value that it has set.
func (av *attrs) decode(d die) (next int, have uint32, err error) {
	next, have = av.r.Cursor.Abbrevs.Decode(d.a, av.b, d.p, &av.r.Cursor.Vals)
	if next < 0 {
		return 0, 0, av.r.Cursor.CutOff(d.off)
	}
	return next, have, nil
}

// name returns the token in the direct name slot of the DIE with attributes at p.
func (av *attrs) name(a *dwarf.Abbrev, p int) dedup.Name {
	t := av.namePlace(a, p)
	n := &av.f.Names
	if t != 0 && n.Look() && (n.ByText || n.MayBeAlias(t)) {
		return n.Settle(&av.r.Cursor.Reader, t)
	}
	return t
}

// namePlace is name without a check of the text. Compiled abbreviations add names.Base +
// 1 to the offset; a DIE without a name reads as 0.
func (av *attrs) namePlace(a *dwarf.Abbrev, p int) dedup.Name {
	t := av.load(p, a, dwarf.SlotName) + a.NameBase
	if t-1 >= av.f.Names.Last && (t != 0 || a.Present&(1<<dwarf.VName) != 0) {
		av.r.Cursor.Reader.Bad = true
		return 0
	}
	return t
}

// refTo returns the reference in the direct type slot.
func (av *attrs) refTo(d die) (typ uint32, err error) {
	typ = av.load(d.p, d.a, dwarf.SlotType)
	if typ >= uint32(len(av.b)) {
		return 0, av.r.Cursor.OutOfUnit(d.off)
	}
	return typ, nil
}

// refOf returns decoded value v of the DIE at off as an offset in the unit, or as a marker with
// crossRef if it leads to another unit; 0 if the DIE does not have it.
func (av *attrs) refOf(off int, have uint32, v int) (uint32, error) {
	if have>>v&1 == 0 {
		return 0, nil
	}
	r := av.r
	x := r.Cursor.Vals[v]
	switch x.Form {
	case dwarf.FormRef1, dwarf.FormRef2, dwarf.FormRef4, dwarf.FormRef8, dwarf.FormRefUdata:
		if x.U >= uint64(len(av.b)) {
			return 0, r.Cursor.OutOfUnit(off)
		}
		return uint32(x.U), nil
	case dwarf.FormRefAddr:
		if x.U < r.Cursor.Hdr.Off || x.U >= r.Cursor.Hdr.End() {
			return av.far(off, r.Cursor.Base+x.U)
		}
		return uint32(x.U - r.Cursor.Hdr.Off), nil
	case dwarf.FormRefSig8:
		return av.signature(off, x.U)
	}
	if debuginfo.IsAlt(x.Form) {
		target, ok := av.f.InAlt(&x)
		if !ok {
			return 0, r.Cursor.DIEError(off, "reference leads out of the alternate debug file, or there is none")
		}
		return av.far(off, target)
	}
	return 0, r.Cursor.NoReference(off, x.Form)
}

// crossRef marks a reference to another unit. The other bits are an index in
// Reader.cross. While DIEs are walked, extraRef is set too.
const crossRef = 1 << 30

// far keeps a reference to another unit, by its section offset, until the group is read.
func (av *attrs) far(at int, off uint64) (uint32, error) {
	r := av.r
	if av.in.Merged == nil {
		return 0, crossUnitError(&r.Cursor, at)
	}
	end := r.Cursor.Base + uint64(len(av.f.Info))
	if av.f.Alt != nil {
		end += uint64(len(av.f.Alt.Info))
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

// signature keeps a reference by type signature until the type unit has been read.
func (av *attrs) signature(at int, sig uint64) (uint32, error) {
	r := av.r
	t, err := av.f.Types()
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

// addStub makes the next node a stub for the type that DW_AT_signature names. GCC writes
// such DIEs for types of the same unit too. have is from the DIE at off.
func (av *attrs) addStub(off int, have uint32) error {
	to, err := av.refOf(off, have, dwarf.VSignature)
	av.r.stubs = append(av.r.stubs, stub{av.r.Unit.nodes(), to})
	return err
}

// defines notes that node i has a DW_AT_specification. In a type unit, GCC declares the
// type in its scope, and node i defines it; the declaration becomes a stub for node i.
func (av *attrs) defines(i uint32) {
	r := av.r
	if spec := r.Cursor.Vals[dwarf.VSpec].U; r.Cursor.Hdr.IsType() && spec < uint64(len(r.Cursor.Hdr.Data)) {
		r.specs = append(r.specs, stub{node: i, ref: uint32(spec)})
	}
}

// memberLoc returns DW_AT_data_member_location in bytes. It is a constant, or a block
// that starts with DW_OP_plus_uconst or DW_OP_constu. For others, and for a number that
// 32 bits do not hold, it returns the largest number.
func (av *attrs) memberLoc(have uint32) uint32 {
	if have&(1<<dwarf.VMemberLoc) == 0 {
		return 0
	}
	v := &av.r.Cursor.Vals[dwarf.VMemberLoc]
	if off, n, ok := v.Block(); ok {
		e := av.b[off : off+n]
		if len(e) > 1 && (e[0] == dwarf.OpConstu || e[0] == dwarf.OpPlusUconst) {
			if x, q := dwarf.ULEB(e, 1); q > 0 && x < 1<<32 {
				return uint32(x)
			}
		}
		return ^uint32(0)
	}
	if x := int64(v.Numeric()); x >= -1<<31 && x < 1<<32 {
		return uint32(x)
	}
	return ^uint32(0) // beyond the end of every struct
}

// dimension returns the number of elements of one array dimension: 0 if the DIE does not say,
// or says it by an expression, as for a variable length array.
func (av *attrs) dimension(have uint32) uint32 {
	if have&(1<<dwarf.VUpperBound) != 0 {
		if v := &av.r.Cursor.Vals[dwarf.VUpperBound]; isConstant(v.Form) {
			return uint32(v.U) + 1
		}
		return 0
	}
	if have&(1<<dwarf.VCount) != 0 {
		if v := &av.r.Cursor.Vals[dwarf.VCount]; isConstant(v.Form) {
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

// directDimension is dimension for a direct DW_TAG_subrange_type.
func (av *attrs) directDimension(a *dwarf.Abbrev, p int) uint32 {
	if a.Present&(1<<dwarf.VUpperBound) != 0 {
		return av.load(p, a, dwarf.SlotUpperBound) + 1
	}
	return av.load(p, a, dwarf.SlotCount)
}

// staticAddress returns the address that a location expression starts with.
func (av *attrs) staticAddress(v *dwarf.Value) (uint64, bool) {
	off, n, ok := v.Expr(av.r.Cursor.Hdr.Version)
	if !ok {
		return 0, false
	}
	s, ok := dwarf.StaticAddress(av.b[off:off+n], av.r.Cursor.ExprFormat())
	if s.Indexed {
		s.Value = av.r.Cursor.AddressAt(s.Value)
	}
	return s.Value + s.Extra, ok
}
