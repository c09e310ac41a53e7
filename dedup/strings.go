package dedup

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/bits"

	"github.com/btflite/btflite/arena"
)

// stringTable is the BTF string section while it grows: each distinct text
// once, in the order in which it was first added, as pahole has
// it. Two open-addressing tables lead into it, by text and by name token.
type stringTable struct {
	text    arena.Vec[byte]
	tags    arena.Vec[uint8] // by slot of byText: textTag, 0 if it is empty
	byText  arena.Vec[stringSlot]
	byToken arena.Vec[stringSlot]
	n       int // texts
	tokens  int
	longest int // length of the longest text
	base    *Base
	start   uint32 // string offset of text[0]: behind the base's strings
	touched arena.Touched
}

// stringSlot is a text's offset with the token that brought it; token 0 is an
// empty slot.
type stringSlot struct {
	token Name
	off   uint32
}

var (
	errBadName    = errors.New("name lies beyond the string section")
	errTooStrings = errors.New("names take more than 2 GiB")
)

func (t *stringTable) init() {
	t.text.Reset()
	if t.base == nil {
		t.text.Append(0)
	} else {
		t.start, t.longest = t.base.strEnd, t.base.longest
	}
	t.size(1 << 12)
}

// size gives the tables, which are empty, so many slots.
func (t *stringTable) size(slots int) {
	t.tags.Resize(slots)
	t.byText.Resize(slots)
	t.byToken.Resize(slots)
}

func (t *stringTable) free() {
	t.text.Free()
	t.freeByText()
	t.byToken.Free()
}

// freeByText gives back what internText and find need.
func (t *stringTable) freeByText() {
	t.tags.Free()
	t.byText.Free()
}

// restart empties the table.
func (t *stringTable) restart() {
	t.tags.Reset()
	t.byText.Reset()
	t.byToken.Reset()
	t.n, t.tokens = 0, 0
	t.init()
}

// offset is the offset of a token's text, once it has been interned.
func (t *stringTable) offset(tok Name) (uint32, bool) {
	if tok == 0 {
		return 0, true
	}
	if e := &t.byToken.S[t.tokenSlot(tok)]; e.token == tok {
		return e.off, true
	}
	if t.base != nil {
		return t.base.offset(tok)
	}
	return 0, false
}

// tokenSlot is the slot of byToken where tok is, or the free one for it. Names that came one
// after the other have tokens near each other, and are asked for one after the other: so
// their slots are near each other, too, unless there are too many.
func (t *stringTable) tokenSlot(tok Name) uint32 {
	mask := uint32(len(t.byToken.S) - 1)
	i := near(tok) & mask
	for range nearSlots {
		if e := t.byToken.S[i].token; e == tok || e == 0 {
			return i
		}
		i = (i + 1) & mask
	}
	for i = arena.Spread(tok) & mask; ; i = (i + 1) & mask {
		if e := t.byToken.S[i].token; e == tok || e == 0 {
			return i
		}
	}
}

// near is where tokenSlot tries nearSlots slots. An offset of a name is four from the next one
// at least, a number of a pool two.
func near(tok Name) uint32 { return tok >> (2 - tok>>31) }

const nearSlots = 16

// TextHash is the hash of a name's text, which has no NUL, for Base.Token.
func TextHash(b []byte) uint32 {
	h := uint64(0)
	for len(b) >= 8 {
		h = arena.Mix(h, binary.LittleEndian.Uint64(b))
		b = b[8:]
	}
	last := uint64(0)
	for i, c := range b {
		last |= uint64(c) << (8 * i)
	}
	return uint32(arena.Mix(h, last) >> 32)
}

