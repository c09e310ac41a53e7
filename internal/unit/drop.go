package unit

import (
	"slices"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/internal/names"
)

// dropUnencodable removes the types that BTF has no kind for, and what cannot exist without
// them (unencodable.go), from a linked unit whose declaration tags are not types yet. It also
// removes stubs, and redirects references from a stub to its type. With forKernel, it treats
// misplaced void in the same way (voids.go).
func (u *Unit) dropUnencodable(names *names.Text, stubs stubs, forKernel bool) {
	u.Unencodable.voids = u.Unencodable.voids && forKernel
	if !u.Unencodable.Any() && len(stubs) == 0 {
		return
	}
	voids, targets := u.voidTypes(stubs), stubs.targets()
	d := dropper{u: u, names: names, voids: voids, removed: u.markUnencodable(voids, targets), lost: map[uint32][]int32{}}
	u.Unencodable.count(goneTypes, u.derived(d.removed, targets))
	d.renumber(stubs, targets)
	d.dropNodes()
	d.dropFromFuncs()
	d.dropVars()
	u.moveTags(d.to, d.lost)
	u.Unsigned, u.InFunctions = d.kept(u.Unsigned), d.kept(u.InFunctions)
}

// WithoutTypeTags makes the TYPE_TAGs of r's unit stubs for the types that they tag. So Settle removes
// them.
func WithoutTypeTags(r *Reader) {
	for i := range r.Unit.Types.Nodes.S {
		if n := &r.Unit.Types.Nodes.S[i]; btf.InfoKind(n.Info) == btf.KindTypeTag {
			r.stubs = append(r.stubs, stub{uint32(i), n.Third})
		}
	}
}

// dropper removes types from a unit.
type dropper struct {
	u       *Unit
	names   *names.Text
	voids   voidTypes
	removed []bool             // by node: its type is dropped, or it is a stub
	to      []dedup.Ref        // by Ref before: the Ref now, or Dropped
	lost    map[uint32][]int32 // by node before: the indexes of its members that are dropped
}

// renumber fills d.to, and marks the stubs as removed.
func (d *dropper) renumber(stubs stubs, targets map[uint32]dedup.Ref) {
	d.to = make([]dedup.Ref, len(d.removed)+1)
	for i := range d.removed {
		if d.removed[i] {
			d.to[i+1] = Dropped
		}
	}
	for _, s := range stubs {
		d.removed[s.node] = true // the types that refer to it stay
	}
	n := uint32(0)
	for i := range d.removed {
		if !d.removed[i] {
			n++
			d.to[i+1] = n
		}
	}
	for _, s := range stubs {
		typ := s.ref
		for range maxStubs {
			if next, ok := targets[typ-1]; ok && typ != 0 {
				typ = next
			}
		}
		if d.to[s.node+1] != Dropped {
			d.to[s.node+1] = d.to[typ]
		}
	}
}

// ref returns what a reference becomes: a Ref of the new numbering, or Dropped.
func (d *dropper) ref(r dedup.Ref) dedup.Ref {
	if r&dedup.Extern != 0 {
		return r
	}
	return d.to[r]
}

// dropNodes removes nodes, and members of types that are dropped, and renumbers references.
func (d *dropper) dropNodes() {
	u := d.u
	nodes := u.Types.Nodes.S
	kept := nodes[:0]
	for i := range nodes {
		if d.removed[i] {
			continue
		}
		x := nodes[i]
		switch k := btf.InfoKind(x.Info); k {
		case btf.KindPtr:
			if x.Third = d.ref(x.Third); x.Third == Dropped {
				x.Third = 0
			}
		case btf.KindArray:
			x.Third, x.First = d.ref(x.Third), d.ref(x.First)
		case btf.KindFuncProto:
			x.Third = d.ref(d.voids.result(x.Third))
			for j := range btf.InfoVlen(x.Info) {
				m := &u.Types.Members.S[x.First+j]
				m.Type = d.ref(m.Type)
			}
		case btf.KindStruct, btf.KindUnion:
			n := d.dropMembers(uint32(i))
			x.Info = btf.Info(k, n, btf.InfoKflag(x.Info))
		default:
			if needsTarget(k) {
				x.Third = d.ref(x.Third)
			}
		}
		kept = append(kept, x)
	}
	u.Types.Nodes.S = kept
	if len(d.lost) > 0 || len(kept) < len(d.removed) {
		u.Unencodable.countVoids()
	}
	order := u.Types.Order.S[:0]
	for _, i := range u.Types.Order.S {
		if !d.removed[i] {
			order = append(order, d.to[i+1]-1)
		}
	}
	u.Types.Order.S = order
	u.FirstInt = d.ref(u.FirstInt)
}

// dropMembers removes the members of struct or union i whose types are dropped or void. It
// returns how many members stay.
func (d *dropper) dropMembers(i uint32) uint32 {
	u := d.u
	x := u.Types.Nodes.S[i]
	m := u.Types.Members.S[x.First:][:btf.InfoVlen(x.Info)]
	good := m[:0]
	for j := range m {
		if t := d.ref(m[j].Type); t != Dropped && !d.voids.has(m[j].Type) {
			good = append(good, dedup.Member{Name: m[j].Name, Type: t, Val: m[j].Val})
		} else {
			d.lost[i] = append(d.lost[i], int32(j))
			u.Unencodable.member(d.names.Text(x.Name), d.names.Text(m[j].Name))
		}
	}
	u.Unencodable.count(goneMembers, len(m)-len(good))
	return uint32(len(good))
}

