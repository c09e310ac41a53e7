package unit

import (
	"cmp"
	"slices"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/callconv"
)

// Reading of a group: its units are walked and linked one behind the other
// into the tables of one workspace. References inside a unit are settled with the
// unit, as always; those that leave it are markers until all units of the
// group are there.

// mark is the end of all tables.
func (u *Unit) mark() mark {
	return mark{len(u.Types.Nodes.S), len(u.Types.Order.S), len(u.Funcs.S), len(u.Params.S), len(u.Vars.S), len(u.stubs)}
}

// sectionOffsets makes DIE offsets that stay offsets count from the start of
// .debug_info.
func (u *Unit) sectionOffsets() error {
	if u.Base+u.Hdr.End() > 1<<32-1 {
		return u.UnitError("units that refer to each other lie beyond 4 GiB")
	}
	base := uint32(u.Base + u.Hdr.Off)
	at := func(off uint32) uint32 {
		switch {
		case off == 0:
			return 0
		case off&extraRef != 0:
			return uint32(u.cross.S[off&^(extraRef|crossRef)])
		}
		return base + off
	}
	for i := range u.Funcs.S[u.from.funcs:] {
		fn := &u.Funcs.S[u.from.funcs+i]
		fn.Off, fn.Origin, fn.Spec = at(fn.Off), at(fn.Origin), at(fn.Spec)
	}
	for i := range u.Vars.S[u.from.vars:] {
		u.Vars.S[u.from.vars+i].Off += base
	}
	for i := range u.Params.S[u.from.params:] {
		p := &u.Params.S[u.from.params+i]
		p.Off, p.Origin = at(p.Off), at(p.Origin)
		switch {
		case p.LocKind == callconv.LocExpr:
			p.LocOff += base
		case p.LocKind == callconv.LocList && u.Base != 0:
			p.LocKind = callconv.LocBad // in the alternate file: there is no code
		}
	}
	return nil
}

// linkCross settles the references between units of the group.
func (in *Input) linkCross(u *Unit) {
	if len(u.cross.S) == 0 {
		return
	}
	to := func(r dedup.Ref) dedup.Ref {
		if r&(crossRef|dedup.Extern) == crossRef {
			if r = u.refAt(u.cross.S[r&^crossRef]); r == 0 {
				u.Unencodable.voids = true
			}
		}
		return r
	}
	for i := range u.Types.Nodes.S {
		n := &u.Types.Nodes.S[i]
		switch btf.InfoKind(n.Info) {
		case btf.KindPtr, btf.KindConst, btf.KindVolatile, btf.KindRestrict, btf.KindTypedef, btf.KindTypeTag, btf.KindArray:
			n.Third = to(n.Third)
		case btf.KindFuncProto:
			n.Third = to(n.Third)
			fallthrough
		case btf.KindStruct, btf.KindUnion:
			ms := u.Types.Members.S[n.First:][:btf.InfoVlen(n.Info)]
			for j := range ms {
				ms[j].Type = to(ms[j].Type)
			}
		case btf.KindEnum, btf.KindEnum64:
			// link has left a marker here only.
			if r := to(n.Aux); r != 0 {
				u.signEnum(n, r)
				if in.KeepSigns {
					u.noteSign(uint32(i), r)
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
	for i := range u.stubs {
		u.stubs[i].ref = to(u.stubs[i].ref)
	}
}

// partAt is the part of the group in which the section offset lies.
func (u *Unit) partAt(off uint64) (int, bool) {
	k, found := slices.BinarySearchFunc(u.parts.S, off, func(p part, off uint64) int { return cmp.Compare(p.off, off) })
	if !found {
		k--
	}
	return k, k >= 0 && off < u.parts.S[k].end
}

// refAt is the type whose DIE is at a section offset; 0 if there is none.
func (u *Unit) refAt(off uint64) dedup.Ref {
	k, ok := u.partAt(off)
	if !ok {
		return 0
	}
	p := &u.parts.S[k]
	return startRef(u.allStarts.S[p.bits:], uint32(off-p.off))
}

// addFormat notes the format of the functions that follow.
func (u *Unit) addFormat() {
	u.Formats.Append(callconv.FormatRun{First: uint32(len(u.Funcs.S)), Version: u.Hdr.Version, Dwarf64: u.Hdr.Dwarf64})
}

// addPart makes the unit that was walked last a part of the group.
func (u *Unit) addPart(off uint64) {
	u.parts.Append(part{off: off, end: off + uint64(len(u.Hdr.Data)), bits: uint32(len(u.allStarts.S))})
	u.allStarts.AppendSlice(u.starts.S)
}
