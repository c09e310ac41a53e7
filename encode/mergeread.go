package encode

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/callconv"
)

// Reading of a group: its units are walked and linked one behind the other
// into the tables of one slot. References inside a unit are settled with the
// unit, as always; those that leave it are markers until all units of the
// group are there.

// crossRef marks a reference by section offset to another unit: the rest is
// the index in unit.cross. While DIEs are walked extraRef is set as well.
const crossRef = 1 << 30

// mark is where the tables of the unit in work start; they are not empty if
// units of the same group come before it.
type mark struct{ nodes, order, funcs, params, vars, stubs int }

// mark is the end of all tables.
func (u *unit) mark() mark {
	return mark{len(u.types.Nodes.S), len(u.types.Order.S), len(u.funcs.S), len(u.params.S), len(u.vars.S), len(u.stubs)}
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

// readGroup is readUnit for group u.seq of a merged file.
func (f *file) readGroup(u *unit) error {
	m := f.merge
	g := m.groups[u.seq]
	var ahead window
	for k := g.first; k < g.end; k++ {
		if m.units[k].skip {
			continue
		}
		if err := f.run.stopped(); err != nil {
			return err
		}
		from := f.fileOf(k)
		u.base = m.units[k].base
		if err := from.header(m.units[k].off-u.base, m.units[k].reloc, u); err != nil {
			return fmt.Errorf("%s: %w", from.path, err)
		}
		if g.end-g.first > 1 {
			ahead.advance(from, from.infoSec.sec, u.hdr.End())
		}
		if len(u.hdr.Data) >= crossRef {
			return from.unitError(u, "unit that refers to others is larger than 1 GiB")
		}
		if err := from.readPart(u, g.cross); err != nil {
			return err
		}
	}
	var spans []span
	order := len(u.types.Order.S)
	if len(u.imports.S) > 0 || m.alt != nil {
		spans = u.spans()
	}
	link := f.linkCross
	if len(u.needTypes) > 0 {
		link = f.readTypes
	}
	if err := link(u); err != nil {
		return err
	}
	if spans != nil {
		if err := f.expand(u, spans, order); err != nil {
			return err
		}
	}
	f.arrayIndex(u)
	if err := f.linkOldBits(u); err != nil {
		return err
	}
	if f.opt.PlainBitfields {
		u.plainBitfields()
	}
	f.dropLeftOut(u)
	if err := f.waitSymbols(); err != nil {
		return err
	}
	f.logTypes(u)
	if m.late == nil {
		f.functions(u)
	}
	if u.relocFail != nil {
		return f.unitError(u, u.relocFail.Error())
	}
	f.run.set.Resolve(&u.types)
	return nil
}

// readPart reads the unit u.hdr of a group.
func (f *file) readPart(u *unit, cross bool) error {
	u.from = u.mark()
	u.extra.Reset()
	u.starts.Reset()
	if u.hdr.IsType() {
		f.sawTypes.Store(true)
		return nil
	}
	dies, order, funcs, imports := u.dies, len(u.types.Order.S), len(u.funcOrder.S), len(u.imports.S)
	u.addFormat(&u.hdr)
	p, skip, err := f.startUnit(u)
	if err == nil && u.skeleton != nil {
		return f.unitError(u, "split DWARF is not supported in files whose units are merged")
	}
	u.units++
	if u.filtered {
		u.filtered = false
		u.unitsFiltered++
	}
	if err != nil || skip {
		u.dies += dies
		return err
	}
	u.language, u.clang = f.merge.language, f.merge.clang
	err = f.walk(u, p)
	u.dies += dies
	if err != nil {
		return err
	}
	u.hides = u.hides || len(u.types.Order.S) == 0 && f.hides(u, p)
	if u.reader.Bad {
		return f.unitError(u, "a name lies beyond .debug_str")
	}
	f.linkRefs(u)
	if cross || len(u.needTypes) > 0 {
		u.addPart(u.base + u.hdr.Off)
		p := &u.parts.S[len(u.parts.S)-1]
		p.order, p.orderEnd, p.funcs, p.funcsEnd = uint32(order), uint32(len(u.types.Order.S)), uint32(funcs), uint32(len(u.funcOrder.S))
		p.imports, p.alt = uint32(imports), u.base != 0
	}
	return f.sectionOffsets(u)
}

// sectionOffsets makes DIE offsets that stay offsets count from the start of
// .debug_info.
func (f *file) sectionOffsets(u *unit) error {
	if u.base+u.hdr.End() > 1<<32-1 {
		return f.unitError(u, "units that refer to each other lie beyond 4 GiB")
	}
	base := uint32(u.base + u.hdr.Off)
	at := func(off uint32) uint32 {
		switch {
		case off == 0:
			return 0
		case off&extraRef != 0:
			return uint32(u.cross.S[off&^(extraRef|crossRef)])
		}
		return base + off
	}
	for i := range u.funcs.S[u.from.funcs:] {
		fn := &u.funcs.S[u.from.funcs+i]
		fn.Off, fn.Origin, fn.Spec = at(fn.Off), at(fn.Origin), at(fn.Spec)
	}
	for i := range u.vars.S[u.from.vars:] {
		u.vars.S[u.from.vars+i].Off += base
	}
	for i := range u.params.S[u.from.params:] {
		p := &u.params.S[u.from.params+i]
		p.Off, p.Origin = at(p.Off), at(p.Origin)
		switch {
		case p.LocKind == callconv.LocExpr:
			p.LocOff += base
		case p.LocKind == callconv.LocList && u.base != 0:
			p.LocKind = callconv.LocBad // in the alternate file: there is no code
		}
	}
	return nil
}

// crossMark keeps a reference to section offset off until the group is read.
func (f *file) crossMark(u *unit, at int, off uint64) (uint32, error) {
	k := len(u.cross.S)
	end := u.base + uint64(len(f.info))
	if f.merge.alt != nil && u.base == 0 {
		end += uint64(len(f.merge.alt.info))
	}
	if off >= end {
		return 0, f.dieError(u, at, "reference leads out of .debug_info")
	}
	if k >= crossRef {
		return 0, f.dieError(u, at, "too many references between units")
	}
	u.cross.Append(off)
	return extraRef | crossRef | uint32(k), nil
}

// linkCross settles the references between units of the group.
func (f *file) linkCross(u *unit) error {
	if len(u.cross.S) == 0 {
		return nil
	}
	to := func(r dedup.Ref) dedup.Ref {
		if r&(crossRef|dedup.Extern) == crossRef {
			return u.refAt(u.cross.S[r&^crossRef])
		}
		return r
	}
	for i := range u.types.Nodes.S {
		n := &u.types.Nodes.S[i]
		switch btf.InfoKind(n.Info) {
		case btf.KindPtr, btf.KindConst, btf.KindVolatile, btf.KindRestrict, btf.KindTypedef, btf.KindTypeTag, btf.KindArray:
			n.Third = to(n.Third)
		case btf.KindFuncProto:
			n.Third = to(n.Third)
			fallthrough
		case btf.KindStruct, btf.KindUnion:
			ms := u.types.Members.S[n.First:][:btf.InfoVlen(n.Info)]
			for j := range ms {
				ms[j].Type = to(ms[j].Type)
			}
		case btf.KindEnum, btf.KindEnum64:
			// link has left a marker here only.
			if r := to(n.Aux); r != 0 {
				u.signEnum(n, r)
				if f.run.raw != nil {
					u.noteEnum(uint32(i), r)
				}
			}
			n.Aux = 0
		}
	}
	for i := range u.funcs.S {
		u.funcs.S[i].Type = to(u.funcs.S[i].Type)
	}
	for i := range u.params.S {
		u.params.S[i].Type = to(u.params.S[i].Type)
	}
	for i := range u.vars.S {
		u.vars.S[i].Type = to(u.vars.S[i].Type)
	}
	for i := range u.stubs {
		u.stubs[i].ref = to(u.stubs[i].ref)
	}
	return nil
}

// partAt is the part of the group in which the section offset lies.
func (u *unit) partAt(off uint64) (int, bool) {
	k, found := slices.BinarySearchFunc(u.parts.S, off, func(p part, off uint64) int { return cmp.Compare(p.off, off) })
	if !found {
		k--
	}
	return k, k >= 0 && off < u.parts.S[k].end
}

// refAt is the type whose DIE is at a section offset; 0 if there is none.
func (u *unit) refAt(off uint64) dedup.Ref {
	k, ok := u.partAt(off)
	if !ok {
		return 0
	}
	p := &u.parts.S[k]
	return startRef(u.allStarts.S[p.bits:], uint32(off-p.off))
}
