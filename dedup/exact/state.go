package exact

import (
	"fmt"
	"slices"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
)

// Options selects variants of the algorithm. The zero value is
// current libbpf on a parsed file.
type Options struct {
	// LibbpfTypedefBug reproduces libbpf 1.7.0, which never finds a TYPEDEF of
	// the base. It has no effect without a base.
	LibbpfTypedefBug bool
	// StrictArrays compares element types where libbpf, by a slip, compares an
	// array with itself and so can merge pointers to arrays of different types.
	StrictArrays bool
	// KeepStrings skips the string pass: the string section stays as it is,
	// unused strings included. Equal names must already have equal offsets.
	KeepStrings bool
}

// unmerged are the kinds of types that stay, however many equal ones there are, and that no type
// becomes: what is in a section of a file is not in the one of another. libbpf has no LOCSEC.
const unmerged = btf.Kinds(1<<btf.KindVar | 1<<btf.KindDatasec | 1<<btf.KindLocsec)

// Marks in state.target that are not type ids.
const (
	unset      = 0xffffffff
	inProgress = 0xfffffffe
)

// state is the working state of one run. Types of the base chain and own
// types live in one id space and one word array; id 0 is a record of kind void.
type state struct {
	opt    Options
	in     *btf.Blob
	first  uint32   // first own id
	words  []uint32 // records of all types; base words are never written
	off    []uint32 // off[id] is the record's index in words
	target []uint32 // unset, inProgress, or the id this one became
	index  index

	// Scratch of one graph comparison.
	pair       []uint32 // pair[y] = x, or unset
	paired     []uint32 // keys of pair in order of insertion
	stack      []pair
	frames     []frame
	baseChange bool   // success would give a forward of the base a body
	budget     int    // steps left for identical
	steps      uint64 // of all comparisons of structs so far
}

// pair asks whether x, reached from the type being placed, equals y,
// reached from an accepted type.
type pair struct{ x, y uint32 }

// frame is a reference type being placed. ref is the number of its next reference. Number
// 0 is the third word, even in kinds where that is not a reference.
type frame struct {
	id  uint32
	ref int
}

// newState copies all types of in and its base chain into one id space.
func newState(in *btf.Blob, opt Options) (*state, error) {
	var chain []*btf.Blob
	total := uint64(3)
	for b := in; b != nil; b = b.Base {
		chain = append(chain, b)
		total += uint64(len(b.Words))
	}
	if total > inProgress {
		return nil, fmt.Errorf("btf: types: %d words are too many to deduplicate", total)
	}
	n := in.TypeCount()
	d := &state{
		opt:    opt,
		in:     in,
		first:  in.FirstID,
		words:  arena.Make[uint32](int(total))[:3],
		off:    arena.Make[uint32](int(n))[:1],
		target: unsetWords(int(n)),
		pair:   unsetWords(int(n)),
		index:  newIndex(),
	}
	for _, b := range slices.Backward(chain) {
		shift := uint32(len(d.words))
		for _, w := range b.Off {
			d.off = append(d.off, w+shift)
		}
		d.words = append(d.words, b.Words...)
	}
	d.target[0] = 0
	for id := d.first; id < n; id++ {
		if unmerged.Has(d.kind(id)) {
			d.target[id] = id
		}
	}
	return d, nil
}

// unsetWords returns n words that are unset.
func unsetWords(n int) []uint32 {
	words := arena.Make[uint32](n)
	for i := range words {
		words[i] = unset
	}
	return words
}

// count returns the number of ids, void included.
func (d *state) count() uint32 { return uint32(len(d.off)) }

// rec returns the words of type id.
func (d *state) rec(id uint32) btf.Record {
	w := d.off[id]
	info := d.words[w+1]
	end := w + 3 + uint32(btf.ExtraWords(btf.InfoKind(info), btf.InfoVlen(info)))
	return d.words[w:end:end]
}

func (d *state) kind(id uint32) btf.Kind { return btf.InfoKind(d.words[d.off[id]+1]) }

// mapped reports whether id has been placed.
func (d *state) mapped(id uint32) bool { return d.target[id] < inProgress }

// final follows the placements of id to the end.
func (d *state) final(id uint32) uint32 {
	for t := d.target[id]; t != id && t < inProgress; t = d.target[id] {
		id = t
	}
	return id
}

// indexBase makes all types of the base candidates of their keys.
func (d *state) indexBase() {
	for id := uint32(1); id < d.first; id++ {
		d.target[id] = id
		r := d.rec(id)
		k := r.Kind()
		if k == btf.KindVoid || unmerged.Has(k) { // a skipped type became void
			continue
		}
		key := keyOf(r)
		if k == btf.KindTypedef && d.opt.LibbpfTypedefBug {
			key = ^key
		}
		d.index.insert(key, id)
	}
}

// keep makes id a survivor and a candidate of key.
func (d *state) keep(key uint64, id uint32) {
	d.target[id] = id
	d.index.insert(key, id)
}
