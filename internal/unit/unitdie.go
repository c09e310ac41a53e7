package unit

import (
	"github.com/btflite/btflite/internal/debuginfo"
	"github.com/btflite/btflite/internal/dwarf"
)

// Start makes the unit ready to be walked from p on, unless it is to be
// skipped: it has no DIEs, it is filtered, or a .dwo has its DIEs.
func (in *Input) Start(u *Unit) (p int, skip bool, err error) {
	if err := u.Cursor.Start(); err != nil {
		return 0, false, err
	}
	return in.unitDIE(u)
}

// unitDIE reads the unit DIE and applies the filters.
func (in *Input) unitDIE(u *Unit) (p int, skip bool, err error) {
	a, next, have, err := u.UnitDIE()
	if err == nil && u.Record == nil && (a == nil || !a.Children || u.File.Survey.Records) {
		err = debuginfo.CheckLost(&u.Cursor)
	}
	if err != nil || a == nil {
		return 0, err == nil, err
	}
	u.DIEs = 1
	u.Language = uint16(u.Number(have, dwarf.VLanguage))
	var producer []byte
	if have&(1<<dwarf.VProducer) != 0 {
		producer = u.File.Names.Text(u.NameValue(&u.Vals[dwarf.VProducer]))
		u.Clang = containsClang(producer)
	}
	if u.Skeleton = u.ReadSkeleton(have); u.Skeleton != nil {
		return 0, true, nil
	}
	switch a.Tag {
	case dwarf.TagSkeletonUnit:
		return 0, false, u.DIEError(u.Hdr.First, "skeleton unit of split DWARF without DW_AT_dwo_name")
	case dwarf.TagPartialUnit:
		if in.Merged == nil {
			return 0, false, u.alone(u.Hdr.First)
		}
	}
	if !u.Hdr.IsType() && in.filtered(u) {
		u.Filtered = true
		return 0, true, nil
	}
	if u.Foreign == 0 && foreign(u.Language, producer) {
		u.Foreign = u.Language
	}
	if u.Record != nil {
		if in.Merged != nil {
			return 0, false, u.DIEError(u.Hdr.First, "unit record in a file whose units refer to each other")
		}
		return next, false, nil
	}
	if !a.Children {
		return next, true, u.CheckEnd(next)
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

// hides reports whether a unit from whose walk from p on no type has come has
// DIEs from which one should have come. Assemblers make units of labels or
// functions only. Anything else is damage.
func (u *Unit) hides(p int) bool {
	b := u.Hdr.Data
	for p < len(b) {
		code, q := dwarf.ULEB(b, p)
		if q < 0 || code == 0 {
			return q < 0
		}
		a := u.Abbrevs.Lookup(code)
		if a == nil {
			return true
		}
		switch a.Tag {
		case dwarf.TagLabel, dwarf.TagSubprogram, dwarf.TagVariable, dwarf.TagNamespace, dwarf.TagUnspecifiedType,
			dwarf.TagImportedDecl, dwarf.TagImportedModule, dwarf.TagImportedUnit:
		default:
			return true
		}
		if p, _ = u.Abbrevs.Decode(a, b, q, &u.Vals); p < 0 {
			return true
		}
		if a.Children {
			var ok bool
			if p, ok = u.SkipChildren(p); !ok {
				return true
			}
		}
	}
	return false
}
