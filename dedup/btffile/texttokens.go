package btffile

import (
	"bytes"
	"errors"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/dedup"
)

// textTokens implements dedup.Names for the names of many blobs over one base. The token of a
// string of the base is the base's; any other is ownToken plus the offset of its text here.
type textTokens struct {
	base  *dedup.Base
	text  arena.Vec[byte]   // each followed by NUL
	slots arena.Vec[uint32] // an open-addressing table of tokens by text; 0: free
	n     int
}

func newTextTokens(base *dedup.Base) *textTokens {
	t := &textTokens{base: base}
	t.slots.Resize(1 << 12)
	return t
}

func (t *textTokens) free() {
	t.text.Free()
	t.slots.Free()
}

const (
	ownToken  = dedup.MaxBaseStrings // of the first name that the base lacks
	mostNames = 1 << 30              // bytes of such names
)

// errManyNames is the error for more names than there are tokens.
var errManyNames = errors.New("dedup: names take more than 1 GiB")

func (t *textTokens) token(text []byte) (dedup.Name, error) {
	if len(text) == 0 {
		return 0, nil
	}
	h := dedup.TextHash(text)
	if tok := t.base.Token(text, h); tok != 0 {
		return tok, nil
	}
	i := t.slot(text, h)
	if tok := t.slots.S[i]; tok != 0 {
		return tok, nil
	}
	tok := dedup.Name(ownToken + len(t.text.S))
	if len(t.text.S)+len(text) >= mostNames {
		return 0, errManyNames
	}
	t.text.AppendSlice(text)
	t.text.Append(0)
	t.slots.S[i] = tok
	if t.n++; t.n > len(t.slots.S)/2 {
		t.grow()
	}
	return tok, nil
}

// slot returns the slot of a text, or the free slot for it.
func (t *textTokens) slot(text []byte, h uint32) uint32 {
	mask := uint32(len(t.slots.S) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		tok := t.slots.S[i]
		if tok == 0 {
			return i
		}
		s := t.text.S[tok-ownToken:]
		if len(s) > len(text) && s[len(text)] == 0 && bytes.Equal(s[:len(text)], text) {
			return i
		}
	}
}

// grow doubles the number of slots.
func (t *textTokens) grow() {
	size := 2 * len(t.slots.S)
	t.slots.Free()
	t.slots.Resize(size)
	for at := 0; at < len(t.text.S); {
		n := bytes.IndexByte(t.text.S[at:], 0)
		text := t.text.S[at : at+n]
		t.slots.S[t.slot(text, dedup.TextHash(text))] = dedup.Name(ownToken + at)
		at += n + 1
	}
}

// Bytes is part of dedup.Names.
func (t *textTokens) Bytes(tok dedup.Name) ([]byte, bool) {
	if tok < ownToken {
		return t.base.Bytes(tok), true
	}
	if int(tok-ownToken) >= len(t.text.S) {
		return nil, false
	}
	s := t.text.S[tok-ownToken:]
	return s[:bytes.IndexByte(s, 0)], true
}

// Alias is part of dedup.Names and never called: each text has one token.
func (t *textTokens) Alias(tok, canon dedup.Name) {}

// Touch is part of dedup.Names.
func (t *textTokens) Touch(toks []dedup.Name) byte { return 0 }
