package diff

import (
	"math"
	"slices"

	"github.com/btflite/btflite/btf"
)

// maxNesting is how deep types without a name are looked into.
const maxNesting = 32

// details collects what differs between two definitions.
type details []Difference

func (d *details) property(part string, before, after any) {
	if before != after {
		*d = append(*d, Difference{Part: part, Change: Changed, Before: before, After: after})
	}
}

// explain says how two definitions of one name differ.
func (c *comparison) explain(p part, x, y uint32) details {
	var d details
	a, b := c.sides[0], c.sides[1]
	switch p {
	case partStruct, partUnion, partEnum:
		if a.isNameless(x) { // stands for the name
			d = details{{Part: "type", Change: Changed, Before: a.ctype(x, ""), After: b.ctype(y, "")}}
		}
		d = append(d, c.aggregate(x, y, 0)...)
	case partVariable:
		v, w := a.vars[x], b.vars[y]
		r, q := a.Record(v.id), b.Record(w.id)
		c.typeChange(&d, "type", r[2], q[2], 0)
		d.property("linkage", btf.LinkageName(r[3]), btf.LinkageName(q[3]))
		if !c.filter.abi {
			d.property("section", c.names.text(v.section), c.names.text(w.section))
			d.property("offset", int64(v.offset), int64(w.offset))
		}
		d.property("size", int64(v.size), int64(w.size))
		c.tagChanges(&d, v.id, w.id, -1, -1)
	case partFunction:
		r, q := a.Record(x), b.Record(y)
		c.prototypes(&d, x, y)
		d.property("linkage", btf.LinkageName(btf.InfoVlen(r[1])), btf.LinkageName(btf.InfoVlen(q[1])))
		c.tagChanges(&d, x, y, -1, -1)
	case partTypedef:
		c.typeChange(&d, "type", a.Record(x)[2], b.Record(y)[2], 0)
		c.tagChanges(&d, x, y, -1, -1)
	case partSection:
		d.property("size", int64(a.Record(x)[2]), int64(b.Record(y)[2]))
	default: // int, float
		d = c.numberChanges(x, y)
	}
	if len(d) == 0 {
		d = append(d, Difference{Part: "content", Change: Changed})
	}
	return d
}

// aggregate says how two structs, unions or enums differ.
func (c *comparison) aggregate(x, y uint32, depth int) details {
	var d details
	r, q := c.sides[0].Record(x), c.sides[1].Record(y)
	if depth > 0 {
		c.budget -= int(btf.InfoVlen(r[1])) + int(btf.InfoVlen(q[1]))
		if c.budget < 0 || depth > maxNesting {
			return details{{Part: "content", Change: Changed}}
		}
	}
	d.property("kind", btf.InfoKind(r[1]).String(), btf.InfoKind(q[1]).String())
	d.property("size", int64(r[2]), int64(q[2]))
	if kindPart[btf.InfoKind(r[1])] == partEnum {
		d.property("signed", btf.InfoKflag(r[1]), btf.InfoKflag(q[1]))
		c.values(&d, r, q)
	} else {
		c.members(&d, x, y, depth)
	}
	c.tagChanges(&d, x, y, -1, -1)
	return d
}

// values says which enumerators differ.
func (c *comparison) values(d *details, r, q []uint32) {
	before, after := c.sides[0].elementNames(r), c.sides[1].elementNames(q)
	j := join(before, after)
	j.inOrder(func(i, k int) {
		v := Difference{Part: "value"}
		switch {
		case k < 0:
			v.Name, v.Change, v.Before = c.names.text(before[i]), Removed, enumValue(r, i)
		case i < 0:
			v.Name, v.Change, v.After = c.names.text(after[k]), Added, enumValue(q, k)
		default:
			v.Name, v.Change, v.Before, v.After = c.names.text(before[i]), Changed, enumValue(r, i), enumValue(q, k)
			if v.Before == v.After {
				return
			}
		}
		*d = append(*d, v)
	})
}

// enumValue is the value of an enumerator: an int64, or a uint64 if it is too
// large for that.
func enumValue(r []uint32, i int) any {
	_, v := btf.Record(r).Enumerator(i)
	if btf.InfoKflag(r[1]) || v <= math.MaxInt64 {
		return int64(v)
	}
	return v
}

// elementNames are the numbers of the names of members, enumerators or
// parameters.
func (s *side) elementNames(r []uint32) []uint32 {
	stride, n := btf.NameWords(btf.InfoKind(r[1]), btf.InfoVlen(r[1]))
	list := make([]uint32, n)
	for i := range list {
		list[i] = s.name(r[3+i*stride])
	}
	return list
}

