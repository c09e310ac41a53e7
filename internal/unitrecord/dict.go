package unitrecord

import (
	_ "embed" // for names.txt and names.idx
	"encoding/binary"

	"github.com/btflite/btflite/arena"
)

// The dictionary of names. Kernel headers bring the same names into nearly every unit.
// They are built into the program, so a record spells only its own names.

// Dictionary is the number of the dictionary. It changes with names.txt.
const Dictionary = 1

// dictionaryText has the names, each followed by a newline, in the order in which
// kernels use them (mkdict writes it).
//
//go:embed names.txt
var dictionaryText string

// dictionaryIndex is an index of the names, so that none has to be made when the program
// starts. Its numbers are little-endian:
//
//	4 bytes            how many names there are
//	4 bytes each       where each name starts in dictionaryText, then the end of the text
//	2 bytes each       slots of a hash table: 1 + the number of a name, 0 for a free slot
//
// A name is in the slot that the lower bits of its hash give, or in the next free one.
// TestIndex writes the index.
//
//go:embed names.idx
var dictionaryIndex string

// dictionarySlots is the number of slots: over twice the number of names.
const dictionarySlots = 1 << 16

// dictionaryLen returns how many names there are.
func dictionaryLen() int { return int(indexWord(0)) }

// indexWord returns word i of dictionaryIndex.
func indexWord(i int) uint32 {
	b := dictionaryIndex[4*i:][:4]
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

// dictionaryName returns name i.
func dictionaryName(i int) string {
	return dictionaryText[indexWord(1+i) : indexWord(2+i)-1]
}

// inDictionary returns the number of a name whose textHash is hash; ok is false if the
// dictionary does not have it.
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

// textHash returns the hash of a name. The keys of chunks are made of such hashes.
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
