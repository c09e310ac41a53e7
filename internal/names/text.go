package names

import (
	"bytes"

	"github.com/btflite/btflite/dedup"
)

// Text reads the names of one input's .debug_str as tokens of the Table. Set Table, Data and ByText,
// then call Place.
type Text struct {
	*Table
	Data []byte // .debug_str
	// ByText says that a name's token depends on its text, not on its offset. This
	// suits relocatable files: their .debug_str has nearly every name once for each
	// object that was linked in, and by text all have one token and no aliases. With
	// a base it is necessary: a name that the base has must get the base's token.
	ByText bool
	Base   uint32     // an offset becomes Base + 1 + offset: a token, or a place if ByText
	Last   dedup.Name // token or place of the last byte of Data

	Int     dedup.Name // of the name "int"
	FakeInt dedup.Name // of the name that pahole gives base types that BTF does not know
}

// firstPlace is Base for ByText. Then an offset becomes a place, which is not a token: tokens of the
// base are smaller, and all others are larger.
const firstPlace = dedup.MaxBaseStrings

// Reader is the state of one reader of names.
type Reader struct {
	Bad   bool   // a name lies beyond .debug_str
	Low   uint32 // lowest offset in a .debug_str by text that was read
	order trace
}

// Free gives the memory back, and forgets the pool's names.
func (r *Reader) Free() { r.order.free() }

// Place sets Base and Last, so that the offsets of Data do not collide with other tokens. It reports
// false if there is no room.
func (s *Text) Place() bool {
	if s.ByText {
		s.look.Store(true)
		s.Base = firstPlace
		s.Last = firstPlace + uint32(min(uint64(len(s.Data)), tokLimit-1-firstPlace))
	} else {
		if uint64(s.end)+uint64(len(s.Data)) >= tokLimit-1 {
			return false
		}
		s.Base = s.end
		s.end += uint32(len(s.Data)) + 1
		s.Last = s.Base + uint32(len(s.Data))
		s.strs = append(s.strs, strSection{s.Base, s.Data})
	}
	s.Int = s.Literal([]byte("int"))
	s.FakeInt = s.Literal([]byte("__SANITIZED_FAKE_INT__"))
	return true
}

// Text returns the text of a token; nil if it cannot be read.
func (n *Table) Text(t dedup.Name) []byte {
	b, _ := n.Bytes(t)
	return b
}

// IsInt reports whether the name is "int".
func (s *Text) IsInt(t dedup.Name) bool { return t == s.Int || string(s.Text(t)) == "int" }

// Offset returns the token of the name at an offset of Data. If there is none, it returns 0 and sets
// r.Bad.
func (s *Text) Offset(r *Reader, off uint64) dedup.Name {
	if off >= uint64(s.Last-s.Base) {
		r.Bad = true
		return 0
	}
	t := s.Base + uint32(off) + 1
	if s.look.Load() {
		return s.Settle(r, t)
	}
	return t
}

// Settle returns the token to use in place of t. A reader has made t from an offset (Base + 1 + offset,
// at most Last) or by Inline. Call Settle if Table.Look reports true. With ByText, it sets r.Bad if no
// NUL ends the name.
func (s *Text) Settle(r *Reader, t dedup.Name) dedup.Name {
	if !s.ByText || t <= s.Base || t >= tokPool {
		return s.Canonical(t)
	}
	if t >= tokInline {
		return s.Canonical(s.pool.inline(t))
	}
	off := t - s.Base - 1
	if c, ok := r.order.one(s.pool, s.Data, off); ok {
		return s.Canonical(c)
	}
	return s.Canonical(s.textToken(r, off))
}

// textToken returns the token of the name at an offset, which the trace did not predict.
func (s *Text) textToken(r *Reader, off uint32) dedup.Name {
	r.Low = min(r.Low, off)
	b := s.Data[off:]
	n := bytes.IndexByte(b, 0)
	if n <= 3 {
		r.Bad = r.Bad || n < 0
		return s.Token(b[:max(n, 0)])
	}
	k := s.pool.number(b[:n])
	r.order.note(k, s.pool.rank(k), n)
	return s.pool.token(k)
}
