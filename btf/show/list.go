package show

import (
	"bytes"
	"iter"
	"slices"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
)

// Form says what List prints for each type.
type Form int

// The forms.
const (
	Text       Form = iota // all of it
	Sizes                  // name, size in bytes, number of holes
	Members                // name, number of members
	NameLength             // name, its length
	Times                  // name, how often it is there
	Names                  // name
	Pointers               // name and each member that points to Filter.PointTo
	Packable               // name, size, size in a better order and what that saves, if it saves
	Nothing
)

// List prints the structs and unions that the filter lets through, in the order of
// ids. Fields of a line have the separator between them.
func (p *Printer) List(f *Filter, form Form, separator string) error {
	return p.entries(p.Listed(f), f, form, separator)
}

// entries prints the types.
func (p *Printer) entries(list iter.Seq[view.Type], f *Filter, form Form, separator string) error {
	if form == Times {
		p.again = p.countTimes(f)
	}
	for t := range list {
		p.Entry(t, f, form, separator)
		if p.w.full() {
			break
		}
	}
	return p.Flush()
}

// Listed gives the types that List prints.
func (p *Printer) Listed(f *Filter) iter.Seq[view.Type] {
	return func(yield func(view.Type) bool) {
		known := newSeen()
		for t := range p.w.v.Composites(f.Bases) {
			if f.takes(p, t) && f.passes(p, t) && (len(t.Name()) == 0 || known.add(t)) && !yield(t) {
				return
			}
		}
	}
}

// Sorted is List in the order of names; types of one name follow their sizes and members
// (see inOrder). Text is printed once for types that have the same; a list has the types that
// it has in the order of ids, although the lines of some may be the same.
func (p *Printer) Sorted(f *Filter, form Form, separator string) error {
	var list []view.Type
	known := newSeen()
	for t := range p.w.v.Composites(f.Bases) {
		if len(t.Name()) > 0 && f.takes(p, t) && f.passes(p, t) && (form == Text || known.add(t)) {
			list = append(arena.Room(list, 1), t)
		}
	}
	inOrder(list)
	if form != Text {
		return p.entries(slices.Values(list), f, form, separator)
	}
	var texts [][]byte // of the types of one name
	for i, t := range list {
		if i == 0 || !bytes.Equal(t.Name(), list[i-1].Name()) {
			texts, p.w.held = texts[:0], false
			if p.w.full() {
				break
			}
		}
		start := len(p.w.buf)
		p.w.held = true
		p.Entry(t, f, form, separator)
		if p.w.over() {
			break
		}
		if !p.w.held { // it has been written
			texts = texts[:0]
			continue
		}
		text := p.w.buf[start:]
		if slices.ContainsFunc(texts, func(old []byte) bool { return bytes.Equal(old, text) }) {
			p.w.buf = p.w.buf[:start]
		} else if len(texts) < maxAlike {
			texts = append(texts, text)
		}
	}
	return p.Flush()
}

// countTimes counts the types that List leaves out because another one that the filter
// lets through is like them.
func (p *Printer) countTimes(f *Filter) map[uint32]uint64 {
	known := newSeen()
	again := map[uint32]uint64{}
	for t := range p.w.v.Composites(f.Bases) {
		if len(t.Name()) > 0 && f.takes(p, t) && f.passes(p, t) && !known.add(t) {
			again[known.old]++
		}
	}
	return again
}

