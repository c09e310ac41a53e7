package names

import (
	"encoding/binary"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/dedup"
)

// Texts compares the texts of names. It is for a reader who can foresee which token a name has:
// a comparison costs less than a look-up.
type Texts struct {
	data []byte // .debug_str
	base []byte // the strings of the base, if that has no base of its own
	pool *Pool
}

// Texts prepares comparisons of names in Data.
func (s *Text) Texts() Texts {
	t := Texts{data: s.Data, pool: s.pool}
	if b := s.pool.base; b != nil && b.Blob().Base == nil {
		t.base = b.Blob().Strings
	}
	return t
}

// Is reports whether a name, which is a place, has the token tok. It may wrongly report false.
func (t *Texts) Is(name, tok dedup.Name) bool {
	off := uint(name - firstPlace - 1)
	if b := t.base; uint(tok) < uint(len(b)) {
		return equalTexts(t.data, b, off, uint(tok))
	}
	switch {
	case tok >= tokPool:
		if tok &^= tokPool; t.pool.has(tok) {
			return equalTexts(t.data, t.pool.bytes(tok), off, 0)
		}
	case tok < dedup.MaxBaseStrings && t.pool.base != nil:
		b := t.pool.base.Blob()
		for tok < b.StrBase {
			b = b.Base
		}
		return equalTexts(t.data, b.Strings, off, uint(tok-b.StrBase))
	}
	return false
}

// Guess is a name, and the token that it should have.
type Guess struct{ Name, Token dedup.Name }

// Right returns how many guesses, from the first one on, are right for certain. Ask Is about the one
// after them. Right is faster than single calls of Is.
func (t *Texts) Right(guesses []Guess) (n int) {
	a, base := t.data, t.base
	for ; n < len(guesses); n++ {
		i, j, b := uint(guesses[n].Name-firstPlace-1), uint(guesses[n].Token), base
		if j >= tokPool {
			if j &^= tokPool; !t.pool.has(uint32(j)) {
				break
			}
			b, j = t.pool.bytes(uint32(j)), 0
		}
		if i+16 > uint(len(a)) || j+16 > uint(len(b)) {
			break
		}
		x, y := a[i:i+16:i+16], b[j:j+16:j+16]
		first, second := binary.LittleEndian.Uint64(x), binary.LittleEndian.Uint64(x[8:])
		differ, rest := first^binary.LittleEndian.Uint64(y), second^binary.LittleEndian.Uint64(y[8:])
		zero, last := arena.FirstZero(first), arena.FirstZero(second)
		if zero != 0 {
			rest = 0
		}
		if differ&upTo(zero)|rest&upTo(last) != 0 || zero|last == 0 && !equalTexts(a, b, i+16, j+16) {
			break
		}
	}
	return n
}

// equalTexts reports whether the same text, with a NUL, is at index i of a and at index j of b. It
// reads 16 bytes at a time, and reports false if there are fewer. Lengths cannot be predicted, so
// it compares both halves without branches.
func equalTexts(a, b []byte, i, j uint) bool {
	for i+16 <= uint(len(a)) && j+16 <= uint(len(b)) {
		x, y := a[i:i+16:i+16], b[j:j+16:j+16]
		first, second := binary.LittleEndian.Uint64(x), binary.LittleEndian.Uint64(x[8:])
		differ, rest := first^binary.LittleEndian.Uint64(y), second^binary.LittleEndian.Uint64(y[8:])
		zero, last := arena.FirstZero(first), arena.FirstZero(second)
		if zero|last != 0 {
			if zero != 0 {
				rest = 0
			}
			return differ&upTo(zero)|rest&upTo(last) == 0
		}
		if differ|rest != 0 {
			return false
		}
		i, j = i+16, j+16
	}
	return false
}

// upTo returns the bits of a word up to the end of the byte that FirstZero has found, and all bits if
// it has found none.
func upTo(zero uint64) uint64 { return zero ^ (zero - 1) }
