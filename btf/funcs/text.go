package funcs

import (
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
)

// Style is how prototypes are written. The zero value is pfunct's.
type Style struct {
	NoParamNames bool // types of parameters only
}

// maxText is how many bytes the text of one prototype may have. Prototypes refer to
// each other, so that a small file can describe a text without an end.
const maxText = 1 << 20

// cut stands for what is left out: of a text that is too long, or of a type that
// refers to itself.
const cut = "..."

// AppendType appends the type as pahole and pfunct spell it in prototypes: "const
// char  *". Every qualifier in front adds a blank behind it.
func (s Style) AppendType(dst []byte, t view.Type) []byte {
	w := writer{dst: dst, end: len(dst) + maxText, Style: s}
	w.typ(t, 0)
	return w.dst
}

// AppendPrototype appends the prototype of a function, with a semicolon.
func (s Style) AppendPrototype(dst []byte, f Func) []byte {
	w := writer{dst: dst, end: len(dst) + maxText, Style: s}
	w.head(f)
	w.put(";")
	return w.dst
}

// writer appends text up to a limit. It costs time for each byte that it appends,
// and ends soon once nothing more fits.
type writer struct {
	Style
	dst  []byte
	end  int // of dst
	full bool
}

func (w *writer) put(s string) {
	if !w.full && len(w.dst)+len(s) > w.end {
		w.full, s = true, cut
	} else if w.full {
		return
	}
	w.dst = append(w.dst, s...)
}

func (w *writer) name(s []byte) {
	if !w.full && len(w.dst)+len(s) > w.end {
		w.put(string(s)) // says that it is cut
		return
	}
	if !w.full {
		w.dst = append(w.dst, s...)
	}
}

// head is the function without what ends it.
func (w *writer) head(f Func) {
	proto := f.Proto()
	w.tags(f, -1)
	w.typ(proto.Target(), 0)
	w.put(" ")
	w.name(f.Name())
	w.params(proto, 0, f)
}

// tags are the declaration tags of parameter i, those of f for -1.
func (w *writer) tags(f Func, i int) {
	for tag := range f.Tags(i) {
		if len(tag) > 0 {
			w.name(tag)
			w.put(" ")
		}
	}
}

// params is the list of parameters of a prototype, in parentheses. If it is that of
// a function, f, they have tags.
func (w *writer) params(proto view.Type, depth int, f Func) {
	n := proto.Vlen()
	if n == 0 {
		w.put("(void)")
		return
	}
	w.put("(")
	for i, p := range proto.Params() {
		if i > 0 {
			w.put(", ")
		}
		if p.Variadic() && i == n-1 {
			w.put("...")
		} else {
			w.tags(f, i)
			w.param(p, depth+1)
		}
		if w.full {
			return
		}
	}
	w.put(")")
}

// param is one parameter. Pointers to functions have the name inside.
func (w *writer) param(p view.Param, depth int) {
	name := p.Name()
	if w.NoParamNames {
		name = nil
	}
	t := p.Type()
	switch {
	case t.Kind() == btf.KindPtr && t.Target().Kind() == btf.KindFuncProto:
		w.typ(t.Target().Target(), depth)
		w.put(" (*")
		w.name(name)
		w.put(")")
		w.params(t.Target(), depth, Func{})
	case t.Kind() == btf.KindFuncProto:
		w.typ(t.Target(), depth)
		w.put(" ")
		w.name(name)
		w.params(t, depth, Func{})
	default:
		w.typ(t, depth)
		if len(name) > 0 {
			w.put(" ")
			w.name(name)
		}
	}
}

// typ is a type without the name of what has it.
func (w *writer) typ(t view.Type, depth int) {
	if depth >= view.MaxDepth || w.full {
		w.put(cut)
		return
	}
	depth++
	switch k := t.Kind(); k {
	case btf.KindVoid:
		w.put("void")
	case btf.KindStruct, btf.KindUnion, btf.KindEnum, btf.KindEnum64, btf.KindFwd:
		w.put(keyword(t))
		w.name(t.Name())
	case btf.KindPtr:
		w.pointer(t.Target(), depth)
	case btf.KindConst, btf.KindVolatile:
		w.put(qualifiers[k])
		w.typ(t.Target(), depth)
		w.afterQualifier()
	case btf.KindRestrict:
		w.typ(t.Target(), depth)
		w.put(" restrict")
		w.afterQualifier()
	case btf.KindArray:
		elem, _ := t.Elem()
		w.typ(elem, depth)
	case btf.KindFuncProto:
		w.typ(t.Target(), depth)
		w.put(" ()")
		w.params(t, depth, Func{})
	case btf.KindTypeTag:
		w.typ(t.Target(), depth)
	default:
		w.name(t.Name())
	}
}

var qualifiers = map[btf.Kind]string{btf.KindConst: "const ", btf.KindVolatile: "volatile "}

// afterQualifier is the blank that pfunct writes behind a qualified type, but not
// where it leaves out the names of parameters.
func (w *writer) afterQualifier() {
	if !w.NoParamNames {
		w.put(" ")
	}
}

// pointer is a pointer to t. A constant pointer that is pointed to has its const
// behind the star, other constant types have it in front.
func (w *writer) pointer(t view.Type, depth int) {
	if inner := t.Target(); t.Kind() == btf.KindConst && inner.Kind() == btf.KindPtr {
		w.typ(inner, depth)
		w.put(" const *")
		return
	}
	w.typ(t, depth)
	w.put(" *")
}

// keyword is the word in front of a tag, with a blank.
func keyword(t view.Type) string {
	switch k := t.Kind(); {
	case k == btf.KindUnion, k == btf.KindFwd && t.Flag():
		return "union "
	case t.IsEnum():
		return "enum "
	}
	return "struct "
}
