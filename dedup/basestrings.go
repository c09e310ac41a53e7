package dedup

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
)

// Base is BTF that other BTF is split from, ready for look-ups. It is immutable
// and may be shared by any number of Sets and goroutines.
//
// The token of a string of the base is its string offset, so a Set can use records of the base as
// they are. The exceptions are bases that repeat a string: see needsTokens.
type Base struct {
	blob    *btf.Blob
	chain   []*btf.Blob // root first
	types   uint32      // type ids are 1..types
	strEnd  uint32      // string offsets are below it
	longest int         // length of the longest string
	// slots is an open-addressing table of the strings by text. A slot is 0, or
	// the string offset in the bits of offMask and the hash's lowest bits in the others.
	slots   arena.Vec[uint32]
	offMask uint32
	// shorts is such a table too, of the strings of at most MaxShort bytes, which slots lacks. A
	// slot is 0, or the string offset in its upper half and the text in its lower half.
	shorts  arena.Vec[uint64]
	short   int             // strings in shorts
	aliases map[uint32]Name // tokens of strings that repeat an earlier one, by offset
	empties bool            // a string behind the first one is empty
}

const (
	// MaxBaseStrings is the most bytes that the strings of a base may have. Tokens of names
	// that the base lacks are not below it.
	MaxBaseStrings = 0x20000000
	// MaxShort is the length of the longest text that Short knows.
	MaxShort = 3
)

// NewBase makes a Base of blob and the bases below it. It keeps blob, which must not
// change. It is an error if there are too many types or strings for a Set. Call Free in the end.
func NewBase(blob *btf.Blob) (*Base, error) {
	b := &Base{blob: blob, types: blob.TypeCount() - 1, strEnd: blob.StrEnd(), aliases: make(map[uint32]Name)}
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
	b.slots.Resize(n + n/2 + 1) // one is free; a fuller table would take more steps for each string
	b.offMask = 1<<bits.Len32(b.strEnd) - 1
	b.shorts.Resize(1 << 12)
	for _, x := range b.chain {
		b.addStrings(x.Strings, x.StrBase)
	}
	return b, nil
}

// hashed describes a string of a string section: its TextHash, and the index of its NUL.
type hashed struct{ hash, end uint32 }

// addStrings enters the strings of a string section that starts at string offset start. The two
// loops that do it for nearly all strings call nothing, so that what they need stays in registers.
func (b *Base) addStrings(s []byte, start uint32) {
	var batch [64]hashed
	for at := 0; at < len(s); {
		n := hashStrings(s, at, batch[:])
		if n == 0 {
			end := at + bytes.IndexByte(s[at:], 0)
			batch[0], n = hashed{TextHash(s[at:end]), uint32(end)}, 1
		}
		for todo := batch[:n]; len(todo) > 0; {
			k := b.fill(todo, uint32(at), start)
			if k > 0 {
				at = int(todo[k-1].end) + 1
			}
			if todo = todo[k:]; len(todo) > 0 {
				end := int(todo[0].end)
				b.addString(s[at:end], todo[0].hash, start+uint32(at))
				at, todo = end+1, todo[1:]
			}
		}
	}
}

// hashStrings hashes strings from index at of s on, until to is full or a string reaches the last
// 7 bytes of s, which it cannot read as a word. It returns how many it has hashed. The last string
// must end with a NUL.
func hashStrings(s []byte, at int, to []hashed) (n int) {
	for ; n < len(to); n++ {
		h := uint64(0)
		for {
			if at > len(s)-8 || at < 0 {
				return n
			}
			w := binary.LittleEndian.Uint64(s[at : at+8])
			if zero := arena.FirstZero(w); zero != 0 {
				last := bits.TrailingZeros64(zero)
				at += last / 8
				to[n] = hashed{endHash(h, w&(1<<(last&^7&63)-1)), uint32(at)}
				at++
				break
			}
			h = arena.Mix(h, w)
			at += 8
		}
	}
	return n
}

// fill enters strings. The first one is at index at of a section that starts at string offset
// start. It stops at one that is short or may repeat another, and returns how many it has entered.
func (b *Base) fill(strings []hashed, at, start uint32) int {
	slots, offMask, longest := b.slots.S, b.offMask, b.longest
	k := 0
	for ; k < len(strings); k++ {
		x := &strings[k]
		n := int(x.end - at)
		if n <= MaxShort {
			break
		}
		tag, i := x.hash*(offMask+1), int(uint64(x.hash)*uint64(len(slots))>>32)
		for i < len(slots) && slots[i] != 0 && slots[i]^tag > offMask {
			i++
		}
		if i >= len(slots) || slots[i] != 0 {
			break
		}
		longest = max(longest, n)
		slots[i] = tag | (start + at)
		at = x.end + 1
	}
	b.longest = longest
	return k
}

// addString enters the string at off, whose hash is h.
func (b *Base) addString(text []byte, h, off uint32) {
	if len(text) <= MaxShort {
		b.addShort(text, off)
		return
	}
	i, other := b.find(text, h)
	if other != 0 {
		b.aliases[off] = other // the first of equal strings counts
		return
	}
	b.slots.S[i] = b.tag(h) | off
	b.longest = max(b.longest, len(text))
}

