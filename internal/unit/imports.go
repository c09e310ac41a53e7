package unit

import (
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/callconv"
)

// dwz moves what units share into partial units, which these import. pahole reads a partial
// unit where it is imported for the first time, and once more where it stands in the file.
// References lead to the last reading. Imports of other units count for nothing
// (pahole-behaviour 1.4.3). Here each unit is read once, and counts as pahole's last
// reading. The earlier reading is a copy that shares members and refers to the same
// types.

// span is a run of types and functions of a part between imports.
type span struct {
	part            int  // index in group.parts
	reading         int  // how often the part was read before
	last            bool // nothing of the part is read later
	order, orderEnd uint32
	funcs, funcsEnd uint32
}

// spans lists the runs that pahole reads, in its order. A part that pahole reads twice has the runs
// of both readings.
func (g *group) spans() []span {
	var out []span
	parts := g.parts.S
	type open struct {
		span
		next, end int // imports
	}
	imported := make([]bool, len(parts))
	var stack []open
	push := func(k int) {
		p := &parts[k]
		o := open{span: span{part: k, reading: int(p.readings), order: p.order, funcs: p.funcs}}
		o.next, o.end = int(p.imports), len(g.imports.S)
		if k+1 < len(parts) {
			o.end = int(parts[k+1].imports)
		}
		p.readings++
		stack = append(stack, o)
	}
	// Parts of the alternate file come first. They are behind the file's in parts.
	inFile := len(parts)
	for inFile > 0 && parts[inFile-1].alt {
		inFile--
	}
	for i := range parts {
		k := (i + inFile) % len(parts)
		push(k)
		for len(stack) > 0 {
			o := &stack[len(stack)-1]
			p := &parts[o.part]
			if o.next == o.end {
				o.orderEnd, o.funcsEnd = p.orderEnd, p.funcsEnd
				out = append(out, o.span)
				stack = stack[:len(stack)-1]
				continue
			}
			x := &g.imports.S[o.next]
			o.next++
			t, ok := g.partAt(x.target)
			if !ok || imported[t] || !parts[t].partial || parts[t].alt && !p.alt {
				continue
			}
			imported[t] = true
			o.orderEnd, o.funcsEnd = x.order, x.funcs
			out = append(out, o.span)
			o.order, o.funcs = x.order, x.funcs
			push(t)
		}
	}
	for i := range out {
		out[i].last = out[i].reading+1 == int(parts[out[i].part].readings)
	}
	return out
}

// expand puts the types and functions of the group into pahole's reading order, with
// copies of those that pahole reads twice. Types from index end of Types.Order on come from
// type units, and stay where they are.
func (r *Reader) expand(spans []span, end int) error {
	u := &r.Unit
	nodes := &u.Types.Nodes
	order := append([]uint32(nil), u.Types.Order.S...)
	funcOrder := append([]uint32(nil), u.FuncOrder.S...)
	u.Types.Order.Reset()
	u.FuncOrder.Reset()
	u.OwnFuncs = len(u.Funcs.S)
	u.FirstInt = 0
	var tags map[uint32][]Tag
	if len(u.Tags.S) > 0 {
		tags = make(map[uint32][]Tag)
		for _, t := range u.Tags.S {
			tags[t.Node] = append(tags[t.Node], t)
		}
	}
	stands := make(map[uint32]bool) // nodes that stand for a type of a type unit
	for _, s := range r.stubs {
		stands[s.node] = true
	}
	unencodable := make(map[uint32]bool)
	for _, i := range u.Unencodable.nodes {
		unencodable[i] = true
	}
	drops := u.Unencodable.Any() || len(stands) > 0
	for _, s := range spans {
		for _, i := range order[s.order:s.orderEnd] {
			n := nodes.S[i]
			if !s.last {
				if stands[i] {
					continue
				}
				k := uint32(len(nodes.S))
				if uint64(k) >= crossRef {
					return r.Cursor.UnitError("too many types in units that refer to each other")
				}
				if m := btf.InfoVlen(n.Info); m > 0 && drops {
					// Members are dropped from each copy, and their types renumbered.
					first := uint32(len(u.Types.Members.S))
					u.Types.Members.AppendSlice(append([]dedup.Member(nil), u.Types.Members.S[n.First:][:m]...))
					n.First = first
				}
				nodes.Append(n)
				for _, t := range tags[i] {
					u.Tags.Append(Tag{k, t.Value, t.Component})
				}
				if unencodable[i] {
					u.Unencodable.nodes = append(u.Unencodable.nodes, k)
				}
				if u.Unsigned[i] {
					u.Unsigned[k] = true
				}
				if u.InFunctions[i] {
					u.InFunctions[k] = true
				}
				i = k
			}
			if u.FirstInt == 0 && btf.InfoKind(n.Info) == btf.KindInt && r.In.File.Names.IsInt(n.Name) {
				u.FirstInt = i + 1
			}
			u.Types.Order.Append(i)
		}
		for _, i := range funcOrder[s.funcs:s.funcsEnd] {
			if !s.last {
				fn := u.Funcs.S[i]
				first := uint32(len(u.Params.S))
				u.Params.AppendSlice(append([]callconv.Param(nil), u.Params.S[fn.First:][:fn.N]...))
				fn.First = first
				format := callconv.FormatOf(u.Formats.S, i)
				i = uint32(len(u.Funcs.S))
				format.First = i
				u.Formats.Append(format) // a copy is in another unit than the function before it
				u.Funcs.Append(fn)
			}
			u.FuncOrder.Append(i)
		}
	}
	u.Types.Order.AppendSlice(order[end:])
	return nil
}
