package diff

import (
	"cmp"
	"maps"
	"slices"

	"github.com/btflite/btflite/arena"
)

// leftover has the contents of one name that only one side has, or of all nameless types
// of one part: types, or for variables indexes in side.vars.
type leftover struct {
	group uint32
	own   bool // not all is of a base
	reps  [2][]uint32
}

// leftovers are the groups that differ, in the order of the report.
func (c *comparison) leftovers() []leftover {
	byGroup := map[uint32]*leftover{}
	at := func(g uint32) *leftover {
		l := byGroup[g]
		if l == nil {
			l = &leftover{group: g}
			byGroup[g] = l
		}
		return l
	}
	for i := range c.table.nodes {
		n := &c.table.nodes[i]
		if n.flags&isCompared == 0 || n.flags&(inA|inB) == inA|inB {
			continue
		}
		content := c.table.content(uint32(i))
		side := n.flags >> 1 & 1 // inA or inB
		l := at(c.groups.intern(kindPart[content[0]&0xff], content[1]))
		l.reps[side] = append(l.reps[side], n.rep)
		l.own = l.own || n.flags&(ownA|ownB) != 0
	}
	for i := range c.groups.list {
		if g := &c.groups.list[i]; !c.filter.abi && g.defined == 0 && (g.declared == inA || g.declared == inB) {
			at(uint32(i)).own = g.own != 0
		}
	}
	list := arena.Make[leftover](len(byGroup))[:0]
	for l := range maps.Values(byGroup) {
		if l.own {
			list = append(list, *l)
		}
	}
	slices.SortFunc(list, func(x, y leftover) int {
		g, h := &c.groups.list[x.group], &c.groups.list[y.group]
		return cmp.Or(cmp.Compare(g.rank(), h.rank()), cmp.Compare(g.part, h.part), c.names.compare(g.name, h.name))
	})
	return list
}

// report hands on what differs.
func (c *comparison) report(report func(*Difference) error) error {
	for _, l := range c.leftovers() {
		if err := c.reportGroup(&l, report); err != nil {
			return err
		}
	}
	return nil
}

// reportGroup hands on what differs in one group.
func (c *comparison) reportGroup(l *leftover, report func(*Difference) error) (err error) {
	g := &c.groups.list[l.group]
	whole := Difference{Part: partNames[g.part], Name: c.names.text(g.name)}
	if g.name != 0 && max(g.count[0], g.count[1]) > 1 {
		whole.Definitions = []int{int(g.count[0]), int(g.count[1])}
	}
	forward := g.declared &^ g.defined
	add := func(change Change, details details) {
		d := whole
		d.Change, d.Details = change, details
		if err == nil {
			err = report(&d)
		}
	}
	for i, s := range c.sides {
		c.sort(s, g.part, l.reps[i])
	}
	a, b := l.reps[0], l.reps[1]
	switch {
	case g.defined == 0 && g.declared == inA:
		add(Removed, details{{Part: "defined", Change: Removed, Before: false}})
	case g.defined == 0:
		add(Added, details{{Part: "defined", Change: Added, After: false}})
	case forward == inA && len(b) > 0:
		add(Defined, c.properties(1, g.part, b[0]))
	case forward == inB && len(a) > 0:
		add(Declared, c.properties(0, g.part, a[0]))
	default:
		for _, p := range c.pairs(g, a, b) {
			switch {
			case p[1] < 0:
				add(Removed, c.properties(0, g.part, a[p[0]]))
			case p[0] < 0:
				add(Added, c.properties(1, g.part, b[p[1]]))
			default:
				d := c.explain(g.part, a[p[0]], b[p[1]])
				change := Changed
				if g.part == partVariable && len(d) == 1 && d[0].Part == "offset" {
					change = Moved
				}
				add(change, d)
			}
		}
	}
	return err
}

// sort puts definitions in an order that depends on what they say.
func (c *comparison) sort(s *side, p part, reps []uint32) {
	if len(reps) < 2 {
		return
	}
	type keyed struct {
		key string
		rep uint32
	}
	list := make([]keyed, len(reps))
	for i, rep := range reps {
		list[i] = keyed{s.sortKey(p, rep), rep}
	}
	slices.SortFunc(list, func(x, y keyed) int { return cmp.Compare(x.key, y.key) })
	for i := range list {
		reps[i] = list[i].rep
	}
}

// pairs says which of a became which of b, by index; -1 stands for none. If
// there is one of each, with a name, they are a pair. Of more, those are that
// have most members, values or parameters in common, and then, of those with a
// name, the next in their order. Structs and unions without a name that nothing
// uses have too little to be known by.
func (c *comparison) pairs(g *group, a, b []uint32) [][2]int {
	partner := make([]int, len(a)) // in b, or -1
	for i := range partner {
		partner[i] = -1
	}
	taken := make([]bool, len(b))
	switch {
	case g.name == 0 && g.part != partEnum, g.part == partVariable:
	case g.name == 0 || len(a) > 1 || len(b) > 1:
		for _, p := range match(c.featuresOf(0, a), c.featuresOf(1, b)) {
			partner[p[0]], taken[p[1]] = p[1], true
		}
	}
	if g.name != 0 {
		next := 0
		for i := range partner {
			for next < len(b) && taken[next] {
				next++
			}
			if partner[i] < 0 && next < len(b) {
				partner[i], taken[next] = next, true
			}
		}
	}
	var list [][2]int
	for i, j := range partner {
		list = append(list, [2]int{i, j})
	}
	for j := range b {
		if !taken[j] {
			list = append(list, [2]int{-1, j})
		}
	}
	return list
}

func (c *comparison) featuresOf(i int, ids []uint32) [][]feature {
	var list [][]feature
	for _, id := range ids {
		list = append(list, c.sides[i].features(id))
	}
	return list
}

// feature is something that pairs are found by: the number of a name, alone or
// with the id of its type or its value in the upper half.
type feature uint64

// maxOwners bounds how many of a are looked at for one feature.
const maxOwners = 8

// match pairs lists of features that have some in common, those with most
// first; each is in one pair at most.
func match(a, b [][]feature) [][2]int {
	owners := map[feature][]int{}
	for i, list := range a {
		for _, f := range list {
			if o := owners[f]; len(o) < maxOwners && (len(o) == 0 || o[len(o)-1] != i) {
				owners[f] = append(o, i)
			}
		}
	}
	type candidate struct{ shared, i, j int }
	var candidates []candidate
	for j, list := range b {
		shared := map[int]int{}
		for _, f := range list {
			for _, i := range owners[f] {
				shared[i]++
			}
		}
		for i, n := range shared {
			candidates = append(candidates, candidate{n, i, j})
		}
	}
	slices.SortFunc(candidates, func(x, y candidate) int {
		return cmp.Or(cmp.Compare(y.shared, x.shared), cmp.Compare(x.i, y.i), cmp.Compare(x.j, y.j))
	})
	var pairs [][2]int
	takenA, takenB := make([]bool, len(a)), make([]bool, len(b))
	for _, c := range candidates {
		if !takenA[c.i] && !takenB[c.j] {
			takenA[c.i], takenB[c.j] = true, true
			pairs = append(pairs, [2]int{c.i, c.j})
		}
	}
	return pairs
}