// addShort enters the string at off, which has at most MaxShort bytes.
func (b *Base) addShort(text []byte, off uint32) {
	if len(text) == 0 {
		b.empties = b.empties || off > 0
		return
	}
	slot := b.shortSlot(uint32(shortWord(text)))
	if *slot != 0 {
		b.aliases[off] = Name(*slot >> 32)
		return
	}
	*slot = uint64(off)<<32 | shortWord(text)
	if b.short++; b.short > len(b.shorts.S)/2 {
		old := b.shorts
		b.shorts = arena.Vec[uint64]{}
		b.shorts.Resize(2 * len(old.S))
		for _, e := range old.S {
			*b.shortSlot(uint32(e)) = e
		}
		old.Free()
	}
}

// shortSlot returns the slot of a short text in shorts, or the free slot for it.
func (b *Base) shortSlot(text uint32) *uint64 {
	slots := b.shorts.S
	for i := arena.Spread(text); ; i++ {
		if e := &slots[i&uint32(len(slots)-1)]; *e == 0 || uint32(*e) == text {
			return e
		}
	}
}

// shortWord has the bytes of text, at most seven, from the lowest byte on.
func shortWord(text []byte) (w uint64) {
	for i, c := range text {
		w |= uint64(c) << (8 * i)
	}
	return w
}

// Short returns the token of a string of the base, or 0 if the base lacks it. The string has one
// to MaxShort bytes, which are in text from the lowest byte on.
func (b *Base) Short(text uint32) Name { return Name(*b.shortSlot(text) >> 32) }

// isAt reports whether text is the string at off.
func (b *Base) isAt(text []byte, off uint32) bool {
	s := b.tail(off)
	return len(s) > len(text) && s[len(text)] == 0 && string(s[:len(text)]) == string(text)
}

// tag returns the bits of the hash h that a slot keeps, above the offset's bits.
func (b *Base) tag(h uint32) uint32 { return h * (b.offMask + 1) }

// Token returns the token of a string of the base, or 0 if the base lacks the text. h is
// TextHash(text).
func (b *Base) Token(text []byte, h uint32) Name {
	if len(text) <= MaxShort {
		return b.Short(uint32(shortWord(text)))
	}
	_, off := b.find(text, h)
	return off
}

// find returns the offset of a text, whose hash is h, and its slot. If there is none, the offset
// is 0 and the slot is free.
func (b *Base) find(text []byte, h uint32) (slot int, off uint32) {
	slots, tag := b.slots.S, b.tag(h)
	for i := int(uint64(h) * uint64(len(slots)) >> 32); ; i++ {
		if i == len(slots) {
			i = 0
		}
		if slots[i] == 0 {
			return i, 0
		}
		if off := slots[i] ^ tag; off <= b.offMask && b.isAt(text, off) {
			return i, off
		}
	}
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
func (b *Base) Bytes(t Name) []byte { return b.blob.NameBytes(t) }

// BigEndian reports the byte order of the base's target.
func (b *Base) BigEndian() bool { return b.blob.BigEndian }

// Blob returns the BTF that the Base was made of.
func (b *Base) Blob() *btf.Blob { return b.blob }

// needsTokens reports whether some strings repeat an earlier one, or are empty. Then token has
// to replace the string offsets in records.
func (b *Base) needsTokens() bool { return b.empties || len(b.aliases) > 0 }

// token returns the token of the string at a string offset: 0 if it is empty, and the offset of
// the first one if it repeats another.
func (b *Base) token(off uint32) Name {
	if t, ok := b.aliases[off]; ok {
		return t
	}
	if b.empties && b.isEmpty(off) {
		return 0
	}
	return off
}

// isEmpty reports whether an empty string begins at off.
func (b *Base) isEmpty(off uint32) bool {
	x := b.blob
	for off < x.StrBase {
		x = x.Base
	}
	off -= x.StrBase
	return int(off) < len(x.Strings) && x.Strings[off] == 0 && (off == 0 || x.Strings[off-1] == 0)
}

// has reports whether t is a token of the base. Then it is the string offset, too.
func (b *Base) has(t Name) bool { return b != nil && t < MaxBaseStrings }

// Free releases the memory. No Set may use the Base any more.
func (b *Base) Free() {
	b.slots.Free()
	b.shorts.Free()
}

// TextHash hashes a name's text, which has no NUL, for Base.Token.
func TextHash(b []byte) uint32 {
	h, n := uint64(0), len(b)
	if n < 8 {
		return endHash(h, shortWord(b))
	}
	last := binary.LittleEndian.Uint64(b[n-8:])
	for ; len(b) >= 8; b = b[8:] {
		h = arena.Mix(h, binary.LittleEndian.Uint64(b))
	}
	return endHash(h, last>>(64-8*(n&7)))
}

// endHash ends TextHash. last has the bytes after the last whole word of the text.
func endHash(h, last uint64) uint32 { return uint32(arena.Mix(h, last) >> 32) }

// hashAt returns TextHash of the string at index at of s. There must be a NUL.
func hashAt(s []byte, at int) uint32 {
	var x [1]hashed
	if hashStrings(s, at, x[:]) == 0 {
		return TextHash(s[at:][:bytes.IndexByte(s[at:], 0)])
	}
	return x[0].hash
}
