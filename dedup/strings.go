package dedup

import (
	"bytes"
	"errors"

	"github.com/btflite/btflite/arena"
)

// stringTable builds the BTF string section: each text once, in the order of its
// first use, like pahole's. Two open-addressing tables find a text: by its content,
// and by a name token.
type stringTable struct {
	text    arena.Vec[byte]
	tags    arena.Vec[uint8] // by slot of byText: textTag, 0 if the slot is free
	byText  arena.Vec[stringSlot]
	byToken arena.Vec[stringSlot]
	n       int // texts in byText
	tokens  int // tokens in byToken
	longest int // length in bytes of the longest text, also of the base's
	base    *Base
	start   uint32        // string offset of text[0], which follows the base's strings
	touched arena.Touched // reads that only load the cache go here
}

// stringSlot has a text's offset and the token that brought it. The token of a free
// slot is 0.
type stringSlot struct {
	token Name
	off   uint32
}

var (
	errBadName     = errors.New("name is not inside the string section")
	errStringsFull = errors.New("names take more than 2 GiB")
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

// size sets the number of slots of the tables, which are empty.
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

// freeByText releases the table by text, which internText and find need.
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

// offset returns the string offset of a token's text; false if it is not interned.
func (t *stringTable) offset(tok Name) (uint32, bool) {
	if tok == 0 || t.base.has(tok) {
		return tok, true
	}
	if off := tok - PlaceToken; off < maxPlace {
		return off, true
	}
	if e := &t.byToken.S[t.tokenSlot(tok)]; e.token == tok {
		return e.off, true
	}
	return 0, false
}

// tokenSlot returns the slot of tok in byToken, or the free slot for it.
func (t *stringTable) tokenSlot(tok Name) uint32 {
	mask := uint32(len(t.byToken.S) - 1)
	for i := arena.Spread(tok) & mask; ; i = (i + 1) & mask {
		if e := t.byToken.S[i].token; e == tok || e == 0 {
			return i
		}
	}
}

// intern adds the text of a token if it is new. It returns the token that first
// brought the text, which is not tok if tok is an alias.
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

// internText is intern for a token that is not in byToken. Its text is b, with the
// hash h.
func (t *stringTable) internText(tok Name, b []byte, h uint32) (Name, error) {
	if len(b) == 0 {
		return 0, nil // the token of the empty name
	}
	i, there := t.place(b, h)
	if there {
		return t.byText.S[i].token, nil
	}
	off, err := t.add(i, tok, b, h)
	if err == nil {
		t.setToken(tok, off)
	}
	return tok, err
}

// internPlace adds the text b, with the hash h, if it is new, and returns its token. For a new text
// that is a PlaceToken, which takes no memory in byToken.
func (t *stringTable) internPlace(b []byte, h uint32) (tok Name, isNew bool, err error) {
	i, there := t.place(b, h)
	if there {
		return t.byText.S[i].token, false, nil
	}
	tok = PlaceToken + t.start + uint32(len(t.text.S))
	_, err = t.add(i, tok, b, h)
	return tok, true, err
}

// hasPlace reports whether the next text may have a PlaceToken.
func (t *stringTable) hasPlace() bool { return t.start+uint32(len(t.text.S)) < maxPlace }

// add adds a new text with a token in slot i of byText, and returns its offset.
func (t *stringTable) add(i uint32, tok Name, b []byte, h uint32) (uint32, error) {
	off := t.start + uint32(len(t.text.S))
	if uint64(off)+uint64(len(b))+1 > 1<<31-1 {
		return 0, errStringsFull
	}
	t.text.AppendSlice(b)
	t.text.Append(0)
	t.tags.S[i], t.byText.S[i] = textTag(h), stringSlot{tok, off}
	t.longest = max(t.longest, len(b))
	t.n++
	if isFull(t.n, len(t.byText.S)) {
		t.growText()
	}
	return off, nil
}

// textTag is the part of a hash that tags keeps, so that place reads few texts with
// other hashes.
func textTag(h uint32) uint8 { return uint8(h>>24) | 1 }

// place returns the slot of text b in byText, or the free slot for it. h is the hash
// of b.
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

// aheadBlock is for how many names cache misses overlap.
const aheadBlock = 64

// aheadTexts reads the memory that internPlace will need for texts with these hashes.
func (t *stringTable) aheadTexts(hashes []uint32) {
	tags, slots := t.tags.S, t.byText.S
	for _, h := range hashes {
		i := h & uint32(len(tags)-1)
		t.touched.Read(uint32(tags[i]) + slots[i].off)
	}
}

// isFull reports whether a table needs more slots for n entries.
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
			h := hashAt(t.text.S, int(e.off-t.start))
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

// find returns the string offset of a text, whichever token brought it.
func (t *stringTable) find(b []byte) (uint32, bool) {
	i, there := t.place(b, TextHash(b))
	if !there {
		return 0, false
	}
	return t.byText.S[i].off, true
}

// Texts finds out which name tokens stand for equal texts. Call Free in the end.
type Texts struct{ table stringTable }

// NewTexts makes an empty Texts.
func NewTexts() *Texts {
	t := new(Texts)
	t.table.init()
	return t
}

// First returns the token with tok's text that First got first: tok itself if the text is new.
// It is an error if names does not have the text of tok, or if the texts take more than 2 GiB.
func (x *Texts) First(tok Name, names Names) (Name, error) { return x.table.intern(tok, names) }

// Free releases the memory.
func (x *Texts) Free() { x.table.free() }
