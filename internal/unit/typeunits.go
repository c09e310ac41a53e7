package unit

import (
	"cmp"
	"slices"

	"github.com/btflite/btflite/internal/debuginfo"
)

// Type units are read with the unit that refers to them. They become parts of the unit,
// like the units of a group. Package debuginfo has their index.

// readTypes adds the type units that the unit refers to, directly or through others, and
// resolves references by signature. The unit has been linked. If seeds is set, it reads
// only the type units in seeds, to which no unit refers.
func (r *Reader) readTypes(seeds []uint32) error {
	t, err := r.Cursor.File.Types()
	if err != nil {
		return err
	}
	at, facts := r.Cursor.Save(), r.Unit.Facts
	read := make(map[uint32]bool)
	add := func(i uint32, filter bool) error {
		if read[i] {
			return nil
		}
		read[i] = true
		err := r.readType(t, i, filter)
		facts.DIEs += r.Unit.Facts.DIEs
		return err
	}
	for _, i := range seeds {
		if err := add(i, true); err != nil {
			return err
		}
	}
	for k := 0; k < len(r.NeedTypes); k++ {
		if err := add(r.NeedTypes[k], false); err != nil {
			return err
		}
	}
	r.Cursor.Restore(at)
	f := &r.Unit.Facts
	f.Language, f.Clang, f.DIEs = facts.Language, facts.Clang, facts.DIEs
	slices.SortFunc(r.group.parts.S, func(a, b part) int { return cmp.Compare(a.off, b.off) })
	r.linkCross()
	return nil
}

// readType walks and links type unit i. With filter, the language options apply to it;
// otherwise they applied to the unit that refers to it.
func (r *Reader) readType(t *debuginfo.TypeIndex, i uint32, filter bool) error {
	u := &r.Unit
	r.from = r.tableSizes()
	order, annots := len(u.FuncOrder.S), len(u.Annots.S)
	r.extra.Reset()
	r.starts.Reset()
	u.Facts.DIEs = 0
	place, err := t.Open(&r.Cursor, i)
	if err != nil {
		return err
	}
	p, skip, err := r.unitDIE()
	if err != nil || skip || filter && r.filtered() {
		return err
	}
	if err := r.walk(p); err != nil {
		return err
	}
	// Methods are declared here; the unit itself describes them.
	u.Funcs.S, u.Params.S, u.Vars.S = u.Funcs.S[:r.from.funcs], u.Params.S[:r.from.params], u.Vars.S[:r.from.vars]
	u.FuncOrder.S, u.Annots.S = u.FuncOrder.S[:order], u.Annots.S[:annots]
	r.linkRefs()
	r.addPart(place)
	return nil
}

// ReadTypes reads type units to which no unit refers, and the type units that they refer
// to.
func (r *Reader) ReadTypes(seeds []uint32) error {
	r.Cursor.File = r.In.File
	if err := r.readTypes(seeds); err != nil {
		return err
	}
	return r.Settle()
}
