package encode

import (
	"slices"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/callconv"
)

// What BTF has no kind for: references, pointers to members and atomic types,
// complex numbers. One such type must not cost the file its BTF
// (pahole gives up), so it is left out, and with it what cannot be said
// without it:
//
//	typedef, qualifier, array, prototype of it   left out too
//	pointer to it                                a pointer to void
//	member of it                                 left out: a gap, other offsets stay
//	function, variable of it                     left out
//
// All that is counted, by what it was for types, and Stats.LeftOut says it.

// refLeftOut is the Ref of a parameter or function whose type is left out.
const refLeftOut = dedup.Extern - 1

// Kinds of what goes with a type that is left out, in Stats.LeftOut.
const (
	leftTypes     = "types made of them"
	leftMembers   = "struct and union members"
	leftFunctions = "functions"
	leftVariables = "variables"
)

// leaveOut says that node i has no BTF kind; what is the sort of type.
func (u *unit) leaveOut(i uint32, what string) {
	u.left = append(u.left, i)
	u.countLeft(what, 1)
}

func (u *unit) countLeft(what string, n int) {
	if n == 0 {
		return
	}
	if u.leftOut == nil {
		u.leftOut = make(map[string]int)
	}
	u.leftOut[what] += n
}

// countLeftOut adds what was left out of a committed unit.
func (r *run) countLeftOut(u *unit) {
	for what, n := range u.leftOut {
		if r.stats.LeftOut == nil {
			r.stats.LeftOut = make(map[string]int)
		}
		r.stats.LeftOut[what] += n
	}
}

// needsTarget reports whether a node of kind k cannot be without the type that
// Third refers to.
func needsTarget(k btf.Kind) bool {
	switch k {
	case btf.KindConst, btf.KindVolatile, btf.KindRestrict, btf.KindTypedef, btf.KindTypeTag, btf.KindArray, btf.KindFuncProto:
		return true
	}
	return false
}

// dropLeftOut takes the types that are left out away from a linked unit, whose
// declaration tags are no types yet. Stubs go as well: references to them lead
// to what they stand for.
func (f *file) dropLeftOut(u *unit) {
	if len(u.left)+len(u.stubs) == 0 {
		return
	}
	bad := u.markLeftOut()
	nodes, all := u.types.Nodes.S, u.types.Members.S
	to := make([]dedup.Ref, len(nodes)+1)
	for i := range bad {
		if bad[i] {
			to[i+1] = refLeftOut
		}
	}
	u.countLeft(leftTypes, u.derived(bad))
	for _, s := range u.stubs {
		bad[s.node] = true // gone, but not what leads there
	}
	n := uint32(0)
	for i := range nodes {
		if !bad[i] {
			n++
			to[i+1] = n
		}
	}
	stands := u.standIns()
	for _, s := range u.stubs {
		r := s.ref
		for range maxStandIns {
			if next, ok := stands[r-1]; ok && r != 0 {
				r = next
			}
		}
		if to[s.node+1] != refLeftOut {
			to[s.node+1] = to[r]
		}
	}
	ref := func(r dedup.Ref) dedup.Ref {
		if r&dedup.Extern != 0 {
			return r
		}
		return to[r]
	}
	gone := map[uint32][]int32{} // by node: its members that are left out
	kept := nodes[:0]
	for i := range nodes {
		if bad[i] {
			continue
		}
		x := nodes[i]
		switch k := btf.InfoKind(x.Info); k {
		case btf.KindPtr:
			if x.Third = ref(x.Third); x.Third == refLeftOut {
				x.Third = 0
			}
		case btf.KindArray:
			x.Third, x.First = ref(x.Third), ref(x.First)
		case btf.KindFuncProto:
			x.Third = ref(x.Third)
			for j := range all[x.First:][:btf.InfoVlen(x.Info)] {
				m := &all[x.First+uint32(j)]
				m.Type = ref(m.Type)
			}
		case btf.KindStruct, btf.KindUnion:
			m := all[x.First:][:btf.InfoVlen(x.Info)]
			good := m[:0]
			for j := range m {
				if t := ref(m[j].Type); t != refLeftOut {
					good = append(good, dedup.Member{Name: m[j].Name, Type: t, Val: m[j].Val})
				} else {
					gone[uint32(i)] = append(gone[uint32(i)], int32(j))
				}
			}
			u.countLeft(leftMembers, len(m)-len(good))
			x.Info = btf.Info(k, uint32(len(good)), btf.InfoKflag(x.Info))
		default:
			if needsTarget(k) {
				x.Third = ref(x.Third)
			}
		}
		kept = append(kept, x)
	}
	u.types.Nodes.S = kept
	order := u.types.Order.S[:0]
	for _, i := range u.types.Order.S {
		if !bad[i] {
			order = append(order, to[i+1]-1)
		}
	}
	u.types.Order.S = order
	u.firstInt = ref(u.firstInt)
	for i := range u.funcs.S {
		u.funcs.S[i].Type = ref(u.funcs.S[i].Type)
	}
	for i := range u.params.S {
		u.params.S[i].Type = ref(u.params.S[i].Type)
	}
	vars := u.vars.S[:0]
	for _, v := range u.vars.S {
		if v.Type = ref(v.Type); v.Type != refLeftOut {
			vars = append(vars, v)
		}
	}
	u.countLeft(leftVariables, len(u.vars.S)-len(vars))
	u.vars.S = vars
	u.moveTags(to, gone)
}

// leftOutFunc reports whether a type of the function's prototype is left out.
func (u *unit) leftOutFunc(fn *callconv.Func) bool {
	for _, p := range u.params.S[fn.First:][:fn.N] {
		if p.Type == refLeftOut {
			return true
		}
	}
	return fn.Type == refLeftOut
}

// markLeftOut finds all types that cannot be without one that is left out.
func (u *unit) markLeftOut() []bool {
	nodes, all := u.types.Nodes.S, u.types.Members.S
	stands := u.standIns()
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
			if len(stands) > 0 {
				use(stands[uint32(i)], i)
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
	work := u.left
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

// maxStandIns bounds a chain of stubs that stand for each other; cycles exist in
// broken files only.
const maxStandIns = 64

// standIns is what each stub stands for, by node.
func (u *unit) standIns() map[uint32]dedup.Ref {
	stands := make(map[uint32]dedup.Ref, len(u.stubs))
	for _, s := range u.stubs {
		stands[s.node] = s.ref
	}
	return stands
}

// derived is how many types are left out because of others.
func (u *unit) derived(bad []bool) int {
	n := -len(u.left)
	for _, b := range bad {
		if b {
			n++
		}
	}
	for node := range u.standIns() {
		if bad[node] {
			n--
		}
	}
	return n
}

// moveTags renumbers the types of declaration tags and, where members are
// gone, theirs.
func (u *unit) moveTags(to []dedup.Ref, gone map[uint32][]int32) {
	kept := u.tags.S[:0]
	for _, t := range u.tags.S {
		lost := gone[t.Node]
		if to[t.Node+1] == refLeftOut || slices.Contains(lost, t.Component) {
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
	u.tags.S = kept
}
