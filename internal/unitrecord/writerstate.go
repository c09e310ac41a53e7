package unitrecord

import (
	"errors"
	"fmt"

	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/internal/unit"
)

// Writer writes records, one after the other.
type Writer struct {
	dies      *unit.Reader // has read the unit that is being written
	cols      columns
	block     block
	blocks    []byte // that are complete
	nodesAt   int    // see NewWriter
	sizes     []byte // see Replaces
	refs      refWriter
	names     namer
	keys      keyMaker
	env       callconv.Functions // where locations are found
	addrs     Addresses
	locations map[string]int // number of each location, by the bytes of Condense
	bases     int
	head      head
	exprs     [][]byte
	scratch   []byte
	packed    []byte
	err       error
}

// head holds the first numbers of colHead.
type head struct{ nodes, funcs, params, vars, tags int }

// block is the block that is being written.
type block struct {
	chunks int
	names  int    // number of its first new name
	table  []byte // the numbers that it begins with
}

// Field is where an address is stored: in .debug_info or in .debug_addr.
type Field struct {
	Indexed bool   // in .debug_addr
	Off     uint64 // in the section
}

// Addresses are the relocations of an object.
type Addresses interface {
	// Base returns the address in the field as the number of a base and an offset. Bases
	// count from 0 for each record. ok is false if there is no relocation there, or one
	// that a base cannot have.
	Base(f Field) (base int, offset uint64, ok bool)
}

// ErrNot is the error for a unit that a record cannot describe. Its DIEs must stay.
var ErrNot = errors.New("it cannot be told by a unit record")

func (w *Writer) fail(what string) {
	if w.err == nil {
		w.err = fmt.Errorf("%w: %s", ErrNot, what)
	}
}

func (w *Writer) name(t dedup.Name) { w.nameTo(t, colName) }

// nameTo writes a name to a column.
func (w *Writer) nameTo(t dedup.Name, col int) {
	n := &w.names
	if t == 0 {
		w.cols.byte(col, 0)
		return
	}
	switch k := int(n.at(t).number) - 1; {
	case k < 0:
		w.cols.byte(col, nameFresh)
		w.newName(t)
	case k < nameHigh-nameNear:
		w.cols.byte(col, byte(nameNear+k))
	case k>>8 < nameFar-nameHigh:
		w.cols.byte(col, byte(nameHigh+k>>8))
		w.cols.byte(col, byte(k))
	default:
		w.cols.byte(col, nameFar)
		w.cols.uint(col, uint64(k))
	}
}

// isFresh reports whether a name is new.
func (w *Writer) isFresh(t dedup.Name) bool { return w.names.at(t).number == 0 }

// newName numbers a new name and adds it to the runs.
func (w *Writer) newName(t dedup.Name) {
	n := &w.names
	hash := n.hash(t)
	n.fresh++
	n.at(t).number = int32(n.fresh)
	text := n.text.Text(t)
	i, ok := inDictionary(text, hash)
	if ok != n.inDict || ok && i != n.last+1 {
		w.endNames()
		if n.inDict = ok; ok {
			n.step, n.last = int64(i-n.last-1), i-1
		}
	}
	if n.run++; ok {
		n.last = i
		return
	}
	w.cols.uint(colText, uint64(len(text)))
	w.cols.bytes(colText, text)
}

// endNames writes the open run of new names.
func (w *Writer) endNames() {
	n := &w.names
	if n.run == 0 {
		return
	}
	if n.inDict {
		w.cols.uint(colDict, uint64(n.run)<<1)
		w.cols.step(colDict, n.step)
	} else {
		w.cols.uint(colDict, uint64(n.run)<<1|1)
	}
	n.run = 0
}

// ref writes a reference that is not part of a node.
func (w *Writer) ref(r dedup.Ref) { w.refs.write(&w.cols, 0, r, colRef) }

// order writes an order of nodes or functions as runs of neighbours: the length of a run,
// then the step from its end to the next run.
func (w *Writer) order(col int, order []uint32) {
	next, run := int64(0), uint64(0)
	for _, k := range order {
		if int64(k) != next {
			w.cols.uint(col, run)
			w.cols.step(col, int64(k)-next)
			run = 0
		}
		run++
		next = int64(k) + 1
	}
	w.cols.uint(col, run)
}
