package dedup

import "github.com/btflite/btflite/arena"

// PlaceToken plus a string offset is the token of a string that InternText has added. Names
// has no tokens in this range, and Finish and the like find its string without a table.
const (
	PlaceToken = 0xa0000000
	maxPlace   = 0x20000000
)

// Reserve makes room for about n strings in a Set without types, so that its tables
// need not grow.
func (s *Set) Reserve(n int) {
	slots := len(s.strings.byText.S)
	for isFull(n, slots) {
		slots *= 2
	}
	s.strings.size(slots)
	// In kernels, four of ten strings are names of functions, which have PlaceTokens.
	s.strings.byToken.Free()
	s.strings.byToken.Resize(slots / 2)
	// Kernels have about one type, of six words, for each string, of 18 bytes.
	s.index.types.words.Expect(8*n, 5*n)
	s.strings.text.Expect(32*n, 16*n)
}

// Intern adds the text of a token to the strings if it is new, and returns the
// token to use from now on (see Names.Alias). It is for names that no unit has:
// parameters, functions, sections. It may run while Resolves run, which use no
// strings, but not while a Commit runs.
func (s *Set) Intern(tok Name) (Name, error) {
	if tok == 0 {
		return 0, nil
	}
	c, err := s.strings.intern(tok, s.names)
	return interned(s.names, tok, c, err)
}

// InternText is Intern for a caller that has the token's text and its TextHash, and asks for the
// text once. It does not call Names.Bytes, which may miss the cache, and a new text gets a PlaceToken.
// It does not look the token up either, because the text leads to the token that brought it.
func (s *Set) InternText(tok Name, text []byte, hash uint32) (Name, error) {
	if tok == 0 || s.strings.base.has(tok) {
		return tok, nil
	}
	if len(text) == 0 || !s.strings.hasPlace() {
		c, err := s.strings.internText(tok, text, hash)
		return interned(s.names, tok, c, err)
	}
	c, isNew, err := s.strings.internPlace(text, hash)
	if isNew {
		return c, err
	}
	return interned(s.names, tok, c, err)
}

// interned reports tok as an alias of c, the token that first brought its text.
func interned(names Names, tok, c Name, err error) (Name, error) {
	if err == nil && c != tok {
		names.Alias(tok, c)
	}
	return c, err
}

// AheadTexts loads into the cache what InternText needs for texts of these hashes. Call it only
// when Intern may run.
func (s *Set) AheadTexts(hashes []uint32) { s.strings.aheadTexts(hashes) }

// MoreStrings are the strings of split BTF whose base is the BTF of a Set: only
// those that the Set lacks. Add no strings to the Set while it is in use.
type MoreStrings struct {
	set *Set
	own stringTable
}

// MoreStrings makes an empty MoreStrings over the strings of s.
func (s *Set) MoreStrings() *MoreStrings {
	m := &MoreStrings{set: s}
	arena.Bind(s.index.types.words.Limit(), m)
	m.own.init()
	m.own.text.Reset() // only a section without a base starts with the empty string
	m.own.start = s.strings.start + uint32(len(s.strings.text.S))
	return m
}

// Offset returns the string offset of a token's text, and adds the text if it is
// new. Tokens with equal texts get one offset.
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

// Bytes returns the string section; valid until the next change.
func (m *MoreStrings) Bytes() []byte { return m.own.text.S }

// Free releases the memory.
func (m *MoreStrings) Free() { m.own.free() }

// LongestName returns the length in bytes of the longest string.
func (s *Set) LongestName() int { return s.strings.longest }

// Strings returns the string section, without the base's strings; valid until the
// next change of the Set.
func (s *Set) Strings() []byte { return s.strings.text.S }