// hashString is TextHash of the text up to the first NUL of s, and the length of
// that text. There must be a NUL.
func hashString(s []byte) (h uint32, n int) {
	x := uint64(0)
	for ; n+8 <= len(s); n += 8 {
		w := binary.LittleEndian.Uint64(s[n:])
		const ones, highs = 0x0101010101010101, 0x8080808080808080
		if zero := (w - ones) &^ w & highs; zero != 0 {
			// The lowest bit that is set belongs to the first NUL.
			last := bits.TrailingZeros64(zero) / 8
			w &= 1<<(8*last) - 1
			return uint32(arena.Mix(x, w) >> 32), n + last
		}
		x = arena.Mix(x, w)
	}
	last := uint64(0)
	for i := 0; s[n] != 0; i, n = i+1, n+1 {
		last |= uint64(s[n]) << (8 * i)
	}
	return uint32(arena.Mix(x, last) >> 32), n
}

// intern adds the text of a token. It returns the token that first brought
// the text: another one than tok if tok is an alias.
func (t *stringTable) intern(tok Name, names Names) (Name, error) {
	if _, ok := t.offset(tok); ok {
		return tok, nil
	}
	b, ok := names.Bytes(tok)
	if !ok {
		return 0, errBadName
	}
	return t.internText(tok, b, TextHash(b))
}

// internText is intern for a token whose text is b, with the hash h, and which is
// not there.
func (t *stringTable) internText(tok Name, b []byte, h uint32) (Name, error) {
	if len(b) == 0 {
		return 0, nil // an empty text is no name
	}
	i, there := t.place(b, h)
	if there {
		return t.byText.S[i].token, nil
	}
	off := t.start + uint32(len(t.text.S))
	if uint64(off)+uint64(len(b))+1 > 1<<31-1 {
		return 0, errTooStrings
	}
	t.text.AppendSlice(b)
	t.text.Append(0)
	t.tags.S[i], t.byText.S[i] = textTag(h), stringSlot{tok, off}
	t.longest = max(t.longest, len(b))
	t.n++
	if isFull(t.n, len(t.byText.S)) {
		t.growText()
	}
	t.setToken(tok, off)
	return tok, nil
}

// textTag is what a slot of byText shows of a hash, so that texts of other
// hashes are not read.
func textTag(h uint32) uint8 { return uint8(h>>24) | 1 }

// place is the slot of byText where the text b with the hash h is there, or the
// one for it.
func (t *stringTable) place(b []byte, h uint32) (i uint32, there bool) {
	mask := uint32(len(t.tags.S) - 1)
	for i = h & mask; t.tags.S[i] != 0; i = (i + 1) & mask {
		if t.tags.S[i] != textTag(h) {
			continue
		}
		s := t.text.S[t.byText.S[i].off-t.start:]
		if len(s) > len(b) && s[len(b)] == 0 && bytes.Equal(s[:len(b)], b) {
			return i, true
		}
	}
	return i, false
}

// aheadBlock is how many names are looked at side by side.
const aheadBlock = 64

// ahead reads what intern will need for the tokens and changes nothing. Each
// new name costs three or four cache misses; here those of many names overlap,
// where intern would wait for one after the other.
func (t *stringTable) ahead(toks []Name, names Names) {
	var fresh [aheadBlock]Name
	for len(toks) > 0 {
		k := min(len(toks), aheadBlock)
		n := 0
		for _, tok := range toks[:k] {
			if _, ok := t.offset(tok); !ok {
				fresh[n] = tok
				n++
			}
		}
		toks = toks[k:]
		t.touched.Read(uint32(names.Touch(fresh[:n])))
		mask := uint32(len(t.tags.S) - 1)
		for _, tok := range fresh[:n] {
			if b, ok := names.Bytes(tok); ok {
				t.touched.Read(uint32(t.tags.S[TextHash(b)&mask]))
			}
		}
	}
}

// aheadTexts is ahead for tokens with the texts of these hashes.
func (t *stringTable) aheadTexts(toks []Name, hashes []uint32) {
	tokens, tags := t.byToken.S, t.tags.S
	for i, tok := range toks {
		t.touched.Read(tokens[near(tok)&uint32(len(tokens)-1)].off + uint32(tags[hashes[i]&uint32(len(tags)-1)]))
	}
}

// isFull says whether n entries are too many for a table.
func isFull(n, slots int) bool { return n > slots/8*5 }