// Methods prints the names of structs that the filter lets through and that functions take
// by a pointer, in the order of the functions, and the number of such parameters.
func (p *Printer) Methods(f *Filter, separator string) error {
	var order []uint32
	count := map[uint32]uint64{}
	known, same := newSeen(), map[uint32]uint32{}
	for t := range p.w.v.All() {
		if t.Kind() != btf.KindFunc || !f.Bases && t.ID < p.w.v.FirstOwn() {
			continue
		}
		for _, param := range t.Params() {
			of := param.Type()
			if of.Kind() != btf.KindPtr || of.Target().Kind() != btf.KindStruct || !f.takes(p, of.Target()) {
				continue
			}
			id := of.TargetID()
			if _, ok := same[id]; !ok {
				switch {
				case !f.passes(p, of.Target()):
					same[id] = 0
				case known.add(of.Target()):
					same[id] = id
				default:
					same[id] = known.old
				}
			}
			if id = same[id]; id == 0 {
				continue
			}
			if count[id] == 0 {
				order = append(order, id)
			}
			count[id]++
		}
	}
	for _, id := range order {
		p.w.name(p.w.v.Type(id).Name())
		p.numbers(separator, count[id])
		if p.w.full() {
			break
		}
	}
	return p.Flush()
}

// containers knows the types that have members of a type.
type containers struct {
	of    string         // the name of the type
	count map[uint32]int // by type: how many members of it are of the type
}

// members is how many members of t are of the type. Many may ask for a large struct.
func (c *containers) members(t view.Type) int {
	n, ok := c.count[t.ID]
	if !ok {
		n = membersOf(t, c.of)
		c.count[t.ID] = n
	}
	return n
}

// container adds the name of t and, if asked for, the number of its members of the type. Then it
// does the same for each member that has such members itself.
func (p *Printer) container(t view.Type, depth int) {
	w := p.w
	for range min(depth, maxIndent) {
		w.text("  ")
	}
	w.name(orAnonymous(p.nameOf(t)))
	if w.opt.Counts {
		w.text(": ")
		w.number(uint64(p.within.members(t)), 0)
	}
	w.text("\n")
	if !w.opt.Recursive || depth == maxIndent {
		return
	}
	for _, m := range t.Members() {
		if w.over() || w.full() {
			break
		}
		if of := m.Type(); of.IsComposite() && p.within.members(of) > 0 {
			p.container(of, depth+1)
		}
	}
}

// Entry prints one type in a form. A typedef counts as what it stands for.
func (p *Printer) Entry(t view.Type, f *Filter, form Form, separator string) {
	w, of := p.w, t.Resolved()
	switch {
	case form == Text:
		p.entryText(t, f)
		return
	case form == Packable:
		p.packable(t, separator)
		return
	case form == Names && f.Contains != "":
		if p.within.of != f.Contains {
			p.within = containers{f.Contains, map[uint32]int{}}
		}
		p.container(t, 0)
		return
	}
	name := orAnonymous(p.nameOf(t))
	if form == Pointers {
		for _, m := range of.Members() {
			if isPointer(m.Type(), f.PointTo) {
				w.name(name)
				w.text(": ")
				w.name(m.Name())
				w.text("\n")
			}
		}
		return
	}
	w.name(name)
	numbers := []uint64{}
	switch form {
	case Sizes:
		numbers = []uint64{of.Size(), 0}
		if of.Kind() == btf.KindStruct {
			numbers[1] = uint64(w.lays.Summary(of.ID).Holes)
		}
	case Members:
		numbers = []uint64{uint64(of.Vlen())}
	case NameLength:
		numbers = []uint64{uint64(len(name))}
	case Times:
		numbers = []uint64{1 + p.again[t.ID]}
	}
	p.numbers(separator, numbers...)
}

// entryText is Entry for all of a type.
func (p *Printer) entryText(t view.Type, f *Filter) {
	name := p.nameOf(t)
	switch {
	case p.w.opt.Reorganize:
		p.reorganized(t)
	case t.HasName() && p.emitter != nil:
		p.emitter.print(t)
	case t.HasName():
		p.w.whole(t)
	case p.typedefs[t.ID] == 0 && !f.Nested:
	case p.emitter != nil:
		p.emitter.nameless(t, name)
	default:
		p.w.nameless(t, name)
	}
}

// End adds the empty line that follows a type that was asked for by name.
func (p *Printer) End() { p.w.text("\n") }

// Enum prints an enum as an answer: without a semicolon.
func (p *Printer) Enum(t view.Type) {
	p.w.enum(t, 0)
	p.w.text("\n")
}