// members says which members differ. Those without a name are the same if their
// types are, or else have names of members in common.
func (c *comparison) members(d *details, x, y uint32, depth int) {
	a, b := c.sides[0], c.sides[1]
	before, after := a.elementNames(a.Record(x)), b.elementNames(b.Record(y))
	j := join(before, after)
	if slices.Contains(before, 0) && slices.Contains(after, 0) {
		j.add(join(a.namelessTypes(x, before), b.namelessTypes(y, after)))
		freeA, freeB := j.free()
		for _, p := range match(a.memberFeatures(x, freeA), b.memberFeatures(y, freeB)) {
			j.pair(freeA[p[0]], freeB[p[1]])
		}
	}
	j.inOrder(func(i, k int) {
		switch {
		case k < 0:
			*d = append(*d, Difference{Part: "member", Name: c.names.text(before[i]), Change: Removed, Details: c.memberProperties(0, x, i)})
		case i < 0:
			*d = append(*d, Difference{Part: "member", Name: c.names.text(after[k]), Change: Added, Details: c.memberProperties(1, y, k)})
		default:
			if m := c.memberChanges(x, y, i, k, depth); len(m) > 0 {
				*d = append(*d, Difference{Part: "member", Name: c.names.text(before[i]), Change: Changed, Details: m})
			}
		}
	})
}

// member is a member's words, decoded. Offsets and widths are in bits.
type member struct {
	typ, offset, bits uint32
}

func memberAt(r []uint32, i int) member {
	_, typ, offset, bits := btf.Record(r).Field(i)
	return member{typ, offset, bits}
}

// memberChanges says how a member differs.
func (c *comparison) memberChanges(x, y uint32, i, k, depth int) details {
	var d details
	a, b := c.sides[0], c.sides[1]
	m, n := memberAt(a.Record(x), i), memberAt(b.Record(y), k)
	c.typeChange(&d, "type", m.typ, n.typ, depth)
	d.property("bit_offset", int64(m.offset), int64(n.offset))
	d.property("bits", known(m.bits), known(n.bits))
	told := func(p Difference) bool { return p.Part == "size" } // by a nameless type
	if !slices.ContainsFunc(d, told) {
		v, w := a.Size(m.typ, noPointers), b.Size(n.typ, noPointers)
		if v != 0 && w != 0 || a.ids[m.typ] == b.ids[n.typ] {
			d.property("size", known(v), known(w))
		}
	}
	c.tagChanges(&d, x, y, i, k)
	return d
}

// known is a size or width, nil for none.
func known[T uint32 | uint64](n T) any {
	if n == 0 {
		return nil
	}
	return int64(n)
}

// textCost is how many bytes of a text take as long to make as one member.
const textCost = 32

// typeChange says how what refers to ref x differs from what refers to y.
// Where both lead to types without a name in the same way, these are looked
// into.
func (c *comparison) typeChange(d *details, what string, x, y uint32, depth int) {
	a, b := c.sides[0], c.sides[1]
	if a.ids[x] == b.ids[y] {
		return
	}
	v, w := x, y
	for range maxChain {
		v, w = a.skip(v), b.skip(w)
		k, l := a.Kind(v), b.Kind(w)
		if a.isNameless(v) && b.isNameless(w) && kindPart[k] == kindPart[l] {
			inside := c.aggregate(v, w, depth+1)
			if v != x {
				before, after := a.ctype(v, ""), b.ctype(w, "")
				c.budget -= (len(before) + len(after)) / textCost
				inside = details{{Part: what, Change: Changed, Before: before, After: after, Details: inside}}
			}
			*d = append(*d, inside...)
			return
		}
		r, q := a.Record(v), b.Record(w)
		if k == btf.KindVoid || k != l || btf.InfoKflag(r[1]) != btf.InfoKflag(q[1]) || a.name(r[0]) != b.name(q[0]) {
			break
		}
		switch {
		case k == btf.KindPtr, k == btf.KindConst, k == btf.KindVolatile, k == btf.KindRestrict, k == btf.KindTypeTag:
			v, w = r[2], q[2]
			continue
		case k == btf.KindArray && r[5] == q[5]:
			v, w = r[3], q[3]
			continue
		}
		break
	}
	// They may read the same if the difference is in a type without a name, or
	// in what a name that does not count stands for.
	var inside details
	before, after := a.ctype(x, ""), b.ctype(y, "")
	if before == after {
		k, l := a.Kind(v), b.Kind(w)
		inside.property("type", a.ctype(v, ""), b.ctype(w, ""))
		switch {
		case len(inside) > 0:
		case k != l:
			d.property("kind", k.String(), l.String())
			return
		default:
			inside = c.numberChanges(v, w)
		}
	}
	*d = append(*d, Difference{Part: what, Change: Changed, Before: before, After: after, Details: inside})
}

