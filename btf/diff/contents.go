package diff

import (
	"cmp"
	"math"
	"slices"

	"github.com/btflite/btflite/btf"
)

// intChar is BTF_INT_CHAR in the last word of an INT. It tells the use of an integer, not
// its type.
const intChar = 2 << 24

// noPointers is the size of pointers for btf.Blob.Size: BTF does not have it, so members
// that are pointers have no size in a comparison.
const noPointers = 0

// appendContent appends the content of a record as words. They are equal if and only if
// two records, of either side, have equal contents. References must have ids. See
// Options.ABI for what is left out then.
func (s *side) appendContent(dst []uint32, id uint32) []uint32 {
	r := s.Record(id)
	k, vlen, flag := btf.InfoKind(r[1]), btf.InfoVlen(r[1]), r[1]>>31
	head := len(dst)
	dst = append(dst, uint32(k), s.name(r[0]))
	switch k {
	case btf.KindPtr, btf.KindConst, btf.KindVolatile, btf.KindRestrict:
		return append(dst, s.ids[r[2]])
	case btf.KindTypeTag:
		return append(dst, s.ids[r[2]], flag)
	case btf.KindArray:
		return append(dst, s.ids[r[3]], r[5])
	case btf.KindFwd:
		return append(dst, flag)
	case btf.KindInt:
		if s.c.filter.abi {
			dst[head+1] = 0
			return append(dst, r[2], r[3]&^intChar)
		}
		return append(dst, r[2], r[3])
	case btf.KindFloat, btf.KindDatasec:
		return append(dst, r[2])
	case btf.KindDeclTag:
		return append(dst, r[3], flag)
	case btf.KindFuncProto:
		dst = append(dst, s.ids[r[2]])
		for e := r[3:]; len(e) > 0; e = e[2:] {
			name := uint32(0)
			if !s.c.filter.abi {
				name = s.name(e[0])
			}
			dst = append(dst, name, s.ids[e[1]])
		}
		return dst
	case btf.KindEnum, btf.KindEnum64:
		dst = append(dst, r[2], flag, vlen)
		dst = s.appendValues(dst, r)
	case btf.KindStruct, btf.KindUnion:
		dst = append(dst, r[2], vlen)
		for e := r[3:]; len(e) > 0; e = e[3:] {
			dst = append(dst, s.name(e[0]), s.ids[e[1]], e[2], uint32(min(s.Size(e[1], noPointers), math.MaxUint32)))
			if flag != 0 && e[2]>>24 != 0 {
				dst[head] |= 1 << 8 // has bit-fields: offsets hold widths, too
			}
		}
	case btf.KindTypedef:
		dst = append(dst, s.ids[r[2]])
	case btf.KindFunc:
		dst = append(dst, s.ids[r[2]], vlen)
	case btf.KindVar:
		dst = append(dst, s.ids[r[2]], r[3])
	}
	for _, t := range s.tagsOf(id) {
		dst = append(dst, uint32(t.component), t.name, t.kflag)
	}
	return dst
}

// appendValues appends the enumerators of an enum, sorted: their order means
// nothing.
func (s *side) appendValues(dst []uint32, r []uint32) []uint32 {
	s.values = s.values[:0]
	k, vlen := btf.InfoKind(r[1]), btf.InfoVlen(r[1])
	stride, n := btf.NameWords(k, vlen)
	for i := range n {
		e := r[3+i*stride:][:stride]
		v := [3]uint32{s.name(e[0]), e[1], 0}
		if k == btf.KindEnum64 {
			v[2] = e[2]
		}
		s.values = append(s.values, v)
	}
	slices.SortFunc(s.values, func(x, y [3]uint32) int {
		return cmp.Or(cmp.Compare(x[0], y[0]), cmp.Compare(x[1], y[1]), cmp.Compare(x[2], y[2]))
	})
	for _, v := range s.values {
		dst = append(dst, v[0], v[1], v[2])
	}
	return dst
}

// define enters the contents of all that is compared by itself.
func (c *comparison) define() {
	for _, s := range c.sides {
		for id := uint32(1); id < s.TypeCount(); id++ {
			if p, name, ok := s.chosen(id); ok && p != partVariable {
				s.define(p, name, id, id, variable{})
			}
		}
		for i, v := range s.vars {
			if p, name, ok := s.chosen(v.id); ok {
				s.define(p, name, v.id, uint32(i), v)
			}
		}
		for _, id := range s.alone {
			// A copy of a type that is used is reported there.
			p := kindPart[s.Kind(id)]
			if n := s.ids[id] - firstNode; c.filter.parts>>p&1 != 0 && c.table.nodes[n].flags&(usedA<<s.index) == 0 {
				s.define(p, 0, id, id, variable{})
			}
		}
	}
}

// define enters the contents of one type into the group of its name. rep is
// the type or, for a variable v, its index in s.vars.
func (s *side) define(p part, name, id, rep uint32, v variable) {
	g := &s.c.groups.list[s.c.groups.intern(p, name)]
	own := id >= s.FirstID
	if own {
		g.own |= s.in
	}
	if name != 0 && isForward(s.Record(id)) {
		g.declared |= s.in
		return
	}
	g.defined |= s.in
	s.content = s.appendContent(s.content[:0], id)
	switch {
	case p == partVariable && s.c.filter.abi:
		s.content = append(s.content, v.size)
	case p == partVariable:
		s.content = append(s.content, v.section, v.offset, v.size)
	}
	n := &s.c.table.nodes[s.c.table.intern(s.content)]
	if own {
		n.flags |= s.in * ownA
	}
	switch {
	case n.flags&(s.in|isCompared) != s.in|isCompared:
		g.count[s.index]++
		n.rep = rep
	case s.c.filter.abi && n.flags&(inA|inB) == s.in && s.sortKey(p, rep) < s.sortKey(p, n.rep):
		n.rep = rep // the report shows what does not count, too: one of them, whatever the order
	}
	n.flags |= s.in | isCompared
}
