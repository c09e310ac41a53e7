package arena

import "math/bits"

// golden is 2^64 divided by the golden ratio: multiplying by it spreads the low bits of a
// word over the high ones.
const golden = 0x9e3779b97f4a7c15

// Mix adds a word to a hash. The result is the same on every machine and in every run, because
// files have such hashes. So an attacker can make words that collide. Where that could cost
// time, use MixSeeded.
func Mix[W uint32 | uint64](h uint64, w W) uint64 {
	h = (h ^ uint64(w)) * golden
	return h ^ h>>29
}

// MixSeeded is Mix for tables whose keys come from a file: nobody can predict which keys
// collide. seed is a random number, one for each table, and also the first h.
func MixSeeded(h, w, seed uint64) uint64 {
	hi, lo := bits.Mul64(h^w^golden, 0xd1342543de82ef95^seed<<1)
	return hi ^ lo
}

// Spread hashes one word. All bits of the word count, and the low bits of the result are as
// good as the high ones.
func Spread(w uint32) uint32 { return uint32(uint64(w) * golden >> 32) }

// FirstZero finds the first byte of x that is 0, from the lowest one on: the lowest bit that is set
// in the result belongs to that byte. The result is 0 if x does not have such a byte.
func FirstZero(x uint64) uint64 { return (x - 0x0101010101010101) &^ x & 0x8080808080808080 }
