package unitrecord

import (
	"encoding/binary"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/unit"
)

// chunkPlace is where a chunk is.
type chunkPlace struct {
	elements int
	names    int // number of the first fresh one
	body     column
}

// chunkReader is the chunks of a unit that is read.
type chunkReader struct {
	chunks []dedup.Chunk
	places []chunkPlace
	ids    []uint32      // by node: what the Set knows it as, or 0
	nodes  []dedup.Ref   // by node: what refers to it is to be this
	own    []dedup.Chunk // those whose nodes are in the unit
}

// types reads the n nodes of a unit into u, but for those of chunks that set knows. A
// nil set knows none.
func (r *Reader) types(u *unit.Unit, in *unit.Input, n int, set *dedup.Set) {
	if !r.findChunks(n) {
		r.bad = true
		return
	}
	c := &r.chunk
	clear(c.ids)
	if set != nil {
		set.LookUpChunks(&u.Types, c.chunks, c.ids)
	}
	nodes, elements := r.number()
	if set != nil {
		u.Types.Chunks(c.own)
	}
	r.readNodes(u, in, nodes, elements)
	r.order(u, n)
	r.unsigned(u, in)
}

// findChunks finds the chunks of n nodes. It reports whether they are in order.
func (r *Reader) findChunks(n int) bool {
	c, table, keys, bodies := &r.chunk, &r.cols[colChunk], r.cols[colKey].b, r.cols[colNode].b
	c.chunks, c.places = c.chunks[:0], c.places[:0]
	first, names := 0, 0
	for ; table.left() > 0; keys = keys[8:] {
		count, elements, fresh, size := table.uint(), table.uint(), table.uint(), table.uint()
		if count > uint64(n-first) || size > uint64(len(bodies)) || elements > size || fresh > size || count == 0 || len(keys) < 8 {
			return false
		}
		c.chunks = append(c.chunks, dedup.Chunk{Key: binary.LittleEndian.Uint64(keys), First: uint32(first), Count: uint32(count)})
		c.places = append(c.places, chunkPlace{int(elements), names, column{b: bodies[:size:size]}})
		first, names, bodies = first+int(count), names+int(fresh), bodies[size:]
	}
	r.cols[colKey].p, r.cols[colNode].p = len(r.cols[colKey].b), len(r.cols[colNode].b)
	r.names.next = names
	if cap(c.nodes) < n {
		c.nodes, c.ids = make([]dedup.Ref, n+n/2), make([]uint32, n+n/2)
	}
	c.nodes, c.ids = c.nodes[:n], c.ids[:n]
	return first == n && len(bodies) == 0 && len(keys) == 0
}

// number gives each node its Ref. It returns how many nodes, and elements of nodes, are
// to be read.
func (r *Reader) number() (nodes, elements int) {
	c := &r.chunk
	c.own = c.own[:0]
	for i, k := range c.chunks {
		to := c.nodes[k.First:][:k.Count]
		if c.ids[k.First] != 0 {
			for j, id := range c.ids[k.First:][:k.Count] {
				to[j] = id | dedup.Extern
			}
			continue
		}
		k.First = uint32(nodes)
		c.own = append(c.own, k)
		for j := range to {
			nodes++
			to[j] = dedup.Ref(nodes)
		}
		elements += c.places[i].elements
	}
	return nodes, elements
}

// readNodes reads the nodes of chunks that are not known, n with m elements.
func (r *Reader) readNodes(u *unit.Unit, in *unit.Input, n, m int) {
	c := &r.chunk
	nodes := u.Types.Nodes.Extend(n)
	members := u.Types.Members.Extend(m)
	names := r.names.next
	for i, k := range c.chunks {
		if c.ids[k.First] != 0 {
			continue
		}
		p := &c.places[i]
		r.names.next = p.names
		left := len(members) - p.elements
		for j := range int(k.Count) {
			used := r.node(&p.body, in, int(k.First)+j, &nodes[j], members[:len(members)-left])
			if nodes[j].Info == 0 {
				r.bad = true
				return
			}
			if used != 0 {
				nodes[j].First = uint32(len(u.Types.Members.S) - len(members))
				members = members[used:]
			}
		}
		nodes = nodes[k.Count:]
		next := names
		if i+1 < len(c.places) {
			next = c.places[i+1].names
		}
		if p.body.bad || p.body.left() != 0 || len(members) != left || r.names.next != next {
			r.bad = true
			return
		}
	}
	r.names.next = names
}

