package show

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
	"github.com/btflite/btflite/internal/message"
)

// begin prepares for the text of a type that is not in another one.
func begin(p *Printer) {
	p.limit.begin(p.to.Written + len(p.buf))
	p.at, p.noted = 0, false
}

// Type prints one struct, union, enum or typedef.
func (p *Printer) Type(t view.Type) {
	begin(p)
	p.usedAt(t)
	if p.opt.Pointers && p.opt.Expand {
		p.open[t.ID]++
		defer func() { p.open[t.ID]-- }()
	}
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

// usedAt adds the lines about the place of a type. For an unknown file they have
// "(null)", because pahole gives printf a NULL string.
func (p *Printer) usedAt(t view.Type) {
	if p.opt.UsedAt == nil {
		return
	}
	at := p.opt.UsedAt(t)
	p.text("/* Used at: ")
	p.text(message.OneLine(at.Unit))
	p.text(" */\n/* <")
	p.buf = strconv.AppendUint(p.buf, at.Offset, 16)
	p.text("> ")
	p.text(cmp.Or(message.OneLine(at.File), "(null)"))
	p.text(":")
	p.number(at.Line, 0)
	p.text(" */\n")
}

// unnamedType prints a struct or union without a name, as the typedef that gives it
// one.
func (p *Printer) unnamedType(t view.Type) {
	begin(p)
	p.usedAt(t)
	name := p.v.Type(p.typedefs[t.ID]).Name()
	if len(name) > 0 {
		p.text("typedef ")
	}
	f := p.outermost(t)
	f.holder, f.typedef = name, len(name) > 0
	p.composite(t, f)
	if len(name) > 0 {
		p.typedefName(name)
	}
	p.text(";\n")
}

// typedefName adds the name of a typedef after the braces of a struct, but before its
// attribute of alignment.
func (p *Printer) typedefName(name []byte) {
	attribute := slices.Clone(p.buf[len(p.buf)-p.uncounted:])
	p.buf = p.buf[:len(p.buf)-p.uncounted]
	p.text(" ")
	p.name(name)
	p.buf = append(p.buf, attribute...)
}

// findTypedefs finds the first typedefs of structs and unions without a name.
func findTypedefs(v *view.View) map[uint32]uint32 {
	found := map[uint32]uint32{}
	for t := range v.All() {
		if t.Kind() != btf.KindTypedef {
			continue
		}
		if of := t.Target(); of.IsComposite() && len(of.Name()) == 0 && found[of.ID] == 0 {
			found[of.ID] = t.ID
		}
	}
	return found
}

func (p *Printer) typedef(t view.Type) {
	p.text("typedef ")
	of := t.Target()
	name := t.Name()
	switch {
	case unnamed(of) || p.opt.Expand && of.IsComposite():
		if of.IsEnum() {
			p.enum(of, 0)
			p.uncounted = 0
		} else {
			f := p.outermost(t)
			f.typeWidth -= 8
			f.holder = name
			f.inUnion = of.Kind() == btf.KindUnion
			p.composite(of, f)
		}
		p.typedefName(name)
	case of.Kind() == btf.KindPtr && of.Target().Kind() == btf.KindFuncProto:
		p.typeName(of.Target().Target())
		p.text(" (*")
		p.name(name)
		p.text(")")
		p.params(of.Target())
	case of.Kind() == btf.KindFuncProto:
		p.typeName(of.Target())
		p.text(" (")
		p.name(name)
		p.text(")")
		p.params(of)
	case of.Kind() == btf.KindArray:
		p.array(of, &declaration{name: name, form: p.outermost(of)}, 0)
	case of.Kind() == btf.KindFwd && p.opt.Expand:
		p.composite(of, p.outermost(of))
		p.text(" ")
		p.name(name)
	case isUnion(of):
		p.named(of, &declaration{name: name, form: p.outermost(t)})
	default:
		p.typeName(of)
		p.text(" ")
		p.name(name)
	}
}
