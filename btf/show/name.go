package show

import (
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/ctype"
	"github.com/btflite/btflite/btf/view"
)

// writer appends types to the collected text. wrote takes the result back.
func (p *Printer) writer() ctype.Writer {
	return ctype.Writer{Text: p.buf, Limit: p.limit.end - p.to.Written, Escape: appendPrintable, Known: p.known}
}

// typeName adds the name of t, as it stands before the name of what has it.
func (p *Printer) typeName(t view.Type) {
	w := p.writer()
	w.Type(t)
	p.wrote(&w)
}

// params adds the list of parameters of a prototype.
func (p *Printer) params(proto view.Type) {
	w := p.writer()
	w.Params(proto, nil)
	p.wrote(&w)
}

func (p *Printer) wrote(w *ctype.Writer) {
	p.buf = w.Text
	if w.Cut && p.to.Err == nil {
		p.to.Err = p.limit.beyond()
	}
}

// isUnion reports whether t is a union, or declares one.
func isUnion(t view.Type) bool {
	return t.Kind() == btf.KindUnion || t.Kind() == btf.KindFwd && t.Flag()
}

// unnamed reports whether t is written out where it is used: it has no name to
// stand for it.
func unnamed(t view.Type) bool { return (t.IsComposite() || t.IsEnum()) && !t.HasName() }
