package unit

import (
	"encoding/binary"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/dwarf"
)

// Each method here proves the type of one kind of DIE and leaves it out. It returns where the
// next DIE is, and how many children the DIE has; or 0 if the type is not proved, because it
// is unknown, or is rare.

// reference proves a type that refers to another one. Modifiers of void are never left out,
// because linkRefs has to see them (voids.go).
func (x *prover) reference(a *dwarf.Abbrev, off, p int) (end int) {
	name, skip, ok := x.name(a, p)
	kind := &refKinds[a.Tag&0xff]
	name &= kind.named
	if !ok || a.Children || name|^kind.named == 0 {
		return 0
	}
	ref := x.load(p+skip, a, dwarf.SlotType)
	end = p + skip + int(a.Size)
	g := x.guess
	if w := x.known.Record(g); w.Info() == kind.info && x.text.is(name, w.Name()) && (w.Name() != 0 || kind.named == 0) {
		if t := w.Third(); x.isReference(kind.info, g, t) && (x.has(ref, t) || x.leads(ref, t, off, false)) {
			x.proved(off, g)
			return end
		}
	}
	c, ok := x.target(ref, off)
	if !ok {
		return 0
	}
	if g = x.referenceTo(kind.info, name, c); g == 0 {
		return 0
	}
	x.follow(ref, c, off)
	x.proved(off, g)
	return end
}

// isReference reports whether a unit's reference to the type t gets the id g, if that is a
// reference to t with the same words.
func (x *prover) isReference(info, g, t uint32) bool {
	switch btf.InfoKind(info) {
	case btf.KindPtr:
		return x.known.PtrTo(t) == g
	case btf.KindConst:
		return x.known.ConstTo(t) == g && !x.known.Void(t)
	}
	return x.known.Only(g) && !x.known.Hidden(g) && !x.known.Void(t)
}

// referenceTo returns the reference to the type c, 0 if there is none.
func (x *prover) referenceTo(info uint32, name dedup.Name, c uint32) uint32 {
	k := btf.InfoKind(info)
	if k == btf.KindPtr {
		return x.known.PtrTo(c)
	}
	if x.known.Void(c) {
		return 0
	}
	switch k {
	case btf.KindConst:
		return x.known.ConstTo(c)
	case btf.KindTypedef:
		if name = x.text.token(name); name == 0 {
			return 0
		}
		return x.known.Typedef(name, c)
	}
	return x.find(0, info, c)
}

// target returns the type that the DIE at ref is, or seems to be. ok is false if that is not
// known. Call follow if the answer is used.
func (x *prover) target(ref uint32, off int) (id uint32, ok bool) {
	if ref == 0 {
		return 0, true
	}
	switch to := x.refAt(ref); {
	case to != 0:
		return to &^ dedup.Extern, to&dedup.Extern != 0
	case ref < uint32(off):
		return 0, false
	}
	id = x.ahead(ref, off, 0)
	return id, id != 0 && x.plausible(ref, id, false, 0)
}

// ahead returns the type that the DIE at ref, which comes later, seems to be; 0 if it is not known.
func (x *prover) ahead(ref uint32, off, depth int) (id uint32) {
	a, p := x.at(int(ref))
	if a == nil {
		return 0
	}
	name, skip, ok := x.name(a, p)
	if !ok {
		return 0
	}
	if a.Class == dwarf.ClassRef && a.Tag != dwarf.TagTypedef {
		to := x.load(p+skip, a, dwarf.SlotType)
		switch r := x.refAt(to); {
		case r != 0:
			id = r &^ dedup.Extern
			ok = r != id
		case to == 0:
		case to < uint32(off) || depth == plausibleDepth:
			return 0
		default:
			id = x.ahead(to, off, depth+1)
			ok = id != 0
		}
		if !ok {
			return 0
		}
		return x.referenceTo(refKinds[a.Tag&0xff].info, 0, id)
	}
	if name = x.text.token(name); name == 0 {
		return 0
	}
	union := a.Tag == dwarf.TagUnionType
	switch a.Class {
	case dwarf.ClassAggregate:
		switch {
		case x.load(p+skip, a, dwarf.SlotDeclaration) != 0:
			id = x.known.ForwardOf(name, btf.Info(btf.KindFwd, 0, union))
		case union:
			id = x.known.Definition(name, btf.Info(btf.KindUnion, 0, false), x.load(p+skip, a, dwarf.SlotByteSize))
		default:
			id = x.known.Definition(name, btf.Info(btf.KindStruct, 0, false), x.load(p+skip, a, dwarf.SlotByteSize))
		}
	case dwarf.ClassEnum:
		id = x.known.Definition(name, btf.Info(btf.KindEnum, 0, false), 0)
	case dwarf.ClassRef:
		if a.Tag == dwarf.TagTypedef {
			id = x.known.OnlyTypedef(name)
		}
	}
	return id
}

