package show

import (
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
)

// reorganizer prints structs with their members in other orders.
type reorganizer struct{ *Printer }

// print prints a struct with its members in an order of fewer holes, and how
// many bytes that saves; nothing for others.
func (p reorganizer) print(t view.Type) {
	if t.Kind() != btf.KindStruct {
		return
	}
	line := p.line
	lines := func(size uint64) uint64 { return (size + line - 1) / line }
	l := p.lays.Reorganize(t, p.moved)
	defer p.lays.Done(l)
	size := uint64(t.Record().Third())
	saved := size - min(l.Size, size)
	if saved > 0 && p.opt.Steps {
		p.text("\n/* Final reorganized struct: */\n")
	}
	begin(p.Printer)
	p.usedAt(t)
	p.laidOut(l, p.outermost(t))
	p.text(";")
	if saved > 0 {
		p.text("   /* saved ")
		p.count(saved, "byte")
		if fewer := lines(size) - lines(l.Size); fewer > 0 {
			p.text(" and ")
			p.count(fewer, "cacheline")
		}
		p.text("! */")
	}
	p.text("\n")
}

// moved prints a step of reorganizing.
func (p reorganizer) moved(m view.Move, l *view.Layout) {
	if !p.opt.Steps || p.full() {
		return
	}
	p.text("/* Moving '")
	p.nameOr(m.Member.Name())
	p.text("' from after '")
	p.nameOr(m.Before.Name())
	p.text("' to after '")
	p.nameOr(m.After.Name())
	p.text("' */\n")
	if m.Padding > 0 {
		p.text("/* adding ")
		p.number(m.Padding, 0)
		p.text(" bytes from ")
		p.name(m.Member.Name())
		p.text(" to the padding */\n")
	}
	begin(p.Printer)
	p.laidOut(l, p.outermost(l.Type))
	p.text("\n")
}

// packable prints the name of a struct that another order of its members makes smaller,
// with both sizes and the difference.
func (p reorganizer) packable(t view.Type, separator string) {
	l := p.lays.Reorganize(t, nil)
	defer p.lays.Done(l)
	size := t.Size()
	if t.Kind() != btf.KindStruct || l.Size >= size {
		return
	}
	p.name(t.Name())
	for _, n := range []uint64{size, l.Size, size - l.Size} {
		p.text(separator)
		p.number(n, 0)
	}
	p.text("\n")
}
