package show

import (
	"bytes"
	"iter"
	"slices"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
)

// Filter says which structs and unions List prints. The zero value takes all that have a name, and
// prints equal ones once; see seen.
type Filter struct {
	Structs, Unions bool     // only these, if one of them is set
	Holes           int      // at least as many holes of bytes
	BitHoles        int      // at least as many holes of bits
	HoleSize        int      // at least one hole of so many bytes
	Padding         int      // at least so many bytes unused at the end
	Packed          bool     // only those that must be packed
	Flexible        bool     // only those that end with a flexible array
	Embedded        bool     // only those with a member that has a flexible array
	Prefixes        []string // one of these prefixes, or no name
	Without         []string // prefixes of names that are left out
	Contains        string   // only those with a member of this struct, union, enum or typedef
	ContainsNot     []string // none with a member of one of these
	PointTo         string   // only members that point to one of this name
	Bases           bool     // types of bases, too
	Anonymous       bool     // structs without a name too: those with a typedef
	Nested          bool     // with Anonymous: those without a typedef as well

	Hidden map[uint32]bool      // ids of those that no list has, such as those that functions declare
	Keep   func(view.Type) bool // only those for which it is true, if it is not nil
}

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
	return entries(p, p.Listed(f), f, form, separator)
}

// entries prints the types.
func entries(p *Printer, list iter.Seq[view.Type], f *Filter, form Form, separator string) error {
	if form == Times {
		p.again = countTimes(p, f)
	}
	for t := range list {
		p.Entry(t, f, form, separator)
		if p.full() {
			break
		}
	}
	return p.Flush()
}

