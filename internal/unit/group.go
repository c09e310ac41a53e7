package unit

import (
	"cmp"
	"slices"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/internal/debuginfo"
)

// Reading of a group: its units are walked and linked one behind the other
// into the tables of one slot. References inside a unit are settled with the
// unit, as always; those that leave it are markers until all units of the
// group are there.

// mark is where the tables of the unit in work start; they are not empty if
// units of the same group come before it.
type mark struct{ nodes, order, funcs, params, vars, stubs int }

// mark is the end of all tables.
func (u *Unit) mark() mark {
	return mark{len(u.Types.Nodes.S), len(u.Types.Order.S), len(u.Funcs.S), len(u.Params.S), len(u.Vars.S), len(u.stubs)}
}

// part is a unit of the group, once linked.
type part struct {
	off, end uint64 // in .debug_info, that of the alternate file behind that of the file
	bits     uint32 // first word in unit.allStarts

	order, orderEnd, funcs, funcsEnd uint32 // in types.Order and funcOrder
	imports                          uint32 // first in unit.imports
	readings                         uint16 // how often pahole reads it
	alt                              bool   // it is in the alternate file
}

// Group is a run of units that are read as one.
type Group struct {
	First, End int  // indexes in Merged.Places; End is not of it
	Cross      bool // references lead from unit to unit
}

// ReadGroup reads the units of a group, and links them. stop ends it between two
// units if it gives an error.
func (in *Input) ReadGroup(u *Unit, g *Group, stop func() error) error {
	var ahead debuginfo.Passage
	for k := g.First; k < g.End; k++ {
		if in.Merged.Places[k].Skip {
			continue
		}
		if err := stop(); err != nil {
			return err
		}
		if err := in.OpenPlace(u, k); err != nil {
			return err
		}
		if g.End-g.First > 1 {
			ahead.Ahead(&u.Cursor, u.Hdr.End())
		}
		if len(u.Hdr.Data) >= crossRef {
			return u.UnitError("unit that refers to others is larger than 1 GiB")
		}
		if err := in.readPart(u, g.Cross); err != nil {
			return err
		}
	}
	u.File = in.File
	var spans []span
	order := len(u.Types.Order.S)
	if len(u.imports.S) > 0 || in.Alt != nil {
		spans = u.spans()
	}
	if len(u.NeedTypes) > 0 {
		if err := in.readTypes(u, nil); err != nil {
			return err
		}
	} else {
		in.linkCross(u)
	}
	if spans != nil {
		if err := in.expand(u, spans, order); err != nil {
			return err
		}
	}
	return in.settle(u)
}

// readPart reads the unit u.Hdr of a group.
func (in *Input) readPart(u *Unit, cross bool) error {
	u.from = u.mark()
	u.extra.Reset()
	u.starts.Reset()
	if u.Hdr.IsType() {
		u.File.SawType()
		return nil
	}
	dies, order, funcs, imports := u.DIEs, len(u.Types.Order.S), len(u.FuncOrder.S), len(u.imports.S)
	u.addFormat()
	p, skip, err := in.Start(u)
	if err == nil && u.Skeleton != nil {
		return u.UnitError("split DWARF is not supported in files whose units are merged")
	}
	u.Units++
	if u.Filtered {
		u.Filtered = false
		u.UnitsFiltered++
	}
	if err != nil || skip {
		u.DIEs += dies
		return err
	}
	u.Language, u.Clang = in.Merged.Language, in.Merged.Clang
	err = in.walk(u, p)
	u.DIEs += dies
	if err != nil {
		return err
	}
	u.Hides = u.Hides || len(u.Types.Order.S) == 0 && u.hides(p)
	if err := u.CheckNames(); err != nil {
		return err
	}
	in.linkRefs(u)
	if cross || len(u.NeedTypes) > 0 {
		u.addPart(u.Base + u.Hdr.Off)
		p := &u.parts.S[len(u.parts.S)-1]
		p.order, p.orderEnd, p.funcs, p.funcsEnd = uint32(order), uint32(len(u.Types.Order.S)), uint32(funcs), uint32(len(u.FuncOrder.S))
		p.imports, p.alt = uint32(imports), u.Base != 0
	}
	return u.sectionOffsets()
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
			return u.refAt(u.cross.S[r&^crossRef])
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
