package names

import (
	"bytes"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/dedup"
)

// Pool numbers the names that have no offset in a merged .debug_str, and keeps a
// copy of each. In a relocatable file these are all names, and a large module looks
// them up ten million times. So a look-up takes no lock. The copies lie close
// together, so that the file's .debug_str need not stay in memory.
//
// A name that is also a string of the base gets the token of that string.
type Pool struct {
	base  *dedup.Base // nil: no base
	seed  maphash.Seed
	table atomic.Pointer[poolTable]

	// The fields below are written under mu. Each entry is written once, before a
	// table gets its number, so readers need no lock.
	mu   sync.Mutex
	n    uint32                        // how many names there are
	end  uint32                        // number that the next name gets, if it fits into the chunk
	text [poolChunks]arena.Vec[uint64] // chunks of textChunk words, which have the entries
	full bool                          // see Overflow
	// block has the table and the text that expect has prepared for.
	block arena.Block
}

// An entry is a word and then the name. The word has the token in its lower half, and
// in its upper half the rank: how many names came before. At least one zero byte ends
// the name, and zeros fill the last word. An entry lies inside one chunk. The number of a
// name is the index of its entry in all chunks, in words. entryName is the index of the name in
// an entry.
const entryName = 1

// poolTable is an open-addressing table. A larger one replaces it when it is full. A
// slot is 0, or has the upper half of the hash, which gives the slot's index, and
// then number + 1. It is set once.
type poolTable struct {
	slots []atomic.Uint64 // of the heap, or of Pool.block
}

const (
	poolChunks   = 1 << 10
	textChunk    = 1 << 17                // words of a chunk: 1 MiB
	poolMaxWords = textChunk * poolChunks // 1 GiB
)

// NewPool makes a pool over base, which may be nil. Its memory has the limit l.
func NewPool(base *dedup.Base, l *arena.Limit) *Pool {
	p := &Pool{base: base, seed: maphash.MakeSeed()}
	arena.Bind(l, p)
	p.table.Store(&poolTable{make([]atomic.Uint64, 1<<13)})
	return p
}

// number returns the number of the name b, and adds b if it is new. It keeps no reference to b. If the
// pool is full, it returns 0, the number of the first name (see Overflow).
func (p *Pool) number(b []byte) uint32 {
	h := maphash.Bytes(p.seed, b)
	if k, ok := p.find(p.table.Load(), h, b); ok {
		return k
	}
	return p.add(h, b)
}

// Batch is the memory of Table.Tokens.
type Batch struct {
	hashes  []uint64
	slots   []uint64
	touched byte // a sink: it keeps the compiler from dropping reads
}

// numbers sets to[i] to the number of names[i]. It reads the slots of all names before it compares
// the first one, so that their cache misses overlap.
func (p *Pool) numbers(names [][]byte, to []uint32, x *Batch) {
	x.hashes, x.slots = slices.Grow(x.hashes[:0], len(names)), slices.Grow(x.slots[:0], len(names))
	t := p.table.Load()
	mask := uint64(len(t.slots) - 1)
	for _, b := range names {
		x.hashes = append(x.hashes, maphash.Bytes(p.seed, b))
	}
	for _, h := range x.hashes {
		x.slots = append(x.slots, t.slots[h>>32&mask].Load())
	}
	for _, s := range x.slots {
		if s != 0 {
			x.touched += p.bytes(uint32(s) - 1)[0]
		}
	}
	for i, b := range names {
		k, ok := p.find(p.table.Load(), x.hashes[i], b)
		if !ok {
			k = p.add(x.hashes[i], b)
		}
		to[i] = k
	}
}

// find returns the number of the name b, whose hash is h, if t has it.
func (p *Pool) find(t *poolTable, h uint64, b []byte) (uint32, bool) {
	mask := uint64(len(t.slots) - 1)
	for i := h >> 32 & mask; ; i = (i + 1) & mask {
		s := t.slots[i].Load()
		if s == 0 {
			return 0, false
		}
		if s>>32 == h>>32 && startsWith(p.bytes(uint32(s)-1), b) {
			return uint32(s) - 1, true
		}
	}
}

// startsWith reports whether str begins with name and a NUL.
func startsWith(str, name []byte) bool {
	return len(str) > len(name) && str[len(name)] == 0 && string(str[:len(name)]) == string(name)
}

// has reports whether there may be a name of number k.
func (p *Pool) has(k uint32) bool { return k/textChunk < poolChunks && len(p.text[k/textChunk].S) > 0 }

