package unitrecord

import (
	"encoding/binary"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/internal/unit"
)

// The types of a unit. Nodes come in the order of their DIEs. So most references are short,
// and names follow each other as in the headers that declare them.
//
// Nodes are cut into chunks, because a reader can skip a chunk. All parts of a node are in
// one place, because a chunk is read or skipped as a whole. Neighbouring chunks are a block.
// It begins with the numbers of elements, new names and bytes of each chunk, so a reader
// knows where the next chunk begins, and how many names come before it. Blocks are not
// compressed: a reader skips nine of ten chunks.

// A node begins with a byte: its kind, and
const (
	kindMask  = 1<<5 - 1
	kindFlag  = 1 << 5 // kind_flag is set; of a FUNC_PROTO, its parameters have no names
	kindVlen  = 1 << 6 // vlen is not 0: it is the next number
	kindFresh = 1 << 7 // its name is the next new one
)

// A member or enumerator begins with a byte: one of these for its name, and above them the
// step from the one before, or stepFar.
const (
	partNone  = iota // it has no name
	partFresh        // the next new one
	partName         // its code follows
	partMask  = 1<<2 - 1
	stepShift = 2
	stepFar   = 1<<6 - 1 // the step follows
)

// types writes the nodes of u.
func (w *Writer) types(u *unit.Unit) {
	c := &w.cols
	w.refs.begin(c, u)
	hashes := w.keys.hashes(u, &w.names)
	chunk := w.newChunk()
	w.newBlock()
	for i := range u.Types.Nodes.S {
		n := &u.Types.Nodes.S[i]
		w.node(i, n, u.Types.Members.S)
		chunk.elements += int(vlenOf(n))
		chunk.add(hashes[i])
		if endsChunk(hashes[i]) || i == len(hashes)-1 {
			w.endChunk(chunk)
			if len(c[colNode]) >= blockSize || i == len(hashes)-1 {
				w.endBlock()
			}
			chunk = w.newChunk()
		}
	}
	w.order(colOrder, u.Types.Order.S)
	last := int64(0)
	for i := range u.Types.Nodes.S {
		if u.Unsigned[uint32(i)] {
			c.step(colUnsigned, int64(i)-last)
			last = int64(i)
		}
	}
}

// blockSize is how many bytes of nodes a block has, or a few more. A reader skips a block at
// once if it knows all chunks.
const blockSize = 512

func (w *Writer) newBlock() {
	w.block = block{names: w.names.fresh, table: w.block.table[:0]}
	w.cols[colNode] = w.cols[colNode][:0]
}

// endBlock writes the open block, and begins the next one.
func (w *Writer) endBlock() {
	w.cols.uint(colBlock, uint64(w.block.chunks))
	w.cols.uint(colBlock, uint64(w.names.fresh-w.block.names))
	at := len(w.blocks)
	w.blocks = append(w.blocks, make([]byte, checksumSize)...)
	w.blocks = append(append(w.blocks, w.block.table...), w.cols[colNode]...)
	seal(w.blocks[at:])
	w.cols.uint(colBlock, uint64(len(w.blocks)-at))
	w.newBlock()
}

func (w *Writer) newChunk() chunkKey {
	return chunkKey{from: len(w.cols[colNode]), names: w.names.fresh}
}

// endChunk writes the numbers and the key of a chunk, after its nodes.
func (w *Writer) endChunk(k chunkKey) {
	c := &w.cols
	c.uint(colChunk, uint64(k.nodes))
	w.block.chunks++
	for _, n := range []int{k.elements, w.names.fresh - k.names, len(c[colNode]) - k.from} {
		w.block.table = binary.AppendUvarint(w.block.table, uint64(n))
	}
	c[colKey] = binary.LittleEndian.AppendUint64(c[colKey], k.key())
}

