package arena

import "math/bits"

// golden is 2^64 divided by the golden ratio: multiplying by it spreads the low bits of a
// word over the high ones.
const golden = 0x9e3779b97f4a7c15

// Mix adds a word to a hash. It gives the same on every machine and in every run, as keys
// in files need it, so whoever makes a file can choose words of one hash: where that could
// cost time, see MixSeeded.
func Mix[W uint32 | uint64](h uint64, w W) uint64 {
	h = (h ^ uint64(w)) * golden
	return h ^ h>>29
}

// MixSeeded is Mix for tables of things that a file decides, where nobody must foretell
// what falls together. seed is a random number that stays the same for one table; the
// first h is it, too.
func MixSeeded(h, w, seed uint64) uint64 {
	hi, lo := bits.Mul64(h^w^golden, 0xd1342543de82ef95^seed<<1)
	return hi ^ lo
}

// Spread is a hash of one word, all of whose bits count. Its low bits are as good as its
// high ones.
func Spread(w uint32) uint32 { return uint32(uint64(w) * golden >> 32) }