// entry returns the words from the entry of number k to the end of its chunk.
func (p *Pool) entry(k uint32) []uint64 { return p.text[k/textChunk%poolChunks].S[k%textChunk:] }

// bytes returns the bytes from the name of number k to the end of its chunk.
func (p *Pool) bytes(k uint32) []byte { return arena.Bytes(p.entry(k)[entryName:]) }

// name returns the name of number k, which the pool must have. It is valid until Free.
func (p *Pool) name(k uint32) []byte {
	b := p.bytes(k)
	n := bytes.IndexByte(b, 0)
	return b[:n:n]
}

// token returns the token of name k.
func (p *Pool) token(k uint32) dedup.Name { return uint32(p.entry(k)[0]) }

// rank returns how many names came before name k.
func (p *Pool) rank(k uint32) uint32 { return uint32(p.entry(k)[0] >> 32) }

// add gives b a number unless another goroutine has done so.
func (p *Pool) add(h uint64, b []byte) uint32 {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.table.Load()
	if k, ok := p.find(t, h, b); ok {
		return k
	}
	// An entry does not cross the end of a chunk. A longer entry gets a chunk of
	// its own size.
	at, size := uint64(p.end), entryName+(uint64(len(b))+8)/8
	if at%textChunk+size > textChunk {
		at = (at + textChunk - 1) / textChunk * textChunk
	}
	end := at + size
	if size > textChunk {
		end = (end + textChunk - 1) / textChunk * textChunk
	}
	if end > poolMaxWords-textChunk {
		p.full = true
		return 0
	}
	c := &p.text[at/textChunk]
	if len(c.S) == 0 {
		if need := max(textChunk, int(size)); 8*need <= p.block.Room() {
			c.S = arena.Carve[uint64](&p.block, need)
		} else {
			c.Extend(need)
		}
	}
	k := uint32(at)
	tok := dedup.Name(0)
	if p.base != nil {
		tok = p.base.Token(b, dedup.TextHash(b))
	}
	if tok == 0 {
		tok = tokPool | k
	}
	e := c.S[at%textChunk:][:size]
	clear(e)
	e[0] = uint64(p.n)<<32 | uint64(tok)
	copy(arena.Bytes(e[entryName:]), b)
	p.n, p.end = p.n+1, uint32(end)
	if int(p.n) > len(t.slots)*3/4 {
		bigger := &poolTable{make([]atomic.Uint64, 2*len(t.slots))}
		bigger.take(t)
		t = bigger
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

// take enters the names of old into t, which is empty and larger.
func (t *poolTable) take(old *poolTable) {
	for i := range old.slots {
		if s := old.slots[i].Load(); s != 0 {
			t.set(s)
		}
	}
}

// maxExpected is the most names for which expect makes room in the table; it reserves text for up to
// twice as many. expectedText is how many bytes of text it reserves for each: a kernel's names take
// 32, but many fewer names may come than expected.
const maxExpected, expectedText = 1 << 18, 14

// expect makes room for about n names, if the table has less, so that it need not grow.
func (p *Pool) expect(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.table.Load()
	slots := len(t.slots)
	for slots*3/4 < min(n, maxExpected) {
		slots *= 2
	}
	if slots > len(t.slots) {
		const chunk = 8 * textChunk
		text := (min(n, 2*maxExpected)*expectedText + chunk/2) / chunk * chunk
		p.block.Populate(8*slots+text, p.text[0].Limit())
		bigger := &poolTable{arena.Carve[atomic.Uint64](&p.block, slots)}
		bigger.take(t)
		p.table.Store(bigger)
	}
}

// inline returns the token of a short name whose inline token is t. If the base has the name, that is the
// token of its string there, and else t.
func (p *Pool) inline(t dedup.Name) dedup.Name {
	if p.base == nil || t == 0 {
		return t
	}
	if c := p.base.Short(t &^ tokInline); c != 0 {
		return c
	}
	return t
}

// Overflow reports whether a name found no place.
func (p *Pool) Overflow() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.full
}

// Len returns how many names the pool has. Call it only while no reader adds names.
func (p *Pool) Len() int { return int(p.n) }

// Free gives the memory back. The pool must not be used any more.
func (p *Pool) Free() {
	p.table.Store(nil) // which may be in the block
	p.block.Free()
	for i := range p.text {
		p.text[i].Free()
	}
}
