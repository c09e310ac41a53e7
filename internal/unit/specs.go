package unit

import (
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/debuginfo"
	"github.com/btflite/btflite/internal/dwarf"
)

// A definition may leave its name to the declaration that DW_AT_specification leads to, also in
// another unit: a variable or type that is declared inside a class and defined outside.

// specification returns where the DW_AT_specification of the DIE at off, which was decoded last,
// leads: to an offset in the unit, or with far to a section offset. ok is false if the alternate
// file does not have the place.
func (av *attrs) specification(off int) (place uint64, far, ok bool, err error) {
	c := &av.r.Cursor
	v := &c.Vals[dwarf.VSpec]
	switch v.Form {
	case dwarf.FormRef1, dwarf.FormRef2, dwarf.FormRef4, dwarf.FormRef8, dwarf.FormRefUdata:
		return v.U, false, true, nil
	case dwarf.FormRefAddr:
		if v.U < c.Hdr.Off || v.U >= c.Hdr.End() {
			return v.U + c.Base, true, true, nil
		}
		return v.U - c.Hdr.Off, false, true, nil
	}
	if !debuginfo.IsAlt(v.Form) {
		return 0, false, false, c.NoReference(off, v.Form)
	}
	place, ok = av.f.InAlt(v)
	return place, true, ok, nil
}

// openFar opens the unit that has the section offset place, to which the DIE at offset at refers. It
// returns a Reader of that unit, which is valid until the next call, and the offset in it. ok is false if
// no unit that is read has the place.
func (av *attrs) openFar(at int, place uint64) (far *Reader, off uint64, ok bool, err error) {
	r, in, m := av.r, av.in, av.in.Merged
	if m == nil {
		return nil, 0, false, crossUnitError(&r.Cursor, at)
	}
	k, ok := m.At(place)
	if !ok {
		return nil, 0, false, nil
	}
	if r.far == nil {
		r.far = &Reader{In: in}
		r.far.Init(in.Limit)
	}
	r.far.Reset()
	if err := r.far.OpenPlace(k); err != nil {
		return nil, 0, false, err
	}
	_, skip, err := r.far.Start()
	return r.far, place - m.Places[k].Off, err == nil && !skip, err
}

// farVariable fills in name, type and linkage of v from the variable DIE at a place in another
// unit.
func (av *attrs) farVariable(at int, place uint64, v *Var) (bool, error) {
	far, off, ok, err := av.openFar(at, place)
	if !ok {
		return false, err
	}
	class, have, ok := far.Cursor.DecodeAt(off)
	if !ok || class != dwarf.ClassVariable {
		return false, nil
	}
	v.Name = far.Cursor.NameOf(have)
	v.External = have&(1<<dwarf.VExternal) != 0
	there := far.attrs()
	typ, err := there.refOf(int(off), have, dwarf.VType)
	if err != nil || typ == 0 {
		return err == nil, err
	}
	to := place - off + uint64(typ)
	if typ&extraRef != 0 {
		to = far.cross.S[typ&^(extraRef|crossRef)]
	}
	v.Type, err = av.far(at, to)
	return true, err
}

// maxSpecs bounds how many specifications in a row lead to a name. Compilers write one.
const maxSpecs = 4

// typeName returns the name of the type whose DIE at off was decoded last, or else the name of the type
// to which its DW_AT_specification leads; 0 if there is neither. It keeps the decoded values.
func (av *attrs) typeName(off int, have uint32) (dedup.Name, error) {
	own := &av.r.Cursor
	if have&(1<<dwarf.VName) != 0 || have&(1<<dwarf.VSpec) == 0 {
		return own.NameOf(have), nil
	}
	defer func(saved dwarf.Values) { own.Vals = saved }(own.Vals)
	for range maxSpecs {
		place, far, ok, err := av.specification(off)
		if err != nil || !ok {
			return 0, err
		}
		if far {
			var r *Reader
			if r, place, ok, err = av.openFar(off, place); !ok {
				return 0, err
			}
			there := r.attrs()
			av = &there
		}
		class, have, ok := av.r.Cursor.DecodeAt(place)
		if !ok || 1<<class&(1<<dwarf.ClassAggregate|1<<dwarf.ClassEnum|1<<dwarf.ClassRef|1<<dwarf.ClassBase) == 0 {
			return 0, nil
		}
		if have&(1<<dwarf.VName) != 0 || have&(1<<dwarf.VSpec) == 0 {
			return av.r.Cursor.NameOf(have), nil
		}
		off = int(place)
	}
	return 0, nil
}
