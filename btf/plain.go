package btf

import (
	"encoding/binary"
	"math/bits"

	"github.com/btflite/btflite/arena"
)

// each, times a byte, is that byte eight times.
const each = 0x0101010101010101

// highs has the highest bit of each of eight bytes.
const highs = 0x80 * each

// oddBits returns 0 if the eight bytes of x are printable ASCII or NUL. Otherwise it returns
// the highest bits of bytes, and the lowest of these bytes is neither. How it works: as long
// as the bytes are below 0x80, a byte plus n has its highest bit set if the byte is at least
// 0x80-n, and no sum carries into the next byte.
func oddBits(x uint64) uint64 {
	control := ^(x + 0x60*each) & (x + 0x7f*each) // below a space and above NUL
	return (x | control | (x + each)) & highs
}

// isOdd reports whether c is neither printable ASCII nor NUL.
func isOdd(c byte) bool { return c-1 < 0x1f || c >= 0x7f }

// IsPlain reports whether s has only printable ASCII and NUL. A terminal may take other
// characters as commands.
func IsPlain(s []byte) bool {
	o := binary.LittleEndian
	if len(s) < 8 {
		for _, c := range s {
			if isOdd(c) {
				return false
			}
		}
		return true
	}
	last := o.Uint64(s[len(s)-8:])
	for ; len(s) >= 32; s = s[32:] {
		if oddBits(o.Uint64(s))|oddBits(o.Uint64(s[8:]))|oddBits(o.Uint64(s[16:]))|oddBits(o.Uint64(s[24:])) != 0 {
			return false
		}
	}
	for ; len(s) >= 8; s = s[8:] {
		if oddBits(o.Uint64(s)) != 0 {
			return false
		}
	}
	return oddBits(last) == 0
}

// AppendPlain appends the string at offset off to dst if it has only printable ASCII, and
// reports whether it does; see NameBytes.
func (b *Blob) AppendPlain(dst []byte, off uint32) (longer []byte, ok bool) {
	start := len(dst)
	for b != nil && off < b.StrBase {
		b = b.Base
	}
	if b == nil || off >= b.StrEnd() {
		return dst, true
	}
	s := b.Strings[off-b.StrBase:]
	for ; len(s) >= 8; s = s[8:] {
		x := binary.LittleEndian.Uint64(s)
		dst = binary.LittleEndian.AppendUint64(dst, x)
		end := arena.FirstZero(x)
		if oddBits(x)&(end-1)&^end != 0 {
			return dst[:start], false
		}
		if end != 0 {
			return dst[:len(dst)-8+bits.TrailingZeros64(end)/8], true
		}
	}
	for _, c := range s {
		if c == 0 {
			break
		}
		if isOdd(c) {
			return dst[:start], false
		}
		dst = append(dst, c)
	}
	return dst, true
}
