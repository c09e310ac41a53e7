// Package names gives names tokens of 32 bits (Table). A Text reads the names of one input's
// .debug_str, and a Pool keeps the names that have no place in a .debug_str.
package names

import (
	"bytes"
	"sync"
	"sync/atomic"

	"github.com/btflite/btflite/dedup"
)

// Table gives each name a token.
//
// Dedup compares names ten million times for a kernel and reads few of them,
// so a name is a 32-bit token:
//
//	0                       no name
//	1 … 0x7fffffff          1 + offset in .debug_str (a linked file's, without a base)
//	n                       string at offset n of the base, if there is one
//	0x80000000 | b0 b1 b2   another name of at most three bytes that is inline
//	0xa0000000 + n          string at offset n of the output, from dedup: a function's name
//	0xc0000000 | n          number n of the pool: any other name
//
// Linkers merge .debug_str, so mostly each name has one offset there. But a name
// may have two offsets, or be both inline and in .debug_str. The committer finds
// this out when it interns the second token. It adds an alias, and the unit is
// read again; from then on readers replace the token. All workers share a Table.
//
// With several input files, the offsets of each file follow the offsets of the
// file before it.
//
// Use, SetPrefix and Text.Place must be called while nobody else uses the Table. The other methods may
// be called from several goroutines at once.
type Table struct {
	strs []strSection
	end  uint32 // the offsets of all files so far are below it
	pool *Pool

	look     atomic.Bool // readers must call Text.Settle for each name
	hasAlias atomic.Bool // alias is not empty, or there is a prefix; then look is set
	filter   [aliasFilter / 64]atomic.Uint64
	mu       sync.RWMutex
	prefix   []byte            // set before units are read
	cut      dedup.Name        // token of prefix
	alias    map[uint32]uint32 // by token: the token to use in its place
}

// Use gives the table its pool, before any name is known.
func (n *Table) Use(p *Pool) { n.pool = p }

// Overflow reports whether a name found no place in the pool, which holds 1 GiB. Then tokens are
// wrong, and the run must end.
func (n *Table) Overflow() bool { return n.pool.Overflow() }

// FreePool frees the pool. Its names cannot be read any more.
func (n *Table) FreePool() { n.pool.Free() }

// Expect makes room for about count names that are in no .debug_str.
func (n *Table) Expect(count int) { n.pool.expect(count) }

// Look reports whether a token that was computed from an offset, or by Inline, needs Text.Settle.
func (n *Table) Look() bool { return n.look.Load() }

// aliasFilter is the number of bits of a filter over the aliases: aliases are
// few, and every name of a unit asks for them once there is one.
const aliasFilter = 1 << 14

// SetPrefix makes every name that begins with prefix stand for the prefix
// alone. Every token is then looked up as if it were an alias. It must be called
// before any other name is known.
func (n *Table) SetPrefix(prefix string) {
	if prefix == "" {
		return
	}
	n.cut = n.Token([]byte(prefix))
	n.prefix = []byte(prefix)
	for i := range n.filter {
		n.filter[i].Store(1<<64 - 1)
	}
	n.hasAlias.Store(true)
	n.look.Store(true)
}

// Cuts reports whether SetPrefix has set a prefix. Then the text of a name does not tell its token.
func (n *Table) Cuts() bool { return n.prefix != nil }

// MayBeAlias reports true for each alias, and for very few other tokens. With a prefix, it reports
// true for all.
func (n *Table) MayBeAlias(t dedup.Name) bool {
	h := t * 0x9e3779b1 >> 18
	return n.filter[h/64].Load()>>(h%64)&1 != 0
}

// strSection is the .debug_str of one input file.
type strSection struct {
	base uint32 // token of offset 0 is base + 1
	data []byte
}

// Ranges of tokens: see Table.
const (
	tokInline = 0x80000000 // first inline token
	tokPool   = 0xc0000000 // first token of the pool
	tokLimit  = 1 << 31    // tokens of offsets are below it
)

// Token turns the content of a name that is not in .debug_str into a token.
// It keeps no reference to b.
func (n *Table) Token(b []byte) dedup.Name {
	if n.prefix != nil && bytes.HasPrefix(b, n.prefix) {
		return n.cut
	}
	return n.Literal(b)
}

// Literal is Token for a name that is not from the DWARF: the prefix of
// SetPrefix does not apply.
func (n *Table) Literal(b []byte) dedup.Name {
	if t, ok := inlineToken(b); ok {
		return n.Unalias(n.pool.inline(t))
	}
	return n.Unalias(n.pool.token(n.pool.number(b)))
}

// Tokens sets to[i] to the Token of names[i]. No name may be empty. It is faster than single calls, and
// keeps no reference to names. x is memory that calls share.
func (n *Table) Tokens(names [][]byte, to []dedup.Name, x *Batch) {
	n.pool.numbers(names, to, x)
	for i, b := range names {
		if t, ok := inlineToken(b); ok {
			to[i] = n.pool.inline(t)
		} else {
			to[i] = n.pool.token(to[i])
		}
		to[i] = n.Canonical(to[i])
	}
}