// Listed gives the types that List prints.
func (p *Printer) Listed(f *Filter) iter.Seq[view.Type] {
	return func(yield func(view.Type) bool) {
		known := newSeen()
		for t := range p.v.Composites(f.Bases) {
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
	for t := range p.v.Composites(f.Bases) {
		if len(t.Name()) > 0 && f.takes(p, t) && f.passes(p, t) && (form == Text || known.add(t)) {
			list = append(arena.Room(list, 1), t)
		}
	}
	inOrder(list)
	if form != Text {
		return entries(p, slices.Values(list), f, form, separator)
	}
	var texts [][]byte // of the types of one name
	for i, t := range list {
		if i == 0 || !bytes.Equal(t.Name(), list[i-1].Name()) {
			texts, p.held = texts[:0], false
			if p.full() {
				break
			}
		}
		start := len(p.buf)
		p.held = true
		p.Entry(t, f, form, separator)
		if p.over() {
			break
		}
		if !p.held { // it has been written
			texts = texts[:0]
			continue
		}
		text := p.buf[start:]
		if slices.ContainsFunc(texts, func(old []byte) bool { return bytes.Equal(old, text) }) {
			p.buf = p.buf[:start]
		} else if len(texts) < maxAlike {
			texts = append(texts, text)
		}
	}
	return p.Flush()
}

// countTimes counts the types that List leaves out because another one that the filter
// lets through is like them.
func countTimes(p *Printer, f *Filter) map[uint32]uint64 {
	known := newSeen()
	again := map[uint32]uint64{}
	for t := range p.v.Composites(f.Bases) {
		if len(t.Name()) > 0 && f.passes(p, t) && !known.add(t) {
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
	for t := range p.v.All() {
		if t.Kind() != btf.KindFunc || !f.Bases && t.ID < p.v.FirstOwn() {
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
		p.name(p.v.Type(id).Name())
		p.text(separator)
		p.number(count[id], 0)
		p.text("\n")
		if p.full() {
			break
		}
	}
	return p.Flush()
}

// nameOf is the name of t, or for a nameless type the name of its typedef, if any.
func nameOf(p *Printer, t view.Type) []byte {
	if name := t.Name(); len(name) > 0 {
		return name
	}
	if p.typedefs == nil {
		p.typedefs = findTypedefs(p.v)
	}
	return p.v.Type(p.typedefs[t.ID]).Name()
}

// labelOf is nameOf, or what stands for the name of a type without one.
func labelOf(p *Printer, t view.Type) []byte {
	if name := nameOf(p, t); len(name) > 0 {
		return name
	}
	return []byte("(anonymous)")
}

// takes reports whether the filter takes a type of t's kind and name.
func (f *Filter) takes(p *Printer, t view.Type) bool {
	if f.Hidden[t.ID] || !t.HasName() && !f.Anonymous {
		return false
	}
	if isUnion := t.Kind() == btf.KindUnion; (f.Structs || f.Unions) && (isUnion && !f.Unions || !isUnion && !f.Structs) {
		return false
	}
	name := t.Name()
	if len(f.Without)+len(f.Prefixes) > 0 {
		name = nameOf(p, t)
	}
	begins := func(w string) bool { return bytes.HasPrefix(name, []byte(w)) }
	if slices.ContainsFunc(f.Without, begins) {
		return false
	}
	if len(f.Prefixes) > 0 && len(name) > 0 && !slices.ContainsFunc(f.Prefixes, begins) {
		return false
	}
	return f.Keep == nil || f.Keep(t)
}

// passes reports whether the filter accepts the layout of t.
func (f *Filter) passes(p *Printer, t view.Type) bool {
	if f.Contains != "" && membersOf(t, f.Contains) == 0 || f.PointTo != "" && !pointsTo(t, f.PointTo) {
		return false
	}
	if slices.ContainsFunc(f.ContainsNot, func(name string) bool { return membersOf(t, name) > 0 }) {
		return false
	}
	if f.Holes == 0 && f.BitHoles == 0 && f.HoleSize == 0 && f.Padding == 0 && !f.Packed && !f.Flexible && !f.Embedded {
		return true
	}
	if t.Kind() == btf.KindUnion {
		return false
	}
	l := p.lays.Of(t)
	defer p.lays.Done(l)
	if f.Packed {
		p.markPacked(l)
	}
	greatest := uint64(0)
	for i := 1; i < len(l.Rows); i++ { // pahole does not look before the first member
		greatest = max(greatest, l.Rows[i].Hole)
	}
	return l.Holes >= f.Holes && l.BitHoles >= f.BitHoles && greatest >= uint64(f.HoleSize) && l.Padding >= uint64(f.Padding) &&
		(!f.Packed || isPacked(p.packed, l)) && (!f.Flexible || l.Flexible) && (!f.Embedded || l.Embedded)
}

// pointsTo reports whether a member of t points to the type of the name.
func pointsTo(t view.Type, name string) bool {
	for _, m := range t.Members() {
		if isPointer(m.Type(), name) {
			return true
		}
	}
	return false
}

func isPointer(t view.Type, name string) bool {
	if t.Kind() != btf.KindPtr {
		return false
	}
	of := t.Target()
	return (of.IsComposite() || of.IsEnum() || of.Kind() == btf.KindFwd || of.Kind() == btf.KindTypedef) && string(of.Name()) == name
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

// Entry prints one type in a form. A typedef counts as what it stands for.
func (p *Printer) Entry(t view.Type, f *Filter, form Form, separator string) {
	name, of := labelOf(p, t), t.Resolved()
	if form == Packable {
		reorganizer{p}.packable(t, separator)
		return
	}
	if form == Text {
		switch {
		case p.opt.Reorganize:
			reorganizer{p}.print(t)
		case len(t.Name()) > 0 && p.opt.Compile:
			p.emitter.compilable(t)
		case len(t.Name()) > 0:
			p.Type(t)
		case p.typedefs[t.ID] == 0 && !f.Nested:
		case p.opt.Compile:
			p.emitter.compilableUnnamed(t)
		default:
			p.unnamedType(t)
		}
		return
	}
	if form == Pointers {
		for _, m := range of.Members() {
			if isPointer(m.Type(), f.PointTo) {
				p.name(name)
				p.text(": ")
				p.name(m.Name())
				p.text("\n")
			}
		}
		return
	}
	if form == Names && f.Contains != "" {
		if p.within.of != f.Contains {
			p.within = containers{p, f.Contains, map[uint32]int{}}
		}
		p.within.print(t, 0)
		return
	}
	p.name(name)
	numbers := []uint64{}
	switch form {
	case Sizes:
		numbers = []uint64{of.Size(), 0}
		if of.Kind() == btf.KindStruct {
			numbers[1] = uint64(p.lays.Summary(of).Holes)
		}
	case Members:
		numbers = []uint64{uint64(of.Vlen())}
	case NameLength:
		numbers = []uint64{uint64(len(name))}
	case Times:
		numbers = []uint64{1 + p.again[t.ID]}
	}
	for _, n := range numbers {
		p.text(separator)
		p.number(n, 0)
	}
	p.text("\n")
}

// End adds the empty line that follows a type that was asked for by name.
func (p *Printer) End() { p.text("\n") }

// Enum prints an enum as an answer: without a semicolon.
func (p *Printer) Enum(t view.Type) {
	p.enum(t, 0)
	p.text("\n")
}
