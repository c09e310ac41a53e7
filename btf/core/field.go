package core

import (
	"bytes"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
)

// field follows the steps of the relocation from the root type of m.
func (s *search) field(m *match) bool {
	t := m.root.Resolved()
	for i := range s.x.steps {
		local := &s.x.steps[i]
		s.reached = max(s.reached, i)
		if local.named {
			next, ok := s.member(local, t, m, maxSteps-len(m.hops))
			if !ok {
				return false
			}
			t = next.Resolved()
			continue
		}
		if i > 0 {
			elem, n := t.Elem()
			if t.Kind() != btf.KindArray || local.index >= n && !m.last.endsWith(n) {
				return false
			}
			t = elem.Resolved()
		}
		m.last = step{t, local.index, false}
		m.bits += 8 * uint64(local.index) * t.Size()
	}
	return true
}

// enter adds member i of the struct or union t, which is at a number of bits.
func (m *match) enter(t view.Type, i int, named bool, bits uint32) {
	m.last = step{t, uint32(i), named}
	m.hops = append(m.hops, m.last)
	m.bits += uint64(bits)
}

// member looks for a member with the name of the local one in t, also inside of members
// without a name. It returns the member's type.
func (s *search) member(local *step, t view.Type, m *match, depth int) (typ view.Type, ok bool) {
	if !t.IsComposite() || depth <= 0 {
		return typ, false
	}
	name := local.name()
	for i, x := range t.Members() {
		if !s.spend() {
			return typ, false
		}
		saved := *m
		switch found := x.Name(); {
		case len(found) == 0:
			m.enter(t, i, false, x.Offset)
			if typ, ok = s.member(local, x.Type().Resolved(), m, depth-1); ok {
				return typ, true
			}
		case bytes.Equal(found, name):
			m.enter(t, i, true, x.Offset)
			if s.compatibleFields(local.in.Member(int(local.index)).Type(), x.Type()) {
				return x.Type(), true
			}
		default:
			continue
		}
		*m = saved
	}
	return typ, false
}

// compatibleFields tells whether a field of the type b may stand for one of the local type a.
// Structs and unions may be mixed, for their members are looked up by name.
func (s *search) compatibleFields(a, b view.Type) bool {
	for range btf.MaxDepth {
		a, b = a.Resolved(), b.Resolved()
		if a.IsComposite() && b.IsComposite() {
			return true
		}
		if !sameKind(a.Kind(), b.Kind()) {
			return false
		}
		switch a.Kind() {
		case btf.KindPtr, btf.KindFloat:
			return true
		case btf.KindFwd, btf.KindEnum, btf.KindEnum64:
			return !a.HasName() || !b.HasName() || bytes.Equal(essential(a.Name()), essential(b.Name()))
		case btf.KindInt:
			return isWholeInt(a) && isWholeInt(b)
		case btf.KindArray:
			a, _ = a.Elem()
			b, _ = b.Elem()
		default:
			return false
		}
	}
	return false
}

// isWholeInt tells whether an INT is not a part of one, as old compilers wrote bit-fields.
func isWholeInt(t view.Type) bool {
	_, offset, _ := t.IntEncoding()
	return offset == 0
}

// enumValue looks for the value of the relocation by its name.
func (s *search) enumValue(m *match) bool {
	t := m.root.Resolved()
	if !t.IsEnum() {
		return false
	}
	name := essential(s.x.steps[0].name())
	for i, v := range t.Values() {
		if !s.spend() {
			return false
		}
		if bytes.Equal(essential(v.Name()), name) {
			m.last = step{t, uint32(i), true}
			return true
		}
	}
	return false
}