// order reads the raw order of the n nodes.
func (r *Reader) order(u *unit.Unit, n int) {
	c := &r.cols[colOrder]
	order := u.Types.Order.Extend(len(u.Types.Nodes.S))[:0]
	words := (n + 63) / 64
	if cap(r.seen) < words {
		r.seen = make([]uint64, words)
	}
	seen := r.seen[:words]
	clear(seen)
	next := int64(0)
	for left := n; ; {
		run := c.uint()
		if next < 0 || next > int64(n) || run > uint64(left) || run > uint64(int64(n)-next) {
			r.bad = true
			return
		}
		for _, k := range r.chunk.nodes[next:][:run] {
			if seen[next>>6]>>(next&63)&1 != 0 {
				r.bad = true
				return
			}
			seen[next>>6] |= 1 << (next & 63)
			next++
			if k&dedup.Extern == 0 {
				order = append(order, k-1)
			}
		}
		if left -= int(run); left == 0 {
			return
		}
		next += c.step()
		r.bad = r.bad || c.bad
		if r.bad {
			return
		}
	}
}

// unsigned reads colUnsigned. It is of use only if the unit is read as a whole.
func (r *Reader) unsigned(u *unit.Unit, in *unit.Input) {
	c := &r.cols[colUnsigned]
	last := int64(0)
	for c.left() > 0 {
		last += c.step()
		if in.KeepSigns && in.Enum64 {
			if u.Unsigned == nil {
				u.Unsigned = make(map[uint32]bool)
			}
			u.Unsigned[uint32(last)] = true
		}
	}
}

// node reads node i from c to n and its elements to the first ones of ms. It returns how
// many these are. The Info of a node that is damaged is 0.
func (r *Reader) node(c *column, in *unit.Input, i int, n *dedup.Node, ms []dedup.Member) int {
	b := c.byte()
	kind, kflag, vlen := btf.Kind(b&kindMask), b&kindFlag != 0, 0
	if b&kindVlen != 0 {
		v := c.uint()
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
		n.Third = r.nodeRef(c, i)
	case btf.KindTypedef, btf.KindTypeTag:
		n.Name = r.nodeName(c)
		n.Third = r.nodeRef(c, i)
	case btf.KindArray:
		n.Third = r.nodeRef(c, i)
		n.Aux = c.uint32()
	case btf.KindInt, btf.KindFloat:
		r.base(c, in, n, kind)
		return 0
	case btf.KindFwd:
		n.Name = r.nodeName(c)
	case btf.KindStruct, btf.KindUnion:
		n.Name = r.nodeName(c)
		n.Third = c.uint32()
		r.members(c, i, ms, kflag)
		return vlen
	case btf.KindFuncProto:
		n.Third = r.nodeRef(c, i)
		for j := range ms {
			ms[j] = dedup.Member{Name: r.nodeName(c), Type: r.nodeRef(c, i)}
		}
		return vlen
	case btf.KindEnum, btf.KindEnum64:
		n.Name = r.nodeName(c)
		n.Third = c.uint32()
		r.values(c, ms, kind)
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

// nodeName reads a name from a chunk.
func (r *Reader) nodeName(c *column) dedup.Name { return r.names.name(c, c, c) }

// nodeRef reads a reference at node i from a chunk.
func (r *Reader) nodeRef(c *column, i int) dedup.Ref { return readRef(i, r.chunk.nodes, c, c, c) }

// base reads an INT or FLOAT.
func (r *Reader) base(c *column, in *unit.Input, n *dedup.Node, kind btf.Kind) {
	n.Name = r.nodeName(c)
	size := c.uint32()
	encoding := byte(0)
	if kind == btf.KindInt {
		encoding = c.byte()
	} else if in.Float {
		n.Third = size
		return
	}
	unit.SetInt(n, size, encoding, &in.Names)
}

// members reads members of struct or union i.
func (r *Reader) members(c *column, i int, ms []dedup.Member, kflag bool) {
	offset := int64(0)
	for j := range ms {
		name, typ := r.nodeName(c), r.nodeRef(c, i)
		offset += c.step()
		bit := uint32(offset) << 3
		if uint64(offset) > 1<<29-1 {
			c.bad = true
		}
		if kflag {
			v := c.uint32()
			if bit > 0xffffff {
				c.bad = true
			}
			bit = bit | v&7 | v>>3<<24
		}
		ms[j] = dedup.Member{Name: name, Type: typ, Val: bit}
	}
}

// values reads enumerators.
func (r *Reader) values(c *column, ms []dedup.Member, kind btf.Kind) {
	last := int64(-1)
	for j := range ms {
		name := r.nodeName(c)
		last += c.step() + 1
		ms[j] = dedup.Member{Name: name, Type: uint32(last)}
		if name == 0 {
			c.bad = true
		}
		if kind == btf.KindEnum64 {
			ms[j].Val = c.uint32()
		}
	}
}
