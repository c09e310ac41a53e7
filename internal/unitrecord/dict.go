package unitrecord

import (
	_ "embed" // for names.txt and names.idx
	"encoding/binary"

	"github.com/btflite/btflite/arena"
)

// The dictionary of names. Kernel headers bring the same names into nearly every unit:
// with them built in, a record needs to spell only its own.

// Dictionary is the number of the dictionary. It changes with names.txt.
const Dictionary = 1

// dictionaryText has the names, each with a newline behind it, in the order in which
// kernels use them (mkdict writes it).
//
//go:embed names.txt
var dictionaryText string

// dictionaryIndex finds them, so that nothing has to be done when the program starts.
// It is little-endian: 4 bytes, how many names there are; for each one, 4 bytes, where it
// starts in dictionaryText, and once more its end; slots of 2 bytes, which have 1 + the number of a
// name at the lower bits of the hash of its text, or in the next free place. TestIndex
// writes it.
//
//go:embed names.idx
var dictionaryIndex string

// dictionarySlots is how many slots there are: over twice as many as names.
const dictionarySlots = 1 << 16

// dictionaryLen is how many names there are.
func dictionaryLen() int { return int(indexWord(0)) }

// indexWord is a word of dictionaryIndex.
func indexWord(i int) uint32 {
	b := dictionaryIndex[4*i:][:4]
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

// dictionaryName is name i.
func dictionaryName(i int) string {
	return dictionaryText[indexWord(1+i) : indexWord(2+i)-1]
}

// inDictionary looks a name up, of which hash is textHash.
func inDictionary(name []byte, hash uint64) (i int, ok bool) {
	slots := dictionaryIndex[4*(2+dictionaryLen()):]
	for h := hash % dictionarySlots; ; h = (h + 1) % dictionarySlots {
		k := int(slots[2*h]) | int(slots[2*h+1])<<8
		if k == 0 {
			return 0, false
		}
		if dictionaryName(k-1) == string(name) {
			return k - 1, true
		}
	}
}

// textHash is a hash of a name. Keys of chunks are made of such hashes.
func textHash(b []byte) uint64 {
	h := uint64(len(b)) + 1
	for ; len(b) >= 8; b = b[8:] {
		h = arena.Mix(h, binary.LittleEndian.Uint64(b))
	}
	rest := uint64(0)
	for i, c := range b {
		rest |= uint64(c) << (8 * i)
	}
	h = arena.Mix(arena.Mix(h, rest), uint32(6))
	return h ^ h>>32
}
