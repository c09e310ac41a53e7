package names

import (
	"encoding/binary"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/dedup"
)

// trace is the order in which a Reader has met names, kept from unit to unit. It
// saves look-ups, because units that include the same headers have the same names in
// the same order. After each name, trace expects the one that followed it last time.
// Comparing that with the text costs less than a look-up. The outcome does not depend
// on it: a name always gets the number that the pool has for its text.
type trace struct {
	read arena.Vec[uint32] // a ring of traceLen: number in the pool << traceSize | length (longTrace from maskWords on), or 0
	last arena.Vec[uint32] // by rank in the pool: 1 + the name's last index in the ring
	next uint32            // index in the ring of the expected name
	end  uint32            // index in the ring for the next name that is read
}

const (
	// traceLen is how many names are remembered: as many as a few large units have.
	traceLen  = 1 << 16
	traceSize = 5
	longTrace = 1<<traceSize - 1
)

func (tr *trace) free() {
	tr.read.Free()
	tr.last.Free()
	tr.next, tr.end = 0, 0
}

// ring is tr.read in its full length.
func (tr *trace) ring() *[traceLen]uint32 {
	if len(tr.read.S) < traceLen {
		tr.read.ResizeSparse(traceLen)
	}
	return (*[traceLen]uint32)(tr.read.S)
}

// note adds a name that one did not expect: its number k, its rank and its length
// n in bytes. If the name was never read before, the next expected name stays the same.
func (tr *trace) note(k, rank uint32, n int) {
	if rank >= uint32(len(tr.last.S)) {
		tr.last.Resize(int(rank+1) * 3 / 2)
	}
	if at := tr.last.S[rank]; at != 0 {
		tr.next = at % traceLen
	}
	if n >= maskWords {
		n = longTrace
	}
	tr.read.S[tr.end] = k<<traceSize | uint32(n)
	tr.last.S[rank] = tr.end + 1
	tr.end = (tr.end + 1) % traceLen
}

// one returns the token of the name at offset t of str if it is the expected one.
func (tr *trace) one(p *Pool, str []byte, t uint32) (token dedup.Name, ok bool) {
	read := tr.ring()
	k := read[tr.next%traceLen]
	head, ok := p.isAt(k, str, t)
	if !ok || head>>32 >= uint64(len(tr.last.S)) {
		return 0, false
	}
	read[tr.end%traceLen] = k
	tr.last.S[head>>32] = tr.end%traceLen + 1
	tr.next, tr.end = (tr.next+1)%traceLen, (tr.end+1)%traceLen
	return uint32(head), true
}

// isAt reports whether the name of k, an element of trace.read, is at offset t of
// str, and what its entry begins with.
func (p *Pool) isAt(k uint32, str []byte, t uint32) (head uint64, ok bool) {
	o, size := k>>traceSize, k&longTrace
	chunk := p.text[o/textChunk].S
	if len(chunk) < textChunk || uint64(t)+maskWords > uint64(len(str)) {
		return 0, false
	}
	words := (*[textChunk]uint64)(chunk)
	if size < maskWords {
		// Compare the text and its NUL without branches, because lengths cannot be
		// predicted. A short name has no second or third word: its first word is read
		// instead, because another goroutine may write after the name.
		b, mask := (*[maskWords]byte)(str[t:]), &textMask[size]
		x := (binary.NativeEndian.Uint64(b[:]) ^ words[(o+1)%textChunk]) & mask[0]
		x |= (binary.NativeEndian.Uint64(b[8:]) ^ words[(o+1+(7-size)>>31)%textChunk]) & mask[1]
		x |= (binary.NativeEndian.Uint64(b[16:]) ^ words[(o+1+(15-size)>>31*2)%textChunk]) & mask[2]
		if x != 0 {
			return 0, false
		}
	} else if !startsWith(str[t:], p.name(o)) {
		return 0, false
	}
	return words[o%textChunk], true
}

// maskWords is how many bytes of a name, with the NUL, are compared at once.
const maskWords = 24

// textMask is, by the length of a name, the bits of its bytes and its NUL.
var textMask = func() (mask [maskWords + 1][maskWords / 8]uint64) {
	for size := range mask {
		var b [maskWords + 8]byte
		for i := range b[:size+1] {
			b[i] = 0xff
		}
		for w := range mask[size] {
			mask[size][w] = binary.NativeEndian.Uint64(b[8*w:])
		}
	}
	return mask
}()
