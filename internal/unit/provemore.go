package unit

import (
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/dwarf"
)

// Kinds of types that are rarer than the kinds of provekinds.go.

// base proves a base type.
func (x *prover) base(a *dwarf.Abbrev, off, p int) (end int) {
	w, end := number(x.r, a, p)
	if end == 0 || a.Children {
		return 0
	}
	id := x.guess
	if !equalRecord(x.known.Record(id), w[:]) || !x.known.Only(id) {
		if id = x.find(w[:btf.Record(w[:]).Len()]...); id == 0 {
			return 0
		}
	}
	x.proved(off, id)
	if u := &x.r.Unit; u.FirstInt == 0 && btf.InfoKind(w[1]) == btf.KindInt && x.r.Cursor.File.Names.IsInt(w[0]) {
		u.FirstInt = id | dedup.Extern
	}
	return end
}

// equalRecord reports whether a record begins with the words of w.
func equalRecord(r btf.Record, w []uint32) bool {
	return r[0] == w[0] && r[1] == w[1] && r[2] == w[2] && (len(w) < 4 || w[1]>>24 != uint32(btf.KindInt) || r[3] == w[3])
}

// number returns the record of the base type with attributes at p, and where they end. end is 0 if
// it is neither an INT nor a FLOAT that BTF has, so that the walk has to read it.
func number(r *Reader, a *dwarf.Abbrev, p int) (w [4]uint32, end int) {
	c := &r.Cursor
	end, have := c.Abbrevs.Decode(a, c.Hdr.Data, p, &c.Vals)
	if end < 0 {
		return w, 0
	}
	name, size := c.NameOf(have), c.Number(have, dwarf.VByteSize)
	encoding, float := c.Number(have, dwarf.VEncoding), false
	var sign byte
	switch encoding {
	case ateSigned, ateSignedChar:
		sign = 1
	case ateBoolean:
		sign = 4
	case ateFloat:
		float = r.In.Options.Float
	case ateComplexFloat, ateImaginary:
		return w, 0
	}
	if name == 0 || size > 16 || !isIntSize(uint32(size)) || float && size == 1 {
		return w, 0
	}
	if float {
		return [4]uint32{name, btf.Info(btf.KindFloat, 0, false), uint32(size)}, end
	}
	return [4]uint32{name, btf.Info(btf.KindInt, 0, false), uint32(size), uint32(sign)<<24 | uint32(size)*8}, end
}

// proto proves a function type.
func (x *prover) proto(a *dwarf.Abbrev, d *[window]byte, off, p int) (end, n int) {
	if !a.Direct {
		return 0, 0
	}
	ret := x.load(d, a, dwarf.SlotType, 0)
	p += int(a.Size)
	if w := x.known.Record(x.guess); w.Kind() == btf.KindFuncProto && x.known.Only(x.guess) {
		assumed, unproved := len(x.assumed.S), len(x.unproved.S)
		if x.has(ret, w.Third()) || x.leads(ret, w.Third(), off, false) {
			n := int(w.Vlen())
			if end := x.params(a, w[3:3+2*n:3+2*n], off, p); end != 0 {
				x.proved(off, x.guess)
				return end, n
			}
		}
		x.forget(assumed, unproved)
	}
	return x.protoByContent(a, ret, off, p)
}

// ofFunction has the bits of values that only a parameter of a function has, not one of a function
// type.
const ofFunction = 1<<dwarf.VOrigin | 1<<dwarf.VLocation

// param reads the parameter at p of a function type. end is 0 after the last one. ok is false if
// only the walk can read it. For an ellipsis, name and ref are 0.
func (x *prover) param(p int) (name dedup.Name, ref uint32, end int, ok bool) {
	if x.b[p] == 0 {
		return 0, 0, 0, true
	}
	a, d, p := x.at(p)
	if a == nil || a.Children {
		return 0, 0, 0, false
	}
	end = p + int(a.Size)
	if a.Class == dwarf.ClassVariadic {
		return 0, 0, end, a.Fixed && x.b[end] == 0
	}
	if a.Class != dwarf.ClassParam || !a.Direct || a.Present&ofFunction != 0 {
		return 0, 0, 0, false
	}
	return x.load(d, a, dwarf.SlotName, 0) + a.NameBase, x.load(d, a, dwarf.SlotType, 0), end, true
}

