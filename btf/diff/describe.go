package diff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/ctype"
)

// properties describes a definition that only one side has.
func (c *comparison) properties(i int, p part, rep uint32) details {
	s := c.sides[i]
	d := oneSided{details: make(details, 0, 4), after: i == 1}
	id := rep
	if p == partVariable {
		id = s.vars[rep].id
	}
	r := s.Record(id)
	switch p {
	case partStruct, partUnion, partEnum:
		if s.isNameless(id) {
			d.add("type", s.ctype(id, "")) // stands for the name
		}
		d.add("size", int64(r[2]))
		what := "members"
		if p == partEnum {
			what = "values"
		}
		d.add(what, int64(btf.InfoVlen(r[1])))
	case partTypedef:
		d.add("type", s.ctype(r[2], ""))
	case partFunction:
		d.add("prototype", s.prototype(id))
		d.add("linkage", btf.LinkageName(btf.InfoVlen(r[1])))
	case partVariable:
		v := s.vars[rep]
		d.add("type", s.ctype(r[2], ""))
		d.add("linkage", btf.LinkageName(r[3]))
		if v.section != 0 {
			d.add("section", c.names.text(v.section))
			d.add("offset", int64(v.offset))
			d.add("size", int64(v.size))
		}
	default:
		d.add("size", int64(r[2]))
		if p == partInt {
			encoding, _, bits := r.Int()
			d.add("encoding", btf.EncodingName(encoding))
			d.add("bits", int64(bits))
		}
	}
	for _, t := range s.tagsAt(id, -1) {
		d.details = append(d.details, Difference{Part: "tag", Name: c.names.text(t.name), Change: d.change()})
	}
	return d.details
}

// memberProperties describes member k, which only side i has.
func (c *comparison) memberProperties(i int, id uint32, k int) details {
	s := c.sides[i]
	d := oneSided{details: make(details, 0, 4), after: i == 1}
	m := memberAt(s.Record(id), k)
	d.add("type", s.ctype(m.typ, ""))
	d.add("bit_offset", int64(m.offset))
	if m.bits != 0 {
		d.add("bits", int64(m.bits))
	} else if size := s.Size(m.typ, noPointers); size != 0 {
		d.add("size", int64(size))
	}
	return d.details
}

// oneSided collects properties that only one side has.
type oneSided struct {
	details
	after bool
}

func (d *oneSided) change() Change {
	if d.after {
		return Added
	}
	return Removed
}

func (d *oneSided) add(part string, value any) {
	p := Difference{Part: part, Change: d.change()}
	if d.after {
		p.After = value
	} else {
		p.Before = value
	}
	d.details = append(d.details, p)
}

// sortKey says all that a definition says, for an order among definitions.
func (s *side) sortKey(p part, rep uint32) string {
	var b strings.Builder
	id := rep
	if p == partVariable {
		v := s.vars[rep]
		id = v.id
		fmt.Fprintf(&b, "%s %08x %08x ", s.c.names.text(v.section), v.offset, v.size)
	}
	r := s.Record(id)
	k, vlen := btf.InfoKind(r[1]), btf.InfoVlen(r[1])
	if btf.ThirdIsRef(k) {
		fmt.Fprintf(&b, "%s %x ", s.ctype(r[2], ""), vlen)
	} else {
		fmt.Fprintf(&b, "%08x %08x ", r[2], r[1])
	}
	switch p {
	case partStruct, partUnion:
		for i := range int(vlen) {
			m := memberAt(r, i)
			fmt.Fprintf(&b, "%s %08x %02x %s;", s.text(r[3+3*i]), m.offset, m.bits, s.ctype(m.typ, ""))
		}
	case partEnum:
		var values []string
		stride, n := btf.NameWords(k, vlen)
		for i := range n {
			values = append(values, fmt.Sprint(s.text(r[3+i*stride]), " ", enumValue(r, i), ";"))
		}
		slices.Sort(values)
		b.WriteString(strings.Join(values, ""))
	case partInt, partVariable:
		fmt.Fprintf(&b, "%08x ", r[3])
	}
	for _, t := range s.tagsOf(id) {
		fmt.Fprintf(&b, "%d %s;", t.component, s.c.names.text(t.name))
	}
	return b.String()
}

// namelessTypes are the ids of the types of members without a name; 0 stands
// for members with one.
func (s *side) namelessTypes(id uint32, names []uint32) []uint32 {
	r := s.Record(id)
	list := make([]uint32, len(names))
	for i, name := range names {
		if name == 0 {
			list[i] = s.ids[r[3+3*i+1]]
		}
	}
	return list
}

// maxFeatures bounds how many names pairs are found by, and maxFeatureTypes in how many types
// they are looked for: nameless types that are twice in each other may have no name at all.
const (
	maxFeatures     = 256
	maxFeatureTypes = 1024
)

// features returns the names that identify a definition, or a type without a name: of its
// members, values or parameters, and of the members of members without a name.
func (s *side) features(id uint32) []feature {
	types := maxFeatureTypes
	return s.appendFeatures(nil, id, 0, &types)
}

// appendFeatures appends the features of a type. types is how many more types are looked at.
func (s *side) appendFeatures(dst []feature, id uint32, depth int, types *int) []feature {
	r := s.Record(id)
	if *types--; r == nil || *types < 0 {
		return dst
	}
	k := btf.InfoKind(r[1])
	if k == btf.KindFunc {
		r = s.Record(r[2])
		k = btf.InfoKind(r[1])
	}
	stride, n := btf.NameWords(k, btf.InfoVlen(r[1]))
	for i := 0; i < n && len(dst) < maxFeatures; i++ {
		e := r[3+i*stride:]
		name := s.name(e[0])
		switch {
		case name == 0 && kindPart[k] <= partUnion && depth < maxNesting && s.isNameless(e[1]):
			dst = s.appendFeatures(dst, e[1], depth+1, types)
		case name == 0:
		case kindPart[k] == partEnum:
			dst = append(dst, feature(name), feature(name)|feature(e[1]+1)<<32)
		default:
			dst = append(dst, feature(name), feature(name)|feature(s.ids[e[1]])<<32)
		}
	}
	return dst
}

// memberFeatures are the features of the types of nameless members; those with
// a name have none.
func (s *side) memberFeatures(id uint32, members []int) [][]feature {
	r := s.Record(id)
	list := make([][]feature, len(members))
	for i, m := range members {
		if e := r[3+3*m:]; s.name(e[0]) == 0 && s.isNameless(e[1]) {
			list[i] = s.features(e[1])
		}
	}
	return list
}

// maxLooks is how many members or values are shown of a nameless type.
const maxLooks = 3

// declarer writes types as differences show them.
func (s *side) declarer() ctype.Declarer {
	return ctype.Declarer{Blob: s.Blob, Name: s.text, Tags: true, ParamNames: true, Members: maxLooks, Cut: cutShort}
}

// ctype is how C writes the declaration of name with a type; name may be "".
func (s *side) ctype(id uint32, name string) string {
	d := s.declarer()
	return d.Declare(id, name)
}

// prototype is how C declares a function.
func (s *side) prototype(id uint32) string {
	r := s.Record(id)
	return s.ctype(r[2], s.text(r[0]))
}

// parameterType is the type of a parameter of a FUNC_PROTO.
func (s *side) parameterType(r btf.Record, i int) string {
	d := s.declarer()
	return d.Param(r, i)
}
