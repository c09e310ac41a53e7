package unitrecord

import (
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/internal/unit"
)

// The types of a unit. Nodes come in the order of their DIEs, so that most references
// are short and the names are in the order of the headers that declare them.

// The byte of a node in colKind: its kind, and
const (
	kindMask = 1<<5 - 1
	kindFlag = 1 << 5 // kind_flag is set
	kindVlen = 1 << 6 // vlen is not 0: it is in colVlen
)

// types writes the nodes of u.
func (w *Writer) types(u *unit.Unit) {
	c := &w.cols
	for i := range u.Types.Nodes.S {
		w.node(i, &u.Types.Nodes.S[i], u.Types.Members.S)
	}
	last := int64(-1)
	for _, k := range u.Types.Order.S {
		c.step(colOrder, int64(k)-last-1)
		last = int64(k)
	}
	last = 0
	for i := range u.Types.Nodes.S {
		if u.Unsigned[uint32(i)] {
			c.step(colUnsigned, int64(i)-last)
			last = int64(i)
		}
	}
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
		c.uint(colVlen, uint64(vlen))
	}
	c.byte(colKind, b)
	switch kind {
	case btf.KindPtr, btf.KindConst, btf.KindVolatile, btf.KindRestrict:
		c.ref(i, n.Third)
	case btf.KindTypedef, btf.KindTypeTag:
		w.name(n.Name)
		c.ref(i, n.Third)
	case btf.KindArray:
		c.ref(i, n.Third)
		c.uint(colCount, uint64(n.Aux))
	case btf.KindInt:
		w.name(n.Name)
		c.uint(colSize, uint64(callconv.DwarfSize(n)))
		c.byte(colInt, byte(n.Aux>>24))
	case btf.KindFloat:
		w.name(n.Name)
		c.uint(colSize, uint64(n.Third))
	case btf.KindFwd:
		w.name(n.Name)
	case btf.KindStruct, btf.KindUnion:
		w.name(n.Name)
		c.uint(colSize, uint64(n.Third))
		w.members(i, all[n.First:][:vlen], btf.InfoKflag(n.Info))
	case btf.KindFuncProto:
		c.ref(i, n.Third)
		for _, m := range all[n.First:][:vlen] {
			w.name(m.Name)
			c.ref(i, m.Type)
		}
	case btf.KindEnum, btf.KindEnum64:
		w.name(n.Name)
		c.uint(colSize, uint64(n.Third))
		last := int64(-1)
		for _, m := range all[n.First:][:vlen] {
			w.name(m.Name)
			v := int64(int32(m.Type))
			c.step(colValue, v-last-1)
			last = v
			if kind == btf.KindEnum64 {
				c.uint(colHigh, uint64(m.Val))
			}
		}
	default:
		w.fail("a node of kind " + kind.String())
	}
}

// members writes the members of struct or union i. Offsets are steps in bytes from
// the member before; the bits that are left over, and the width of a bit-field, are
// a column of their own.
func (w *Writer) members(i int, ms []dedup.Member, kflag bool) {
	c := &w.cols
	last := int64(0)
	for _, m := range ms {
		w.name(m.Name)
		c.ref(i, m.Type)
		bit := m.Val
		if kflag {
			bit = m.Val & 0xffffff
			c.uint(colBits, uint64(m.Val>>24)<<3|uint64(bit&7))
		} else if bit&7 != 0 {
			w.fail("a member at a part of a byte")
		}
		c.step(colOffset, int64(bit>>3)-last)
		last = int64(bit >> 3)
	}
}