// follow notes that target(ref, off) was taken to be c.
func (x *prover) follow(ref, c uint32, off int) {
	if ref >= uint32(off) {
		x.assume(ref, c, off)
	}
}

// aggregate proves a struct, union or forward declaration.
func (x *prover) aggregate(a *dwarf.Abbrev, off, p int) (end, n int) {
	name, skip, ok := x.name(a, p)
	if !ok {
		return 0, 0
	}
	kind := btf.KindStruct
	if a.Tag == dwarf.TagUnionType {
		kind = btf.KindUnion
	}
	p += skip
	next := p + int(a.Size)
	if x.load(p, a, dwarf.SlotDeclaration) != 0 {
		if a.Children || !x.forward(name, off, btf.Info(btf.KindFwd, 0, kind == btf.KindUnion)) {
			return 0, 0
		}
		return next, 0
	}
	size := x.load(p, a, dwarf.SlotByteSize)
	g := x.guess
	w := x.known.Record(g)
	if w.Kind() == kind && w.Third() == size && x.text.is(name, w.Name()) && x.known.Chosen(g) {
		if end := x.body(a, w, off, next); end != 0 {
			x.proved(off, g)
			return end, int(w.Vlen())
		}
	}
	slot := uint32(0)
	d := uint32(0)
	if name = x.text.token(name); name != 0 {
		d = x.known.Definition(name, btf.Info(kind, 0, false), size)
	} else {
		slot = x.slot(a, size, next)
		d = x.names.S[slot]
	}
	if d != 0 && d != g {
		w = x.known.Record(d)
		if w.Kind() == kind && w.Third() == size && (name != 0 || x.known.Chosen(d)) {
			if end := x.body(a, w, off, next); end != 0 {
				x.proved(off, d)
				return end, int(w.Vlen())
			}
		}
	}
	if name == 0 {
		x.asked = append(x.asked, asked{slot, x.r.Unit.nodes()})
	}
	return 0, 0
}

// forward proves the declaration at off of a struct or union.
func (x *prover) forward(name dedup.Name, off int, info uint32) bool {
	if name == 0 {
		return false
	}
	g, id := x.guess, uint32(0)
	if w := x.known.Record(g); w.Info() == info && x.text.is(name, w.Name()) && !x.known.Hidden(g) {
		id = x.known.Forward(g)
	} else {
		id = x.known.ForwardOf(x.text.token(name), info)
	}
	if id == 0 {
		return false
	}
	x.proved(off, id)
	x.fwds.Append(id)
	x.guess = g + 1 // the id of a definition does not predict the next one
	return true
}

// slot returns the place in names of a struct or union without a name, whose children start
// at p.
func (x *prover) slot(a *dwarf.Abbrev, size uint32, p int) uint32 {
	h := size * 0x9e3779b1
	for range 2 {
		m, q := x.at(p)
		if m == nil || !a.Children || m.Class != dwarf.ClassMember {
			break
		}
		name, skip, ok := x.name(m, q)
		if !ok {
			break
		}
		h = (h ^ x.text.token(name)) * 0x85ebca6b
		if r := x.refAt(x.load(q+skip, m, dwarf.SlotType)); r&dedup.Extern != 0 {
			h ^= x.known.Record(r &^ dedup.Extern).Name()
		}
		p = q + skip + int(m.Size)
	}
	return h >> (32 - namesBits)
}

// body compares the children of a struct or union with the members of record w. It returns
// where they end, 0 if they differ.
func (x *prover) body(a *dwarf.Abbrev, w btf.Record, off, p int) (end int) {
	n := int(w.Vlen())
	if !a.Children {
		if n == 0 {
			return p
		}
		return 0
	}
	open, left := len(x.open.S), len(x.left.S)
	x.named = w.Name() != 0
	end, bits := x.members(w[3:3+3*n:3+3*n], off, p)
	if end != 0 && bits == btf.InfoKflag(w.Info()) {
		return end
	}
	x.forget(open, left)
	return 0
}

