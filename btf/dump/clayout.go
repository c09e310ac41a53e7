package dump

import (
	"errors"
	"strconv"

	"github.com/btflite/btflite/btf"
)

// BTF has no word for packed structs and none for alignment by attributes. What is
// written has the offsets and the size that BTF gives: gaps that a compiler would not
// leave by itself are filled with bit-fields without a name, and a struct whose
// members lie where they could not lie by themselves is packed.

// align is the alignment of a type in bytes; 0 if it has none.
func (c *cWriter) align(id uint32) uint32 {
	for range maxDepth {
		if id == 0 {
			return 0
		}
		rec := c.b.Record(id)
		switch k := rec.Kind(); k {
		case btf.KindInt, btf.KindEnum, btf.KindEnum64, btf.KindFloat:
			if k == btf.KindFloat && c.b.Marked && btf.FloatAlign(rec) != 0 {
				return btf.FloatAlign(rec)
			}
			return min(c.pointerSize, rec.Third())
		case btf.KindPtr:
			return c.pointerSize
		case btf.KindArray:
			id, _, _ = rec.Array()
		case btf.KindStruct, btf.KindUnion:
			return c.structAlign(id, rec)
		case btf.KindTypedef, btf.KindVolatile, btf.KindConst, btf.KindRestrict, btf.KindTypeTag, btf.KindVar:
			id = rec.Third()
		default:
			return 0
		}
	}
	return 0
}

// Entries of cWriter.aligns beside alignments.
const (
	alignUnknown = 0
	alignPacked  = 1<<32 - 2 // 1, and the struct needs the attribute for it
	alignOpen    = 1<<32 - 1 // it is being looked for: the struct contains itself
)

// structAlign is the alignment of a struct or union: the largest of its members', or
// 1 if they do not lie as that needs.
func (c *cWriter) structAlign(id uint32, rec btf.Record) uint32 {
	switch a := c.aligns[id]; a {
	case alignUnknown:
	case alignOpen, alignPacked:
		return 1
	default:
		return a
	}
	c.aligns[id] = alignOpen
	widest, natural := c.memberAlign(rec)
	widest = max(widest, unionAlign(c, rec))
	if !natural || rec.Third()%widest != 0 {
		c.aligns[id] = alignPacked
		return 1
	}
	c.aligns[id] = widest
	return widest
}

// needs is the largest alignment that a compiler may want for a type. Machines differ in
// the alignment of numbers that are longer than a pointer.
func (c *cWriter) needs(id uint32) uint32 {
	a := c.align(id)
	for range maxDepth {
		rec := c.b.Record(id)
		switch {
		case rec == nil || !c.strict || a <= 1:
			return a
		case rec.Kind() == btf.KindInt || rec.Kind() == btf.KindFloat || rec.Kind() == btf.KindEnum64:
			if size := rec.Third(); size&(size-1) == 0 {
				return max(a, min(size, 16))
			}
			return a
		case rec.Kind() == btf.KindArray:
			id, _, _ = rec.Array()
		case rec.Kind() == btf.KindTypedef || isModifier(rec.Kind()):
			id = rec.Third()
		default:
			return a
		}
	}
	return a
}

// memberAlign is the largest alignment of members, and whether each lies as it needs.
func (c *cWriter) memberAlign(rec btf.Record) (widest uint32, natural bool) {
	widest, natural = 1, true
	for j := range int(rec.Vlen()) {
		_, typ, off, bits := rec.Field(j)
		a := c.needs(typ)
		if a == 0 {
			continue
		}
		widest = max(widest, a)
		if bits == 0 {
			natural = natural && uint64(off)%(8*uint64(a)) == 0
			continue
		}
		if !c.strict {
			continue
		}
		if unit := 8 * c.size(typ); unit > 0 { // a bit-field does not cross the units of its type
			natural = natural && uint64(off)/unit == (uint64(off)+uint64(bits)-1)/unit
		}
	}
	return widest, natural
}

// isPacked reports whether a struct needs the attribute.
func (c *cWriter) isPacked(id uint32, rec btf.Record) bool {
	c.structAlign(id, rec)
	return c.aligns[id] == alignPacked
}

// fillUnion makes a union as large as it is, which only a member can.
func (c *cWriter) fillUnion(rec btf.Record, indent int) {
	if largestMember(c, rec) < uint64(rec.Third()) {
		c.gapMember(uint64(rec.Third()), indent)
	}
}

// unionAlign is the alignment that makes a union as large as it is, where no member may: 0 if
// there is none or it needs none.
func unionAlign(c *cWriter, rec btf.Record) uint32 {
	if rec.Kind() != btf.KindUnion || !c.again {
		return 0
	}
	size, largest := uint64(rec.Third()), largestMember(c, rec)
	for a := uint64(2); a <= size && largest < size; a *= 2 {
		if roundUp(largest, a) == size {
			return uint32(a)
		}
	}
	return 0
}

// largestMember is the size of a union's largest member, in bytes.
func largestMember(c *cWriter, rec btf.Record) (size uint64) {
	for j := range int(rec.Vlen()) {
		if _, typ, _, bits := rec.Field(j); bits == 0 {
			size = max(size, c.size(typ))
		} else {
			size = max(size, (uint64(bits)+7)/8)
		}
	}
	return size
}

// maxSize is the largest size of a type: sums of larger ones, in bits, could go beyond 64 bits. No
// struct has as many bytes.
const maxSize = 1 << 40

