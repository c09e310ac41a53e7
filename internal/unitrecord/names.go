package unitrecord

import (
	"bytes"
	"sync/atomic"

	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/names"
)

// Names. A unit numbers its names as they come, from 1 on. Where a name is used for
// the first time its code is 1; what it is stands in colDict: 0 for one that is not in
// the dictionary, which follows in colText, else 1 + zigzag of the step from the
// last one in the dictionary. The dictionary has names in the order in which kernels
// use them, so that the step is mostly 1.
//
//	0          no name
//	1          the next name that was not used before
//	2 … 7f     number of the name + 2
//	80 … fe    upper half of its number - 80, the lower one is in colNameLow
//	ff         the number is in colNameFar

const (
	nameFresh = 1
	nameNear  = 2
)

// namer numbers the names of a unit that is written.
type namer struct {
	text   *names.Table
	dict   *dictionary
	number map[dedup.Name]int
	last   int // in the dictionary
}

// name writes a name.
func (w *Writer) name(t dedup.Name) {
	n := &w.names
	if t == 0 {
		w.cols.byte(colName, 0)
		return
	}
	k, known := n.number[t]
	switch {
	case !known:
		n.number[t] = len(n.number)
		w.cols.byte(colName, nameFresh)
		w.fresh(n.text.Text(t))
	case k < refHigh-nameNear:
		w.cols.byte(colName, byte(nameNear+k))
	case k>>8 < refFar-refHigh:
		w.cols.byte(colName, byte(refHigh+k>>8))
		w.cols.byte(colNameLow, byte(k))
	default:
		w.cols.byte(colName, refFar)
		w.cols.uint(colNameFar, uint64(k))
	}
}

// fresh writes what a name is.
func (w *Writer) fresh(text []byte) {
	if i, ok := w.names.dict.find(text); ok {
		w.cols.uint(colDict, 1+zigzag(int64(i-w.names.last)))
		w.names.last = i
		return
	}
	w.cols.uint(colDict, 0)
	w.cols.bytes(colText, text)
	w.cols.byte(colText, 0)
}

// Names turns names of the dictionary into tokens of one table; its readers share it.
type Names struct {
	table *names.Table
	dict  *dictionary
	known []atomic.Uint32 // by place in the dictionary
}

// NewNames is for a table whose pool is in use.
func NewNames(t *names.Table) *Names {
	d := loadDictionary()
	return &Names{table: t, dict: d, known: make([]atomic.Uint32, d.len())}
}

// token is the token of a name of the dictionary.
func (n *Names) token(i int) dedup.Name {
	t := n.known[i].Load()
	if t == 0 {
		t = n.table.Token([]byte(n.dict.name(i)))
		n.known[i].Store(t)
	}
	return n.table.Canonical(t)
}

// nameReader gives the names of a unit that is read.
type nameReader struct {
	names *Names
	all   []dedup.Name // as they are used
	p     int          // of the next one
	known []dedup.Name // by number
	last  int          // in the dictionary
	bad   bool
}

// read reads all names of a unit at once: the loop has nothing else to do.
func (r *nameReader) read(n *Names, c *[numColumns]column) {
	codes, low, far := &c[colName], &c[colNameLow], &c[colNameFar]
	if cap(r.all) < len(codes.b) {
		r.all = make([]dedup.Name, len(codes.b)+len(codes.b)/2)
	}
	r.names, r.all, r.p, r.known, r.last, r.bad = n, r.all[:len(codes.b)], 0, r.known[:0], 0, false
	for i, b := range codes.b {
		var k int
		switch {
		case b == 0:
			r.all[i] = 0
			continue
		case b == nameFresh:
			t := r.fresh(&c[colDict], &c[colText])
			r.known = append(r.known, t)
			r.all[i] = t
			continue
		case b < refHigh:
			k = int(b) - nameNear
		case b < refFar:
			k = int(b-refHigh)<<8 | int(low.byte())
		default:
			k = int(min(far.uint(), 1<<40))
		}
		if k >= len(r.known) {
			r.bad = true
			return
		}
		r.all[i] = r.known[k]
	}
	codes.p = len(codes.b)
}

// next is the next name.
func (r *nameReader) next() dedup.Name {
	if r.p >= len(r.all) {
		r.bad = true
		return 0
	}
	t := r.all[r.p]
	r.p++
	return t
}

// done says whether all names were used, and all were right.
func (r *nameReader) done() bool { return !r.bad && r.p == len(r.all) }

// fresh reads what a name is.
func (r *nameReader) fresh(dict, text *column) dedup.Name {
	if d := dict.uint(); d != 0 {
		r.last += int(unzigzag(d - 1))
		if uint(r.last) >= uint(len(r.names.known)) {
			r.bad, r.last = true, 0
			return 0
		}
		return r.names.token(r.last)
	}
	rest := text.b[text.p:]
	end := bytes.IndexByte(rest, 0)
	if end < 0 {
		r.bad = true
		return 0
	}
	text.p += end + 1
	return r.names.table.Token(rest[:end])
}
