package unit

import (
	"cmp"
	"slices"

	"github.com/btflite/btflite/internal/debuginfo"
)

// Type units (package debuginfo has their index) are read with the unit that leads
// to them: they are parts of the unit, as the units of a group are.

// readTypes adds the type units that u leads to, directly or by
// others, and settles references by signature. The unit has been linked. seeds are
// type units that no unit leads to; then these alone are read.
func (in *Input) readTypes(u *Unit, seeds []uint32) error {
	t, err := u.File.Types()
	if err != nil {
		return err
	}
	at, facts := u.Save(), u.Facts
	read := make(map[uint32]bool)
	add := func(i uint32, filter bool) error {
		if read[i] {
			return nil
		}
		read[i] = true
		err := in.readType(u, t, i, filter)
		facts.DIEs += u.DIEs
		return err
	}
	for _, i := range seeds {
		if err := add(i, true); err != nil {
			return err
		}
	}
	for k := 0; k < len(u.NeedTypes); k++ {
		if err := add(u.NeedTypes[k], false); err != nil {
			return err
		}
	}
	u.Restore(at)
	u.Language, u.Clang, u.DIEs = facts.Language, facts.Clang, facts.DIEs
	slices.SortFunc(u.parts.S, func(a, b part) int { return cmp.Compare(a.off, b.off) })
	in.linkCross(u)
	return nil
}

// readType walks and links type unit i. With filter the language options
// hold for it, else for what led to it.
func (in *Input) readType(u *Unit, t *debuginfo.TypeIndex, i uint32, filter bool) error {
	u.from = u.mark()
	order, annots := len(u.FuncOrder.S), len(u.Annots.S)
	u.extra.Reset()
	u.starts.Reset()
	u.DIEs = 0
	place, err := t.Open(&u.Cursor, i)
	if err != nil {
		return err
	}
	p, skip, err := in.unitDIE(u)
	if err != nil || skip || filter && in.filtered(u) {
		return err
	}
	if err := in.walk(u, p); err != nil {
		return err
	}
	if err := u.CheckNames(); err != nil {
		return err
	}
	// Methods are declared here and described where the unit has them.
	u.Funcs.S, u.Params.S, u.Vars.S = u.Funcs.S[:u.from.funcs], u.Params.S[:u.from.params], u.Vars.S[:u.from.vars]
	u.FuncOrder.S, u.Annots.S = u.FuncOrder.S[:order], u.Annots.S[:annots]
	in.linkRefs(u)
	u.addPart(place)
	return nil
}

// ReadTypes reads type units that no unit leads to, and what they lead to.
func (in *Input) ReadTypes(u *Unit, seeds []uint32) error {
	u.File = in.File
	if err := in.readTypes(u, seeds); err != nil {
		return err
	}
	return in.linkRest(u)
}
