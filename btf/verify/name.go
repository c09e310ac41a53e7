package verify

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// Classes of bytes, by the kernel's ctype table (Latin-1).
const (
	byteOther  = iota // control characters, 0x80-0x9f
	bytePrint         // printable, no part of an identifier
	byteDigit         // may continue an identifier
	byteLetter        // may begin one: letters, '_' and '.'
)

var byteClass = func() (t [256]uint8) {
	for c := range t {
		switch {
		case c >= '0' && c <= '9':
			t[c] = byteDigit
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_', c == '.',
			c >= 0xc0 && c != 0xd7 && c != 0xf7:
			t[c] = byteLetter
		case c >= ' ' && c <= '~', c >= 0xa0:
			t[c] = bytePrint
		}
	}
	return t
}()

// IsIdentifier tells whether kernels take a name as an identifier. '.' counts as a letter.
func IsIdentifier(name []byte) bool { return isIdentifier(name) && bytes.IndexByte(name, 0) < 0 }

// isIdentifier is IsIdentifier for the string that s begins with, up to a NUL.
func isIdentifier(s []byte) bool {
	if len(s) == 0 || byteClass[s[0]] != byteLetter {
		return false
	}
	for i, b := range s {
		if byteClass[b] < byteDigit {
			return b == 0 && i <= maxName
		}
		if i == maxName {
			return false
		}
	}
	return true
}

// isSectionName reports whether s begins with a legal name of a DATASEC.
func isSectionName(s []byte) bool {
	for i, b := range s {
		if byteClass[b] == byteOther {
			return b == 0 && i > 0 && i <= maxName
		}
		if i == maxName {
			return false
		}
	}
	return len(s) > 0
}

// Names are asked about in no order, and most of them several times. So the own
// strings are judged first, 64 bytes at a time.

func (t *texts) findIdentifiers() {
	s := t.own
	t.idents = make([]uint64, len(s)/64+1)
	judge := func(i int) {
		if !isIdentifier(s[i:]) {
			t.idents[i>>6] &^= 1 << (i & 63)
		}
	}
	begin, judged := 0, false // the string that the block before ends in
	first := uint64(1)        // a string begins with the block
	for at := 0; at < len(s) && !t.endedAt(at/64, askBytes/64); at += 64 {
		block := s[at:]
		if len(block) < 64 {
			block = append(make([]byte, 0, 64), block...)[:64]
		}
		plain, nuls := classify((*[64]byte)(block), first)
		starts := nuls<<1 | first
		t.idents[at>>6] = starts &^ nuls
		if first == 0 && !judged && (!plain || at+bits.TrailingZeros64(nuls)-begin > maxName) {
			judge(begin)
			judged = true
		}
		if !plain {
			for rest := starts &^ nuls; rest != 0; rest &= rest - 1 {
				judge(at + bits.TrailingZeros64(rest))
			}
		}
		if starts != 0 {
			begin, judged = at+bits.Len64(starts)-1, !plain
		}
		first = nuls >> 63
	}
}

// classify says of 64 bytes which are NUL, and whether the rest is plain: letters,
// digits and '_' of ASCII, and no string begins with a digit. first is 1 if one
// begins with the block, else 0.
func classify(block *[64]byte, first uint64) (plain bool, nuls uint64) {
	const (
		ones = 0x0101010101010101 // one in each lane
		high = 0x80 * ones
	)
	odd := uint64(0)
	first <<= 7
	for i := 0; i < 64; i += 8 {
		// Added to 7 bits, 0x80-c makes the high bit say: at least c.
		x := binary.LittleEndian.Uint64(block[i:])
		y := x &^ high
		lower := y | 0x20*ones
		nul := ^(y + 0x7f*ones | x) & high
		letter := (lower + (0x80-'a')*ones) &^ (lower + (0x7f-'z')*ones)
		digit := (y + (0x80-'0')*ones) &^ (y + (0x7f-'9')*ones)
		other := (y ^ '_'*ones) + 0x7f*ones
		odd |= (other&^letter&^(digit&^(nul<<8|first)) | x) &^ nul
		first = nul >> 56
		nuls |= (nul >> 7 * 0x0102040810204080 >> 56) << i // the high bits of all lanes
	}
	return odd&high == 0, nuls
}
