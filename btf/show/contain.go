package show

import (
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
)

// containers prints the names of types that have members of a type.
type containers struct {
	*Printer
	of    string         // the name of the type
	count map[uint32]int // by type: how many members of it are of the type
}

// print adds the name of t and, if asked for, the number of its members of the type. Then it
// does the same for each member that has such members itself.
func (p *containers) print(t view.Type, depth int) {
	for range min(depth, maxIndent) {
		p.text("  ")
	}
	p.name(labelOf(p.Printer, t))
	if p.opt.Counts {
		p.text(": ")
		p.number(uint64(p.members(t)), 0)
	}
	p.text("\n")
	if !p.opt.Recursive || depth == maxIndent {
		return
	}
	for _, m := range t.Members() {
		if p.over() || p.full() {
			break
		}
		if of := m.Type(); of.IsComposite() && p.members(of) > 0 {
			p.print(of, depth+1)
		}
	}
}

// members is how many members of t are of the type. Many may ask for a large struct.
func (p *containers) members(t view.Type) int {
	n, ok := p.count[t.ID]
	if !ok {
		n = membersOf(t, p.of)
		p.count[t.ID] = n
	}
	return n
}

// membersOf is how many members of t are of the type of the name.
func membersOf(t view.Type, name string) (n int) {
	for _, m := range t.Members() {
		of := m.Type()
		if (of.IsComposite() || of.IsEnum() || of.Kind() == btf.KindTypedef) && string(of.Name()) == name {
			n++
		}
	}
	return n
}
