package unitrecord

import (
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/unit"
)

// types reads the nodes of a unit with n nodes and m members into u.
func (r *Reader) types(u *unit.Unit, in *unit.Input, n, m int) {
	nodes := u.Types.Nodes.Extend(n)
	members := u.Types.Members.Extend(m)
	for i := range nodes {
		k := r.node(in, i, &nodes[i], members)
		if nodes[i].Info == 0 {
			r.bad = true
			break
		}
		if k != 0 {
			nodes[i].First = uint32(len(u.Types.Members.S) - len(members))
			members = members[k:]
		}
	}
	r.bad = r.bad || len(members) != 0
	order := u.Types.Order.Extend(n)
	last := int64(-1)
	steps := &r.cols[colOrder]
	for i := range order {
		last += steps.step() + 1
		if uint64(last) >= uint64(n) {
			r.bad, last = true, 0
		}
		order[i] = uint32(last)
	}
	last = 0
	for r.cols[colUnsigned].left() > 0 {
		last += r.cols[colUnsigned].step()
		if in.KeepSigns && in.Enum64 {
			if u.Unsigned == nil {
				u.Unsigned = make(map[uint32]bool)
			}
			u.Unsigned[uint32(last)] = true
		}
	}
}

// node reads node i to n and its elements to the first ones of ms. It returns how
// many these are. The Info of a node that is damaged is 0.
func (r *Reader) node(in *unit.Input, i int, n *dedup.Node, ms []dedup.Member) int {
	b := r.cols[colKind].byte()
	kind, kflag, vlen := btf.Kind(b&kindMask), b&kindFlag != 0, 0
	if b&kindVlen != 0 {
		v := r.cols[colVlen].uint()
		if v > uint64(len(ms)) || v > btf.MaxVlen {
			*n = dedup.Node{}
			return 0
		}
		vlen = int(v)
	}
	*n = dedup.Node{Info: btf.Info(kind, uint32(vlen), kflag)}
	ms = ms[:vlen]
	switch kind {
	case btf.KindPtr, btf.KindConst, btf.KindVolatile, btf.KindRestrict:
		n.Third = r.refs.at(i)
	case btf.KindTypedef, btf.KindTypeTag:
		n.Name = r.names.next()
		n.Third = r.refs.at(i)
	case btf.KindArray:
		n.Third = r.refs.at(i)
		n.Aux = r.cols[colCount].uint32()
	case btf.KindInt, btf.KindFloat:
		r.base(in, n, kind)
		return 0
	case btf.KindFwd:
		n.Name = r.names.next()
	case btf.KindStruct, btf.KindUnion:
		n.Name = r.names.next()
		n.Third = r.cols[colSize].uint32()
		r.members(i, ms, kflag)
		return vlen
	case btf.KindFuncProto:
		n.Third = r.refs.at(i)
		for j := range ms {
			ms[j] = dedup.Member{Name: r.names.next(), Type: r.refs.at(i)}
		}
		return vlen
	case btf.KindEnum, btf.KindEnum64:
		n.Name = r.names.next()
		n.Third = r.cols[colSize].uint32()
		r.values(ms, kind)
		if !in.Enum64 {
			n.Info = btf.Info(btf.KindEnum, uint32(vlen), false)
		}
		return vlen
	default:
		n.Info = 0
	}
	if vlen != 0 {
		n.Info = 0
	}
	return 0
}

// base reads an INT or FLOAT.
func (r *Reader) base(in *unit.Input, n *dedup.Node, kind btf.Kind) {
	n.Name = r.names.next()
	size := r.cols[colSize].uint32()
	encoding := byte(0)
	if kind == btf.KindInt {
		encoding = r.cols[colInt].byte()
	} else if in.Float {
		n.Third = size
		return
	}
	unit.SetInt(n, size, encoding, &in.Names)
}

// members reads members of struct or union i.
func (r *Reader) members(i int, ms []dedup.Member, kflag bool) {
	offset := int64(0)
	steps := &r.cols[colOffset]
	for j := range ms {
		offset += steps.step()
		bit := uint32(offset) << 3
		if uint64(offset) > 1<<29-1 {
			steps.bad = true
		}
		if kflag {
			v := r.cols[colBits].uint32()
			if bit > 0xffffff {
				steps.bad = true
			}
			bit = bit | v&7 | v>>3<<24
		}
		ms[j] = dedup.Member{Name: r.names.next(), Type: r.refs.at(i), Val: bit}
	}
}

// values reads enumerators.
func (r *Reader) values(ms []dedup.Member, kind btf.Kind) {
	last := int64(-1)
	for j := range ms {
		last += r.cols[colValue].step() + 1
		ms[j] = dedup.Member{Name: r.names.next(), Type: uint32(last)}
		if ms[j].Name == 0 {
			r.bad = true
		}
		if kind == btf.KindEnum64 {
			ms[j].Val = r.cols[colHigh].uint32()
		}
	}
}
