package unitrecord

import (
	"encoding/binary"
	"errors"

	"github.com/klauspost/compress/s2"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/unit"
)

// Reader reads records, one after the other. Its memory is used again for the next
// one. The zero value is ready.
type Reader struct {
	cols     [numColumns]column
	names    nameReader
	chunk    chunkReader
	inline   inlineReader
	refs     refReader
	bases    bases
	spans    []span      // of the locations, in colLocation
	funcRefs []dedup.Ref // by number of the function: 1 + its index, or Extern
	columns  []byte      // scratch of open
	bad      bool
	seen     []uint64 // scratch of order
	turns    []turn   // likewise
}

// span is a part of colLocation.
type span struct{ off, n uint32 }

// Read fills u with what its record holds, as ReadLinked does with what its DIEs hold,
// and settles it. Types that set knows are left out: what refers to them is Extern. They
// are not if set is nil. Inline functions that mean nothing are left out unless all are
// wanted. u.Exprs is part of the Reader, and valid until the next Read.
// Errors: a damaged record, and a *VersionError.
func (r *Reader) Read(u *unit.Unit, in *unit.Input, n *Names, set *dedup.Set, all bool) error {
	if err := r.open(u); err != nil {
		return u.UnitError(err.Error())
	}
	h := &r.cols[colHead]
	nodes, names := h.uint(), h.uint()
	if max(nodes, names) > uint64(len(r.columns)+len(r.chunk.blocks)) { // each takes a byte
		return u.UnitError(errDamaged.Error())
	}
	if !r.names.read(n, int(names), &r.cols[colDict], &r.cols[colText]) {
		return u.UnitError(errDamaged.Error())
	}
	funcs, params := h.count(&r.cols[colFunc]), h.count(&r.cols[colParam])
	vars, tags := h.count(&r.cols[colVar]), h.count(&r.cols[colAnnot])
	locations := h.count(&r.cols[colLocation])
	u.DIEs = h.uint()
	firstInt := h.uint()
	facts := h.uint()
	u.Hides, u.Arrays = facts&factHides != 0, facts&factArrays != 0
	if firstInt > nodes {
		h.bad = true
	}
	if h.bad {
		return u.UnitError(errDamaged.Error())
	}
	withTypeTags := facts&factTypeTags != 0
	if tags > 0 || withTypeTags && !in.TypeTag {
		set = nil // they need the nodes themselves
	}
	r.types(u, in, int(nodes), set)
	if r.bad {
		return u.UnitError(errDamaged.Error())
	}
	if firstInt != 0 {
		u.FirstInt = r.refs.nodes[firstInt-1]
	}
	r.locations(u, locations)
	r.funcs(u, in, funcs, params, all)
	r.vars(u, in, vars)
	r.tags(u, in, tags)
	if r.damaged() {
		return u.UnitError(errDamaged.Error())
	}
	if withTypeTags && !in.TypeTag {
		withoutTags(u)
	}
	return in.Settle(u)
}

// ref reads a reference that is not part of a node.
func (r *Reader) ref() dedup.Ref {
	return r.refs.read(&r.cols[colRef], 0)
}

// name reads a name that is not part of a node.
func (r *Reader) name() dedup.Name {
	return r.names.name(&r.cols[colName])
}

// open parses the frame and the columns of the record of u.
func (r *Reader) open(u *unit.Unit) error {
	size := int(u.Hdr.AddrSize)
	f, err := parseFrame(u.Record, size)
	if err != nil {
		return err
	}
	if err := checkHead(u, &f); err != nil {
		return err
	}
	if r.columns, err = expand(r.columns, f.columns); err != nil {
		return err
	}
	if err := unpack(r.columns, &r.cols); err != nil {
		return err
	}
	r.bad = false
	r.bases = bases{f.bases, size, u.Hdr.BigEndian}
	var ok bool
	if r.chunk.blocks, ok, err = u.FromAbbrevs(f.nodes.off, f.nodes.size); err == nil && !ok {
		err = errDamaged
	}
	return err
}

// checkHead checks all that has found the record of u, which has the frame f.
func checkHead(u *unit.Unit, f *frame) error {
	at := len(u.Hdr.Data) - len(u.Record) + f.head
	if u.Hdr.Version != 5 || u.Hdr.Dwarf64 || at < abbrevOffset+4 {
		return errDamaged
	}
	abbrevs, ok, err := u.FromAbbrevs(0, f.nodes.off)
	switch {
	case err != nil:
		return err
	case !ok || headSum(u.Hdr.Data[:at], f.counts, abbrevs) != binary.LittleEndian.Uint32(u.Hdr.Data[at:]):
		return errDamaged
	case u.File.Relocatable() && u.FirstReloc == u.LastReloc:
		return errNoRelocs
	}
	return nil
}

// errNoRelocs says that an object does not say where its addresses are: there is one for the abbreviations at least.
var errNoRelocs = errors.New("the unit record is damaged: it has no relocations")

// expand expands columns, into the memory of old if it can.
func expand(old, packed []byte) ([]byte, error) {
	n, err := s2.DecodedLen(packed)
	if err != nil || n > maxColumns {
		return old, errDamaged
	}
	if cap(old) < n || cap(old) > arena.KeepBytes {
		old = make([]byte, n+n/2)
	}
	out, err := s2.Decode(old[:cap(old)], packed)
	if err != nil {
		return old, errDamaged
	}
	return out, nil
}

// damaged says whether a column was read wrong, or not all of it.
func (r *Reader) damaged() bool {
	for i := range r.cols {
		if r.cols[i].bad || r.cols[i].left() != 0 {
			return true
		}
	}
	return r.bad || !r.names.done()
}
