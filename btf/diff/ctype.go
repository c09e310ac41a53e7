package diff

import (
	"strconv"
	"strings"

	"github.com/btflite/btflite/btf"
)

// Bounds of what is shown.
const (
	maxText   = 1000 // bytes of a type, about
	maxTypes  = 64   // types that are looked at for one text
	maxLooks  = 3    // members or values shown of a nameless type
	maxInside = 4    // prototypes and nameless types in each other
)

// ctype is how C writes the declaration of name with a type; name may be "".
func (s *side) ctype(id uint32, name string) string {
	w := typeWriter{side: s, types: maxTypes, left: maxText}
	return w.declare(id, name, 0)
}

// prototype is how C declares a function.
func (s *side) prototype(id uint32) string {
	r := s.Record(id)
	return s.ctype(r[2], s.text(r[0]))
}

// parameterType is the type of a parameter of a FUNC_PROTO.
func (s *side) parameterType(r []uint32, i int) string {
	w := typeWriter{side: s, types: maxTypes, left: maxText}
	return w.parameter(r, i, 0, false)
}

// typeWriter writes one type. types and left are what it may still use.
type typeWriter struct {
	*side
	types, left int
}

// declare works from the name outwards.
func (w *typeWriter) declare(id uint32, name string, depth int) string {
	d, quals := name, ""
	for {
		w.types--
		r := w.Record(id)
		switch {
		case w.types < 0 || len(d)+len(quals) > w.left:
			return join2(quals+cutShort, d)
		case r == nil:
			return join2(quals+"void", d)
		}
		switch k := btf.InfoKind(r[1]); k {
		case btf.KindPtr:
			d = "*" + strings.TrimSuffix(quals, " ") + spaced(quals, d) + d
			quals = ""
			id = r[2]
		case btf.KindConst, btf.KindVolatile, btf.KindRestrict:
			quals = strings.ToLower(k.String()) + " " + quals
			id = r[2]
		case btf.KindTypeTag:
			quals += "btf_type_tag(" + strconv.Quote(w.text(r[0])) + ") "
			id = r[2]
		case btf.KindArray:
			d = grouped(d) + "[" + strconv.FormatUint(uint64(r[5]), 10) + "]"
			id = r[3]
		case btf.KindFuncProto:
			d = grouped(d) + "(" + w.parameters(r, depth) + ")"
			id = r[2]
		default:
			return join2(quals+w.base(k, r, depth), d)
		}
	}
}

// spaced is the blank between the qualifiers of a pointer and what follows.
func spaced(quals, d string) string {
	if quals != "" && d != "" {
		return " "
	}
	return ""
}

// grouped puts a pointer in parentheses.
func grouped(d string) string {
	if strings.HasPrefix(d, "*") {
		return "(" + d + ")"
	}
	return d
}

func join2(base, d string) string {
	if d == "" {
		return base
	}
	return base + " " + d
}

// parameters is the list of parameters.
func (w *typeWriter) parameters(r []uint32, depth int) string {
	n := int(btf.InfoVlen(r[1]))
	if n == 0 {
		return "void"
	}
	if depth == maxInside {
		return cutShort
	}
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		if w.types < 0 || b.Len() > w.left {
			b.WriteString(cutShort)
			break
		}
		b.WriteString(w.parameter(r, i, depth+1, true))
	}
	return b.String()
}

func (w *typeWriter) parameter(r []uint32, i, depth int, named bool) string {
	e := r[3+2*i:]
	if e[1] == 0 && w.name(e[0]) == 0 {
		return "..."
	}
	name := ""
	if named {
		name = w.text(e[0])
	}
	return w.declare(e[1], name, depth)
}

// base is a type that needs no declarator.
func (w *typeWriter) base(k btf.Kind, r []uint32, depth int) string {
	name := w.text(r[0])
	switch k {
	case btf.KindStruct, btf.KindUnion, btf.KindEnum, btf.KindEnum64, btf.KindFwd:
		p := kindPart[k]
		if k == btf.KindFwd && btf.InfoKflag(r[1]) {
			p = partUnion
		}
		if name != "" {
			return partNames[p] + " " + name
		}
		return partNames[p] + " { " + w.elements(r, depth) + " }"
	case btf.KindInt, btf.KindFloat, btf.KindTypedef:
		if name != "" {
			return name
		}
	}
	return join2(k.String(), name)
}

// elements shows the first members or values of a type without a name.
func (w *typeWriter) elements(r []uint32, depth int) string {
	k := btf.InfoKind(r[1])
	stride, n := btf.NameWords(k, btf.InfoVlen(r[1]))
	separator := "; "
	if kindPart[k] == partEnum {
		separator = ", "
	}
	var list []string
	size := 0
	for i := range n {
		if i == maxLooks || depth == maxInside || w.types < 0 || size > w.left {
			list = append(list, cutShort)
			break
		}
		e := r[3+i*stride:]
		text := w.text(e[0])
		if kindPart[k] != partEnum {
			text = w.declare(e[1], text, depth+1)
		}
		list = append(list, text)
		size += len(text)
	}
	return strings.Join(list, separator)
}
