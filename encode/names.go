package encode

import (
	"fmt"

	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/dwarf"
)

// Where DIEs have their names. What a name becomes is the matter of package names.

// direct is the token of the direct name slot of the DIE with attributes at d.
func (f *file) direct(u *unit, a *dwarf.Abbrev, d []byte) dedup.Name {
	t := f.directPlace(u, a, d)
	if t != 0 && f.names.Look() && (f.names.ByText || f.names.MayBeAlias(t)) {
		return f.names.Settle(&u.reader, t)
	}
	return t
}

// directPlace is direct for a name that is still to be looked at: the
// abbreviations are compiled so that names.Base + 1 is added to the offset, and 0
// is read where there is no name.
func (f *file) directPlace(u *unit, a *dwarf.Abbrev, d []byte) dedup.Name {
	t := load(d, &a.Slots[0], f.bigEndian) + a.NameBase
	if t-1 >= f.names.Last && (t != 0 || a.Present&(1<<dwarf.VName) != 0) {
		u.reader.Bad = true
		return 0
	}
	return t
}

// placeNames gives the file's .debug_str its place among the tokens.
func (f *file) placeNames() error {
	if !f.names.Place() {
		return fmt.Errorf("%s: .debug_str: %d bytes are more than fit beside the other inputs (2 GiB in all)", f.path, len(f.names.Data))
	}
	return nil
}

// nameOf is the token of DW_AT_name.
func (f *file) nameOf(u *unit, have uint32) dedup.Name {
	if have&(1<<dwarf.VName) == 0 {
		return 0
	}
	return f.nameValue(u, &u.vals[dwarf.VName])
}

// nameValue is the token of a string value; 0 if it is not a string that can
// be read.
func (f *file) nameValue(u *unit, v *dwarf.Value) dedup.Name {
	switch v.Form {
	case dwarf.FormStrp:
		return f.names.Offset(&u.reader, v.U)
	case dwarf.FormString:
		return f.names.At(u.hdr.Data[v.U:])
	case dwarf.FormGNUStrpAlt, dwarf.FormStrpSup:
		return f.altName(u, v.U)
	case dwarf.FormLineStrp:
		if v.U >= uint64(len(f.lineStr)) {
			return 0
		}
		return f.names.At(f.lineStr[v.U:])
	case dwarf.FormStrx, dwarf.FormStrx1, dwarf.FormStrx2, dwarf.FormStrx3, dwarf.FormStrx4, dwarf.FormGNUStrIndex:
		osz := uint64(u.hdr.OffsetSize())
		if v.U > uint64(len(f.strOffsets)) {
			return 0
		}
		p := u.strBase + v.U*osz
		if p > uint64(len(f.strOffsets)) || uint64(len(f.strOffsets))-p < osz {
			return 0
		}
		s := dwarf.Value{Form: dwarf.FormStrp, U: f.relocated(u, relStrOffsets, f.strOffsets, p, osz)}
		return f.nameValue(u, &s)
	}
	return 0
}

// nameAt is the name of the DIE at off, for typedefs with a specification.
func (f *file) nameAt(u *unit, off uint64) dedup.Name {
	if _, have, ok := f.decodeAt(u, off); ok {
		return f.nameOf(u, have)
	}
	return 0
}

// decodeAt reads the attributes of the DIE at an offset of the unit into
// u.vals. Its class and the bits of the values that the class captures come
// back.
func (f *file) decodeAt(u *unit, off uint64) (class dwarf.Class, have uint32, ok bool) {
	b := u.hdr.Data
	if off < uint64(u.hdr.First) || off >= uint64(len(b)) {
		return 0, 0, false
	}
	code, p := dwarf.ULEB(b, int(off))
	if p < 0 {
		return 0, 0, false
	}
	a := u.abbrevs.Lookup(code)
	if a == nil {
		return 0, 0, false
	}
	next, have := u.abbrevs.Decode(a, b, p, &u.vals)
	return a.Class, have, next >= 0
}
