package show

import (
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
)

// typeName adds the name of t, as it stands before the name of what has it.
func (p *Printer) typeName(t view.Type, depth int) {
	if depth > view.MaxDepth || p.over() {
		p.text("...")
		return
	}
	switch t.Kind() {
	case btf.KindVoid:
		p.text("void")
	case btf.KindStruct:
		p.tagged("struct ", t)
	case btf.KindUnion:
		p.tagged("union ", t)
	case btf.KindEnum, btf.KindEnum64:
		p.tagged("enum ", t)
	case btf.KindFwd:
		if t.Flag() {
			p.tagged("union ", t)
		} else {
			p.tagged("struct ", t)
		}
	case btf.KindFloat:
		p.tagged("single ", t)
	case btf.KindPtr:
		p.pointer(t.Target(), depth)
	case btf.KindConst:
		p.modified("const ", t, depth)
	case btf.KindVolatile:
		p.modified("volatile ", t, depth)
	case btf.KindRestrict:
		p.typeName(t.Target(), depth+1)
		p.text(" restrict")
	case btf.KindTypeTag:
		p.typeName(t.Target(), depth+1)
	case btf.KindArray:
		elem, _ := t.Elem()
		p.typeName(elem, depth+1)
	case btf.KindFuncProto:
		p.typeName(t.Target(), depth+1)
		p.text(" ()")
		p.params(t, depth+1)
	default:
		p.tagged("", t)
	}
}

func (p *Printer) tagged(kind string, t view.Type) {
	p.text(kind)
	p.name(t.Name())
}

func (p *Printer) modified(word string, t view.Type, depth int) {
	p.text(word)
	p.typeName(t.Target(), depth+1)
	p.text(" ")
}

// pointer adds the name of a pointer to t.
func (p *Printer) pointer(t view.Type, depth int) {
	if inner := t.Target(); t.Kind() == btf.KindConst && inner.Kind() == btf.KindPtr {
		p.typeName(inner, depth+1)
		p.text(" const *")
		return
	}
	p.typeName(t, depth+1)
	p.text(" *")
}

// params adds the list of parameters of a prototype.
func (p *Printer) params(proto view.Type, depth int) {
	p.text("(")
	if proto.Vlen() == 0 || proto.Vlen() == 1 && proto.Param(0).Variadic() {
		p.text("void)")
		return
	}
	for i, param := range proto.Params() {
		if depth > view.MaxDepth || p.over() {
			break
		}
		if i > 0 {
			p.text(", ")
		}
		switch t := param.Type(); {
		case param.Variadic():
			p.text("...")
		case t.Kind() == btf.KindPtr && t.Target().Kind() == btf.KindFuncProto:
			p.typeName(t.Target().Target(), depth+1)
			p.text(" (*)")
			p.params(t.Target(), depth+1)
		default:
			p.typeName(t, depth+1)
		}
	}
	p.text(")")
}
