package show

import (
	"bytes"
	"slices"

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
		name = p.nameOf(t)
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
	l := p.w.lays.Of(t)
	defer p.w.lays.Done(l)
	if f.Packed {
		p.w.packing.markAll(l)
	}
	greatest := uint64(0)
	for i := 1; i < len(l.Rows); i++ { // pahole does not look before the first member
		greatest = max(greatest, l.Rows[i].Hole)
	}
	return l.Holes >= f.Holes && l.BitHoles >= f.BitHoles && greatest >= uint64(f.HoleSize) && l.Padding >= uint64(f.Padding) &&
		(!f.Packed || p.w.packing.has(l)) && (!f.Flexible || l.Flexible) && (!f.Embedded || l.Embedded)
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