// params compares the children from p on with the parameters of a record. It returns where
// they end, 0 if they differ.
func (x *prover) params(a *dwarf.Abbrev, m []uint32, off, p int) (end int) {
	if !a.Children {
		if len(m) == 0 {
			return p
		}
		return 0
	}
	b, stamp := x.b, x.stamp
	for len(m) >= 2 {
		// The common case of param.
		if p >= len(b)-window || b[p] >= lowCodes {
			break
		}
		a := &x.lowTab[b[p]]
		if a.Class != dwarf.ClassParam || !a.Direct || a.Children || a.Present&ofFunction != 0 || a.Size > maxProved {
			break
		}
		d := (*[window]byte)(b[p+1:][:window])
		name, ref := x.load(d, a, dwarf.SlotName, 0)+a.NameBase, x.load(d, a, dwarf.SlotType, 0)
		if name != m[0] && !x.text.isText(name, m[0]) || x.met[m[1]&metMask] != metPair(m[1], stamp+ref) && !x.leads(ref, m[1], off, false) {
			return 0
		}
		p, m = p+1+int(a.Size), m[2:len(m):len(m)]
	}
	for p < len(b)-window {
		name, ref, next, ok := x.param(p)
		if !ok || (next == 0) != (len(m) < 2) {
			return 0
		}
		if next == 0 {
			return p + 1
		}
		if !x.text.is(name, m[0]) || !x.has(ref, m[1]) && !x.leads(ref, m[1], off, false) {
			return 0
		}
		p, m = next, m[2:]
	}
	return 0
}

// find returns the id of the type with these words, 0 if there is none.
func (x *prover) find(words ...uint32) uint32 {
	return x.known.Find(x.words[:copy(x.words[:], words)])
}

// protoByContent looks up a function type by the types that it refers to.
func (x *prover) protoByContent(a *dwarf.Abbrev, ret uint32, off, p int) (end, n int) {
	words := &x.words
	var refs [maxParams]uint32
	c, ok := x.target(ret, off)
	for a.Children && ok {
		if p >= len(x.b)-window || n == maxParams {
			return 0, 0
		}
		name, ref, next, is := x.param(p)
		if !is {
			return 0, 0
		}
		if next == 0 {
			p++
			break
		}
		words[3+2*n] = x.text.token(name)
		words[4+2*n], ok = x.target(ref, off)
		refs[n] = ref
		p = next
		n++
	}
	if !ok {
		return 0, 0
	}
	words[0], words[1], words[2] = 0, btf.Info(btf.KindFuncProto, uint32(n), false), c
	id := x.known.Find(words[:3+2*n])
	if id == 0 {
		return 0, 0
	}
	x.follow(ret, c, off)
	for i := range n {
		x.follow(refs[i], words[4+2*i], off)
	}
	x.proved(off, id)
	return p, n
}

// array proves an array. Each dimension but the first is an ARRAY of its own, which comes before.
func (x *prover) array(a *dwarf.Abbrev, d *[window]byte, off, p int) (end, n int) {
	elem, counts, n, end := x.dimensions(a, d, p)
	if end == 0 {
		return 0, 0
	}
	g := x.guess + uint32(n) - 1
	if t, ok := x.elements(g, counts[:n]); !ok || !x.has(elem, t) && !x.leads(elem, t, off, false) {
		if t, ok = x.target(elem, off); !ok {
			return 0, 0
		}
		c := t
		for i := n - 1; i >= 0; i-- {
			if c = x.find(0, btf.Info(btf.KindArray, 0, false), 0, c, x.index, counts[i]); c == 0 {
				return 0, 0
			}
		}
		g = c
		x.follow(elem, t, off)
	}
	x.proved(off, g)
	x.inner += n - 1
	x.arrays = true
	return end, n
}

// dimensions reads an array: where the DIE of its elements is, and its n dimensions. end is 0 if only
// the walk can read it.
func (x *prover) dimensions(a *dwarf.Abbrev, d *[window]byte, p int) (elem uint32, counts [maxDimensions]uint32, n, end int) {
	if !a.Direct || !a.Children {
		return 0, counts, 0, 0
	}
	elem = x.load(d, a, dwarf.SlotType, 0)
	p += int(a.Size)
	for x.b[p] != 0 {
		s, d, q := x.at(p)
		if s == nil || s.Class != dwarf.ClassSubrange || !s.Direct || s.Children || n == maxDimensions {
			return 0, counts, 0, 0
		}
		counts[n] = x.load(d, s, dwarf.SlotCount, 0)
		if s.Present&(1<<dwarf.VUpperBound) != 0 {
			counts[n] = x.load(d, s, dwarf.SlotUpperBound, 0) + 1
		}
		p = q + int(s.Size)
		n++
	}
	if elem == 0 || n == 0 || p >= len(x.b)-window {
		return 0, counts, 0, 0
	}
	return elem, counts, n, p + 1
}

