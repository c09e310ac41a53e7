package show

import "github.com/btflite/btflite/btf/view"

// enum adds an enum from its keyword to its closing brace.
func (p *Printer) enum(t view.Type, indent int) {
	p.text("enum ")
	if name := t.Name(); len(name) > 0 {
		p.name(name)
		p.text(" ")
	}
	p.text("{\n")
	longest := 0
	for _, e := range t.Values() {
		longest = max(longest, len(e.Name()))
	}
	for _, e := range t.Values() {
		p.tabs(indent)
		p.text("\t")
		start := p.pos()
		p.name(e.Name())
		p.pad(start, longest)
		p.text(" = ")
		if p.opt.Hex {
			p.hex(uint64(e.Value), 0)
		} else if e.Value < 0 && t.Flag() {
			p.text("-")
			p.number(uint64(-e.Value), 0)
		} else {
			p.number(uint64(e.Value), 0)
		}
		p.text(",\n")
	}
	p.tabs(indent)
	p.text("}")
	if t.Size() != 4 {
		p.text(" __attribute__((__packed__))")
	}
}