// numberChanges says how two types differ if they are numbers.
func (c *comparison) numberChanges(x, y uint32) (d details) {
	k, l := c.sides[0].Kind(x), c.sides[1].Kind(y)
	if k != l || k != btf.KindInt && k != btf.KindFloat {
		return nil
	}
	r, q := c.sides[0].Record(x), c.sides[1].Record(y)
	d.property("size", int64(r.Third()), int64(q.Third()))
	if k == btf.KindInt {
		encoding, offset, bits := r.Int()
		encoding2, offset2, bits2 := q.Int()
		d.property("encoding", btf.EncodingName(encoding), btf.EncodingName(encoding2))
		d.property("bit_offset", int64(offset), int64(offset2))
		d.property("bits", int64(bits), int64(bits2))
	}
	return d
}

// prototypes says how the prototypes of two functions differ.
func (c *comparison) prototypes(d *details, x, y uint32) {
	a, b := c.sides[0], c.sides[1]
	p, q := a.Record(x)[2], b.Record(y)[2]
	if a.ids[p] == b.ids[q] {
		c.parameterTags(d, x, y)
		return
	}
	*d = append(*d, Difference{Part: "prototype", Change: Changed, Before: a.prototype(x), After: b.prototype(y)})
	r, s := a.Record(p), b.Record(q)
	c.typeChange(d, "returns", r[2], s[2], 0)
	c.budget -= int(btf.InfoVlen(r[1])) + int(btf.InfoVlen(s[1]))
	if c.budget < 0 {
		return
	}
	before, after := a.elementNames(r), b.elementNames(s)
	j := join(before, after)
	if c.filter.abi { // by position only
		j = join(make([]uint32, len(before)), make([]uint32, len(after)))
	}
	for i := range min(len(before), len(after)) {
		if j.after[i] < 0 && j.before[i] < 0 {
			j.pair(i, i)
		}
	}
	j.inOrder(func(i, k int) {
		v := Difference{Part: "parameter", Change: Changed}
		var m details
		switch {
		case k < 0:
			v.Name, v.Change = c.names.text(before[i]), Removed
			m = details{{Part: "type", Change: Removed, Before: a.parameterType(r, i)}, {Part: "position", Change: Removed, Before: int64(i)}}
		case i < 0:
			v.Name, v.Change = c.names.text(after[k]), Added
			m = details{{Part: "type", Change: Added, After: b.parameterType(s, k)}, {Part: "position", Change: Added, After: int64(k)}}
		default:
			v.Name = c.names.text(before[i])
			if !c.filter.abi {
				m.property("name", v.Name, c.names.text(after[k]))
			}
			c.typeChange(&m, "type", r[3+2*i+1], s[3+2*k+1], 0)
			m.property("position", int64(i), int64(k))
			c.tagChanges(&m, x, y, i, k)
			if len(m) == 0 {
				return
			}
		}
		v.Details = m
		*d = append(*d, v)
	})
}

// parameterTags says how the tags of the parameters of two functions differ
// whose prototypes do not.
func (c *comparison) parameterTags(d *details, x, y uint32) {
	var tagged []int
	for _, t := range slices.Concat(c.sides[0].tagsOf(x), c.sides[1].tagsOf(y)) {
		if t.component >= 0 {
			tagged = append(tagged, int(t.component))
		}
	}
	slices.Sort(tagged)
	a := c.sides[0]
	names := a.Record(a.Record(x)[2])[3:]
	for _, i := range slices.Compact(tagged) {
		var m details
		c.tagChanges(&m, x, y, i, i)
		if len(m) == 0 {
			continue
		}
		p := Difference{Part: "parameter", Change: Changed, Details: m}
		if 2*i < len(names) {
			p.Name = a.text(names[2*i])
		}
		*d = append(*d, p)
	}
}

// tagChanges says how the tags of component i of x and component k of y
// differ; -1 stands for x and y themselves.
func (c *comparison) tagChanges(d *details, x, y uint32, i, k int) {
	before, after := c.sides[0].tagsAt(x, i), c.sides[1].tagsAt(y, k)
	for len(before) > 0 || len(after) > 0 {
		switch {
		case len(after) == 0 || len(before) > 0 && c.compareTags(before[0], after[0]) < 0:
			*d = append(*d, Difference{Part: "tag", Name: c.names.text(before[0].name), Change: Removed})
			before = before[1:]
		case len(before) == 0 || c.compareTags(before[0], after[0]) > 0:
			*d = append(*d, Difference{Part: "tag", Name: c.names.text(after[0].name), Change: Added})
			after = after[1:]
		default:
			before, after = before[1:], after[1:]
		}
	}
}
