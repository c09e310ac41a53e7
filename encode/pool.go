package encode

import (
	"encoding/binary"
	"hash/maphash"
	"sync"
	"sync/atomic"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/dedup"
)

// pool numbers the names that have no offset in a merged .debug_str and keeps
// a copy of each. Of a relocatable file, that is every name, asked for ten
// million times in a large module: looking up takes no lock, and the copies lie
// close together, so that the file's .debug_str need not stay in memory.
//
// Over a base, a name that is a string of the base has the token of that.
type pool struct {
	base  *dedup.Base // nil: no base
	seed  maphash.Seed
	table atomic.Pointer[poolTable]

	// What follows is written under mu, each place once and before its number
	// gets into a table; so it is read without.
	mu   sync.Mutex
	n    uint32                      // names
	end  uint32                      // place behind the last one
	text [poolChunks]arena.Vec[byte] // by place: entries
	full bool
}

// An entry begins at a multiple of poolAlign, and its number is its place divided
// by that. It is three words, then the name and zeros up to a multiple of 8 bytes,
// one at least; all of it is in one chunk.
//
//	0  rank: how many names came before
//	4  token
//	8  length of the name in bytes
const (
	entryName = 12
	poolAlign = 4
)

// poolTable is an open-addressing table that is replaced when it grows. A slot
// is 0 or the upper half of the hash, which says where the slot is, then number
// + 1; it is set once.
type poolTable struct {
	slots []atomic.Uint64
}

const (
	poolChunks  = 1 << 10
	textChunk   = 1 << 20 // bytes
	poolMaxText = textChunk * poolChunks
)

func newPool(base *dedup.Base) *pool {
	p := &pool{base: base, seed: maphash.MakeSeed()}
	p.table.Store(&poolTable{make([]atomic.Uint64, 1<<13)})
	return p
}

// number returns the number of the name b. It keeps no reference to b. When
// 1 GiB of text is used up, that of the first name comes back (see overflow).
func (p *pool) number(b []byte) uint32 {
	h := maphash.Bytes(p.seed, b)
	if k, ok := p.find(p.table.Load(), h, b); ok {
		return k
	}
	return p.add(h, b)
}

func (p *pool) find(t *poolTable, h uint64, b []byte) (uint32, bool) {
	mask := uint64(len(t.slots) - 1)
	for i := h >> 32 & mask; ; i = (i + 1) & mask {
		s := t.slots[i].Load()
		if s == 0 {
			return 0, false
		}
		if s>>32 == h>>32 && string(p.name(uint32(s)-1)) == string(b) {
			return uint32(s) - 1, true
		}
	}
}

// entry is the bytes from the entry of a number on.
func (p *pool) entry(k uint32) []byte {
	const n = textChunk / poolAlign
	return p.text[k/n%poolChunks].S[k%n*poolAlign:]
}

// has says whether there may be a name of number k.
func (p *pool) has(k uint32) bool {
	const n = textChunk / poolAlign
	return k/n < poolChunks && len(p.text[k/n].S) > 0
}

// name is the name of a number that number gave. It is valid until free.
func (p *pool) name(k uint32) []byte {
	e := p.entry(k)
	n := binary.LittleEndian.Uint32(e[8:])
	return e[entryName : entryName+n : entryName+n]
}

// token is the token of the name of a number.
func (p *pool) token(k uint32) dedup.Name { return binary.LittleEndian.Uint32(p.entry(k)[4:]) }

// rank is how many names came before that of a number.
func (p *pool) rank(k uint32) uint32 { return binary.LittleEndian.Uint32(p.entry(k)) }

// add gives b a number unless another goroutine has done so.
func (p *pool) add(h uint64, b []byte) uint32 {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.table.Load()
	if k, ok := p.find(t, h, b); ok {
		return k
	}
	// An entry does not go over the end of a chunk; one that is longer has a
	// chunk that is as long.
	at, size := uint64(p.end), entryName+(uint64(len(b))+8)/8*8
	if at%textChunk+size > textChunk {
		at = (at + textChunk - 1) / textChunk * textChunk
	}
	end := at + size
	if size > textChunk {
		end = (end + textChunk - 1) / textChunk * textChunk
	}
	if end > poolMaxText-textChunk {
		p.full = true
		return 0
	}
	c := &p.text[at/textChunk]
	if len(c.S) == 0 {
		c.Extend(max(textChunk, int(size)))
	}
	k := uint32(at / poolAlign)
	tok := dedup.Name(0)
	if p.base != nil {
		tok = p.base.Token(b, dedup.TextHash(b))
	}
	if tok == 0 {
		tok = tokPool | k
	}
	e := c.S[at%textChunk:]
	binary.LittleEndian.PutUint32(e, p.n)
	binary.LittleEndian.PutUint32(e[4:], tok)
	binary.LittleEndian.PutUint32(e[8:], uint32(len(b)))
	copy(e[entryName:], b)
	clear(e[entryName+len(b) : size])
	p.n, p.end = p.n+1, uint32(end)
	if int(p.n) > len(t.slots)*3/4 {
		t = t.grow()
		p.table.Store(t)
	}
	t.set(h&^(1<<32-1) | uint64(k+1))
	return k
}

// set puts the contents of a slot into the first free one that it may be in.
func (t *poolTable) set(s uint64) {
	mask := uint64(len(t.slots) - 1)
	i := s >> 32 & mask
	for t.slots[i].Load() != 0 {
		i = (i + 1) & mask
	}
	t.slots[i].Store(s)
}

// grow returns a larger table with the slots of t.
func (t *poolTable) grow() *poolTable {
	bigger := &poolTable{make([]atomic.Uint64, 2*len(t.slots))}
	for i := range t.slots {
		if s := t.slots[i].Load(); s != 0 {
			bigger.set(s)
		}
	}
	return bigger
}

// overflow reports whether a name found no place.
func (p *pool) overflow() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.full
}

func (p *pool) free() {
	for i := range p.text {
		p.text[i].Free()
	}
}
