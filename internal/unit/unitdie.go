package unit

import (
	"bytes"

	"github.com/btflite/btflite/internal/debuginfo"
	"github.com/btflite/btflite/internal/dwarf"
)

// Start reads the unit DIE of the unit at the cursor. The DIEs below it start at offset p in the
// unit. skip is true if there are none, the unit is filtered out, or its DIEs are in a .dwo file
// (Facts tells which).
func (r *Reader) Start() (p int, skip bool, err error) {
	if err := r.Cursor.Start(); err != nil {
		return 0, false, err
	}
	return r.unitDIE()
}

// unitDIE reads the unit DIE and applies the filters.
func (r *Reader) unitDIE() (p int, skip bool, err error) {
	c, facts := &r.Cursor, &r.Unit.Facts
	a, next, have, err := c.UnitDIE()
	const ofRecord = 1<<dwarf.VRecord | 1<<dwarf.VRecordBlock
	if err == nil && c.Record.Bytes == nil && (a == nil || !a.Children || have&ofRecord != 0 || c.File.Survey.Records) {
		err = debuginfo.CheckLost(c)
	}
	if err != nil || a == nil {
		return 0, err == nil, err
	}
	facts.DIEs = 1
	facts.Language = uint16(c.Number(have, dwarf.VLanguage))
	var producer []byte
	if have&(1<<dwarf.VProducer) != 0 {
		producer = c.File.Names.Text(c.NameValue(&c.Vals[dwarf.VProducer]))
		facts.Clang = bytes.Contains(producer, []byte("clang"))
	}
	if facts.Skeleton = c.ReadSkeleton(have); facts.Skeleton != nil {
		return 0, true, nil
	}
	r.partial = a.Tag == dwarf.TagPartialUnit
	switch a.Tag {
	case dwarf.TagSkeletonUnit:
		return 0, false, c.DIEError(c.Hdr.First, "skeleton unit of split DWARF without DW_AT_dwo_name")
	case dwarf.TagPartialUnit:
		if r.In.Merged == nil {
			return 0, false, crossUnitError(c, c.Hdr.First)
		}
	}
	if !c.Hdr.IsType() && r.filtered() {
		facts.Filtered = true
		return 0, true, nil
	}
	if facts.Foreign == 0 && foreign(facts.Language, producer) {
		facts.Foreign = facts.Language
	}
	if c.Record.Bytes != nil {
		return next, false, nil
	}
	if !a.Children {
		return next, true, c.CheckEnd(next)
	}
	return next, false, nil
}

// lacksTypes reports whether a unit from which no type was read has DIEs that should have given some.
// p is where the walk started. Assemblers write units with only labels or functions. Anything
// else is damage.
func lacksTypes(c *debuginfo.Cursor, p int) bool {
	e := c.Entries(p)
	for e.Next() && e.Abbrev != nil {
		switch e.Abbrev.Tag {
		case dwarf.TagLabel, dwarf.TagSubprogram, dwarf.TagVariable, dwarf.TagNamespace, dwarf.TagUnspecifiedType,
			dwarf.TagImportedDecl, dwarf.TagImportedModule, dwarf.TagImportedUnit:
			e.Skip()
		default:
			return true
		}
	}
	return e.Fault != ""
}

// OpenPlace reads the header of unit k of a merged file.
func (r *Reader) OpenPlace(k int) error {
	p, from := &r.In.Merged.Places[k], r.In.FileOf(k)
	r.Cursor.Base = p.Base
	return from.InFile(from.Header(p.Off-p.Base, &r.Cursor))
}

// filtered reports whether the unit is filtered out. In a merged file, units are filtered
// only if languages are excluded, and then by name too. If the first unit's language is
// excluded, all units are (pahole-behaviour 1.4.1).
func (r *Reader) filtered() bool {
	if r.In.Merged != nil && (len(r.In.Options.Lang) > 0 || len(r.In.Options.LangExclude) == 0) {
		return false
	}
	return r.In.WrongName(r.Cursor.Name) || r.In.Options.WrongLanguage(r.Unit.Facts.Language)
}
