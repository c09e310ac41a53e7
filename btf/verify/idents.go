package verify

import (
	"encoding/binary"
	"math/bits"
)

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
