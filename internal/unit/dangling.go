package unit

import (
	"slices"

	"github.com/btflite/btflite/internal/debuginfo"
	"github.com/btflite/btflite/internal/dwarf"
)

// checkDangling checks the references of the unit, by their offsets in the unit, that
// lead to no type that was read. Some are right: the DIE stands for void
// (DW_TAG_unspecified_type), or is in a part of the tree that is not read. A reference
// into the middle of a DIE, or to a DIE that is not a type, is damage. To read it as void
// would silently change a type. With count, it adds types of unknown kinds to Counts.
func (x *Unencodable) checkDangling(c *debuginfo.Cursor, offs []uint32, count bool) error {
	slices.Sort(offs)
	offs = slices.Compact(offs)
	e := c.Entries(c.Hdr.First)
	for len(offs) > 0 && e.Next() && uint32(e.Off) <= offs[0] {
		a := e.Abbrev
		if a == nil {
			continue
		}
		if uint32(e.Off) == offs[0] {
			if !mayBeType(a.Class) {
				return c.DIEError(e.Off, "a reference to a type leads here, but this DIE is none")
			}
			if offs = offs[1:]; count && a.Class == dwarf.ClassSkip {
				x.count(goneUnknown, 1)
			}
			x.addVoid(tagName(a.Tag))
		}
		e.Pass()
	}
	if len(offs) > 0 {
		return c.DIEError(int(offs[0]), "a reference to a type leads here, where no DIE begins")
	}
	return nil
}

// mayBeType reports whether a DIE of a class can be a type, or is of an unknown kind.
func mayBeType(c dwarf.Class) bool {
	switch c {
	case dwarf.ClassMember, dwarf.ClassEnumerator, dwarf.ClassParam, dwarf.ClassVariadic, dwarf.ClassFunc, dwarf.ClassVariable,
		dwarf.ClassBlock, dwarf.ClassNamespace, dwarf.ClassAnnotation, dwarf.ClassInheritance, dwarf.ClassUnit, dwarf.ClassImport:
		return false
	}
	return true
}
