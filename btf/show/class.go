package show

import (
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
)

// Type prints one struct, union, enum or typedef.
func (p *Printer) Type(t view.Type) {
	p.at, p.noted = 0, false
	switch t.Kind() {
	case btf.KindTypedef:
		p.typedef(t)
	case btf.KindEnum, btf.KindEnum64:
		p.enum(t, 0)
	default:
		p.composite(t, p.outermost(t))
	}
	p.text(";\n")
}

// outermost is the form of a struct that is not in another one.
func (p *Printer) outermost(t view.Type) form {
	f := form{typeWidth: typeWidth, nameWidth: nameWidth, top: true, relative: p.opt.Relative}
	if p.opt.Expand {
		f.nameWidth = expandedWidth
	}
	if t.Kind() == btf.KindUnion {
		f.inUnion = true
		if !p.opt.Expand {
			f.nameWidth -= unionLess
		}
	}
	return f
}

// typedef adds a typedef.
func (p *Printer) typedef(t view.Type) {
	p.text("typedef ")
	of := t.Target()
	name := t.Name()
	switch {
	case unnamed(of) || p.opt.Expand && of.IsComposite():
		if of.IsEnum() {
			p.enum(of, 0)
		} else {
			f := p.outermost(t)
			f.typeWidth -= 8
			f.inUnion = of.Kind() == btf.KindUnion
			p.composite(of, f)
		}
		p.text(" ")
		p.name(name)
	case of.Kind() == btf.KindPtr && of.Target().Kind() == btf.KindFuncProto:
		p.typeName(of.Target().Target(), 0)
		p.text(" (*")
		p.name(name)
		p.text(")")
		p.params(of.Target(), 0)
	case of.Kind() == btf.KindFuncProto:
		p.typeName(of.Target(), 0)
		p.text(" (")
		p.name(name)
		p.text(")")
		p.params(of, 0)
	case of.Kind() == btf.KindArray:
		p.array(of, &declaration{name: name, form: p.outermost(of)}, 0)
	default:
		p.typeName(of, 0)
		p.text(" ")
		p.name(name)
	}
}
