package unit

import (
	"cmp"
	"slices"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/callconv"
)

// The units of a group are walked and linked one after another, into the tables of one
// Unit. References inside a unit are resolved with the unit, as always. References
// that leave the unit are markers (crossRef) until all units of the group are read.

// tableSizes returns the current sizes of all tables. There the next unit starts.
func (r *Reader) tableSizes() tableSizes {
	return tableSizes{len(r.Unit.Types.Nodes.S), len(r.Unit.Types.Order.S), len(r.Unit.Funcs.S), len(r.Unit.Params.S), len(r.Unit.Vars.S), len(r.stubs)}
}

// sectionOffsets makes the DIE offsets of functions, parameters and variables of the unit that was
// walked last count from the start of .debug_info.
func (r *Reader) sectionOffsets() error {
	u := &r.Unit
	if r.Cursor.Base+r.Cursor.Hdr.End() > 1<<32-1 {
		return r.Cursor.UnitError("units that refer to each other lie beyond 4 GiB")
	}
	base := uint32(r.Cursor.Base + r.Cursor.Hdr.Off)
	at := func(off uint32) uint32 {
		switch {
		case off == 0:
			return 0
		case off&extraRef != 0:
			return uint32(r.cross.S[off&^(extraRef|crossRef)])
		}
		return base + off
	}
	for i := range u.Funcs.S[r.from.funcs:] {
		fn := &u.Funcs.S[r.from.funcs+i]
		fn.Off, fn.Origin, fn.Spec = at(fn.Off), at(fn.Origin), at(fn.Spec)
	}
	for i := range u.Vars.S[r.from.vars:] {
		u.Vars.S[r.from.vars+i].Off += base
	}
	for i := range u.Params.S[r.from.params:] {
		p := &u.Params.S[r.from.params+i]
		p.Off, p.Origin = at(p.Off), at(p.Origin)
		switch {
		case p.LocKind == callconv.LocExpr:
			p.LocOff += base
		case p.LocKind == callconv.LocList && r.Cursor.Base != 0:
			p.LocKind = callconv.LocBad // it is in the alternate file, which has no code
		}
	}
	return nil
}

// linkCross resolves the references between units of the group.
func (r *Reader) linkCross() {
	u := &r.Unit
	if len(r.cross.S) == 0 {
		return
	}
	to := func(ref dedup.Ref) dedup.Ref {
		if ref&(crossRef|dedup.Extern) == crossRef {
			if ref = r.group.refAt(r.cross.S[ref&^crossRef]); ref == 0 {
				u.Unencodable.voids = true
			}
		}
		return ref
	}
	u.relink(0, to)
	for i := range u.Types.Nodes.S {
		n := &u.Types.Nodes.S[i]
		switch btf.InfoKind(n.Info) {
		case btf.KindEnum, btf.KindEnum64:
			// link leaves a marker only in this place
			if typ := to(n.Aux); typ != 0 {
				u.signEnum(n, typ)
				if r.In.Options.KeepSigns {
					u.noteSign(uint32(i), typ)
				}
			}
			n.Aux = 0
		}
	}
	for i := range u.Funcs.S {
		u.Funcs.S[i].Type = to(u.Funcs.S[i].Type)
	}
	for i := range u.Params.S {
		u.Params.S[i].Type = to(u.Params.S[i].Type)
	}
	for i := range u.Vars.S {
		u.Vars.S[i].Type = to(u.Vars.S[i].Type)
	}
	for i := range r.stubs {
		r.stubs[i].ref = to(r.stubs[i].ref)
	}
}

// relink replaces the references of the nodes from index from on.
func (u *Unit) relink(from int, to func(dedup.Ref) dedup.Ref) {
	for i := range u.Types.Nodes.S[from:] {
		n := &u.Types.Nodes.S[from+i]
		if k := btf.InfoKind(n.Info); k == btf.KindPtr || needsTarget(k) {
			n.Third = to(n.Third)
		}
		ms := u.membersOf(n)
		for j := range ms {
			ms[j].Type = to(ms[j].Type)
		}
	}
}

// partAt returns the part of the group that contains the section offset.
func (g *group) partAt(off uint64) (int, bool) {
	k, found := slices.BinarySearchFunc(g.parts.S, off, func(p part, off uint64) int { return cmp.Compare(p.off, off) })
	if !found {
		k--
	}
	return k, k >= 0 && off < g.parts.S[k].end
}

// refAt returns the type whose DIE is at a section offset; 0 if there is none.
func (g *group) refAt(off uint64) dedup.Ref {
	k, ok := g.partAt(off)
	if !ok {
		return 0
	}
	p := &g.parts.S[k]
	return startRef(g.allStarts.S[p.bits:], uint32(off-p.off))
}

// addPart makes the unit that was walked last a part of the group.
func (r *Reader) addPart(off uint64) {
	r.group.parts.Append(part{off: off, end: off + uint64(len(r.Cursor.Hdr.Data)), bits: uint32(len(r.group.allStarts.S))})
	r.group.allStarts.AppendSlice(r.starts.S)
}
