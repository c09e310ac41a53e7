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
	names                      *Names
	code, low, far, dict, text *column
	known                      []dedup.Name
	last                       int
}

// next is the next name.
func (r *nameReader) next() dedup.Name {
	b := r.code.byte()
	var k int
	switch {
	case b == 0:
		return 0
	case b == nameFresh:
		t := r.fresh()
		r.known = append(r.known, t)
		return t
	case b < refHigh:
		k = int(b) - nameNear
	case b < refFar:
		k = int(b-refHigh)<<8 | int(r.low.byte())
	default:
		k = int(min(r.far.uint(), 1<<40))
	}
	if k >= len(r.known) {
		r.code.bad = true
		return 0
	}
	return r.known[k]
}

// fresh reads what a name is.
func (r *nameReader) fresh() dedup.Name {
	if d := r.dict.uint(); d != 0 {
		r.last += int(unzigzag(d - 1))
		if uint(r.last) >= uint(len(r.names.known)) {
			r.dict.bad, r.last = true, 0
			return 0
		}
		return r.names.token(r.last)
	}
	end := bytes.IndexByte(r.text.b, 0)
	if end < 0 {
		r.text.bad = true
		return 0
	}
	t := r.names.table.Token(r.text.b[:end])
	r.text.b = r.text.b[end+1:]
	return t
}
