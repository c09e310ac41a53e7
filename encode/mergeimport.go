package encode

import (
	"fmt"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/internal/dwarf"
)

// Imported units, as dwz leaves them. pahole reads a unit again
// where it is imported for the first time, in place, and also where it stands
// in the file; references lead to what was read last (pahole-behaviour 1.4.3).
// Here each unit is read once. Its types and functions are what was read last;
// what pahole reads before that are copies, which share
// members and refer to the same types.

// importRec is a DW_TAG_imported_unit below a unit of the group.
type importRec struct {
	order, funcs uint32 // how many types and functions came before it
	target       uint64 // section offset, those of the alternate file behind those of the file
}

// importUnit keeps an import of the DIE at p for expand.
func (f *file) importUnit(u *unit, a *dwarf.Abbrev, off, p int) error {
	next, have := u.abbrevs.Decode(a, u.hdr.Data, p, &u.vals)
	if next < 0 {
		return f.cutOff(u, off)
	}
	if have&(1<<dwarf.VImport) == 0 {
		return nil
	}
	target, ok := f.importTarget(u, &u.vals[dwarf.VImport])
	if ok {
		u.imports.Append(importRec{uint32(len(u.types.Order.S)), uint32(len(u.funcOrder.S)), target})
	}
	return nil
}

// importTarget is the place of the DIE that a DW_AT_import refers to.
func (f *file) importTarget(u *unit, v *dwarf.Value) (uint64, bool) {
	switch v.Form {
	case dwarf.FormRefAddr:
		return u.base + v.U, true
	case dwarf.FormRef1, dwarf.FormRef2, dwarf.FormRef4, dwarf.FormRef8, dwarf.FormRefUdata:
		return u.base + u.hdr.Off + v.U, true
	}
	return f.altTarget(v)
}

// span is a run of types and functions of a part between imports.
type span struct {
	part, reading   int  // how often the part was read before
	last            bool // nothing of the part is read later
	order, orderEnd uint32
	funcs, funcsEnd uint32
}

// spans lists what pahole reads, in its order, and marks the
// parts that it reads.
func (u *unit) spans() []span {
	var out []span
	parts := u.parts.S
	type open struct {
		span
		next, end int // imports
	}
	imported := make([]bool, len(parts))
	var stack []open
	push := func(k int) {
		p := &parts[k]
		o := open{span: span{part: k, reading: int(p.readings), order: p.order, funcs: p.funcs}}
		o.next, o.end = int(p.imports), len(u.imports.S)
		if k+1 < len(parts) {
			o.end = int(parts[k+1].imports)
		}
		p.readings++
		stack = append(stack, o)
	}
	// Those of the alternate file come first.
	own := len(parts)
	for own > 0 && parts[own-1].alt {
		own--
	}
	for i := range parts {
		k := (i + own) % len(parts)
		push(k)
		for len(stack) > 0 {
			o := &stack[len(stack)-1]
			p := &parts[o.part]
			if o.next == o.end {
				o.orderEnd, o.funcsEnd = p.orderEnd, p.funcsEnd
				out = append(out, o.span)
				stack = stack[:len(stack)-1]
				continue
			}
			x := &u.imports.S[o.next]
			o.next++
			t, ok := u.partAt(x.target)
			if !ok || imported[t] || parts[t].alt && !p.alt {
				continue
			}
			imported[t] = true
			o.orderEnd, o.funcsEnd = x.order, x.funcs
			out = append(out, o.span)
			o.order, o.funcs = x.order, x.funcs
			push(t)
		}
	}
	for i := range out {
		out[i].last = out[i].reading+1 == int(parts[out[i].part].readings)
	}
	return out
}

// expand puts the types and functions of the group into the order in which
// pahole reads them, with copies of those that it reads twice. Types
// from place end on, those of type units, stay where they are.
func (f *file) expand(u *unit, spans []span, end int) error {
	nodes := &u.types.Nodes
	order := append([]uint32(nil), u.types.Order.S...)
	funcOrder := append([]uint32(nil), u.funcOrder.S...)
	u.types.Order.Reset()
	u.funcOrder.Reset()
	u.ownFuncs = len(u.funcs.S)
	u.firstInt = 0
	var tags map[uint32][]tagRec
	if len(u.tags.S) > 0 {
		tags = make(map[uint32][]tagRec)
		for _, t := range u.tags.S {
			tags[t.Node] = append(tags[t.Node], t)
		}
	}
	left := make(map[uint32]bool)
	for _, i := range u.left {
		left[i] = true
	}
	for _, s := range spans {
		for _, i := range order[s.order:s.orderEnd] {
			n := nodes.S[i]
			if !s.last {
				k := uint32(len(nodes.S))
				if uint64(k) >= crossRef {
					return f.unitError(u, "too many types in units that refer to each other")
				}
				if m := btf.InfoVlen(n.Info); m > 0 && len(left) > 0 {
					// Members may be left out of either.
					first := uint32(len(u.types.Members.S))
					u.types.Members.AppendSlice(append([]dedup.Member(nil), u.types.Members.S[n.First:][:m]...))
					n.First = first
				}
				nodes.Append(n)
				for _, t := range tags[i] {
					u.tags.Append(tagRec{k, t.Value, t.Component})
				}
				if left[i] {
					u.left = append(u.left, k)
				}
				i = k
			}
			if u.firstInt == 0 && btf.InfoKind(n.Info) == btf.KindInt && f.names.IsInt(n.Name) {
				u.firstInt = i + 1
			}
			u.types.Order.Append(i)
		}
		for _, i := range funcOrder[s.funcs:s.funcsEnd] {
			if !s.last {
				fn := u.funcs.S[i]
				first := uint32(len(u.params.S))
				u.params.AppendSlice(append([]callconv.Param(nil), u.params.S[fn.First:][:fn.N]...))
				fn.First = first
				i = uint32(len(u.funcs.S))
				u.funcs.Append(fn)
			}
			u.funcOrder.Append(i)
		}
	}
	u.types.Order.AppendSlice(order[end:])
	return nil
}

// farSpecification fills v with name, type and linkage from the variable DIE
// at a place in another unit.
func (f *file) farSpecification(u *unit, at int, place uint64, v *varRec) (bool, error) {
	m := f.merge
	k, ok := m.unitAt(place)
	if !ok {
		return false, nil
	}
	if u.far == nil {
		u.far = new(unit)
		u.far.init(f.run.limit)
	}
	w, from := u.far, f.fileOf(k)
	w.reset()
	if err := from.header(m.units[k].off-m.units[k].base, m.units[k].reloc, w); err != nil {
		return false, fmt.Errorf("%s: %w", from.path, err)
	}
	w.base = m.units[k].base
	if _, skip, err := from.startUnit(w); err != nil || skip {
		return false, err
	}
	class, have, ok := from.decodeAt(w, place-m.units[k].off)
	if !ok || class != dwarf.ClassVariable {
		return false, nil
	}
	v.Name = from.nameOf(w, have)
	v.External = have&(1<<dwarf.VExternal) != 0
	typ, err := from.refOf(w, int(place-m.units[k].off), have, dwarf.VType)
	if err != nil || typ == 0 {
		return err == nil, err
	}
	to := m.units[k].off + uint64(typ)
	if typ&extraRef != 0 {
		to = w.cross.S[typ&^(extraRef|crossRef)]
	}
	v.Type, err = f.crossMark(u, at, to)
	return true, err
}