func (w *Writer) node(i int, n *dedup.Node, all []dedup.Member) {
	c := &w.cols
	kind, vlen := btf.InfoKind(n.Info), btf.InfoVlen(n.Info)
	b := byte(kind)
	if btf.InfoKflag(n.Info) {
		b |= kindFlag
	}
	if kind == btf.KindFuncProto && nameless(all[n.First:][:vlen]) {
		b |= kindFlag
	}
	if vlen != 0 {
		b |= kindVlen
	}
	fresh := n.Name != 0 && w.isFresh(n.Name)
	if fresh {
		b |= kindFresh
	}
	c.byte(colNode, b)
	if vlen != 0 {
		c.uint(colNode, uint64(vlen))
	}
	switch kind {
	case btf.KindPtr, btf.KindConst, btf.KindVolatile, btf.KindRestrict:
		w.nodeRef(i, n.Third)
	case btf.KindTypedef, btf.KindTypeTag:
		w.nodeName(n.Name, fresh)
		w.nodeRef(i, n.Third)
	case btf.KindArray:
		w.nodeRef(i, n.Third)
		c.uint(colNode, uint64(n.Aux))
	case btf.KindInt:
		w.nodeName(n.Name, fresh)
		c.uint(colNode, uint64(callconv.DwarfSize(n)))
		c.byte(colNode, byte(n.Aux>>24))
	case btf.KindFloat:
		w.nodeName(n.Name, fresh)
		c.uint(colNode, uint64(n.Third))
	case btf.KindFwd:
		w.nodeName(n.Name, fresh)
	case btf.KindStruct, btf.KindUnion:
		w.nodeName(n.Name, fresh)
		c.uint(colNode, uint64(n.Third))
		w.members(i, all[n.First:][:vlen], btf.InfoKflag(n.Info))
	case btf.KindFuncProto:
		w.nodeRef(i, n.Third)
		for _, m := range all[n.First:][:vlen] {
			if b&kindFlag == 0 {
				w.nodeName(m.Name, false)
			}
			w.nodeRef(i, m.Type)
		}
	case btf.KindEnum, btf.KindEnum64:
		w.nodeName(n.Name, fresh)
		c.uint(colNode, uint64(n.Third))
		w.values(all[n.First:][:vlen], kind)
	default:
		w.fail("a node of kind " + kind.String())
	}
}

// values writes enumerators, the lower 32 bits of their values as steps.
func (w *Writer) values(ms []dedup.Member, kind btf.Kind) {
	last := int64(-1)
	for _, m := range ms {
		v := int64(int32(m.Type))
		w.part(m.Name, v-last-1)
		last = v
		if kind == btf.KindEnum64 {
			w.cols.uint(colNode, uint64(m.Val))
		}
	}
}

// members writes the members of struct or union i. Offsets are steps in bytes from the
// member before. In structs with bit-fields a number follows: the width and the lowest
// three bits of the offset.
func (w *Writer) members(i int, ms []dedup.Member, kflag bool) {
	c := &w.cols
	last := int64(0)
	for _, m := range ms {
		bit := m.Val
		if kflag {
			bit = m.Val & 0xffffff
		} else if bit&7 != 0 {
			w.fail("a member at a part of a byte")
		}
		w.part(m.Name, int64(bit>>3)-last)
		w.nodeRef(i, m.Type)
		last = int64(bit >> 3)
		if kflag {
			c.uint(colNode, uint64(m.Val>>24)<<3|uint64(bit&7))
		}
	}
}

// nodeName writes a name in colNode, unless it is fresh: a flag has said so.
func (w *Writer) nodeName(t dedup.Name, fresh bool) {
	if fresh {
		w.newName(t)
		return
	}
	w.nameTo(t, colNode)
}

// nameless reports whether no parameter has a name.
func nameless(ms []dedup.Member) bool {
	for i := range ms {
		if ms[i].Name != 0 {
			return false
		}
	}
	return true
}

// part writes the name of a member or enumerator, and the step from the one before.
func (w *Writer) part(name dedup.Name, step int64) {
	c := &w.cols
	b := byte(partNone)
	switch {
	case name == 0:
	case w.isFresh(name):
		b = partFresh
	default:
		b = partName
	}
	if far := step < 0 || step >= stepFar; far {
		c.byte(colNode, b|stepFar<<stepShift)
		c.step(colNode, step)
	} else {
		c.byte(colNode, b|byte(step)<<stepShift)
	}
	if name != 0 {
		w.nodeName(name, b == partFresh)
	}
}

// nodeRef writes a reference in colNode.
func (w *Writer) nodeRef(i int, r dedup.Ref) { w.refs.write(&w.cols, i, r, colNode) }
