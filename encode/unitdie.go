package encode

import (
	"bytes"

	"github.com/btflite/btflite/internal/dwarf"
)

// startUnit makes the unit ready to be walked from p on, unless it is to be
// skipped.
func (f *file) startUnit(u *unit) (p int, skip bool, err error) {
	if _, err := f.infoSec.need(u, f.info, u.hdr.Off, uint64(len(u.hdr.Data))); err != nil {
		return 0, false, err
	}
	if err := f.relocateUnit(u); err != nil {
		return 0, false, err
	}
	if err := f.compileAbbrevs(u); err != nil {
		return 0, false, &Error{File: f.path, Section: ".debug_info", UnitOff: u.hdr.Off, What: err.Error()}
	}
	return f.unitDIE(u)
}

// unitDIE reads the unit DIE and applies the language filter.
func (f *file) unitDIE(u *unit) (p int, skip bool, err error) {
	b := u.hdr.Data
	off := u.hdr.First
	if off >= len(b) {
		return 0, true, nil
	}
	code, p := dwarf.ULEB(b, off)
	if p < 0 {
		return 0, false, f.cutOff(u, off)
	}
	if code == 0 {
		return 0, true, f.onlyZeros(u, p)
	}
	a := u.abbrevs.Lookup(code)
	if a == nil {
		return 0, false, f.dieError(u, off, "no abbreviation has its code")
	}
	if a.Class != dwarf.ClassUnit {
		return 0, false, f.dieError(u, off, "unit starts with a DIE that is no unit")
	}
	next, have := u.abbrevs.Decode(a, b, p, &u.vals)
	if next < 0 {
		return 0, false, f.cutOff(u, off)
	}
	u.dies = 1
	// Bases first: names and addresses of this DIE may need them.
	u.strBase, u.addrBase, u.loclistsBase = 8, 8, 12
	if u.hdr.Dwarf64 {
		u.strBase, u.addrBase, u.loclistsBase = 16, 16, 20
	}
	if u.hdr.Version < 5 {
		u.strBase, u.addrBase = 0, 0
	}
	for _, x := range []struct {
		v   int
		dst *uint64
	}{{dwarf.VStrBase, &u.strBase}, {dwarf.VAddrBase, &u.addrBase}, {dwarf.VLoclistsBase, &u.loclistsBase}} {
		if have>>x.v&1 != 0 && u.vals[x.v].U < 1<<40 {
			*x.dst = u.vals[x.v].U
		}
	}
	u.name = f.nameOf(u, have)
	u.language = uint16(f.number(u, have, dwarf.VLanguage))
	var producer []byte
	if have&(1<<dwarf.VProducer) != 0 {
		producer = f.names.Text(f.nameValue(u, &u.vals[dwarf.VProducer]))
		u.clang = containsClang(producer)
	}
	if have&(1<<dwarf.VDwoID) != 0 {
		u.splitID = u.vals[dwarf.VDwoID].U
	}
	if f.suffix == "" && have&(1<<dwarf.VDwoName) != 0 {
		u.skeleton = f.skeletonOf(u, have)
		return 0, true, nil
	}
	switch a.Tag {
	case dwarf.TagSkeletonUnit:
		return 0, false, f.dieError(u, off, "skeleton unit of split DWARF without DW_AT_dwo_name")
	case dwarf.TagPartialUnit:
		if f.merge == nil {
			return 0, false, errMerge
		}
	}
	if !u.hdr.IsType() && f.leftOut(u) {
		u.filtered = true
		return 0, true, nil
	}
	if u.foreign == 0 && foreign(u.language, producer) {
		u.foreign = u.language
	}
	if !a.Children {
		return next, true, f.onlyZeros(u, next)
	}
	return next, false, nil
}

func containsClang(b []byte) bool {
	for i := 0; i+5 <= len(b); i++ {
		if string(b[i:i+5]) == "clang" {
			return true
		}
	}
	return false
}

// leftOut says whether a unit is left out. Of a merged file units are left
// out only if languages are excluded, then by their names as well, and all are if
// the first one would be by its language (pahole-behaviour 1.4.1).
func (f *file) leftOut(u *unit) bool {
	if f.merge != nil && (len(f.opt.Lang) > 0 || len(f.opt.LangExclude) == 0) {
		return false
	}
	return f.wrongName(u) || f.wrongLanguage(u.language)
}

// wrongName says whether the unit's name leaves it out.
func (f *file) wrongName(u *unit) bool {
	p := f.opt.CUExclude
	return p != "" && bytes.HasPrefix(f.names.Text(u.name), []byte(p))
}

// hides reports whether a unit from whose walk from p on no type has come has
// DIEs from which one should have come. Assemblers make units of labels or
// functions only. Anything else is damage.
func (f *file) hides(u *unit, p int) bool {
	b := u.hdr.Data
	for p < len(b) {
		code, q := dwarf.ULEB(b, p)
		if q < 0 || code == 0 {
			return q < 0
		}
		a := u.abbrevs.Lookup(code)
		if a == nil {
			return true
		}
		switch a.Tag {
		case dwarf.TagLabel, dwarf.TagSubprogram, dwarf.TagVariable, dwarf.TagNamespace, dwarf.TagUnspecifiedType,
			dwarf.TagImportedDecl, dwarf.TagImportedModule, dwarf.TagImportedUnit:
		default:
			return true
		}
		if p, _ = u.abbrevs.Decode(a, b, q, &u.vals); p < 0 {
			return true
		}
		if a.Children {
			var ok bool
			if p, ok = f.skipChildren(u, p); !ok {
				return true
			}
		}
	}
	return false
}

// wrongLanguage says whether the language options leave a unit out.
func (f *file) wrongLanguage(lang uint16) bool {
	if len(f.opt.Lang) > 0 {
		for _, l := range f.opt.Lang {
			if l == lang {
				return false
			}
		}
		return true
	}
	for _, l := range f.opt.LangExclude {
		if l == lang {
			return true
		}
	}
	return false
}
