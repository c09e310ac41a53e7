package encode

import (
	"github.com/btflite/btflite/internal/debuginfo"
	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/internal/unit"
	"github.com/btflite/btflite/internal/unitrecord"
)

// The plan of a merged file says which units are read as one group. To make it, only some
// units are looked through: those whose abbreviations refer to other units, and those
// before the first int.

// planner collects how far the references of each unit lead.
type planner struct {
	f       *input
	last    []int           // by unit: the highest unit that must be in its group
	cross   []bool          // by unit: it refers to types of other units
	calls   map[[2]int]bool // pairs of units whose functions refer to each other
	needInt bool            // no int was found yet
	again   []int           // units that were skipped and are needed after all
	record  unitrecord.Reader
}

// plan fills f.merge.
func (f *input) plan() error {
	m := f.merge
	pl := planner{f: f, calls: map[[2]int]bool{}, needInt: f.run.arrayIndex.Load() == 0}
	r := unit.Reader{In: &f.Input}
	r.Init(f.run.limit)
	defer r.Free()
	if err := f.listUnits(f.File, 0, &r.Cursor); err != nil {
		return err
	}
	f.File.Rewind()
	if f.File.Alt != nil {
		if err := f.listUnits(f.File.Alt, uint64(len(f.File.Info)), &r.Cursor); err != nil {
			return err
		}
	}
	n := len(m.Places)
	pl.last, pl.cross = make([]int, n), make([]bool, n)
	if f.File.Alt != nil {
		pl.join(0, n-1)
		pl.cross[0] = true
	}
	for k := 0; k < n; k++ {
		if m.Places[k].Skip {
			continue
		}
		pl.last[k] = max(pl.last[k], k)
		if err := pl.look(&r, k); err != nil {
			return err
		}
		if m.dropped {
			return nil
		}
		pl.release(&r.Cursor)
		if pl.needInt {
			// Arrays of this unit take the int of a later unit, or the one that is added
			// at the end.
			if pl.needInt = r.Unit.FirstInt == 0; pl.needInt {
				pl.join(k, min(k+1, n-1))
			}
		}
	}
	for len(pl.again) > 0 {
		k := pl.again[len(pl.again)-1]
		pl.again = pl.again[:len(pl.again)-1]
		if err := pl.look(&r, k); err != nil {
			return err
		}
	}
	f.File.Rewind() // the file is read again for encoding
	if m.hasImports {
		for c := range pl.calls {
			pl.join(c[0], c[1])
		}
	}
	group := make([]int, n)
	for i := 0; i < n; {
		g := unit.Group{First: i, End: i + 1}
		for k := i; k < g.End; k++ {
			g.End = max(g.End, pl.last[k]+1)
			g.Cross = g.Cross || pl.cross[k]
			group[k] = len(m.groups)
		}
		m.groups = append(m.groups, g)
		i = g.End
	}
	for c := range pl.calls {
		if group[c[0]] != group[c[1]] {
			m.pending = new(pendingFuncs)
			m.pending.u.init(f.run.limit)
			break
		}
	}
	return nil
}

// release releases the pages of the file up to the unit at c, which has been read.
func (pl *planner) release(c *debuginfo.Cursor) {
	if c.Base == 0 {
		pl.f.File.Passed(c)
	}
}

// join puts units a and b, and all between them, into one group.
func (pl *planner) join(a, b int) {
	pl.last[min(a, b)] = max(pl.last[min(a, b)], max(a, b))
}

// look reads unit k as far as the plan needs it. It sets r.Unit.FirstInt to the first int
// of the unit, if the plan still needs one.
func (pl *planner) look(r *unit.Reader, k int) error {
	f := pl.f
	m := f.merge
	r.Reset()
	if err := r.OpenPlace(k); err != nil {
		return err
	}
	p, skip, err := r.Start()
	if err != nil {
		return err
	}
	if k == 0 {
		m.Language, m.Clang, m.AddrSize = r.Unit.Facts.Language, r.Unit.Facts.Clang, r.Cursor.Hdr.AddrSize
		m.dropped = f.Options.WrongLanguage(r.Unit.Facts.Language)
	}
	if r.Unit.Facts.Filtered {
		f.logFiltered(r)
	}
	switch {
	case skip || !pl.needInt && !r.Cursor.Abbrevs.Cross():
		return nil
	case r.Cursor.Record.Bytes != nil: // a unit record refers to no other unit
		has, err := pl.record.HasInt(&r.Cursor)
		if has {
			r.Unit.FirstInt = 1
		}
		return err
	}
	return pl.scan(r, k, p)
}