// dropFromFuncs renumbers the types of functions and parameters. Those that are dropped stay
// as Dropped: DropFunc asks for them.
func (d *dropper) dropFromFuncs() {
	u := d.u
	for i := range u.Funcs.S {
		u.Funcs.S[i].Type = d.ref(d.voids.result(u.Funcs.S[i].Type))
	}
	for i := range u.Params.S {
		p := &u.Params.S[i]
		if own := p.HasType || p.Origin == 0; own && d.voids.has(p.Type) {
			p.Type = Dropped
		} else {
			p.Type = d.ref(p.Type)
		}
	}
}

// dropVars removes the variables whose types are dropped.
func (d *dropper) dropVars() {
	u := d.u
	vars := u.Vars.S[:0]
	for _, v := range u.Vars.S {
		if v.Type = d.ref(v.Type); v.Type != Dropped {
			vars = append(vars, v)
		}
	}
	u.Unencodable.count(goneVariables, len(u.Vars.S)-len(vars))
	u.Vars.S = vars
}

// kept renumbers the nodes of a set, and leaves out those that are removed.
func (d *dropper) kept(set map[uint32]bool) map[uint32]bool {
	if set == nil {
		return nil
	}
	kept := make(map[uint32]bool, len(set))
	for i := range set {
		if !d.removed[i] {
			kept[d.to[i+1]-1] = true
		}
	}
	return kept
}

// DropFunc reports whether the function's prototype has a type that was dropped. If so,
// it counts the function as dropped too.
func (u *Unit) DropFunc(fn *callconv.Func) bool {
	if fn.Type != Dropped && !slices.ContainsFunc(u.Params.S[fn.First:][:fn.N], func(p callconv.Param) bool { return p.Type == Dropped }) {
		return false
	}
	u.Unencodable.count(goneFunctions, 1)
	u.Unencodable.countVoids()
	return true
}

// markUnencodable finds all types that cannot exist without an unencodable one.
func (u *Unit) markUnencodable(voids voidTypes, targets map[uint32]dedup.Ref) []bool {
	nodes, all := u.Types.Nodes.S, u.Types.Members.S
	// users lists the users of node i at first[i]:first[i+1].
	first := make([]uint32, len(nodes)+2)
	each := func(fn func(target, user uint32)) {
		use := func(r dedup.Ref, i int) {
			if r != 0 && r&dedup.Extern == 0 {
				fn(r-1, uint32(i))
			}
		}
		for i := range nodes {
			k := btf.InfoKind(nodes[i].Info)
			if needsTarget(k) {
				use(nodes[i].Third, i)
			}
			if len(targets) > 0 {
				use(targets[uint32(i)], i)
			}
			if k == btf.KindFuncProto {
				for _, m := range all[nodes[i].First:][:btf.InfoVlen(nodes[i].Info)] {
					use(m.Type, i)
				}
			}
		}
	}
	each(func(target, _ uint32) { first[target+2]++ })
	for i := 1; i < len(first); i++ {
		first[i] += first[i-1]
	}
	users := make([]uint32, first[len(first)-1])
	each(func(target, user uint32) {
		users[first[target+1]] = user
		first[target+1]++
	})
	bad := make([]bool, len(nodes))
	work := append(u.voidUsers(voids), u.Unencodable.nodes...)
	for _, i := range work {
		bad[i] = true
	}
	for len(work) > 0 {
		i := work[len(work)-1]
		work = work[:len(work)-1]
		for _, k := range users[first[i]:first[i+1]] {
			if !bad[k] {
				bad[k] = true
				work = append(work, k)
			}
		}
	}
	return bad
}

// maxStubs bounds a chain of stubs for stubs. Only damaged files have cycles of them.
const maxStubs = 64

// targets returns the type that each stub stands for, by node.
func (ss stubs) targets() map[uint32]dedup.Ref {
	targets := make(map[uint32]dedup.Ref, len(ss))
	for _, s := range ss {
		targets[s.node] = s.ref
	}
	return targets
}

// derived returns how many types are dropped because of others.
func (u *Unit) derived(bad []bool, targets map[uint32]dedup.Ref) int {
	n := -len(u.Unencodable.nodes)
	for _, b := range bad {
		if b {
			n++
		}
	}
	for node := range targets {
		if bad[node] {
			n--
		}
	}
	return n
}

// moveTags renumbers the types of declaration tags, and their member indexes where
// members are dropped. The arguments are fields of a dropper.
func (u *Unit) moveTags(to []dedup.Ref, lostMembers map[uint32][]int32) {
	kept := u.Tags.S[:0]
	for _, t := range u.Tags.S {
		lost := lostMembers[t.Node]
		if to[t.Node+1] == Dropped || slices.Contains(lost, t.Component) {
			continue
		}
		component := t.Component
		for _, k := range lost {
			if k < component {
				t.Component--
			}
		}
		t.Node = to[t.Node+1] - 1
		kept = append(kept, t)
	}
	u.Tags.S = kept
}
