package encode

import (
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
	mu      sync.Mutex
	n       uint32                           // names
	end     uint32                           // place behind the last one
	entries [poolChunks]arena.Vec[poolEntry] // by number
	text    [poolChunks]arena.Vec[byte]      // by place
	full    bool
}

// poolEntry is where a name stands in pool.text, and its token.
type poolEntry struct {
	at, len uint32
	token   dedup.Name
}

// poolTable is an open-addressing table that is replaced when it grows. A slot
// is 0 or the upper half of the hash, then number + 1; it is set once.
type poolTable struct {
	slots []atomic.Uint64
}

const (
	poolChunks  = 1 << 10
	textChunk   = 1 << 20 // bytes
	entryChunk  = 1 << 16 // names
	poolMaxText = textChunk * poolChunks
	poolMax     = entryChunk * poolChunks
)

func newPool(base *dedup.Base) *pool {
	p := &pool{base: base, seed: maphash.MakeSeed()}
	p.table.Store(&poolTable{make([]atomic.Uint64, 1<<10)})
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
	for i := h & mask; ; i = (i + 1) & mask {
		s := t.slots[i].Load()
		if s == 0 {
			return 0, false
		}
		if s>>32 == h>>32 && string(p.name(uint32(s)-1)) == string(b) {
			return uint32(s) - 1, true
		}
	}
}

// name is the name of a number that number gave. It is valid until free.
func (p *pool) name(k uint32) []byte {
	e := p.entries[k/entryChunk%poolChunks].S[k%entryChunk]
	return p.text[e.at/textChunk%poolChunks].S[e.at%textChunk:][:e.len:e.len]
}

// token is the token of the name of a number.
func (p *pool) token(k uint32) dedup.Name {
	return p.entries[k/entryChunk%poolChunks].S[k%entryChunk].token
}

// add gives b a number unless another goroutine has done so.
func (p *pool) add(h uint64, b []byte) uint32 {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.table.Load()
	if k, ok := p.find(t, h, b); ok {
		return k
	}
	// A name does not go over the end of a chunk; one that is longer has a
	// chunk that is as long.
	at := uint64(p.end)
	if at%textChunk+uint64(len(b)) > textChunk {
		at = (at + textChunk - 1) / textChunk * textChunk
	}
	end := at + uint64(len(b))
	if len(b) > textChunk {
		end = (end + textChunk - 1) / textChunk * textChunk
	}
	if end > poolMaxText-textChunk || p.n == poolMax-1 {
		p.full = true
		return 0
	}
	if c := &p.text[at/textChunk]; len(c.S) == 0 {
		c.Extend(max(textChunk, len(b)))
	}
	copy(p.text[at/textChunk].S[at%textChunk:], b)
	k := p.n
	if k%entryChunk == 0 {
		p.entries[k/entryChunk].Extend(entryChunk)
	}
	tok := dedup.Name(0)
	if p.base != nil {
		tok = p.base.Token(b, dedup.TextHash(b))
	}
	if tok == 0 {
		tok = tokPool | k
	}
	p.entries[k/entryChunk].S[k%entryChunk] = poolEntry{uint32(at), uint32(len(b)), tok}
	p.n, p.end = k+1, uint32(end)
	if int(p.n) > len(t.slots)*3/4 {
		t = p.grow(t)
		p.table.Store(t)
	}
	t.set(h, k)
	return k
}

// set puts number k into the first free slot by hash h.
func (t *poolTable) set(h uint64, k uint32) {
	mask := uint64(len(t.slots) - 1)
	i := h & mask
	for t.slots[i].Load() != 0 {
		i = (i + 1) & mask
	}
	t.slots[i].Store(h&^(1<<32-1) | uint64(k+1))
}

// grow returns a larger table with the slots of t.
func (p *pool) grow(t *poolTable) *poolTable {
	bigger := &poolTable{make([]atomic.Uint64, 2*len(t.slots))}
	for i := range t.slots {
		if s := t.slots[i].Load(); s != 0 {
			k := uint32(s) - 1
			bigger.set(maphash.Bytes(p.seed, p.name(k)), k)
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
		p.entries[i].Free()
	}
}
