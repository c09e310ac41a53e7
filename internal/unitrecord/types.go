package unitrecord

import (
	"encoding/binary"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/internal/unit"
)

// The types of a unit. Nodes come in the order of their DIEs, so that most references
// are short and the names are in the order of the headers that declare them.
//
// They are cut into chunks, which a reader can pass over: it knows from colChunk where
// the next one begins, and how many names have been used before. What a node is made of
// stands in one place, as a chunk is read or left out as a whole.

// The byte that a node begins with: its kind, and
const (
	kindMask = 1<<5 - 1
	kindFlag = 1 << 5 // kind_flag is set
	kindVlen = 1 << 6 // vlen is not 0: it is the next number
)

// types writes the nodes of u.
func (w *Writer) types(u *unit.Unit) {
	c := &w.cols
	hashes := w.keys.hashes(u, w.names.text)
	chunk := w.newChunk()
	for i := range u.Types.Nodes.S {
		n := &u.Types.Nodes.S[i]
		w.node(i, n, u.Types.Members.S)
		chunk.elements += int(vlenOf(n))
		chunk.add(hashes[i])
		if endsChunk(hashes[i]) || i == len(hashes)-1 {
			w.endChunk(chunk)
			chunk = w.newChunk()
		}
	}
	w.order(u.Types.Order.S)
	last := int64(0)
	for i := range u.Types.Nodes.S {
		if u.Unsigned[uint32(i)] {
			c.step(colUnsigned, int64(i)-last)
			last = int64(i)
		}
	}
}

// order writes the raw order: how many nodes follow each other, then the step to the one
// that does not follow the last.
func (w *Writer) order(order []uint32) {
	next, run := int64(0), uint64(0)
	for _, k := range order {
		if int64(k) != next {
			w.cols.uint(colOrder, run)
			w.cols.step(colOrder, int64(k)-next)
			run = 0
		}
		run++
		next = int64(k) + 1
	}
	w.cols.uint(colOrder, run)
}

// newChunk is the chunk that begins here.
func (w *Writer) newChunk() chunkKey {
	return chunkKey{from: len(w.cols[colNode]), names: len(w.names.number)}
}

// endChunk writes what a reader is to know of a chunk whose nodes have been written.
func (w *Writer) endChunk(k chunkKey) {
	c := &w.cols
	c.uint(colChunk, uint64(k.nodes))
	c.uint(colChunk, uint64(k.elements))
	c.uint(colChunk, uint64(len(w.names.number)-k.names))
	c.uint(colChunk, uint64(len(c[colNode])-k.from))
	c[colKey] = binary.LittleEndian.AppendUint64(c[colKey], k.key())
}

// node writes node i.
func (w *Writer) node(i int, n *dedup.Node, all []dedup.Member) {
	c := &w.cols
	kind, vlen := btf.InfoKind(n.Info), btf.InfoVlen(n.Info)
	b := byte(kind)
	if btf.InfoKflag(n.Info) {
		b |= kindFlag
	}
	if vlen != 0 {
		b |= kindVlen
	}
	c.byte(colNode, b)
	if vlen != 0 {
		c.uint(colNode, uint64(vlen))
	}
	switch kind {
	case btf.KindPtr, btf.KindConst, btf.KindVolatile, btf.KindRestrict:
		c.nodeRef(i, n.Third)
	case btf.KindTypedef, btf.KindTypeTag:
		w.nodeName(n.Name)
		c.nodeRef(i, n.Third)
	case btf.KindArray:
		c.nodeRef(i, n.Third)
		c.uint(colNode, uint64(n.Aux))
	case btf.KindInt:
		w.nodeName(n.Name)
		c.uint(colNode, uint64(callconv.DwarfSize(n)))
		c.byte(colNode, byte(n.Aux>>24))
	case btf.KindFloat:
		w.nodeName(n.Name)
		c.uint(colNode, uint64(n.Third))
	case btf.KindFwd:
		w.nodeName(n.Name)
	case btf.KindStruct, btf.KindUnion:
		w.nodeName(n.Name)
		c.uint(colNode, uint64(n.Third))
		w.members(i, all[n.First:][:vlen], btf.InfoKflag(n.Info))
	case btf.KindFuncProto:
		c.nodeRef(i, n.Third)
		for _, m := range all[n.First:][:vlen] {
			w.nodeName(m.Name)
			c.nodeRef(i, m.Type)
		}
	case btf.KindEnum, btf.KindEnum64:
		w.nodeName(n.Name)
		c.uint(colNode, uint64(n.Third))
		w.values(all[n.First:][:vlen], kind)
	default:
		w.fail("a node of kind " + kind.String())
	}
}

// values writes enumerators: the lower 32 bits as steps.
func (w *Writer) values(ms []dedup.Member, kind btf.Kind) {
	last := int64(-1)
	for _, m := range ms {
		w.nodeName(m.Name)
		v := int64(int32(m.Type))
		w.cols.step(colNode, v-last-1)
		last = v
		if kind == btf.KindEnum64 {
			w.cols.uint(colNode, uint64(m.Val))
		}
	}
}

// members writes the members of struct or union i. Offsets are steps in bytes from
// the member before. Of structs with bit-fields, the width and the bits of the offset
// that are no whole byte follow.
func (w *Writer) members(i int, ms []dedup.Member, kflag bool) {
	c := &w.cols
	last := int64(0)
	for _, m := range ms {
		w.nodeName(m.Name)
		c.nodeRef(i, m.Type)
		bit := m.Val
		if kflag {
			bit = m.Val & 0xffffff
		} else if bit&7 != 0 {
			w.fail("a member at a part of a byte")
		}
		c.step(colNode, int64(bit>>3)-last)
		last = int64(bit >> 3)
		if kflag {
			c.uint(colNode, uint64(m.Val>>24)<<3|uint64(bit&7))
		}
	}
}

// nodeName writes a name in colNode.
func (w *Writer) nodeName(t dedup.Name) { w.nameTo(t, colNode, colNode, colNode) }

// nodeRef writes a reference in colNode.
func (c *columns) nodeRef(i int, r dedup.Ref) { c.refTo(i, r, colNode, colNode, colNode) }