// members compares the members from p on with the members m of a record. It returns where
// they end, 0 if they differ, and whether there are bit-fields.
func (x *prover) members(m []uint32, off, p int) (end int, bits bool) {
	before, later := len(x.open.S), uint32(1<<32-1)
	if x.named {
		later = uint32(off)
	}
	x.open.Grow(before + len(m)/3)
	for {
		var done int
		if !x.be {
			if done, p = x.plain(m, later, p); p == 0 {
				return 0, false
			}
		}
		if m = m[done:]; len(m) == 0 {
			break
		}
		var bit bool
		if p, bit = x.oddMember(m, off, p); p == 0 {
			return 0, false
		}
		bits = bits || bit
		m = m[3:]
	}
	if p >= len(x.b) || x.b[p] != 0 {
		return 0, false
	}
	for i := before; i < len(x.open.S); i++ {
		x.open.S[i].owner = uint32(off)
	}
	return p + 1, bits
}

// plain compares Plain members from p on, as long as they agree with the members m of a
// record, and returns how many words of m agree, and where it stopped. It assumes that
// references to DIEs behind later are right; open has room for them. Almost half of all DIEs
// are members, so few variables are live here.
//
//go:noinline
func (x *prover) plain(m []uint32, later uint32, p int) (done, next int) {
	b, tab, met, stamp := x.b, x.low, x.met, x.stamp
	b = b[:len(b):len(b)] // one register for both lengths
	for ; p < len(b)-window && done < len(m)-2; done += 3 {
		code := b[p]
		if code >= lowCodes {
			break
		}
		a := &tab[code]
		if !a.Plain {
			break
		}
		d := b[p+1 : p+1+plainWindow : p+1+plainWindow]
		skip, name := 0, dedup.Name(0)
		if a.Inline {
			if name, skip = inlineName(binary.LittleEndian.Uint32(d)); skip == 0 {
				break
			}
		} else {
			s := &a.Slots[dwarf.SlotName]
			name = binary.LittleEndian.Uint32(d[s.Off&31:])&s.Mask + a.NameBase
		}
		s := &a.Slots[dwarf.SlotMemberLoc]
		loc := (binary.LittleEndian.Uint32(d[(skip+int(s.Off))&31:])&s.Mask + uint32(s.Const)) * 8
		if name != m[done] && !x.text.isText(name, m[done]) || loc != m[done+2] {
			return done, 0
		}
		s = &a.Slots[dwarf.SlotType]
		ref, t := binary.LittleEndian.Uint32(d[(skip+int(s.Off))&31:])&s.Mask, m[done+1]
		if met[t&metMask] != uint64(t)<<32|uint64(stamp+ref) {
			if ref <= later || t == 0 {
				break
			}
			x.open.S = append(x.open.S, assumed{ref: ref, id: t})
		}
		p += 1 + skip + int(a.Size)
	}
	return done, p
}

// oddMember compares the member at p, which is not Plain, with the first member of m.
//
//go:noinline
func (x *prover) oddMember(m []uint32, off, p int) (end int, bits bool) {
	a, p := x.at(p)
	if a == nil || a.Class != dwarf.ClassMember || a.Children {
		return 0, false
	}
	name, skip, ok := x.name(a, p)
	if !ok {
		return 0, false
	}
	p += skip
	loc := x.load(p, a, dwarf.SlotMemberLoc)
	bit := loc * 8
	if a.Present&(1<<dwarf.VDataBitOffset) != 0 {
		bit = x.load(p, a, dwarf.SlotDataBitOffset)
	}
	size := x.load(p, a, dwarf.SlotBitSize)
	if loc > maxOffset || size > 0xff || size != 0 && bit > 0xffffff || size == 0 && bit&7 != 0 {
		return 0, false
	}
	if bit|size<<24 != m[2] || !x.text.is(name, m[0]) {
		return 0, false
	}
	if ref := x.load(p, a, dwarf.SlotType); !x.has(ref, m[1]) && !x.leads(ref, m[1], off, true) {
		return 0, false
	}
	return p + int(a.Size), size != 0
}
