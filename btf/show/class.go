package show

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
	"github.com/btflite/btflite/internal/message"
)

// whole prints one struct, union, enum or typedef.
func (w *typeWriter) whole(t view.Type) {
	w.begin()
	w.usedAt(t)
	if w.opt.Pointers && w.opt.Expand {
		w.open[t.ID]++
		defer func() { w.open[t.ID]-- }()
	}
	switch t.Kind() {
	case btf.KindTypedef:
		w.typedef(t)
	case btf.KindEnum, btf.KindEnum64:
		w.enum(t, 0)
	default:
		w.composite(t, w.opt.outermost(t))
	}
	w.text(";\n")
}

// usedAt adds the lines about the place of a type. For an unknown file they have
// "(null)", because pahole gives printf a NULL string.
func (w *typeWriter) usedAt(t view.Type) {
	if w.opt.UsedAt == nil {
		return
	}
	at := w.opt.UsedAt(t)
	w.text("/* Used at: ")
	w.text(message.OneLine(at.Unit))
	w.text(" */\n/* <")
	w.buf = strconv.AppendUint(w.buf, at.Offset, 16)
	w.text("> ")
	w.text(cmp.Or(message.OneLine(at.File), "(null)"))
	w.text(":")
	w.number(at.Line, 0)
	w.text(" */\n")
}

// nameless prints a struct or union without a name, as the typedef of the name, if there is one.
func (w *typeWriter) nameless(t view.Type, name []byte) {
	w.begin()
	w.usedAt(t)
	f := w.opt.outermost(t)
	if f.holder, f.typedef = name, len(name) > 0; f.typedef {
		w.text("typedef ")
	}
	w.composite(t, f)
	if f.typedef {
		w.typedefName(name)
	}
	w.text(";\n")
}

// typedefName adds the name of a typedef after the braces of a struct, but before its
// attribute of alignment.
func (w *typeWriter) typedefName(name []byte) {
	attribute := slices.Clone(w.buf[len(w.buf)-w.uncounted:])
	w.buf = w.buf[:len(w.buf)-w.uncounted]
	w.text(" ")
	w.name(name)
	w.buf = append(w.buf, attribute...)
}

func (w *typeWriter) typedef(t view.Type) {
	w.text("typedef ")
	of := t.Target()
	name := t.Name()
	switch {
	case unnamed(of) || w.opt.Expand && of.IsComposite():
		if of.IsEnum() {
			w.enum(of, 0)
			w.uncounted = 0
		} else {
			f := w.opt.outermost(t)
			f.typeWidth -= 8
			f.holder = name
			f.inUnion = of.Kind() == btf.KindUnion
			w.composite(of, f)
		}
		w.typedefName(name)
	case of.Kind() == btf.KindPtr && of.Target().Kind() == btf.KindFuncProto:
		w.typeName(of.Target().Target())
		w.text(" (*")
		w.name(name)
		w.text(")")
		w.params(of.Target())
	case of.Kind() == btf.KindFuncProto:
		w.typeName(of.Target())
		w.text(" (")
		w.name(name)
		w.text(")")
		w.params(of)
	case of.Kind() == btf.KindArray:
		w.array(of, &declaration{name: name, form: w.opt.outermost(of)}, 0)
	case of.Kind() == btf.KindFwd && w.opt.Expand:
		w.composite(of, w.opt.outermost(of))
		w.text(" ")
		w.name(name)
	case isUnion(of):
		w.named(of, &declaration{name: name, form: w.opt.outermost(t)})
	default:
		w.typeName(of)
		w.text(" ")
		w.name(name)
	}
}
