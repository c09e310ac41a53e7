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
func (w *Writer) name(t dedup.Name) { w.nameTo(t, colName, colNameLow, colNameFar) }

// nameTo writes a name to columns.
func (w *Writer) nameTo(t dedup.Name, code, low, far int) {
	n := &w.names
	if t == 0 {
		w.cols.byte(code, 0)
		return
	}
	k, known := n.number[t]
	switch {
	case !known:
		n.number[t] = len(n.number)
		w.cols.byte(code, nameFresh)
		w.fresh(n.text.Text(t))
	case k < refHigh-nameNear:
		w.cols.byte(code, byte(nameNear+k))
	case k>>8 < refFar-refHigh:
		w.cols.byte(code, byte(refHigh+k>>8))
		w.cols.byte(low, byte(k))
	default:
		w.cols.byte(code, refFar)
		w.cols.uint(far, uint64(k))
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
	known []freshName // by number
	next  int         // number of the next fresh name
	text  []byte
	bad   bool
}

// freshName is where a name is used for the first time. What it is is found when it is
// asked for: most are in chunks that nobody reads.
type freshName struct {
	token dedup.Name // 0: not asked for yet
	at    int32      // place in the dictionary, or -1 - offset in colText
}

// read finds all names of a unit.
func (r *nameReader) read(n *Names, dict, text *column) {
	*r = nameReader{names: n, known: r.known[:0], text: text.b}
	last := 0
	for dict.left() > 0 {
		d := dict.uint()
		if d != 0 {
			last += int(unzigzag(d - 1))
			if uint(last) >= uint(len(n.known)) {
				r.bad, last = true, 0
			}
			r.known = append(r.known, freshName{at: int32(last)})
			continue
		}
		end := bytes.IndexByte(text.b[text.p:], 0)
		if end < 0 {
			r.bad = true
			break
		}
		r.known = append(r.known, freshName{at: int32(-1 - text.p)})
		text.p += end + 1
	}
}

// name reads a name from columns.
func (r *nameReader) name(code, low, far *column) dedup.Name {
	b := code.byte()
	k := 0
	switch {
	case b == 0:
		return 0
	case b == nameFresh:
		k = r.next
		r.next++
	case b < refHigh:
		k = int(b) - nameNear
	case b < refFar:
		k = int(b-refHigh)<<8 | int(low.byte())
	default:
		k = int(min(far.uint(), 1<<40))
	}
	if uint(k) >= uint(len(r.known)) {
		r.bad = true
		return 0
	}
	if t := r.known[k].token; t != 0 {
		return t
	}
	return r.ask(k)
}

// ask is the token of the name of number k, which exists.
func (r *nameReader) ask(k int) dedup.Name {
	f := &r.known[k]
	if f.at >= 0 {
		f.token = r.names.token(int(f.at))
		return f.token
	}
	rest := r.text[-1-f.at:]
	f.token = r.names.table.Token(rest[:bytes.IndexByte(rest, 0)])
	return f.token
}

// done says whether all names were used, and all were right.
func (r *nameReader) done() bool { return !r.bad && r.next == len(r.known) }
