package encode

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/btflite/btflite/internal/dwarf"
)

// The plan of a file whose units are merged: which of them have to be read as
// one group. Only units are looked through whose abbreviations have
// references to other units, and those before the first int.

// mergeUnit is a unit of the file.
type mergeUnit struct {
	off   uint64 // of the header: in .debug_info, or base + that in the alternate file
	base  uint64 // 0, or of the alternate file the size of .debug_info
	reloc int    // first relocation, see unit.firstReloc
	skip  bool   // of the alternate file, and nothing refers to it
}

// mergeGroup is a run of units that are read as one.
type mergeGroup struct {
	first, end int  // indexes of units; end is not of it
	cross      bool // references lead from unit to unit
}

// planner collects how far each unit's references lead.
type planner struct {
	f       *file
	last    []int           // by unit: the last one that has to be in its group
	cross   []bool          // by unit: references to types leave it
	calls   map[[2]int]bool // pairs of units: functions of one lead to the other
	needInt bool            // no int has been seen
	again   []int           // units that were skipped and should not have been
}

// plan fills f.merge.
func (f *file) plan() error {
	m := f.merge
	pl := planner{f: f, calls: map[[2]int]bool{}, needInt: f.run.intID.Load() == 0}
	var u unit
	u.init(f.run.limit)
	defer u.free()
	reloc := 0
	for off := uint64(0); off < uint64(len(f.info)); off = u.hdr.End() {
		if err := f.run.stopped(); err != nil {
			return err
		}
		if n := f.opt.CULimit; n > 0 && len(m.units) >= n {
			break
		}
		k := mergeUnit{off: off, reloc: reloc}
		if err := f.header(off, reloc, &u); err != nil {
			return fmt.Errorf("%s: %w", f.path, err)
		}
		reloc = u.lastReloc
		m.units = append(m.units, k)
		pl.behind(&u)
	}
	f.infoSec.given = 0
	if m.alt != nil {
		if err := f.planAlt(&u); err != nil {
			return err
		}
	}
	n := len(m.units)
	pl.last, pl.cross = make([]int, n), make([]bool, n)
	if m.alt != nil {
		pl.join(0, n-1)
		pl.cross[0] = true
	}
	for k := 0; k < n; k++ {
		if m.units[k].skip {
			continue
		}
		pl.last[k] = max(pl.last[k], k)
		if err := pl.look(&u, k); err != nil {
			return err
		}
		if m.dropped {
			return nil
		}
		pl.behind(&u)
		if pl.needInt {
			// Arrays of this unit need the int that comes later, or is added
			// at the end.
			if pl.needInt = u.firstInt == 0; pl.needInt {
				pl.join(k, min(k+1, n-1))
			}
		}
	}
	for len(pl.again) > 0 {
		k := pl.again[len(pl.again)-1]
		pl.again = pl.again[:len(pl.again)-1]
		if err := pl.look(&u, k); err != nil {
			return err
		}
	}
	f.infoSec.given = 0 // it is read once more
	if m.all {
		for c := range pl.calls {
			pl.join(c[0], c[1])
		}
	}
	group := make([]int, n)
	for i := 0; i < n; {
		g := mergeGroup{first: i, end: i + 1}
		for k := i; k < g.end; k++ {
			g.end = max(g.end, pl.last[k]+1)
			g.cross = g.cross || pl.cross[k]
			group[k] = len(m.groups)
		}
		m.groups = append(m.groups, g)
		i = g.end
	}
	for c := range pl.calls {
		if group[c[0]] != group[c[1]] {
			m.late = new(lateFuncs)
		}
	}
	return nil
}

// unitAt is the unit in which the section offset lies.
func (m *merged) unitAt(off uint64) (int, bool) {
	k, found := slices.BinarySearchFunc(m.units, off, func(u mergeUnit, off uint64) int { return cmp.Compare(u.off, off) })
	if !found {
		k--
	}
	return k, k >= 0
}

// behind gives back what has been read.
func (pl *planner) behind(u *unit) {
	if s := &pl.f.infoSec; u.base == 0 && u.hdr.End() >= s.given+pl.f.releaseStep() {
		s.release(pl.f, u.hdr.End())
	}
}

func (pl *planner) join(a, b int) {
	pl.last[min(a, b)] = max(pl.last[min(a, b)], max(a, b))
}

