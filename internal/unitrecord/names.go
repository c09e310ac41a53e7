package unitrecord

import (
	"encoding/binary"
	"slices"
	"sync/atomic"

	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/names"
)

// Names. A unit numbers its names from 1 on, in the order of their first use. At its first
// use the code of a name is 1, and the name is new. colDict has the new names, as runs of
// names that the dictionary has and of names that it lacks.
//
// A run begins with a number: twice the length of the run, plus 1 if the dictionary lacks
// its names. The texts of these are in colText, each after its length. In a run of the
// dictionary's names, a step follows: from the last such name before the run to its first
// one. The other names of the run follow that one in the dictionary, whose order is the
// order in which kernels use names.
//
// The codes of a name:
//
//	0          no name
//	1          the next new name
//	2 … 7f     number of the name + 2
//	80 … fe    upper half of its number + 80, the lower one follows
//	ff         the number follows

const (
	nameFresh = 1
	nameNear  = 2
	nameHigh  = 0x80
	nameFar   = 0xff
)

// namer numbers the names of the unit that is being written.
type namer struct {
	text *names.Table
	nameTable

	run    int   // length of the open run of new names
	inDict bool  // the dictionary has its names
	step   int64 // to the first of them
	last   int   // place of the last of them in the dictionary
}

// hash returns the textHash of a name.
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

// Names turns names of the dictionary into tokens of one table. All Readers of that table
// share it.
type Names struct {
	table *names.Table
	known []atomic.Uint32 // by place in the dictionary
	dull  []atomic.Uint64 // by slot: keys of runs of inline functions that have no symbols
}

// NewNames makes the Names of a table, whose pool must be in use.
func NewNames(t *names.Table) *Names {
	return &Names{table: t, known: make([]atomic.Uint32, dictionaryLen()), dull: make([]atomic.Uint64, dullSlots)}
}

// token returns the token of name i of the dictionary.
func (n *Names) token(i int) dedup.Name {
	t := n.known[i].Load()
	if t == 0 {
		t = n.table.Token([]byte(dictionaryName(i)))
		n.known[i].Store(t)
	}
	return n.table.Canonical(t)
}

// dullSlots is how many runs Names.dull remembers at most, a power of two.
const dullSlots = 1 << 14

// isDull reports whether it is known that no function of the run has a symbol.
func (n *Names) isDull(key uint64) bool { return n.dull[key%dullSlots].Load() == key }

// Forget drops the facts that the symbol table of a file has shown.
func (n *Names) Forget() {
	for i := range n.dull {
		n.dull[i].Store(0)
	}
}

// nameReader returns the names of the unit that is being read.
type nameReader struct {
	names *Names
	known []freshName // by number
	next  int         // number of the next new name
	text  []byte
	bad   bool
	batch batch
}

// batch collects names, to ask the table for all of them at once.
type batch struct {
	numbers []int
	texts   [][]byte
	tokens  []dedup.Name
	names.Batch
}

// freshName is a new name. Its token is found on request, because most names are in chunks
// that nobody reads. The upper half is the place in the dictionary, or -1 minus the offset
// of the length in colText. The lower half is the token, 0 before it is needed.
type freshName uint64

func freshAt(at int) freshName        { return freshName(uint32(at)) << 32 }
func (f freshName) at() int32         { return int32(f >> 32) }
func (f freshName) token() dedup.Name { return dedup.Name(f) }

// found returns f with its token.
func (f freshName) found(t dedup.Name) freshName { return f>>32<<32 | freshName(t) }

// read finds the n names of a unit. It reports whether they are valid.
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

// fill gives names their places in the dictionary, from at on. A unit has thousands, so
// the loop writes four at once.
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

// readTexts finds names that the dictionary lacks.
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

func (r *nameReader) name(c *column) dedup.Name {
	b := c.byte()
	if b == 0 {
		return 0
	}
	return r.token(r.number(b, c))
}

// fresh returns the next new name.
func (r *nameReader) fresh() dedup.Name {
	r.next++
	return r.token(r.next - 1)
}

// number returns the number of a name. b is the first byte of its code, which is not 0.
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

// fresh returns how many of the next n names of a column are new.
func fresh(c column, n int) int {
	var r nameReader
	for range n {
		if b := c.byte(); b != 0 {
			r.number(b, &c)
		}
	}
	return r.next
}

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

// ask finds the token of name k, which exists.
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

// textAt returns the text of a name that the dictionary lacks. at is from freshName.at.
func (r *nameReader) textAt(at int32) []byte {
	rest := r.text[-1-at:]
	if size := int(rest[0]); size < 0x80 {
		return rest[1:][:size]
	}
	size, n := binary.Uvarint(rest)
	return rest[n:][:size]
}

// want adds n names, from number from on, to those that askAll looks up.
func (r *nameReader) want(from, n int) {
	if n > len(r.known)-from {
		return // readers notice this
	}
	x := &r.batch
	for k, f := range r.known[from:][:n] {
		if f.at() < 0 && f.token() == 0 {
			x.numbers, x.texts = append(x.numbers, from+k), append(x.texts, r.textAt(f.at()))
		}
	}
}

// askAll finds the tokens of the wanted names.
func (r *nameReader) askAll() {
	x := &r.batch
	x.tokens = slices.Grow(x.tokens[:0], len(x.texts))[:len(x.texts)]
	r.names.table.Tokens(x.texts, x.tokens, &x.Batch)
	for i, k := range x.numbers {
		r.known[k] = r.known[k].found(x.tokens[i])
	}
	x.numbers, x.texts = x.numbers[:0], x.texts[:0]
}

// done reports whether all names were used, and all were valid.
func (r *nameReader) done() bool { return !r.bad && r.next == len(r.known) }