// maxDimensions is the most dimensions of an array that is proved.
const maxDimensions = 4

// elements returns the type of the elements if id is an array with these dimensions.
func (x *prover) elements(id uint32, counts []uint32) (elem uint32, ok bool) {
	elem = id
	for _, count := range counts {
		w := x.known.Record(elem)
		if w.Kind() != btf.KindArray || !x.known.Only(elem) {
			return 0, false
		}
		var index, n uint32
		if elem, index, n = w.Array(); n != count || index != x.index {
			return 0, false
		}
	}
	return elem, true
}

// enum proves an enumeration with values of at most four bytes.
func (x *prover) enum(a *dwarf.Abbrev, d *[window]byte, off, p int) (end, n int) {
	name, skip, ok := x.name(a, d)
	if !ok || !a.Children {
		return 0, 0
	}
	size := x.load(d, a, dwarf.SlotByteSize, skip)
	if size == 0 {
		size = 4
	}
	if size != 1 && size != 2 && size != 4 {
		return 0, 0
	}
	p += skip + int(a.Size)
	g := x.guess
	if end, n := x.values(g, name, size, p); end != 0 {
		x.proved(off, g)
		return end, n
	}
	c, slot := uint32(0), uint32(0)
	if name = x.text.token(name); name != 0 {
		c = x.known.Foreseen(x.known.Definition(name, btf.Info(btf.KindEnum, 0, false), size), size)
	} else {
		slot = x.enumSlot(p)
		c = x.anon.S[slot]
	}
	if c != 0 && c != g {
		if end, n := x.values(c, name, size, p); end != 0 {
			x.proved(off, c)
			return end, n
		}
	}
	if name == 0 {
		x.missed = append(x.missed, anonMiss{slot, x.r.Unit.nodes()})
	}
	return 0, 0
}

// enumSlot returns the place in names of an enumeration without a name, whose values start
// at p.
func (x *prover) enumSlot(p int) uint32 {
	if a, d, _ := x.at(p); a != nil {
		if name, _, ok := x.name(a, d); ok {
			return x.text.token(name) * 0x9e3779b1 >> (32 - anonBits)
		}
	}
	return 0
}

// values compares an enumeration, whose values start at p, with the type id. It returns where
// they end, 0 if they differ, and their number.
func (x *prover) values(id uint32, name dedup.Name, size uint32, p int) (end, n int) {
	w := x.known.Record(id)
	n = int(w.Vlen())
	if w.Kind() != btf.KindEnum || w.Third() != size || n == 0 || !x.text.is(name, w.Name()) || !x.known.Only(id) && x.known.Definition(w.Name(), w.Info(), size) != id {
		return 0, 0
	}
	negative := false
	for m := w[3 : 3+2*n : 3+2*n]; len(m) >= 2; m = m[2:] {
		a, d, q := x.at(p)
		if a == nil || a.Class != dwarf.ClassEnumerator || a.Children {
			return 0, 0
		}
		var name dedup.Name
		var v int64
		if a.Direct {
			name = x.load(d, a, dwarf.SlotName, 0) + a.NameBase
			v = int64(x.load(d, a, dwarf.SlotConst, 0))
			p = q + int(a.Size)
		} else {
			next, have := x.r.Cursor.Abbrevs.Decode(a, x.b, q, &x.r.Cursor.Vals)
			if next < 0 {
				return 0, 0
			}
			name, v = x.r.Cursor.NameOf(have), int64(x.r.Cursor.Number(have, dwarf.VConst))
			p = next
		}
		if !x.text.is(name, m[0]) || uint32(v) != m[1] || v < -1<<31 || v > 1<<32-1 {
			return 0, 0
		}
		negative = negative || v < 0
	}
	if p >= len(x.b) || x.b[p] != 0 || negative && x.r.In.Options.Enum64 != btf.InfoKflag(w.Info()) || !negative && btf.InfoKflag(w.Info()) {
		return 0, 0
	}
	return p + 1, n
}