func (t *stringTable) setToken(tok Name, off uint32) {
	if isFull(t.tokens+1, len(t.byToken.S)) {
		bigger := t.byToken.Another()
		bigger.Resize(len(t.byToken.S) * 2)
		old := t.byToken
		t.byToken = bigger
		for _, e := range old.S {
			if e.token != 0 {
				t.putToken(e)
			}
		}
		old.Free()
	}
	t.putToken(stringSlot{tok, off})
	t.tokens++
}

func (t *stringTable) putToken(e stringSlot) {
	t.byToken.S[t.tokenSlot(e.token)] = e
}

func (t *stringTable) growText() {
	n := len(t.byText.S) * 2
	t.tags.Reset()
	t.tags.Resize(n)
	bigger := t.byText.Another()
	bigger.Resize(n)
	mask := uint32(n - 1)
	for slots := t.byText.S; len(slots) > 0; slots = slots[aheadBlock:] {
		for _, e := range slots[:aheadBlock] {
			if e.token != 0 {
				t.touched.Read(uint32(t.text.S[e.off-t.start]))
			}
		}
		for _, e := range slots[:aheadBlock] {
			if e.token == 0 {
				continue
			}
			h, _ := hashString(t.text.S[e.off-t.start:])
			i := h & mask
			for t.tags.S[i] != 0 {
				i = (i + 1) & mask
			}
			t.tags.S[i], bigger.S[i] = textTag(h), e
		}
	}
	t.byText.Free()
	t.byText = bigger
}

// Reserve prepares a Set that has no types yet for about n strings, so that its
// tables need not grow.
func (s *Set) Reserve(n int) {
	slots := len(s.strings.byText.S)
	for isFull(n, slots) {
		slots *= 2
	}
	s.strings.size(slots)
	// Kernels have about one type for each string, of six words, and texts of 18 bytes.
	s.words.Expect(8*n, 5*n)
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
	return s.interned(tok, c, err)
}

// InternText is Intern for a token whose text and its TextHash the caller has, so
// that the text is not read where the token says.
func (s *Set) InternText(tok Name, text []byte, hash uint32) (Name, error) {
	if _, ok := s.strings.offset(tok); ok {
		return tok, nil
	}
	c, err := s.strings.internText(tok, text, hash)
	return s.interned(tok, c, err)
}

// interned makes tok stand for c, the token that first brought its text.
func (s *Set) interned(tok, c Name, err error) (Name, error) {
	if err == nil && c != tok {
		s.names.Alias(tok, c)
	}
	return c, err
}

// Ahead prepares calls of Intern for the tokens, which are cheaper then. It may
// be called when Intern may.
func (s *Set) Ahead(toks []Name) { s.strings.ahead(toks, s.names) }

// AheadTexts is Ahead for calls of InternText.
func (s *Set) AheadTexts(toks []Name, hashes []uint32) { s.strings.aheadTexts(toks, hashes) }

// find is the offset of a text that has been interned by whatever token.
func (t *stringTable) find(b []byte) (uint32, bool) {
	i, there := t.place(b, TextHash(b))
	if !there {
		return 0, false
	}
	return t.byText.S[i].off, true
}

// Texts tells which name tokens stand for equal texts.
type Texts struct{ table stringTable }

// NewTexts makes an empty Texts.
func NewTexts() *Texts {
	t := new(Texts)
	t.table.init()
	return t
}

// First is the first token asked for that has the text of tok.
func (t *Texts) First(tok Name, names Names) (Name, error) { return t.table.intern(tok, names) }

// Free gives the memory back.
func (t *Texts) Free() { t.table.free() }

// MoreStrings are strings for split BTF over that of a Set: those that the Set
// lacks, at offsets behind its own. The Set must get no more strings.
type MoreStrings struct {
	set *Set
	own stringTable
}

// MoreStrings makes them empty.
func (s *Set) MoreStrings() *MoreStrings {
	m := &MoreStrings{set: s}
	arena.Bind(s.words.Limit(), m)
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
