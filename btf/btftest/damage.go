package btftest

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
)

// Damage returns a copy of data, which is BTF or a file with BTF, in which a few places
// are others: bytes, words as ids, names and sizes are, pieces from elsewhere, names that
// a terminal or a page would obey, or the end is missing. Words are in the byte order that
// the first byte tells.
func Damage(r *rand.Rand, data []byte) []byte {
	var order binary.ByteOrder = binary.LittleEndian
	if len(data) > 5 && (data[0] == 0xeb || data[0] == 0x7f && data[5] == 2) { // BTF, ELF
		order = binary.BigEndian
	}
	b := bytes.Clone(data)
	for range 1 + r.IntN(1+r.IntN(5)) {
		damagePlace(r, order, b)
	}
	if r.IntN(32) == 0 {
		b = b[:r.IntN(len(b))]
	}
	return b
}

// odd are values at the edges of what words of BTF hold.
var odd = []uint32{0, 1, 2, 1 << 16, 1<<24 - 1, 1 << 24, 1<<31 - 1, 1 << 31, 1<<32 - 2, 1<<32 - 1}

// obeyedNames are parts of names that a terminal, a page or a compiler would obey.
var obeyedNames = []string{"\x1b[2J", "\x1b]0;x\a", "\xc2\x9b1m", "\"\\", "\r", "\xff\xfe", "*/", "<!--", "</a>", "\"'&\r", "}; ", "#if", "\n"}

// damagePlace changes one place of b.
func damagePlace(r *rand.Rand, order binary.ByteOrder, b []byte) {
	at := r.IntN(len(b))
	word := b[at&^3 : min(len(b), at&^3+4)]
	if len(word) < 4 {
		b[at] = byte(r.Uint32())
		return
	}
	old := order.Uint32(word)
	switch r.IntN(9) {
	case 0:
		b[at] = byte(r.Uint32())
	case 1:
		order.PutUint32(word, old^1<<r.IntN(32))
	case 2:
		order.PutUint32(word, old+uint32(r.IntN(5))-2)
	case 3:
		order.PutUint32(word, r.Uint32N(64))
	case 4:
		order.PutUint32(word, r.Uint32N(uint32(len(b))))
	case 5:
		order.PutUint32(word, odd[r.IntN(len(odd))])
	case 6: // a word from elsewhere
		copy(word, b[r.IntN(len(b))&^3:])
	case 7: // a piece from elsewhere
		copy(b[at:min(len(b), at+r.IntN(64))], b[r.IntN(len(b)):])
	default: // in the strings, which are at the end
		copy(b[len(b)-1-r.IntN(1+len(b)/4):], obeyedNames[r.IntN(len(obeyedNames))])
	}
}
