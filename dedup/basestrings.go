package dedup

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"sync"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
)

// Base is BTF that other BTF is split from, ready for look-ups. It is immutable
// and may be shared by any number of Sets and goroutines.
type Base struct {
	blob    *btf.Blob
	chain   []*btf.Blob // root first
	types   uint32      // type ids are 1..types
	strEnd  uint32      // string offsets are below it
	longest int         // length of the longest string
	// slots is an open-addressing table of the strings by text. A slot is 0, or
	// the string offset in the bits of offMask and bits of the hash in the others.
	slots   arena.Vec[uint32]
	offMask uint32
	short   func(text []byte) (Name, bool)
	aliases map[uint32]Name // tokens of strings that repeat an earlier one, by offset
	// aliased has a bit for each aliasedGroup string offsets. It is set if the
	// token of one of them may differ from BaseToken | offset.
	aliased arena.Vec[uint64]

	shortOnce sync.Once
	shortAt   map[Name]uint32 // offsets of the texts whose token is their content
}

// aliasedGroup is how many string offsets share a bit: enough that the bits for a
// kernel's strings stay in the cache.
const aliasedGroup = 8

// Name tokens of a base's strings.
const (
	// BaseToken marks the token of a string of the base. The bits below hold the
	// string offset, so tokens run up to BaseToken+MaxBaseStrings-1.
	BaseToken = 0x40000000
	// MaxBaseStrings is the most bytes that the strings of a base may have.
	MaxBaseStrings = 0x20000000
)

// NewBase makes a Base of blob and its own bases. It keeps blob, which must not
// change. Short returns the token of a text whose token is its content, and false
// for any other text.
func NewBase(blob *btf.Blob, short func(text []byte) (Name, bool)) (*Base, error) {
	b := &Base{blob: blob, types: blob.TypeCount() - 1, strEnd: blob.StrEnd(), short: short, aliases: make(map[uint32]Name)}
	if b.types >= MaxIDs || b.strEnd > MaxBaseStrings {
		return nil, fmt.Errorf("base has %d types and %d bytes of strings: the limits are %d and %d", b.types, b.strEnd, MaxIDs-1, MaxBaseStrings)
	}
	for x := blob; x != nil; x = x.Base {
		b.chain = append([]*btf.Blob{x}, b.chain...)
	}
	n := 0
	for _, x := range b.chain {
		n += bytes.Count(x.Strings, []byte{0})
	}
	size := 1 << 10
	for size < n+n/8 {
		size *= 2
	}
	b.slots.Resize(size)
	b.offMask = 1<<bits.Len32(b.strEnd) - 1
	b.aliased.Resize(int(b.strEnd)/(64*aliasedGroup) + 1)
	for _, x := range b.chain {
		b.addStrings(x.Strings, x.StrBase)
	}
	return b, nil
}

// addStrings enters the strings of a string section that starts at string offset off.
func (b *Base) addStrings(s []byte, off uint32) {
	for len(s) > 0 {
		h, n := hashString(s)
		switch {
		case n > maxShort:
			b.addText(s[:n], h, off)
		case n > 0 || off > 0:
			if _, ok := b.short(s[:n]); ok || n == 0 {
				b.markAliased(off)
			} else {
				b.addText(s[:n], h, off)
			}
		}
		s, off = s[n+1:], off+uint32(n)+1
	}
}

// maxShort is the length of the longest text whose token can be its content: a
// Name has no room for more.
const maxShort = 3

// addText enters the text at off, whose hash is h.
func (b *Base) addText(text []byte, h, off uint32) {
	slots, tag := b.slots.S, h&^b.offMask
	mask := uint32(len(slots) - 1)
	i := h & mask
	for ; slots[i] != 0; i = (i + 1) & mask {
		if e := slots[i]; e&^b.offMask == tag && b.isAt(text, e-tag) {
			b.aliases[off] = BaseToken | (e - tag) // the first of equal strings counts
			b.markAliased(off)
			return
		}
	}
	slots[i] = tag | off
	b.longest = max(b.longest, len(text))
}

// isAt reports whether text is the string at off.
func (b *Base) isAt(text []byte, off uint32) bool {
	s := b.tail(off)
	return len(s) > len(text) && s[len(text)] == 0 && string(s[:len(text)]) == string(text)
}

// Token returns the token of a string of the base, or 0 if the base lacks the text
// or the text's token is its content. h is TextHash(text).
func (b *Base) Token(text []byte, h uint32) Name {
	slots, tag := b.slots.S, h&^b.offMask
	mask := uint32(len(slots) - 1)
	for i := h & mask; slots[i] != 0; i = (i + 1) & mask {
		if e := slots[i]; e&^b.offMask == tag && b.isAt(text, e-tag) {
			return BaseToken | (e - tag)
		}
	}
	return 0
}

