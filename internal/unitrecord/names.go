package unitrecord

import (
	"encoding/binary"
	"slices"
	"sync/atomic"

	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/names"
)

// Names. A unit numbers its names as they come, from 1 on. Where a name is used for
// the first time its code is 1. What these names are stands in colDict, as runs of those
// that are in the dictionary and of those that are not. A run begins with twice their
// number, one more if they are not: their texts are in colText, each behind its length.
// Else the step follows from the last name of the run before to the first of this one.
// The dictionary has names in the order in which kernels use them, so that most of
// them follow each other.
//
//	0          no name
//	1          the next name that was not used before
//	2 … 7f     number of the name + 2
//	80 … fe    upper half of its number + 80, the lower one follows
//	ff         the number follows

const (
	nameFresh = 1
	nameNear  = 2
	nameHigh  = 0x80
	nameFar   = 0xff
)

// namer numbers the names of a unit that is written.
type namer struct {
	text *names.Table
	nameTable

	run    int   // new names of the run in work
	inDict bool  // they are in the dictionary
	step   int64 // to the first one of them
	last   int   // place of the last one in the dictionary
}

// hash is the hash of a name.
func (n *namer) hash(t dedup.Name) uint64 {
	if t == 0 {
		return 0
	}
	x := n.at(t)
	if x.hash == 0 {
		x.hash = textHash(n.text.Text(t))
	}
	return x.hash
}

// Names turns names of the dictionary into tokens of one table; its readers share it.
type Names struct {
	table *names.Table
	known []atomic.Uint32 // by place in the dictionary
	dull  []atomic.Uint64 // by slot: keys of runs of inline functions that are known to mean nothing
}

// NewNames is for a table whose pool is in use.
func NewNames(t *names.Table) *Names {
	return &Names{table: t, known: make([]atomic.Uint32, dictionaryLen()), dull: make([]atomic.Uint64, dullSlots)}
}

// token is the token of a name of the dictionary.
func (n *Names) token(i int) dedup.Name {
	t := n.known[i].Load()
	if t == 0 {
		t = n.table.Token([]byte(dictionaryName(i)))
		n.known[i].Store(t)
	}
	return n.table.Canonical(t)
}

// dullSlots is how many runs Names.dull remembers, at most: a power of two.
const dullSlots = 1 << 14

// isDull says whether the functions of a run are known to mean nothing.
func (n *Names) isDull(key uint64) bool { return n.dull[key%dullSlots].Load() == key }

// Forget forgets what the symbol table of a file has told.
func (n *Names) Forget() {
	for i := range n.dull {
		n.dull[i].Store(0)
	}
}

// nameReader gives the names of a unit that is read.
type nameReader struct {
	names *Names
	known []freshName // by number
	next  int         // number of the next fresh name
	text  []byte
	bad   bool
	batch batch
}

// batch is names that are asked for together.
type batch struct {
	numbers []int
	texts   [][]byte
	tokens  []dedup.Name
	names.Batch
}

// freshName is where a name is used for the first time. What it is is found when it is
// asked for: most are in chunks that nobody reads. The upper half is the place in the
// dictionary, or -1 - offset of the length in colText, the lower one the token, 0 if nobody
// has asked for it.
type freshName uint64

func freshAt(at int) freshName        { return freshName(uint32(at)) << 32 }
func (f freshName) at() int32         { return int32(f >> 32) }
func (f freshName) token() dedup.Name { return dedup.Name(f) }

// found is f with its token.
func (f freshName) found(t dedup.Name) freshName { return f>>32<<32 | freshName(t) }

// read finds all names of a unit, which are n. It reports whether they are right.
func (r *nameReader) read(names *Names, n int, dict, text *column) bool {
	if cap(r.known) < n {
		r.known = make([]freshName, n+n/2)
	}
	r.names, r.known, r.next, r.text, r.bad = names, r.known[:n], 0, text.b, false
	left, last := r.known, -1
	for len(left) > 0 {
		v := dict.uint()
		run := v >> 1
		if run == 0 || run > uint64(len(left)) {
			return false
		}
		to := left[:run]
		left = left[run:]
		if v&1 != 0 {
			readTexts(to, text)
			continue
		}
		first := int64(last+1) + dict.step()
		if first < 0 || first > int64(len(names.known)) || run > uint64(int64(len(names.known))-first) {
			return false
		}
		last = int(first) + len(to) - 1
		fill(to, int(first))
	}
	return !dict.bad && !text.bad
}