// scan reads all DIEs of unit k from p on.
func (pl *planner) scan(r *unit.Reader, k, p int) error {
	c := &r.Cursor
	e, cross := c.Entries(p), c.Abbrevs.Cross()
	for depth := 1; depth > 0 && e.Next(); {
		a := e.Abbrev
		if a == nil {
			depth--
			continue
		}
		switch isInt := pl.needInt && r.Unit.FirstInt == 0 && a.Class == dwarf.ClassBase; {
		case a.Fixed && !isInt && !a.Cross() && a.Class != dwarf.ClassImport:
			e.Pass()
		case !e.Decode():
		case isInt && c.File.Names.IsInt(c.NameOf(e.Have)):
			if r.Unit.FirstInt = 1; !cross {
				return nil
			}
		default:
			pl.references(c, a, e.Have, k, depth > 1)
		}
		switch {
		case !a.Children:
		case a.Class != dwarf.ClassSkip && (pl.f.opt.For == ForReaders || a.Class < dwarf.ClassForReaders):
			depth++
		default:
			e.SkipChildren()
		}
	}
	return debuginfo.EntryError(&c.Position, &e)
}

// references notes the references in the DIE that was decoded last. inside says that the
// DIE is a child.
func (pl *planner) references(c *debuginfo.Cursor, a *dwarf.Abbrev, have uint32, k int, inside bool) {
	if a.Class == dwarf.ClassImport && have&(1<<dwarf.VImport) != 0 {
		if at, ok := debuginfo.Target(c, &c.Vals[dwarf.VImport]); ok {
			pl.importUnit(k, at)
		}
	}
	switch {
	case !a.Cross(), a.Class == dwarf.ClassUnit:
	case a.Class == dwarf.ClassVariable && inside:
		// A reference to the alternate file does not lead to another unit of this file.
		// But that file's types are needed where the unit's own types would be in the
		// BTF.
		if at, ok := c.File.InAlt(&c.Vals[dwarf.VType]); ok && have&(1<<dwarf.VType) != 0 {
			pl.refer(k, at, true)
		}
	case pl.f.opt.For != ForReaders && (a.Class == dwarf.ClassInheritance || a.Class == dwarf.ClassForReaders):
	default:
		pl.note(c, k, dwarf.VType, have, true)
		pl.note(c, k, dwarf.VOrigin, have, false)
		pl.note(c, k, dwarf.VSpec, have, a.Class == dwarf.ClassVariable)
		if pl.f.opt.For == ForReaders {
			pl.note(c, k, dwarf.VContaining, have, false)
		}
	}
}

// importUnit notes that unit k imports the unit at a section offset.
func (pl *planner) importUnit(k int, target uint64) {
	pl.f.merge.hasImports = true
	pl.refer(k, target, true)
}

// note keeps the reference in decoded value v if it leaves unit k. types says that it refers to a type,
// not to a function or parameter.
func (pl *planner) note(c *debuginfo.Cursor, k, v int, have uint32, types bool) {
	if have>>v&1 == 0 {
		return
	}
	if at, ok := debuginfo.Target(c, &c.Vals[v]); ok && at-c.Base-c.Hdr.Off >= uint64(len(c.Hdr.Data)) {
		pl.refer(k, at, types)
	}
}

// refer keeps a reference from unit k to a section offset. types is as for note.
func (pl *planner) refer(k int, target uint64, types bool) {
	m := pl.f.merge
	t, ok := m.At(target)
	if ok && m.Places[t].Skip {
		m.Places[t].Skip = false
		if t < k {
			pl.again = append(pl.again, t)
		}
	}
	switch {
	case !ok || t == k:
	case types:
		pl.join(k, t)
		pl.cross[k] = true
	default:
		pl.calls[[2]int{k, t}] = true
	}
}

// listUnits adds the units of the file. For the alternate file, base is not 0.
func (f *input) listUnits(from *debuginfo.File, base uint64, c *debuginfo.Cursor) error {
	m := f.merge
	for c.Hdr = (dwarf.Unit{}); base != 0 || f.opt.CULimit <= 0 || len(m.Places) < f.opt.CULimit; {
		if err := f.run.stopped(); err != nil {
			return err
		}
		if ok, err := from.Next(c); !ok {
			return err
		}
		m.Places = append(m.Places, unit.Place{Off: base + c.Hdr.Off, Base: base, Skip: base != 0})
		if base == 0 {
			from.Passed(c)
		}
	}
	return nil
}