// look reads unit k as far as the plan needs it. It sets u.firstInt if the
// unit has an int and none was known.
func (pl *planner) look(u *unit, k int) error {
	f := pl.f
	m := f.merge
	u.reset()
	from := f.fileOf(k)
	u.base = m.units[k].base
	if err := from.header(m.units[k].off-u.base, m.units[k].reloc, u); err != nil {
		return fmt.Errorf("%s: %w", from.path, err)
	}
	p, skip, err := from.startUnit(u)
	if err != nil {
		return err
	}
	if k == 0 {
		m.language, m.clang, m.addrSize = u.language, u.clang, u.hdr.AddrSize
		m.dropped = f.wrongLanguage(u.language)
	}
	if u.filtered {
		f.logFiltered(u)
	}
	if skip || !pl.needInt && !u.abbrevs.Cross() {
		return nil
	}
	return pl.scan(u, k, p)
}

// scan looks at all DIEs of unit k from p on.
func (pl *planner) scan(u *unit, k, p int) error {
	f := pl.f.fileOf(k)
	b := u.hdr.Data
	cross := u.abbrevs.Cross()
	for depth := 1; p < len(b) && depth > 0; {
		off := p
		code, q := dwarf.ULEB(b, p)
		if q < 0 {
			return f.dieError(u, off, "abbreviation code cut off")
		}
		p = q
		if code == 0 {
			depth--
			continue
		}
		a := u.abbrevs.Lookup(code)
		if a == nil {
			return f.dieError(u, off, "no abbreviation has its code")
		}
		isInt := pl.needInt && u.firstInt == 0 && a.Class == dwarf.ClassBase
		if a.Fixed && !isInt && !a.Cross() && a.Class != dwarf.ClassImport {
			p += int(a.Size)
		} else {
			next, have := u.abbrevs.Decode(a, b, p, &u.vals)
			if next < 0 {
				return f.cutOff(u, off)
			}
			p = next
			if isInt && f.names.IsInt(f.nameOf(u, have)) {
				if u.firstInt = 1; !cross {
					return nil
				}
			}
			if a.Class == dwarf.ClassImport && have&(1<<dwarf.VImport) != 0 {
				if at, ok := f.importTarget(u, &u.vals[dwarf.VImport]); ok {
					pl.load(k, at)
				}
			}
			switch {
			case !a.Cross():
			case a.Class == dwarf.ClassVariable && depth > 1:
				// Of no use here, but where the unit's own types would be in
				// the BTF, those that went to the alternate file are too.
				if at, ok := f.altTarget(&u.vals[dwarf.VType]); ok && have&(1<<dwarf.VType) != 0 {
					pl.refer(k, at, true)
				}
			default:
				pl.note(u, k, dwarf.VType, have, true)
				pl.note(u, k, dwarf.VOrigin, have, false)
				pl.note(u, k, dwarf.VSpec, have, a.Class == dwarf.ClassVariable)
			}
		}
		if a.Children {
			if a.Class != dwarf.ClassSkip {
				depth++
				continue
			}
			var ok bool
			if p, ok = f.skipChildren(u, p); !ok {
				return f.cutOff(u, off)
			}
		}
	}
	return nil
}

// load keeps an import by unit k of the unit at a section offset.
func (pl *planner) load(k int, target uint64) {
	pl.f.merge.all = true
	pl.refer(k, target, true)
}

// note keeps a reference that leaves unit k.
func (pl *planner) note(u *unit, k, v int, have uint32, types bool) {
	x := &u.vals[v]
	if have>>v&1 == 0 {
		return
	}
	if x.Form == dwarf.FormRefAddr && (x.U < u.hdr.Off || x.U >= u.hdr.End()) {
		pl.refer(k, u.base+x.U, types)
	} else if at, ok := pl.f.fileOf(k).altTarget(x); ok {
		pl.refer(k, at, types)
	}
}

// refer keeps a reference from unit k to a section offset.
func (pl *planner) refer(k int, target uint64, types bool) {
	m := pl.f.merge
	t, ok := m.unitAt(target)
	if ok && m.units[t].skip {
		m.units[t].skip = false
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

// planAlt adds the units of the alternate file.
func (f *file) planAlt(u *unit) error {
	m := f.merge
	alt := m.alt
	base := uint64(len(f.info))
	for off := uint64(0); off < uint64(len(alt.info)); off = u.hdr.End() {
		if err := alt.header(off, 0, u); err != nil {
			return fmt.Errorf("%s: %w", alt.path, err)
		}
		m.units = append(m.units, mergeUnit{off: base + off, base: base, skip: true})
	}
	return nil
}
