package show

import (
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
)

// reorganized prints a struct with its members in an order of fewer holes, and how
// many bytes that saves; nothing for others.
func (p *Printer) reorganized(t view.Type) {
	if t.Kind() != btf.KindStruct {
		return
	}
	w, line := p.w, p.w.lays.CacheLine
	lines := func(size uint64) uint64 { return (size + line - 1) / line }
	l := w.lays.Reorganize(t, p.moved)
	defer w.lays.Done(l)
	size := uint64(t.Record().Third())
	saved := size - min(l.Size, size)
	if saved > 0 && w.opt.Steps {
		w.text("\n/* Final reorganized struct: */\n")
	}
	w.begin()
	w.usedAt(t)
	w.laidOut(l, w.opt.outermost(t))
	w.text(";")
	if saved > 0 {
		w.text("   /* saved ")
		w.count(saved, "byte")
		if fewer := lines(size) - lines(l.Size); fewer > 0 {
			w.text(" and ")
			w.count(fewer, "cacheline")
		}
		w.text("! */")
	}
	w.text("\n")
}

// moved prints a step of reorganizing.
func (p *Printer) moved(m view.Move, l *view.Layout) {
	w := p.w
	if !w.opt.Steps || w.full() {
		return
	}
	w.text("/* Moving '")
	w.name(orAnonymous(m.Member.Name()))
	w.text("' from after '")
	w.name(orAnonymous(m.Before.Name()))
	w.text("' to after '")
	w.name(orAnonymous(m.After.Name()))
	w.text("' */\n")
	if m.Padding > 0 {
		w.text("/* adding ")
		w.number(m.Padding, 0)
		w.text(" bytes from ")
		w.name(m.Member.Name())
		w.text(" to the padding */\n")
	}
	w.begin()
	w.laidOut(l, w.opt.outermost(l.Type))
	w.text("\n")
}

// packable prints the name of a struct that another order of its members makes smaller,
// with both sizes and the difference.
func (p *Printer) packable(t view.Type, separator string) {
	w := p.w
	l := w.lays.Reorganize(t, nil)
	defer w.lays.Done(l)
	size := t.Size()
	if t.Kind() != btf.KindStruct || l.Size >= size {
		return
	}
	w.name(t.Name())
	p.numbers(separator, size, l.Size, size-l.Size)
}
