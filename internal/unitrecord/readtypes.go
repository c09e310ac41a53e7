package unitrecord

import (
	"encoding/binary"
	"slices"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/unit"
)

// types reads the n nodes of a unit into u, except for chunks that set knows. A nil set
// knows none.
func (r *Reader) types(u *unit.Unit, in *unit.Input, n int, set *dedup.Set) {
	if !r.findChunks(n) {
		r.bad = true
		return
	}
	c := &r.chunk
	if set != nil {
		set.LookUpChunks(&u.Types, c.chunks, r.refs.nodes)
	} else {
		clear(r.refs.nodes)
	}
	nodes := r.number()
	if set != nil {
		u.Types.Chunks(c.own)
	}
	r.refs.begin(&r.cols[colCommon])
	r.readBlocks(u, in, u.Types.Nodes.Extend(nodes))
	if r.bad {
		return
	}
	r.nodeOrder(u)
	r.unsigned(u, in)
}

// nodeOrder reads the order of all nodes, and adds the nodes that the unit has. It goes by
// chunks, because the unit lacks most nodes.
func (r *Reader) nodeOrder(u *unit.Unit) {
	c := &r.chunk
	for _, t := range r.order(colOrder, len(r.refs.nodes)) {
		k, _ := slices.BinarySearch(c.from, t.from+1)
		for k = max(k-1, 0); k < len(c.own) && c.from[k] < t.from+t.n; k++ {
			from := max(t.from, c.from[k])
			for at := from; at < min(t.from+t.n, c.from[k]+c.own[k].Count); at++ {
				u.Types.Order.Append(c.own[k].First + at - c.from[k])
			}
		}
	}
}

// findChunks finds the chunks of n nodes. It reports whether they are valid.
func (r *Reader) findChunks(n int) bool {
	c, table, keys := &r.chunk, &r.cols[colChunk], r.cols[colKey].b
	c.chunks = c.chunks[:0]
	first := 0
	for ; table.left() > 0 && len(keys) >= 8; keys = keys[8:] {
		count := table.uint()
		if count > uint64(n-first) || count == 0 {
			return false
		}
		c.chunks = append(c.chunks, dedup.Chunk{Key: binary.LittleEndian.Uint64(keys), First: uint32(first), Count: uint32(count)})
		first += int(count)
	}
	r.cols[colKey].p = len(r.cols[colKey].b)
	if cap(r.refs.nodes) < n {
		r.refs.nodes = make([]dedup.Ref, n+n/2)
	}
	r.refs.nodes = r.refs.nodes[:n]
	return first == n && len(keys) == 0
}

// number gives each node that is not known its Ref. It returns the number of such nodes.
func (r *Reader) number() (nodes int) {
	c := &r.chunk
	c.own, c.from = c.own[:0], c.from[:0]
	for _, k := range c.chunks {
		if r.refs.nodes[k.First] != 0 {
			continue
		}
		to := r.refs.nodes[k.First:][:k.Count]
		c.from = append(c.from, k.First)
		k.First = uint32(nodes)
		c.own = append(c.own, k)
		for j := range to {
			nodes++
			to[j] = dedup.Ref(nodes)
		}
	}
	return nodes
}

// readBlocks reads the nodes of chunks that are not known.
func (r *Reader) readBlocks(u *unit.Unit, in *unit.Input, nodes []dedup.Node) {
	c, table := &r.chunk, &r.cols[colBlock]
	chunks, blocks, names := c.chunks, c.blocks, 0
	for table.left() > 0 {
		count, fresh, size := table.uint(), table.uint(), table.uint()
		if count > uint64(len(chunks)) || fresh > uint64(len(r.names.known)-names) || size > uint64(len(blocks)) {
			r.bad = true
			return
		}
		if r.unread(chunks[:count]) {
			body, ok := sealed(blocks[:size:size])
			if r.bad = !ok; r.bad {
				return
			}
			r.names.next = names
			nodes = r.readBlock(u, in, column{b: body}, chunks[:count], nodes, int(fresh))
			if r.bad {
				return
			}
		}
		chunks, blocks, names = chunks[count:], blocks[size:], names+int(fresh)
	}
	r.names.next = names
	r.bad = len(chunks) != 0 || len(blocks) != 0
}

// unread reports whether one of the chunks is not known.
func (r *Reader) unread(chunks []dedup.Chunk) bool {
	for _, k := range chunks {
		if r.refs.nodes[k.First]&dedup.Extern == 0 {
			return true
		}
	}
	return false
}

// readBlock reads the nodes of one block, except for chunks that are known. fresh is how many
// new names the block has. It returns the rest of nodes, for the next block.
func (r *Reader) readBlock(u *unit.Unit, in *unit.Input, b column, chunks []dedup.Chunk, nodes []dedup.Node, fresh int) []dedup.Node {
	c := &r.chunk
	c.places = c.places[:0]
	first := r.names.next
	for _, k := range chunks {
		elements, names, bytes := b.count(&b), b.count(&b), b.count(&b)
		if r.refs.nodes[k.First]&dedup.Extern == 0 {
			r.names.want(first, names)
		}
		c.places = append(c.places, chunkPlace{elements, names, bytes})
		first, fresh = first+names, fresh-names
	}
	r.names.askAll()
	first = r.names.next
	for i, k := range chunks {
		p := &c.places[i]
		if p.bytes > b.left() {
			r.bad = true
			return nil
		}
		body := column{b: b.b[b.p : b.p+p.bytes : b.p+p.bytes]}
		b.p += p.bytes
		r.names.next = first
		first += p.names
		if r.refs.nodes[k.First]&dedup.Extern != 0 {
			continue
		}
		if p.elements > p.bytes || !r.readChunk(u, in, &body, k, nodes[:k.Count], p.elements) || r.names.next != first {
			r.bad = true
			return nil
		}
		nodes = nodes[k.Count:]
	}
	r.bad = b.bad || b.left() != 0 || fresh != 0
	return nodes
}