// fill says that names are in the dictionary from place at on. A unit has thousands, so four
// are written in a turn.
func fill(to []freshName, at int) {
	const one = freshName(1) << 32
	f := freshAt(at)
	for ; len(to) >= 4; to, f = to[4:], f+4*one {
		to[0], to[1], to[2], to[3] = f, f+one, f+2*one, f+3*one
	}
	for i := range to {
		to[i] = f
		f += one
	}
}

// readTexts finds names that are not in the dictionary.
func readTexts(to []freshName, text *column) {
	for i := range to {
		to[i] = freshAt(-1 - text.p)
		size := text.uint()
		if size == 0 || size > uint64(text.left()) {
			text.bad = true
			return
		}
		text.p += int(size)
	}
}

// name reads a name.
func (r *nameReader) name(c *column) dedup.Name {
	b := c.byte()
	if b == 0 {
		return 0
	}
	return r.token(r.number(b, c))
}

// fresh is the next name that was not used before.
func (r *nameReader) fresh() dedup.Name {
	r.next++
	return r.token(r.next - 1)
}

// number is the number of a name whose code, not 0, was read.
func (r *nameReader) number(b byte, c *column) int {
	switch {
	case b == nameFresh:
		r.next++
		return r.next - 1
	case b < nameHigh:
		return int(b) - nameNear
	case b < nameFar:
		return int(b-nameHigh)<<8 | int(c.byte())
	}
	return int(min(c.uint(), 1<<40))
}

// fresh is how many of the next n names of a column were not used before.
func fresh(c column, n int) int {
	var r nameReader
	for range n {
		if b := c.byte(); b != 0 {
			r.number(b, &c)
		}
	}
	return r.next
}

// token is the token of the name of number k.
func (r *nameReader) token(k int) dedup.Name {
	if uint(k) >= uint(len(r.known)) {
		r.bad = true
		return 0
	}
	if t := r.known[k].token(); t != 0 {
		return t
	}
	return r.ask(k)
}

// ask is the token of the name of number k, which exists.
func (r *nameReader) ask(k int) dedup.Name {
	f := &r.known[k]
	t := dedup.Name(0)
	if at := f.at(); at >= 0 {
		t = r.names.token(int(at))
	} else {
		t = r.names.table.Token(r.textAt(at))
	}
	*f = f.found(t)
	return t
}

// textAt is the text of a freshName.at that is not in the dictionary.
func (r *nameReader) textAt(at int32) []byte {
	rest := r.text[-1-at:]
	if size := int(rest[0]); size < 0x80 {
		return rest[1:][:size]
	}
	size, n := binary.Uvarint(rest)
	return rest[n:][:size]
}

// want says that the names of n numbers from one on will be asked for.
func (r *nameReader) want(from, n int) {
	if n > len(r.known)-from {
		return // this will be noticed
	}
	x := &r.batch
	for k, f := range r.known[from:][:n] {
		if f.at() < 0 && f.token() == 0 {
			x.numbers, x.texts = append(x.numbers, from+k), append(x.texts, r.textAt(f.at()))
		}
	}
}

// askAll finds the tokens of the names that are wanted.
func (r *nameReader) askAll() {
	x := &r.batch
	x.tokens = slices.Grow(x.tokens[:0], len(x.texts))[:len(x.texts)]
	r.names.table.Tokens(x.texts, x.tokens, &x.Batch)
	for i, k := range x.numbers {
		r.known[k] = r.known[k].found(x.tokens[i])
	}
	x.numbers, x.texts = x.numbers[:0], x.texts[:0]
}

// done says whether all names were used, and all were right.
func (r *nameReader) done() bool { return !r.bad && r.next == len(r.known) }
