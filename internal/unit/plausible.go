package unit

import (
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/dwarf"
)

// If a type refers to a DIE that comes later, or that has become a node, its proof assumes that
// the DIE is the foreseen type, and the assumption is proved later. A wrong assumption costs a
// second reading of the unit. The functions here look at the DIE first, to avoid most wrong
// assumptions. They decide nothing else.
//
// In all of them, alike says that an equivalent type will do, and depth is how many references the
// function has followed so far.

// plausibleDepth and strictDepth bound the depth of plausible. Over a base, where an equivalent type
// will not do, a closer look saves more than it costs. Parameters begin at maxDepth/2+1, so that the
// parameters of a parameter's prototype are not looked at.
const plausibleDepth, strictDepth = 4, 6

// plausible reports whether the DIE at ref may be the type id. It saves most assumptions that
// turn out wrong, and then cost a second reading.
func (x *prover) plausible(ref, id uint32, alike bool, depth int) bool {
	a, d, p := x.at(int(ref))
	if a == nil {
		return false
	}
	if !alike && x.known.Hidden(id) {
		return false
	}
	if a.Class == dwarf.ClassBase {
		n, end := number(x.r, a, p)
		return end != 0 && equalRecord(x.known.Record(id), n[:])
	}
	w := x.known.Head(id)
	k := btf.InfoKind(w[1])
	name, skip, ok := x.name(a, d)
	if !ok {
		return false
	}
	switch a.Class {
	case dwarf.ClassRef:
		kind := &refKinds[a.Tag&0xff]
		if w[1] != kind.info || !x.text.is(name&kind.named, w[0]) {
			return false
		}
		return depth == x.maxDepth || x.leadsTo(x.load(d, a, dwarf.SlotType, skip), w[2], alike, depth+1)
	case dwarf.ClassAggregate:
		return x.text.is(name, w[0]) && x.plausibleAggregate(a, d, skip, id, alike)
	case dwarf.ClassProto:
		return k == btf.KindFuncProto && (depth == x.maxDepth ||
			x.leadsTo(x.load(d, a, dwarf.SlotType, 0), w[2], alike, x.maxDepth) &&
				(depth == x.maxDepth-1 || x.plausibleParams(a, x.known.Record(id), p+int(a.Size), alike)))
	case dwarf.ClassArray:
		if !x.known.Strict() {
			return k == btf.KindArray && depth < x.maxDepth
		}
		elem, counts, n, end := x.dimensions(a, d, p)
		t, ok := x.elements(id, counts[:n])
		return end != 0 && ok && (depth == x.maxDepth || x.leadsTo(elem, t, alike, depth+1))
	case dwarf.ClassEnum:
		if x.known.Strict() && k == btf.KindEnum && btf.InfoVlen(w[1]) > 0 {
			end, _ := x.values(id, name, w[2], p+skip+int(a.Size))
			return end != 0
		}
		return (k == btf.KindEnum || k == btf.KindEnum64) && x.text.is(name, w[0]) && (alike || !x.known.Strict() || a.Children == (btf.InfoVlen(w[1]) > 0))
	}
	return false
}

// plausibleAggregate is plausible for a struct or union, or a declaration of one, that has the
// name of the type id.
func (x *prover) plausibleAggregate(a *dwarf.Abbrev, d *[window]byte, skip int, id uint32, alike bool) bool {
	w := x.known.Head(id)
	union := a.Tag == dwarf.TagUnionType
	forward := x.load(d, a, dwarf.SlotDeclaration, skip) != 0
	k := btf.InfoKind(w[1])
	if k == btf.KindFwd && (alike || forward) {
		if btf.InfoKflag(w[1]) != union {
			return false
		}
		to := x.known.Forward(id)
		if forward {
			return to == id || to != 0 && alike
		}
		w = x.known.Head(to)
		k = btf.InfoKind(w[1])
	}
	if k == btf.KindUnion != union || k != btf.KindUnion && k != btf.KindStruct {
		return false
	}
	if forward {
		return x.known.ForwardOf(w[0], btf.Info(btf.KindFwd, 0, union)) == id
	}
	return x.load(d, a, dwarf.SlotByteSize, skip) == w[2]
}

// plausibleParams is plausible for the parameters of a function type, which start at p.
func (x *prover) plausibleParams(a *dwarf.Abbrev, w btf.Record, p int, alike bool) bool {
	n := int(w.Vlen())
	if !a.Children {
		return n == 0
	}
	for j := 0; p < len(x.b)-window; j++ {
		name, ref, next, ok := x.param(p)
		if !ok || next == 0 || j == n {
			return ok && next == 0 && j == n
		}
		if other, t := w.Param(j); !x.text.is(name, other) || !x.leadsTo(ref, t, alike, x.maxDepth/2+1) {
			return false
		}
		p = next
	}
	return false
}

// leadsTo is plausible for a reference inside a type.
func (x *prover) leadsTo(ref, id uint32, alike bool, depth int) bool {
	if ref == 0 || id == 0 || x.has(ref, id) {
		return x.has(ref, id)
	}
	if to := x.refAt(ref); to&dedup.Extern != 0 {
		to &^= dedup.Extern
		return to == id || alike && x.isSame(ref, to, id)
	}
	return x.plausible(ref, id, alike, depth)
}