// readChunk reads the nodes of a chunk, which have so many elements. It reports whether they
// are valid.
func (r *Reader) readChunk(u *unit.Unit, in *unit.Input, body *column, k dedup.Chunk, nodes []dedup.Node, elements int) bool {
	first := len(u.Types.Members.S)
	members := u.Types.Members.Extend(elements)
	for j := range nodes {
		used := r.node(body, in, u.ArrayIndex, int(k.First)+j, &nodes[j], members)
		if nodes[j].Info == 0 {
			return false
		}
		if used != 0 {
			nodes[j].First = uint32(first)
			first, members = first+used, members[used:]
		}
	}
	return !body.bad && body.left() == 0 && len(members) == 0
}

// unsigned reads colUnsigned. The numbers are right only if no chunk was skipped.
func (r *Reader) unsigned(u *unit.Unit, in *unit.Input) {
	c := &r.cols[colUnsigned]
	last := int64(0)
	for c.left() > 0 {
		last += c.step()
		if in.Options.KeepSigns && in.Options.Enum64 {
			if u.Unsigned == nil {
				u.Unsigned = make(map[uint32]bool)
			}
			u.Unsigned[uint32(last)] = true
		}
	}
}

// node reads node i from c into n, and its elements into the first ones of ms. It returns
// the number of elements. For a damaged node n.Info is 0.
func (r *Reader) node(c *column, in *unit.Input, index uint32, i int, n *dedup.Node, ms []dedup.Member) int {
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
	fresh, nameless := b&kindFresh != 0, false
	if kind == btf.KindFuncProto {
		kflag, nameless = false, kflag
	}
	*n = dedup.Node{Info: btf.Info(kind, uint32(vlen), kflag)}
	ms = ms[:vlen]
	switch kind {
	case btf.KindPtr, btf.KindConst, btf.KindVolatile, btf.KindRestrict:
		n.Third = r.nodeRef(c, i)
	case btf.KindTypedef, btf.KindTypeTag:
		n.Name = r.nameOf(c, fresh)
		n.Third = r.nodeRef(c, i)
	case btf.KindArray:
		n.Third, n.First = r.nodeRef(c, i), index|dedup.Extern
		n.Aux = c.uint32()
	case btf.KindInt, btf.KindFloat:
		n.Name = r.nameOf(c, fresh)
		r.base(c, in, n, kind)
		return 0
	case btf.KindFwd:
		n.Name = r.nameOf(c, fresh)
	case btf.KindStruct, btf.KindUnion:
		n.Name = r.nameOf(c, fresh)
		n.Third = c.uint32()
		r.members(c, i, ms, kflag)
		return vlen
	case btf.KindFuncProto:
		n.Third = r.nodeRef(c, i)
		for j := range ms {
			ms[j] = dedup.Member{}
			if !nameless {
				ms[j].Name = r.nodeName(c)
			}
			ms[j].Type = r.nodeRef(c, i)
		}
		return vlen
	case btf.KindEnum, btf.KindEnum64:
		n.Name = r.nameOf(c, fresh)
		n.Third = c.uint32()
		r.values(c, ms, kind)
		if !in.Options.Enum64 {
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
func (r *Reader) nodeName(c *column) dedup.Name { return r.names.name(c) }

// nameOf is nodeName for a name that may be fresh by its flag.
func (r *Reader) nameOf(c *column, fresh bool) dedup.Name {
	if fresh {
		return r.names.fresh()
	}
	return r.names.name(c)
}

// part reads the name of a member or enumerator, and the step from the one before.
func (r *Reader) part(c *column) (name dedup.Name, step int64) {
	b := c.byte()
	if step = int64(b >> stepShift); step == stepFar {
		step = c.step()
	}
	switch b & partMask {
	case partNone:
	case partFresh:
		name = r.names.fresh()
	case partName:
		name = r.nodeName(c)
	default:
		c.bad = true
	}
	return name, step
}

// nodeRef reads a reference at node i from a chunk.
func (r *Reader) nodeRef(c *column, i int) dedup.Ref { return r.refs.read(c, i) }

// base reads an INT or FLOAT.
func (r *Reader) base(c *column, in *unit.Input, n *dedup.Node, kind btf.Kind) {
	size := c.uint32()
	encoding := byte(0)
	if kind == btf.KindInt {
		encoding = c.byte()
	} else if in.Options.Float {
		n.Third = size
		return
	}
	unit.SetInt(n, size, encoding, &in.File.Names)
}

// members reads members of struct or union i.
func (r *Reader) members(c *column, i int, ms []dedup.Member, kflag bool) {
	offset := int64(0)
	for j := range ms {
		name, step := r.part(c)
		typ := r.nodeRef(c, i)
		offset += step
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

func (r *Reader) values(c *column, ms []dedup.Member, kind btf.Kind) {
	last := int64(-1)
	for j := range ms {
		name, step := r.part(c)
		last += step + 1
		ms[j] = dedup.Member{Name: name, Type: uint32(last)}
		if name == 0 {
			c.bad = true
		}
		if kind == btf.KindEnum64 {
			ms[j].Val = c.uint32()
		}
	}
}
