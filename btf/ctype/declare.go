package ctype

import (
	"strconv"
	"strings"

	"github.com/btflite/btflite/btf"
)

// Declarer writes types as C declares what has them: "int (*f)(void)". A type without
// a name is shown by its first members, or as "(anonymous)".
type Declarer struct {
	Blob *btf.Blob
	// Name returns the name at a string offset, as it should be shown; "" for none.
	Name func(off uint32) string
	// Tags has type tags shown.
	Tags bool
	// ParamNames has the names of parameters shown.
	ParamNames bool
	// Members is how many members or values of a type without a name are shown.
	Members int
	// Cut stands for what is left out; "" for "...".
	Cut string
}

// Bounds of one text of a Declarer.
const (
	MaxBytes  = 1000 // about; the rest is cut
	MaxTypes  = 64   // types that are looked at
	maxInside = 4    // prototypes and types without a name in each other
)

// declaring is the work on one text. types is how many it may still look at.
type declaring struct {
	*Declarer
	types int
}

// Declare is the declaration of name, which may be "", with a type.
func (d *Declarer) Declare(id uint32, name string) string {
	w := declaring{d, MaxTypes}
	return w.declare(id, name, 0)
}

// Param is parameter i of a prototype without its name.
func (d *Declarer) Param(proto btf.Record, i int) string {
	w := declaring{d, MaxTypes}
	return w.param(proto, i, 0, false)
}

// cut is the text in place of types that are left out.
func (d *Declarer) cut() string {
	if d.Cut != "" {
		return d.Cut
	}
	return cut
}

// declare works from the name outwards.
func (w *declaring) declare(id uint32, name string, depth int) string {
	d, quals := name, ""
	for {
		w.types--
		r := w.Blob.Record(id)
		switch {
		case w.types < 0 || len(d)+len(quals) > MaxBytes:
			return spaced(quals+w.cut(), d)
		case r == nil:
			return spaced(quals+"void", d)
		}
		switch k := r.Kind(); k {
		case btf.KindPtr:
			if quals = strings.TrimSuffix(quals, " "); quals != "" {
				d = spaced(quals, d)
			}
			d, quals = "*"+d, ""
			id = r.Third()
		case btf.KindConst, btf.KindVolatile, btf.KindRestrict:
			quals = strings.ToLower(k.String()) + " " + quals
			id = r.Third()
		case btf.KindTypeTag:
			if mark, text := w.Blob.MarkOf(r); mark != btf.NoMark {
				name, ref := w.marked(mark, string(text))
				if mark == btf.MarkName {
					return spaced(quals+name, d)
				}
				if quals, d = name+quals, ref+d; ref != "" {
					id = w.behindMark(r.Third())
					continue
				}
			} else if w.Tags {
				quals += "btf_type_tag(" + strconv.Quote(w.Name(r.Name())) + ") "
			}
			id = r.Third()
		case btf.KindArray:
			elem, _, n := r.Array()
			d = grouped(d) + "[" + strconv.FormatUint(uint64(n), 10) + "]"
			id = elem
		case btf.KindFuncProto:
			d = grouped(d) + "(" + w.params(r, depth) + ")"
			id = r.Third()
		default:
			return spaced(quals+w.base(k, r, depth), d)
		}
	}
}

// marked gives the words that a mark puts before the type and before the name.
func (w *declaring) marked(k btf.MarkKind, text string) (before, declarator string) {
	if !btf.IsPlain([]byte(text)) {
		text = strconv.Quote(text)
	}
	switch k {
	case btf.MarkQualifier:
		return strings.TrimPrefix(text+" ", " "), ""
	case btf.MarkReference:
		return "", text
	case btf.MarkMember:
		return "", text + "::*"
	}
	return text, ""
}

// behindMark gives the target of a reference or of a pointer to a member. BTF has a
// pointer in its place: id is that pointer, or an array of them.
func (w *declaring) behindMark(id uint32) uint32 {
	r := w.Blob.Record(id)
	if r != nil && r.Kind() == btf.KindArray {
		id, _, _ = r.Array()
		r = w.Blob.Record(id)
	}
	if r != nil && r.Kind() == btf.KindPtr {
		return r.Third()
	}
	return id
}

// grouped puts a pointer in parentheses.
func grouped(d string) string {
	if strings.HasPrefix(d, "*") || strings.HasPrefix(d, "&") || strings.Contains(d, "::*") {
		return "(" + d + ")"
	}
	return d
}

// spaced is a base and a declarator, if there is one.
func spaced(base, d string) string {
	if d == "" {
		return base
	}
	return base + " " + d
}

// params is the list of parameters.
func (w *declaring) params(r btf.Record, depth int) string {
	n := int(r.Vlen())
	if n == 0 {
		return "void"
	}
	if depth == maxInside {
		return w.cut()
	}
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		if w.types < 0 || b.Len() > MaxBytes {
			b.WriteString(w.cut())
			break
		}
		b.WriteString(w.param(r, i, depth+1, w.ParamNames))
	}
	return b.String()
}

func (w *declaring) param(r btf.Record, i, depth int, named bool) string {
	off, typ := r.Param(i)
	text := ""
	if named || typ == 0 {
		text = w.Name(off)
	}
	if typ == 0 && text == "" {
		return "..."
	}
	if !named {
		text = ""
	}
	return w.declare(typ, text, depth)
}

// base is a type that needs no declarator.
func (w *declaring) base(k btf.Kind, r btf.Record, depth int) string {
	name, word := w.Name(r.Name()), r.Keyword()
	switch {
	case word == "" && name != "" && (k == btf.KindInt || k == btf.KindFloat || k == btf.KindTypedef):
		return name
	case word == "":
		return spaced(k.String(), name)
	case name != "":
		return word + name
	case w.Members == 0:
		return word + "(anonymous)"
	}
	return word + "{ " + w.elements(k, r, depth) + " }"
}

// elements shows the first members or values of a type without a name.
func (w *declaring) elements(k btf.Kind, r btf.Record, depth int) string {
	stride, n := btf.NameWords(k, r.Vlen())
	enum := k == btf.KindEnum || k == btf.KindEnum64
	separator := "; "
	if enum {
		separator = ", "
	}
	var list []string
	size := 0
	for i := range n {
		if i == w.Members || depth == maxInside || w.types < 0 || size > MaxBytes {
			list = append(list, w.cut())
			break
		}
		e := r.Extra()[i*stride:]
		text := w.Name(e[0])
		if !enum {
			text = w.declare(e[1], text, depth+1)
		}
		list = append(list, text)
		size += len(text)
	}
	return strings.Join(list, separator)
}
