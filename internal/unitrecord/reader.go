package unitrecord

import (
	"encoding/binary"
	"errors"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/debuginfo"
	"github.com/btflite/btflite/internal/unit"
	"github.com/klauspost/compress/s2"
)

// Read reads the record at the unit DIE at which dies is, and settles the unit: it is Fill,
// then Settle.
func (r *Reader) Read(dies *unit.Reader, n *Names, set *dedup.Set, all bool) error {
	if err := r.Fill(dies, n, set, all); err != nil {
		return err
	}
	return dies.Settle()
}

// Fill fills the unit of dies from the record, as dies.ReadLinked does from DIEs.
//
// It leaves out types that set knows, and references to them are Extern. A nil set knows
// none. It leaves out inline functions without a symbol unless all are wanted. The Entries
// of the unit are memory of the Reader, valid until the next Read, Fill or HasInt. The errors are a damaged
// record and a *VersionError.
func (r *Reader) Fill(dies *unit.Reader, n *Names, set *dedup.Set, all bool) error {
	u, in, c := &dies.Unit, dies.In, &dies.Cursor
	if err := r.open(c); err != nil {
		return c.UnitError(err.Error())
	}
	h := &r.cols[colHead]
	nodes, names := h.uint(), h.uint()
	if max(nodes, names) > uint64(len(r.columns)+len(r.chunk.blocks)) { // each takes a byte
		return c.UnitError(errDamaged.Error())
	}
	if !r.names.read(n, int(names), &r.cols[colDict], &r.cols[colText]) {
		return c.UnitError(errDamaged.Error())
	}
	funcs, params := h.count(&r.cols[colFunc]), h.count(&r.cols[colParam])
	vars, tags := h.count(&r.cols[colVar]), h.count(&r.cols[colAnnot])
	locations := h.count(&r.cols[colLocation])
	u.Facts.DIEs = h.uint()
	firstInt := h.uint()
	facts := h.uint()
	u.Facts.LacksTypes, u.Arrays = facts&factLacksTypes != 0, facts&factArrays != 0
	if firstInt > nodes {
		h.bad = true
	}
	if h.bad {
		return c.UnitError(errDamaged.Error())
	}
	withTypeTags := facts&factTypeTags != 0
	if tags > 0 || withTypeTags && !in.Options.TypeTag {
		set = nil // they need the nodes themselves
	}
	r.types(u, in, int(nodes), set)
	if r.bad {
		return c.UnitError(errDamaged.Error())
	}
	if firstInt != 0 {
		u.FirstInt = r.refs.nodes[firstInt-1]
	}
	r.locations(u, locations)
	r.funcs(u, in, funcs, params, all)
	r.vars(u, in, vars)
	r.tags(u, in, tags)
	if r.damaged() {
		return c.UnitError(errDamaged.Error())
	}
	if withTypeTags && !in.Options.TypeTag {
		unit.WithoutTypeTags(dies)
	}
	return nil
}

// HasInt reports whether the record of the unit at c has the type int.
func (r *Reader) HasInt(c *debuginfo.Cursor) (bool, error) {
	if err := r.open(c); err != nil {
		return false, c.UnitError(err.Error())
	}
	h, firstInt := &r.cols[colHead], uint64(0)
	for range headFirstInt + 1 {
		firstInt = h.uint()
	}
	if h.bad {
		return false, c.UnitError(errDamaged.Error())
	}
	return firstInt != 0, nil
}

// headFirstInt is the place of the first int in colHead: after the counts and the number of
// DIEs.
const headFirstInt = 8

// open parses the frame and the columns of the record of the unit at c.
func (r *Reader) open(c *debuginfo.Cursor) error {
	size := int(c.Hdr.AddrSize)
	f, err := parseFrame(c.Record.Bytes, size)
	if err != nil {
		return err
	}
	if err := checkHead(c, &f); err != nil {
		return err
	}
	if r.columns, err = expand(r.columns, f.columns); err != nil {
		return err
	}
	if err := unpack(r.columns, &r.cols); err != nil {
		return err
	}
	r.bad = false
	r.bases = bases{f.bases, size, c.Hdr.BigEndian}
	var ok bool
	if r.chunk.blocks, ok, err = c.FromAbbrevs(f.nodes.off, f.nodes.size); err == nil && !ok {
		err = errDamaged
	}
	return err
}

// checkHead checks everything that has led to the record of the unit at c, whose frame is f.
func checkHead(c *debuginfo.Cursor, f *frame) error {
	at := c.Record.At + f.head
	if c.Hdr.Version != 5 || c.Hdr.Dwarf64 || at < abbrevOffset+4 {
		return errDamaged
	}
	abbrevs, ok, err := c.FromAbbrevs(0, f.nodes.off)
	switch {
	case err != nil:
		return err
	case !ok || headSum(c.Hdr.Data[:at], f.counts, abbrevs) != binary.LittleEndian.Uint32(c.Hdr.Data[at:]):
		return errDamaged
	case c.File.Relocatable() && c.FirstReloc == c.LastReloc:
		return errNoRelocs
	}
	return nil
}

// errNoRelocs is the error for an object without relocations: at least the offset of the
// abbreviations needs one.
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

// damaged reports whether a column was damaged or was not read to its end.
func (r *Reader) damaged() bool {
	for i := range r.cols {
		if r.cols[i].bad || r.cols[i].left() != 0 {
			return true
		}
	}
	return r.bad || !r.names.done()
}
