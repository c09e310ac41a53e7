package unit

import (
	"slices"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/callconv"
)

// A unit record may be part of a group. It is read into separate tables, which are then
// appended to the group's. No reference leads from it to another unit, or from another
// unit to it.

// readRecord reads the record at the cursor, and makes it part of the group.
func (r *Reader) readRecord() error {
	c := &r.Cursor
	if r.Record == nil {
		return c.DIEError(c.Hdr.First, "unit record where only DIEs are read")
	}
	if c.Base+c.Hdr.End() > 1<<32-1 {
		return c.UnitError("units that refer to each other lie beyond 4 GiB")
	}
	if r.recordUnit == nil {
		r.recordUnit = new(Unit)
		arena.Bind(r.In.Limit, r.recordUnit)
	}
	r.recordUnit.reset()
	r.recordUnit.ArrayIndex = r.Unit.ArrayIndex
	own := len(r.stubs)
	r.Unit, *r.recordUnit = *r.recordUnit, r.Unit
	err := r.Record()
	r.Unit, *r.recordUnit = *r.recordUnit, r.Unit
	if err != nil {
		return err
	}
	if !r.recordUnit.spread(uint32(c.Base+c.Hdr.Off), len(c.Hdr.Data)) {
		return c.UnitError("the unit record has more functions than bytes: that is not supported in files whose units refer to each other")
	}
	r.starts.Resize(len(c.Hdr.Data)>>6 + 1) // no DIE starts there
	clear(r.starts.S)
	nodes := r.Unit.nodes()
	for i := range r.stubs[own:] {
		s := &r.stubs[own+i]
		s.node, s.ref = s.node+nodes, moved(s.ref, nodes)
	}
	r.Unit.add(r.recordUnit)
	return nil
}

// moved returns a reference to a node that has moved by n places.
func moved(r dedup.Ref, n uint32) dedup.Ref {
	if r == 0 || r&dedup.Extern != 0 {
		return r
	}
	return r + n
}

// spread gives functions and parameters offsets in .debug_info that lie inside the unit at base, of
// size bytes, so that no two units have the same. A record counts them otherwise.
// The order stays the same. Offsets to which nothing refers may be equal. It reports whether there
// is room.
func (u *Unit) spread(base uint32, size int) bool {
	var used []uint32
	for i := range u.Funcs.S {
		used = append(used, u.Funcs.S[i].Origin, u.Funcs.S[i].Spec)
	}
	for i := range u.Params.S {
		used = append(used, u.Params.S[i].Origin)
	}
	slices.Sort(used)
	used = slices.Compact(used)
	if 2*len(used)+1 >= size {
		return false
	}
	at := func(place uint32) uint32 {
		if place == 0 {
			return 0
		}
		k, is := slices.BinarySearch(used, place)
		if is {
			return base + uint32(2*k+2)
		}
		return base + uint32(2*k+1)
	}
	for i := range u.Funcs.S {
		fn := &u.Funcs.S[i]
		fn.Off, fn.Origin, fn.Spec = at(fn.Off), at(fn.Origin), at(fn.Spec)
	}
	for i := range u.Params.S {
		p := &u.Params.S[i]
		p.Off, p.Origin = at(p.Off), at(p.Origin)
	}
	for i := range u.Vars.S {
		u.Vars.S[i].Off = base
	}
	return true
}

// add appends the tables of o, which has not been settled.
func (u *Unit) add(o *Unit) {
	nodes, annots := uint32(len(u.Types.Nodes.S)), uint32(len(u.Annots.S))
	to := func(r dedup.Ref) dedup.Ref { return moved(r, nodes) }
	u.addTypes(o, to)
	if u.FirstInt == 0 {
		u.FirstInt = to(o.FirstInt)
	}
	u.Arrays = u.Arrays || o.Arrays
	for k := range o.Unsigned {
		if u.Unsigned == nil {
			u.Unsigned = make(map[uint32]bool)
		}
		u.Unsigned[nodes+k] = true
	}
	for _, t := range o.Tags.S {
		t.Node += nodes
		u.Tags.Append(t)
	}
	u.AddFuncs(o, to)
	for _, v := range o.Vars.S {
		v.Type, v.FirstAn = to(v.Type), v.FirstAn+annots
		u.Vars.Append(v)
	}
	u.Facts.DIEs = o.Facts.DIEs
	u.Facts.LacksTypes = u.Facts.LacksTypes || o.Facts.LacksTypes
}

// addTypes appends the types of o. to maps a reference of o to its new value.
func (u *Unit) addTypes(o *Unit, to func(dedup.Ref) dedup.Ref) {
	nodes, members := uint32(len(u.Types.Nodes.S)), uint32(len(u.Types.Members.S))
	u.Types.Members.AppendSlice(o.Types.Members.S)
	for _, n := range o.Types.Nodes.S {
		if btf.Enums.Has(btf.InfoKind(n.Info)) || o.membersOf(&n) != nil {
			n.First += members
		}
		u.Types.Nodes.Append(n)
	}
	u.relink(int(nodes), to)
	for _, k := range o.Types.Order.S {
		u.Types.Order.Append(nodes + k)
	}
}

// AddFuncs appends the functions of o, and all annotations. to maps a reference of o to its new value.
func (u *Unit) AddFuncs(o *Unit, to func(dedup.Ref) dedup.Ref) {
	funcs, params, annots, entries := uint32(len(u.Funcs.S)), uint32(len(u.Params.S)), uint32(len(u.Annots.S)), uint32(len(u.Entries))
	for _, fn := range o.Funcs.S {
		fn.Type, fn.First, fn.FirstAn = to(fn.Type), fn.First+params, fn.FirstAn+annots
		u.Funcs.Append(fn)
	}
	for _, i := range o.FuncOrder.S {
		u.FuncOrder.Append(funcs + i)
	}
	for _, p := range o.Params.S {
		p.Type = to(p.Type)
		if p.LocKind == callconv.LocEntries {
			p.LocOff += entries
		}
		u.Params.Append(p)
	}
	for _, run := range o.Formats.S {
		run.First += funcs
		u.Formats.Append(run)
	}
	u.Entries = append(u.Entries, o.Entries...)
	u.Annots.AppendSlice(o.Annots.S)
}
