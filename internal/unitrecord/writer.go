package unitrecord

import (
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/internal/unit"
)

// NewWriter makes a Writer. nodesAt is the distance, in .debug_abbrev, from the beginning of
// the abbreviations of a unit to its nodes.
func NewWriter(nodesAt int) *Writer {
	w := &Writer{nodesAt: nodesAt, sizes: appendSizes(nil, nil)}
	w.blocks = make([]byte, 0, 32<<10)
	for i := range w.cols {
		w.cols[i] = make([]byte, 0, 1<<10)
	}
	return w
}

// Record is a unit record with the places of its relocations. Its bytes are valid until
// the next record is written.
type Record struct {
	Bytes []byte // for the attribute of the unit DIE
	Nodes []byte // for .debug_abbrev
	Bases int    // offset of the first base in Bytes
	N     int    // bases
}

// Write makes the record of the unit that dies.ReadLinked has read with all features on.
// lists are the unit's location lists, relocated. maker is the version of btflite, at most
// 255 bytes. The error is ErrNot, with the reason.
func (w *Writer) Write(dies *unit.Reader, addrs Addresses, lists []byte, maker string) (Record, error) {
	w.start(dies, addrs, lists)
	u, h := &dies.Unit, &dies.Cursor.Hdr
	if why := dies.NoRecord(); why != "" {
		w.fail(why)
	}
	if h.Version < 3 || h.Dwarf64 {
		w.fail("its DWARF is of version 2 or of 64 bits")
	}
	if len(u.Types.Order.S) != len(u.Types.Nodes.S) {
		w.fail("its types have no order")
	}
	if w.err != nil {
		return Record{}, w.err
	}
	w.types(u)
	w.funcs(u)
	w.vars(u)
	w.tags(u)
	w.facts(u)
	if w.err != nil {
		return Record{}, w.err
	}
	w.endNames()
	raw := w.cols.pack(w.scratch[:0])
	w.scratch = raw
	out, bases := appendFrame(w.packed[:0], maker, w.bases, int(h.AddrSize), raw, place{uint64(w.nodesAt), uint64(len(w.blocks))}, w.sizes)
	w.packed = out
	w.sizes = appendSizes(w.sizes[:0], nil)
	return Record{Bytes: out, Nodes: w.blocks, Bases: bases, N: w.bases}, nil
}

// start prepares for a unit.
func (w *Writer) start(dies *unit.Reader, addrs Addresses, lists []byte) {
	u, h := &dies.Unit, &dies.Cursor.Hdr
	w.cols.reset()
	w.blocks = w.blocks[:0]
	w.names = namer{text: dies.In.File.Names.Table, nameTable: w.names.nameTable, last: -1}
	w.names.reset()
	w.dies, w.addrs, w.bases, w.err = dies, addrs, 0, nil
	w.locations = make(map[string]int)
	w.env = callconv.Functions{
		Format: dwarf.ExprFormat{Version: h.Version, AddrSize: h.AddrSize, BigEndian: h.BigEndian},
		Exprs:  h.Data, Lists: callconv.Lists{Data: lists},
		Types: callconv.Types{Nodes: u.Types.Nodes.S, Classes: u.Classes.S},
	}
	w.head = head{nodes: len(u.Types.Nodes.S), vars: len(u.Vars.S), tags: len(u.Tags.S)}
}

// Facts of a unit, as bits in colHead.
const (
	factLacksTypes = 1 << iota
	factArrays
	factTypeTags
)

// facts writes colHead.
func (w *Writer) facts(u *unit.Unit) {
	c, h := &w.cols, &w.head
	for _, n := range []int{h.nodes, w.names.fresh, h.funcs, h.params, h.vars, h.tags, len(w.locations)} {
		c.uint(colHead, uint64(n))
	}
	c.uint(colHead, u.Facts.DIEs)
	c.uint(colHead, uint64(u.FirstInt))
	bits := uint64(0)
	if u.Facts.LacksTypes {
		bits |= factLacksTypes
	}
	if u.Arrays {
		bits |= factArrays
	}
	for i := range u.Types.Nodes.S {
		if btf.InfoKind(u.Types.Nodes.S[i].Info) == btf.KindTypeTag {
			bits |= factTypeTags
			break
		}
	}
	c.uint(colHead, bits)
}