// inlineToken returns the inline token of a name of at most three bytes, and false for a longer one.
// The base may have another token for it: see Pool.inline.
func inlineToken(b []byte) (dedup.Name, bool) {
	if len(b) > 3 {
		return 0, false
	}
	if len(b) == 0 {
		return 0, true
	}
	t := dedup.Name(tokInline)
	for i, c := range b {
		t |= uint32(c) << (8 * i)
	}
	return t, true
}

// Inline returns the token of a name of one to three bytes, which are in w from the lowest byte on.
// The other bytes of w must be 0. Call Text.Settle for the result if Look reports true, because the
// base may have another token.
func Inline(w uint32) dedup.Name { return tokInline | w }

// At returns the token of the name that b begins with, and that a NUL ends. Without a NUL it returns
// the token of the empty name.
func (n *Table) At(b []byte) dedup.Name {
	if len(b) > 3 {
		switch {
		case b[0] == 0:
			return 0
		case b[1] == 0:
			return n.Canonical(n.pool.inline(tokInline | uint32(b[0])))
		case b[2] == 0:
			return n.Canonical(n.pool.inline(tokInline | uint32(b[0]) | uint32(b[1])<<8))
		case b[3] == 0:
			return n.Canonical(n.pool.inline(tokInline | uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16))
		}
	}
	return n.Token(b[:max(bytes.IndexByte(b, 0), 0)])
}

// Canonical replaces a token that is known to repeat another one, and one that
// begins with the prefix of SetPrefix.
func (n *Table) Canonical(t dedup.Name) dedup.Name {
	if !n.hasAlias.Load() || !n.MayBeAlias(t) {
		return t
	}
	if n.prefix != nil {
		if b, _ := n.Bytes(t); bytes.HasPrefix(b, n.prefix) {
			return n.cut
		}
	}
	return n.Unalias(t)
}

// Unalias is Canonical for a name that is not from the DWARF: the prefix does not apply.
func (n *Table) Unalias(t dedup.Name) dedup.Name {
	if !n.hasAlias.Load() || !n.MayBeAlias(t) {
		return t
	}
	n.mu.RLock()
	defer n.mu.RUnlock()
	if c, ok := n.alias[t]; ok {
		return c
	}
	return t
}

// Alias makes readers use token c in place of t from now on. It is part of dedup.Names.
func (n *Table) Alias(t, c dedup.Name) {
	n.mu.Lock()
	defer n.mu.Unlock()
	h := t * 0x9e3779b1 >> 18
	n.filter[h/64].Or(1 << (h % 64))
	n.hasAlias.Store(true)
	n.look.Store(true)
	if n.alias == nil {
		n.alias = make(map[uint32]uint32)
	}
	n.alias[t] = c
}

// Bytes returns the text of a token. The slice is part of the mapped file or of
// the pool and must not be changed. It reports false for an offset beyond .debug_str and for a
// number that the pool does not have. It is part of dedup.Names.
func (n *Table) Bytes(t dedup.Name) ([]byte, bool) {
	switch {
	case t == 0:
		return nil, true
	case t < tokInline:
		if n.pool.base != nil {
			return n.pool.base.Bytes(t), true // no file has other such tokens
		}
		b := n.inStr(t)
		k := bytes.IndexByte(b, 0)
		return b[:max(k, 0)], k >= 0
	case t < tokPool:
		b := []byte{byte(t), byte(t >> 8), byte(t >> 16)}
		if b[1] == 0 {
			return b[:1], true
		}
		if b[2] == 0 {
			return b[:2], true
		}
		return b, true
	}
	if t &^= tokPool; !n.pool.has(t) {
		return nil, false
	}
	return n.pool.name(t), true
}

// Touch reads the first byte of each text in .debug_str, so that the texts are in the cache. Over a
// base it does nothing, because no token is such an offset. It is part of dedup.Names.
func (n *Table) Touch(toks []dedup.Name) (sum byte) {
	if n.pool.base != nil {
		return 0
	}
	for _, t := range toks {
		if t == 0 || t >= tokInline {
			continue
		}
		if b := n.inStr(t); len(b) > 0 {
			sum += b[0]
		}
	}
	return sum
}

// inStr returns the .debug_str of the token's file from the token's offset on; empty if
// there is no such offset. The token must be an offset.
func (n *Table) inStr(t dedup.Name) []byte {
	k := len(n.strs) - 1
	for k > 0 && t <= n.strs[k].base {
		k--
	}
	if k < 0 || int(t-1-n.strs[k].base) >= len(n.strs[k].data) {
		return nil
	}
	return n.strs[k].data[t-1-n.strs[k].base:]
}
