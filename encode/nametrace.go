package encode

import (
	"encoding/binary"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/dedup"
)

// nameTrace is the order in which a slot has read names, kept from unit to
// unit: those that include the same headers have the same names in the same
// order. The name that is expected is the one that came behind the last one when
// that was read before, and comparing it with the text is less than a look-up. It
// decides nothing: a name gets the number that the pool has for its text.
type nameTrace struct {
	read arena.Vec[uint32] // 1 + number in the pool, in the order read: a ring of traceLen
	last arena.Vec[uint32] // by rank in the pool: 1 + where in the ring the name was put last
	next uint32            // where in the ring the name that is expected is
	end  uint32            // where the next name that is read is put
}

// traceLen is how many names are remembered: those of a few large units.
const traceLen = 1 << 16

func (tr *nameTrace) free() {
	tr.read.Free()
	tr.last.Free()
	tr.next, tr.end = 0, 0
}

// note adds the name with number k and rank r, of which follow has found that it
// was not expected. If it was never read before, what was expected still is.
func (tr *nameTrace) note(k, rank uint32) {
	if rank >= uint32(len(tr.last.S)) {
		tr.last.Resize(int(rank+1) * 3 / 2)
	}
	if at := tr.last.S[rank]; at != 0 {
		tr.next = at % traceLen
	}
	tr.read.S[tr.end] = k + 1
	tr.last.S[rank] = tr.end + 1
	tr.end = (tr.end + 1) % traceLen
}

// follow turns the names of m, each 1 + its place in str, into tokens as long as
// they are the ones that are expected. It returns how many those are, and the
// lowest of their places, or low if that is lower. What is no place stays.
//
//go:noinline
func (tr *nameTrace) follow(p *pool, str []byte, m []dedup.Member, low uint32) (n int, lowest uint32) {
	if len(tr.read.S) < traceLen {
		tr.read.ResizeSparse(traceLen)
	}
	const perChunk = textChunk / poolAlign
	read := (*[traceLen]uint32)(tr.read.S)
	last, next, end := tr.last.S, tr.next, tr.end
	for n < len(m) {
		t := m[n].Name - 1
		if t >= tokInline-1 {
			n++
			continue
		}
		k := read[next%traceLen]
		chunk := p.text[(k-1)/perChunk%poolChunks].S
		o := (k - 1) % perChunk * poolAlign
		if uint64(o)+entryName+maskWords > uint64(len(chunk)) || uint64(t)+maskWords > uint64(len(str)) {
			break
		}
		e, b := (*[entryName + maskWords]byte)(chunk[o:]), (*[maskWords]byte)(str[t:])
		size := binary.LittleEndian.Uint32(e[8:])
		if size < maskWords {
			// The text and its NUL, without branches: lengths are not
			// foreseeable. In place of a word that the name does not have,
			// its first one is read, for other names may be written behind it.
			second, third := uint32(int32(7-size)>>31)&8, uint32(int32(15-size)>>31)&16
			w, mask := e[entryName:], (*[maskWords]byte)(textMask[maskWords-1-size:])
			x := (binary.LittleEndian.Uint64(b[:]) ^ binary.LittleEndian.Uint64(w)) & binary.LittleEndian.Uint64(mask[:])
			x |= (binary.LittleEndian.Uint64(b[8:]) ^ binary.LittleEndian.Uint64(w[second:])) & binary.LittleEndian.Uint64(mask[8:])
			x |= (binary.LittleEndian.Uint64(b[16:]) ^ binary.LittleEndian.Uint64(w[third:])) & binary.LittleEndian.Uint64(mask[16:])
			if x != 0 {
				break
			}
		} else if b := str[t:]; uint64(size) >= uint64(len(b)) || b[size] != 0 || string(b[:size]) != string(chunk[o+entryName:][:size]) {
			break
		}
		rank := binary.LittleEndian.Uint32(e[:])
		if rank >= uint32(len(last)) {
			break
		}
		m[n].Name = binary.LittleEndian.Uint32(e[4:])
		low = min(low, t)
		n++
		read[end%traceLen] = k
		last[rank] = end%traceLen + 1
		next, end = next+1, end+1
	}
	tr.next, tr.end = next%traceLen, end%traceLen
	return n, low
}

// maskWords is how many bytes of a name, with the NUL, are compared at once.
const maskWords = 24

// textMask has maskWords bytes of 1 bits, then as many of 0 bits.
var textMask = [2 * maskWords]byte{
	255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
	255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
}
