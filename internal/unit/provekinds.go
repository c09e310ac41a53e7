package unit

import (
	"encoding/binary"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/internal/names"
)

// Each method here proves the type of one kind of DIE and leaves it out. It returns where the
// next DIE is, and how many children the DIE has. end is 0 if the type is not proved, because the
// set does not have it, or the DIE has a rare form that only the walk reads.

// reference proves a type that refers to another one. Modifiers of void are never left out,
// because linkRefs has to see them (voids.go).
func (x *prover) reference(a *dwarf.Abbrev, d *[window]byte, off, p int) (end int) {
	name, skip, ok := x.name(a, d)
	kind := &refKinds[a.Tag&0xff]
	name &= kind.named
	if !ok || a.Children || name|^kind.named == 0 {
		return 0
	}
	ref := x.load(d, a, dwarf.SlotType, skip)
	end = p + skip + int(a.Size)
	g := x.guess
	if w := x.known.Head(g); w[1] == kind.info && x.text.is(name, w[0]) && (w[0] != 0 || kind.named == 0) {
		if t := w[2]; x.isReference(kind.info, g, t) && (x.has(ref, t) || x.leads(ref, t, off, false)) {
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

// The info words of the two references that a type has fields for.
const infoPtr, infoConst = uint32(btf.KindPtr) << 24, uint32(btf.KindConst) << 24

// isReference reports whether a look-up of a unit's reference to type t would find g. g is a reference
// to t with the same name and the info word info.
func (x *prover) isReference(info, g, t uint32) bool {
	switch info {
	case infoPtr:
		return x.known.PtrTo(t) == g
	case infoConst:
		return x.known.ConstTo(t) == g && !x.known.Void(t)
	}
	return x.known.Only(g) && !x.known.Hidden(g) && !x.known.Void(t)
}

// referenceTo returns the id of the reference to type c with an info word and a name, 0 if the set has
// none, or if it is a modifier of void.
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

// target returns the id of the type that the DIE at ref is or, if it comes later, seems to be. ok is
// false if the DIE has become a node, or nothing is known about it. A caller that uses the answer must
// call follow, which notes the assumption.
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
	id = x.foresee(ref, off, 0)
	return id, id != 0 && x.plausible(ref, id, false, 0)
}

// foresee returns the id of the type that the DIE at ref, which comes later, seems to be; 0 if the set
// has none like it. off is the DIE that is being proved.
func (x *prover) foresee(ref uint32, off, depth int) (id uint32) {
	a, d, _ := x.at(int(ref))
	if a == nil {
		return 0
	}
	name, skip, ok := x.name(a, d)
	if !ok {
		return 0
	}
	if a.Class == dwarf.ClassRef && a.Tag != dwarf.TagTypedef {
		to := x.load(d, a, dwarf.SlotType, skip)
		switch r := x.refAt(to); {
		case r != 0:
			id = r &^ dedup.Extern
			ok = r != id
		case to == 0:
		case to < uint32(off) || depth == plausibleDepth:
			return 0
		default:
			id = x.foresee(to, off, depth+1)
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
		case x.load(d, a, dwarf.SlotDeclaration, skip) != 0:
			id = x.known.ForwardOf(name, btf.Info(btf.KindFwd, 0, union))
		case union:
			size := x.load(d, a, dwarf.SlotByteSize, skip)
			id = x.known.Foreseen(x.known.Definition(name, btf.Info(btf.KindUnion, 0, false), size), size)
		default:
			size := x.load(d, a, dwarf.SlotByteSize, skip)
			id = x.known.Foreseen(x.known.Definition(name, btf.Info(btf.KindStruct, 0, false), size), size)
		}
	case dwarf.ClassEnum:
		id = x.known.Foreseen(x.known.Definition(name, btf.Info(btf.KindEnum, 0, false), 0), 0)
	case dwarf.ClassRef:
		if a.Tag == dwarf.TagTypedef {
			id = x.known.OnlyTypedef(name)
		}
	}
	return id
}

// follow notes that the DIE at off is proved only if the DIE at ref gets the id c, unless that DIE
// comes before and has it.
func (x *prover) follow(ref, c uint32, off int) {
	if ref < uint32(off) {
		return
	}
	if len(x.assumed.S) == cap(x.assumed.S) {
		x.assumed.Grow(len(x.assumed.S) + 1)
	}
	x.assumed.S = append(x.assumed.S, assumption{ref, c, uint32(off)})
}

// aggregate proves a struct, union or forward declaration.
func (x *prover) aggregate(a *dwarf.Abbrev, d *[window]byte, off, p int) (end, n int) {
	name, skip, ok := x.name(a, d)
	if !ok {
		return 0, 0
	}
	kind := btf.KindStruct
	if a.Tag == dwarf.TagUnionType {
		kind = btf.KindUnion
	}
	next := p + skip + int(a.Size)
	if x.load(d, a, dwarf.SlotDeclaration, skip) != 0 {
		if a.Children || !x.forward(name, off, btf.Info(btf.KindFwd, 0, kind == btf.KindUnion)) {
			return 0, 0
		}
		return next, 0
	}
	size := x.load(d, a, dwarf.SlotByteSize, skip)
	g := x.guess
	if w := x.known.Head(g); btf.InfoKind(w[1]) == kind && w[2] == size && x.text.is(name, w[0]) && x.known.Chosen(g, w[0] != 0) {
		if end := x.body(a, g, off, next); end != 0 {
			x.proved(off, g)
			return end, int(btf.InfoVlen(w[1]))
		}
	} else {
		g = 0
	}
	if name = x.text.token(name); name != 0 {
		return definition(x, a, name, btf.Info(kind, 0, false), size, g, off, next)
	}
	slot := x.slot(a, size, next)
	c := x.anon.S[slot]
	if w := x.known.Head(c); c != g && btf.InfoKind(w[1]) == kind && w[2] == size && x.known.Chosen(c, w[0] != 0) {
		if end := x.body(a, c, off, next); end != 0 {
			x.proved(off, c)
			return end, int(btf.InfoVlen(w[1]))
		}
	}
	x.missed = append(x.missed, anonMiss{slot, x.r.Unit.nodes()})
	return 0, 0
}

// definition tries the definitions of a struct or union with a name, the most likely one first. It
// skips the type tried, with which the DIE has been compared already.
func definition(x *prover, a *dwarf.Abbrev, name dedup.Name, info, size, tried uint32, off, p int) (end, n int) {
	newest := x.known.Definition(name, info, size)
	first := x.known.Foreseen(newest, size)
	next := newest
	for c, i := first, 0; c != 0 && i < dedup.MaxDefinitions; i++ {
		if w := x.known.Head(c); c != tried && (c != first || i == 0) && w[2] == size && btf.InfoKind(w[1]) == btf.InfoKind(info) {
			if end := x.body(a, c, off, p); end != 0 {
				x.proved(off, c)
				if c != newest {
					x.older.Append(c)
				}
				return end, int(btf.InfoVlen(w[1]))
			}
		}
		c, next = next, x.known.Older(next) // the others, newest first
	}
	return 0, 0
}

// forward proves the declaration at off of a struct or union.
func (x *prover) forward(name dedup.Name, off int, info uint32) bool {
	if name == 0 {
		return false
	}
	g, id := x.guess, uint32(0)
	if w := x.known.Head(g); w[1] == info && x.text.is(name, w[0]) && !x.known.Hidden(g) {
		id = x.known.Forward(g)
	} else {
		id = x.known.ForwardOf(x.text.token(name), info)
	}
	if id == 0 {
		return false
	}
	x.proved(off, id)
	x.forwards.Append(id)
	x.guess = g + 1 // the id of a definition does not predict the next one
	return true
}

// slot returns the slot in anon of a struct or union without a name, whose children start at p. It
// hashes the size and the first two members.
func (x *prover) slot(a *dwarf.Abbrev, size uint32, p int) uint32 {
	h := size * 0x9e3779b1
	for range 2 {
		m, d, q := x.at(p)
		if m == nil || !a.Children || m.Class != dwarf.ClassMember {
			break
		}
		name, skip, ok := x.name(m, d)
		if !ok {
			break
		}
		h = (h ^ x.text.token(name)) * 0x85ebca6b
		if r := x.refAt(x.load(d, m, dwarf.SlotType, skip)); r&dedup.Extern != 0 {
			h ^= x.known.Record(r &^ dedup.Extern).Name()
		}
		p = q + skip + int(m.Size)
	}
	return h >> (32 - anonBits)
}

// body compares the children of the struct or union at off, which start at p, with the members of
// the type id. It returns where they end, 0 if they differ.
func (x *prover) body(a *dwarf.Abbrev, id uint32, off, p int) (end int) {
	w := x.known.Record(id)
	n := 3 * int(w.Vlen())
	if !a.Children {
		if n == 0 {
			return p
		}
		return 0
	}
	x.named = w.Name() != 0
	assumed, unproved := len(x.assumed.S), len(x.unproved.S)
	if cap(x.assumed.S)-assumed < n/3 {
		x.assumed.Grow(assumed + n/3)
	}
	x.numGuesses = 0
	bits := false
	for m := w[3 : 3+n : 3+n]; ; {
		if !x.be {
			var done int
			done, p = x.plain(m, p)
			m = m[done:]
		}
		if len(m) == 0 {
			break
		}
		var bit bool
		if p, bit = x.oddMember(m, off, p); p == 0 {
			break
		}
		bits = bits || bit
		m = m[3:]
	}
	if p > 0 && p < len(x.b) && x.b[p] == 0 && bits == btf.InfoKflag(w.Info()) &&
		(x.numGuesses == 0 || x.text.are(x.nameGuesses[:x.numGuesses])) && (len(x.assumed.S) == assumed || x.lead(assumed, off)) {
		return p + 1
	}
	x.forget(assumed, unproved)
	return 0
}

// lead asks leads for each reference that plain has noted in assumed, from index first on, for
// members of the struct or union at off. It reports false if one leads to another type. In a type
// with a name, references to later DIEs stay assumptions.
func (x *prover) lead(first, off int) bool {
	later := uint32(1<<32 - 1)
	if x.named {
		later = uint32(off)
	}
	for i, n := first, len(x.assumed.S); i < n; i++ { // leads may append
		e := &x.assumed.S[i]
		if e.owner = uint32(off); e.ref > later && e.id != 0 {
			continue
		}
		ref, id := e.ref, e.id
		e.ref, e.id = 0, 0 // void is void
		if x.alike.S[id&metMask] != metPair(id, x.stamp+ref) && !x.leads(ref, id, off, true) {
			return false
		}
	}
	return true
}

// plain compares Plain members from p on with the members m of a record, as long as they agree. It
// returns how many words of m agree, and where it stopped. It notes in assumed, which has room for
// all, the references that lead has to prove, and in nameGuesses the names whose texts have to be
// compared. Almost half of all DIEs are members, so the loop makes no calls, and few variables are
// live.
//
//go:noinline
func (x *prover) plain(m []uint32, p int) (done, next int) {
	b, tab, met, stamp := x.b, x.lowTab, x.met, x.stamp
	b = b[:len(b):len(b)] // one register for both lengths
	_, _ = tab[0], met[0] // so that the loop does not look for nil
	i := 0
	for ; i < len(m)-2; i += 3 {
		if p >= len(b)-window {
			break
		}
		code := b[p]
		if code >= lowCodes {
			break
		}
		a := &tab[code]
		if !a.Plain {
			break
		}
		q := p + 1
		d := (*[plainWindow]byte)(b[q : q+plainWindow])
		name := binary.LittleEndian.Uint32(d[:])
		if !a.Inline {
			name = name&a.Slots[dwarf.SlotName].Mask + a.NameBase
		} else {
			skip := 0
			if name, skip = inlineName(name); skip == 0 {
				break
			}
			q += skip
			d = (*[plainWindow]byte)(b[q : q+plainWindow])
		}
		s := &a.Slots[dwarf.SlotMemberLoc]
		if (binary.LittleEndian.Uint32(d[s.Off&31:])&s.Mask+uint32(s.Const))*8 != m[i+2] {
			break
		}
		if name != m[i] {
			if x.numGuesses >= x.mostGuesses {
				break
			}
			x.nameGuesses[x.numGuesses%maxGuesses] = names.Guess{Name: name, Token: m[i]}
			x.numGuesses++
		}
		ref, t := binary.LittleEndian.Uint32(d[a.Slots[dwarf.SlotType].Off&31:]), m[i+1]
		if met[t&metMask] != metPair(t, stamp+ref) {
			x.assumed.S = append(x.assumed.S, assumption{ref: ref, id: t})
		}
		p = q + int(a.Size)
	}
	return i, p
}

// oddMember compares the member at p, which is not Plain, with the first member of m. It returns
// where the member ends, 0 if they differ, and whether it is a bit-field.
//
//go:noinline
func (x *prover) oddMember(m []uint32, off, p int) (end int, bits bool) {
	a, d, p := x.at(p)
	if a == nil || a.Class != dwarf.ClassMember || a.Children {
		return 0, false
	}
	name, skip, ok := x.name(a, d)
	if !ok {
		return 0, false
	}
	loc := x.load(d, a, dwarf.SlotMemberLoc, skip)
	bit := loc * 8
	if a.Present&(1<<dwarf.VDataBitOffset) != 0 {
		bit = x.load(d, a, dwarf.SlotDataBitOffset, skip)
	}
	size := x.load(d, a, dwarf.SlotBitSize, skip)
	if loc > maxOffset || size > 0xff || size != 0 && bit > 0xffffff || size == 0 && bit&7 != 0 {
		return 0, false
	}
	if bit|size<<24 != m[2] || !x.text.is(name, m[0]) {
		return 0, false
	}
	if ref := x.load(d, a, dwarf.SlotType, skip); !x.has(ref, m[1]) && !x.leads(ref, m[1], off, true) {
		return 0, false
	}
	return p + skip + int(a.Size), size != 0
}
