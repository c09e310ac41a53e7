package show

import (
	"math/bits"

	"github.com/btflite/btflite/btf/view"
)

// bigs knows the biggest number of each struct, as pahole finds it.
type bigs struct {
	lays  *view.Layouts
	word  uint64          // bytes
	known map[uint32]*big // by struct; nil for one without a number
}

// big is a member that is a number, pointer or enum, or an array of them.
type big struct {
	view.Row
	elem uint64 // bytes of an element
}

// of finds the first of the biggest members. Members that are structs are known. Of an array only an
// element counts, but an array in an inner struct counts as a whole. What has more bytes than a word
// in an inner struct is named by the member around it. Sizes up to the next power of two are equal.
// The search stops at the first member of the size of a word.
func (s *bigs) of(rows []view.Row) (b *big) {
	for i := range rows {
		m, of := &big{Row: rows[i]}, rows[i].Type().Innermost()
		switch in := s.known[of.ID]; {
		case !of.IsComposite():
			m.elem = of.Size()
		case in == nil:
			continue // it has no number
		case in.Size <= s.word:
			m.Row, m.elem = in.Row, in.Size
		default:
			m.elem = in.Size
		}
		if b == nil || bits.Len64(m.elem) > bits.Len64(b.elem) {
			b = m
		}
		if b.elem >= s.word {
			break
		}
	}
	return b
}

// find finds the biggest number of t. It looks at the structs inside t first. It keeps a list of them
// in place of calling itself, because structs may be nested deeper than the stack allows.
func (s *bigs) find(t view.Type) {
	type partly struct {
		view.Type
		member int // the first one that has not been looked at
	}
	var open []partly
	enter := func(t view.Type) {
		if _, ok := s.known[t.ID]; !ok && t.IsComposite() {
			s.known[t.ID] = nil // it may contain itself
			open = append(open, partly{t, 0})
		}
	}
	for enter(t); len(open) > 0; {
		in := &open[len(open)-1]
		if in.member < in.Vlen() {
			in.member++
			enter(in.Member(in.member - 1).Type().Innermost())
			continue
		}
		l := s.lays.Of(in.Type)
		s.known[in.ID] = s.of(l.Rows)
		s.lays.Done(l)
		open = open[:len(open)-1]
	}
}