// tail returns the string section from a string offset on.
func (b *Base) tail(off uint32) []byte {
	x := b.blob
	for off < x.StrBase {
		x = x.Base
	}
	if off >= x.StrEnd() {
		return nil
	}
	return x.Strings[off-x.StrBase:]
}

// Bytes returns the text of a token of the base. The base owns the memory.
func (b *Base) Bytes(t Name) []byte { return b.blob.NameBytes(t &^ BaseToken) }

// Types returns the number of types of the base, including its own bases.
func (b *Base) Types() int { return int(b.types) }

// StrEnd returns the first string offset after the base's strings.
func (b *Base) StrEnd() uint32 { return b.strEnd }

// BigEndian reports the byte order of the base's target.
func (b *Base) BigEndian() bool { return b.blob.BigEndian }

// Blob returns the BTF that the Base was made of.
func (b *Base) Blob() *btf.Blob { return b.blob }

func (b *Base) markAliased(off uint32) {
	b.aliased.S[off/aliasedGroup/64] |= 1 << (off / aliasedGroup % 64)
}

// token returns the token of the string at a string offset.
func (b *Base) token(off uint32) Name {
	if b.aliased.S[off/aliasedGroup/64]>>(off/aliasedGroup%64)&1 != 0 {
		return b.alias(off)
	}
	if off == 0 {
		return 0
	}
	return BaseToken | off
}

// alias is token for an offset whose bit in b.aliased is set.
func (b *Base) alias(off uint32) Name {
	if off == 0 {
		return 0
	}
	if len(b.aliases) > 0 {
		if t, ok := b.aliases[off]; ok {
			return t
		}
	}
	if text, ok := b.shortText(off); ok {
		if t, ok := b.short(text); ok {
			return t
		} else if len(text) == 0 {
			return 0
		}
	}
	return BaseToken | off
}

// shortText returns the string at off. It reports false if no string starts there
// or if it is longer than maxShort bytes.
func (b *Base) shortText(off uint32) ([]byte, bool) {
	x := b.blob
	for off < x.StrBase {
		x = x.Base
	}
	if off >= x.StrEnd() || off > x.StrBase && x.Strings[off-x.StrBase-1] != 0 {
		return nil, false
	}
	s := x.Strings[off-x.StrBase:]
	for n, c := range s[:min(len(s), maxShort+1)] {
		if c == 0 {
			return s[:n], true
		}
	}
	return nil, false
}

// offset returns the string offset of a token's text; false if the base lacks it.
func (b *Base) offset(t Name) (uint32, bool) {
	if t >= BaseToken && t < BaseToken+MaxBaseStrings {
		return t &^ BaseToken, true
	}
	b.shortOnce.Do(b.findShort)
	off, ok := b.shortAt[t]
	return off, ok
}

// findShort fills b.shortAt. Of equal strings it takes the first.
func (b *Base) findShort() {
	b.shortAt = make(map[Name]uint32)
	for i, w := range b.aliased.S {
		for ; w != 0; w &= w - 1 {
			first := aliasedGroup * uint32(64*i+bits.TrailingZeros64(w))
			for off := first; off < min(first+aliasedGroup, b.strEnd); off++ {
				text, ok := b.shortText(off)
				if !ok {
					continue
				}
				t, ok := b.short(text)
				if _, again := b.shortAt[t]; ok && !again && t != 0 {
					b.shortAt[t] = off
				}
			}
		}
	}
}

// Free releases the memory. No Set may use the Base any more.
func (b *Base) Free() {
	b.slots.Free()
	b.aliased.Free()
}

// TextHash hashes a name's text, which has no NUL, for Base.Token.
func TextHash(b []byte) uint32 {
	h := uint64(0)
	for len(b) >= 8 {
		h = arena.Mix(h, binary.LittleEndian.Uint64(b))
		b = b[8:]
	}
	last := uint64(0)
	for i, c := range b {
		last |= uint64(c) << (8 * i)
	}
	return uint32(arena.Mix(h, last) >> 32)
}

// hashString returns TextHash of the text before the first NUL of s, and the length
// of that text. There must be a NUL.
func hashString(s []byte) (h uint32, n int) {
	x := uint64(0)
	for ; n+8 <= len(s); n += 8 {
		w := binary.LittleEndian.Uint64(s[n:])
		const ones, highs = 0x0101010101010101, 0x8080808080808080
		if zero := (w - ones) &^ w & highs; zero != 0 {
			// The lowest set bit belongs to the first NUL.
			last := bits.TrailingZeros64(zero) / 8
			w &= 1<<(8*last) - 1
			return uint32(arena.Mix(x, w) >> 32), n + last
		}
		x = arena.Mix(x, w)
	}
	last := uint64(0)
	for i := 0; s[n] != 0; i, n = i+1, n+1 {
		last |= uint64(s[n]) << (8 * i)
	}
	return uint32(arena.Mix(x, last) >> 32), n
}
