package dedup

import "github.com/btflite/btflite/arena"

// Names of a Set.

// Reserve prepares a Set that has no types yet for about n strings, so that its
// tables need not grow.
func (s *Set) Reserve(n int) {
	slots := len(s.strings.byText.S)
	for isFull(n, slots) {
		slots *= 2
	}
	s.strings.size(slots)
	// Kernels have about one type for each string, of six words, and texts of 18 bytes.
	s.index.types.words.Expect(8*n, 5*n)
	s.strings.text.Expect(32*n, 16*n)
}

// Intern adds the text of a token to the strings, if it is new, and returns
// the token to use for it from now on (see Names.Alias). It is for names that
// do not come with a type: parameters, functions, sections. Resolve does not
// touch strings, so Intern may run beside it, but not beside a Commit.
func (s *Set) Intern(tok Name) (Name, error) {
	if tok == 0 {
		return 0, nil
	}
	c, err := s.strings.intern(tok, s.names)
	return interned(s.names, tok, c, err)
}

// InternText is Intern for a token whose text and its TextHash the caller has, so
// that the text is not read where the token says.
func (s *Set) InternText(tok Name, text []byte, hash uint32) (Name, error) {
	if _, ok := s.strings.offset(tok); ok {
		return tok, nil
	}
	c, err := s.strings.internText(tok, text, hash)
	return interned(s.names, tok, c, err)
}

// interned makes tok stand for c, the token that first brought its text.
func interned(names Names, tok, c Name, err error) (Name, error) {
	if err == nil && c != tok {
		names.Alias(tok, c)
	}
	return c, err
}

// Ahead prepares calls of Intern for the tokens, which are cheaper then. It may
// be called when Intern may.
func (s *Set) Ahead(toks []Name) { s.strings.ahead(toks, s.names) }

// AheadTexts is Ahead for calls of InternText.
func (s *Set) AheadTexts(toks []Name, hashes []uint32) { s.strings.aheadTexts(toks, hashes) }

// MoreStrings are strings for split BTF over that of a Set: those that the Set
// lacks, at offsets behind its own. The Set must get no more strings.
type MoreStrings struct {
	set *Set
	own stringTable
}

// MoreStrings makes them empty.
func (s *Set) MoreStrings() *MoreStrings {
	m := &MoreStrings{set: s}
	arena.Bind(s.index.types.words.Limit(), m)
	m.own.init()
	m.own.text.Reset() // what is over other strings has no empty one
	m.own.start = s.strings.start + uint32(len(s.strings.text.S))
	return m
}

// Offset is the string offset of a token's text, which is added if it is new.
// No text is there twice, whatever its tokens are.
func (m *MoreStrings) Offset(tok Name) (uint32, error) {
	if off, ok := m.set.strings.offset(tok); ok {
		return off, nil
	}
	if b, ok := m.set.names.Bytes(tok); ok {
		if off, ok := m.set.strings.find(b); ok {
			return off, nil
		}
	}
	tok, err := m.own.intern(tok, m.set.names)
	if err != nil {
		return 0, err
	}
	off, _ := m.own.offset(tok)
	return off, nil
}

// Bytes are the strings, each followed by NUL; valid until the next change.
func (m *MoreStrings) Bytes() []byte { return m.own.text.S }

// Free gives the memory back.
func (m *MoreStrings) Free() { m.own.free() }

// LongestName is the length in bytes of the longest string.
func (s *Set) LongestName() int { return s.strings.longest }

// Strings is the string section, without that of a base; valid until the next
// change of the Set.
func (s *Set) Strings() []byte { return s.strings.text.S }