// sizeOf returns the size of a type in bytes, 0 if it has none.
func sizeOf(b *btf.Blob, id, pointerSize uint32) uint64 {
	return min(b.Size(id, uint64(pointerSize)), maxSize)
}

func (c *cWriter) size(id uint32) uint64 { return sizeOf(c.b, id, c.pointerSize) }

// unit is a type that a gap is filled with.
type unit struct {
	name string
	bits uint64
}

// units are those, the widest first.
func (c *cWriter) units() [4]unit {
	return [4]unit{{"long", 8 * uint64(c.pointerSize)}, {"int", 32}, {"short", 16}, {"char", 8}}
}

// fill fills the gap from bit at to bit end of a struct. align is the alignment in bytes
// of the next member, and among says that there is a bit-field on both sides.
//
// The widest unit with a boundary in the gap fills it from that boundary on. "long: 0"
// skips to there, unless a compiler does that by itself to align the next member. Between
// bit-fields the bits are counted out.
func (c *cWriter) fill(at, end uint64, align uint32, among bool, indent int) {
	switch {
	case end <= at:
		return
	case c.strict:
		c.fillBytes(at, end, align, indent)
		return
	}
	list := c.units()
	use, start := list[len(list)-1], at
	for _, u := range list {
		start = roundUp(at, u.bits)
		if use = u; start <= end {
			break
		}
	}
	if start > at && start <= end {
		own := start == end && roundUp(at, 8*uint64(align)) == start // a compiler goes there
		room := end - start
		switch {
		case among:
			c.gap(use.name, start-at, indent)
		case start == end && !own, start != end && room <= start-at:
			c.gap(use.name, 0, indent)
		}
		at = start
	}
	for ; at+use.bits <= end && c.to.Err == nil; at += use.bits {
		c.gap(use.name, use.bits, indent)
		c.keepUp()
	}
	if at < end {
		for i := len(list) - 1; i >= 0; i-- {
			if list[i].bits >= end-at {
				c.gap(list[i].name, end-at, indent)
				break
			}
		}
	}
}

// fillBytes is fill for C that all compilers and machines take alike. Some count the
// type of a bit-field without a name for the alignment of its struct. A number that is longer
// than a pointer, and a struct with one, may be aligned like a pointer: on i386, long long is.
func (c *cWriter) fillBytes(at, end uint64, align uint32, indent int) {
	if c.again {
		fillBits(c, at, end, indent)
		return
	}
	align = min(align, c.pointerSize)
	if roundUp(at, max(8, 8*uint64(align))) == end {
		if at%8 != 0 && end%8 == 0 && align <= 1 {
			c.gap("unsigned char", end-at, indent)
		}
		return
	}
	if bits := roundUp(at, 8) - at; bits > 0 {
		bits = min(bits, end-at)
		c.gap("unsigned char", bits, indent)
		at += bits
	}
	if n := (end - at) / 8; n > 0 {
		c.gapMember(n, indent)
		at += 8 * n
	}
	if at < end {
		c.gap("unsigned char", end-at, indent)
	}
}

// fillBits is fillBytes without a member. Each byte has a bit-field of its own, which no compiler
// moves and which does not count for the alignment of the struct.
func fillBits(c *cWriter, at, end uint64, indent int) {
	for ; at < end && c.to.Err == nil; c.keepUp() {
		bits := min(roundUp(at+1, 8), end) - at
		c.gap("unsigned char", bits, indent)
		at += bits
	}
}

// gapMember writes a member of n bytes.
func (c *cWriter) gapMember(n uint64, indent int) {
	c.gaps++
	c.line(indent)
	c.text("unsigned char __gap_")
	c.buf = strconv.AppendUint(c.buf, c.gaps, 10)
	c.buf = append(strconv.AppendUint(append(c.buf, '['), n, 10), "];"...)
}

// maxGaps limits the lines of C for gaps; kernels take 2,000. maxGapBytes limits them for
// C with a line for each byte of a gap. A compiler has to read them.
const (
	maxGaps     = 1 << 24
	maxGapBytes = 1 << 20
)

// The errors for more.
var (
	errGaps     = errors.New("gaps between members would take more than 16,777,216 lines (strict C has one member for each gap)")
	errGapBytes = errors.New("gaps between members have more than 1,048,576 bytes, and each takes a line of C")
)

// hasManyGaps reports whether the types of b may have too many gaps for C. They cannot if
// all structs together are too small for them. again is as in COptions.
func hasManyGaps(b *btf.Blob, again bool) bool {
	lines := uint64(0)
	for id := uint32(1); id < b.TypeCount(); id++ {
		if b.Kind(id) == btf.KindStruct {
			lines += uint64(b.Record(id).Third())
		}
	}
	return lines > maxGaps || again && lines > maxGapBytes
}

// gap writes a bit-field without a name.
func (c *cWriter) gap(name string, bits uint64, indent int) {
	c.gaps++
	switch {
	case c.gaps > maxGaps:
		c.fail(errGaps, c.defining)
		return
	case c.again && c.gaps > maxGapBytes:
		c.fail(errGapBytes, c.defining)
		return
	}
	c.line(indent)
	c.text(name)
	c.buf = strconv.AppendUint(append(c.buf, ": "...), bits, 10)
	c.text(";")
}

// roundUp is n, or the next multiple of to above it.
func roundUp(n, to uint64) uint64 {
	if to == 0 {
		return n
	}
	return (n + to - 1) / to * to
}
