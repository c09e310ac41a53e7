package deduptest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/btflite/btflite/btf"
)

// Universes is how many random inputs a property test tries: whole in "make test", which
// sets BTFLITE_UNIVERSES=1, and a few otherwise. BTFLITE_UNIVERSES=N makes it N times whole.
func Universes(whole int) int {
	if n := times(); n > 0 {
		return n * whole
	}
	return max(whole/20, 6)
}

// Whole reports whether tests try all they have (see Universes).
func Whole() bool { return times() > 0 }

func times() int {
	n, _ := strconv.Atoi(os.Getenv("BTFLITE_UNIVERSES"))
	return n
}

// Universe makes random inputs that look as if compilers had written them: a
// set of named definitions, and compile units that each use some of them, know
// some by a forward declaration only, and repeat some.
type Universe struct {
	rng   *rand.Rand
	names []*named
	opt   Options
}

// Options are the settings of a Universe.
type Options struct {
	Names, Units int
	Ambiguous    bool // some names have two definitions
	Mixed        bool // forward and definition of a name side by side in one unit, anywhere
	Loops        bool // typedefs that lead back to themselves by pointers
}

// named is a struct, union, enumeration or typedef. variants holds its
// definitions: one, or more if the name is ambiguous.
type named struct {
	name     string
	kind     btf.Kind
	variants []*expr
}

// expr is a type as the source has it. arg holds what it refers to, fields the
// names that go with arg (of members or parameters) or of values.
type expr struct {
	kind   btf.Kind
	name   string
	kflag  bool
	num    uint32 // size, element count or data
	arg    []*expr
	fields []string
	to     *named // instead of all the others: a use of the name
}

// NewUniverse makes the Universe of a seed.
func NewUniverse(seed uint64, opt Options) *Universe {
	u := &Universe{rng: rand.New(rand.NewPCG(seed, 1)), opt: opt}
	kinds := []btf.Kind{btf.KindStruct, btf.KindStruct, btf.KindStruct, btf.KindUnion, btf.KindTypedef, btf.KindEnum, btf.KindEnum64}
	for i := range opt.Names {
		k := kinds[u.rng.IntN(len(kinds))]
		u.names = append(u.names, &named{name: fmt.Sprintf("%c%d", "?ipasueftvcrnovdFgGE"[k], i), kind: k})
	}
	for i, n := range u.names {
		count := 1
		if opt.Ambiguous && u.rng.IntN(5) < 2 {
			count = 2
		}
		for range count {
			n.variants = append(n.variants, u.definition(n, i))
		}
	}
	return u
}

// definition makes a definition of name number i. By value it may use only
// names with higher numbers.
func (u *Universe) definition(n *named, i int) *expr {
	e := &expr{kind: n.kind, name: n.name}
	switch n.kind {
	case btf.KindTypedef:
		e.arg = []*expr{u.expr(3, i+1)}
	case btf.KindEnum, btf.KindEnum64:
		u.values(e, n.name)
	default:
		u.fields(e, 3, i+1)
	}
	return e
}

func (u *Universe) values(e *expr, prefix string) {
	e.num, e.kflag = 4, u.rng.IntN(2) == 0
	if e.kind == btf.KindEnum64 {
		e.num = 8
	}
	for j := range 1 + u.rng.IntN(3) {
		e.fields = append(e.fields, fmt.Sprintf("%s_%d_%d", prefix, j, u.rng.IntN(2)))
	}
}

func (u *Universe) fields(e *expr, depth, above int) {
	e.kflag = u.rng.IntN(4) == 0
	for j := range u.rng.IntN(4) {
		f := fmt.Sprintf("m%d", j)
		if u.rng.IntN(8) == 0 {
			f = ""
		}
		e.fields = append(e.fields, f)
		e.arg = append(e.arg, u.expr(depth, above))
	}
	e.num = uint32(8 * len(e.arg))
}

// expr makes a type expression of bounded depth that uses, by value, only names
// from number above on.
func (u *Universe) expr(depth, above int) *expr {
	r := u.rng.IntN(24)
	if depth == 0 {
		r %= 7
	}
	one := func(k btf.Kind, above int) *expr {
		return &expr{kind: k, arg: []*expr{u.expr(depth-1, above)}}
	}
	switch {
	case r < 3:
		return &expr{kind: btf.KindInt, name: []string{"int", "char", "long"}[r], num: uint32(32 >> r)}
	case r < 4:
		return &expr{kind: btf.KindFloat, name: "double", num: 8}
	case r < 5 && above < len(u.names):
		return &expr{to: u.names[above+u.rng.IntN(len(u.names)-above)]}
	case r < 8:
		n := u.names[u.rng.IntN(len(u.names))]
		if n.kind == btf.KindTypedef && !u.opt.Loops {
			break
		}
		return &expr{kind: btf.KindPtr, arg: []*expr{{to: n}}}
	case r < 11:
		return one(btf.KindPtr, above)
	case r < 12:
		return one(btf.KindConst, above)
	case r < 13:
		return one(btf.KindVolatile, above)
	case r < 14:
		return &expr{kind: btf.KindPtr, arg: []*expr{one(btf.KindTypeTag, above).named("user")}}
	case r < 17:
		e := one(btf.KindArray, above)
		e.num = uint32(u.rng.IntN(3))
		return e
	case r < 20:
		e := one(btf.KindFuncProto, above)
		for j := range u.rng.IntN(3) {
			e.fields = append(e.fields, fmt.Sprintf("p%d", j))
			e.arg = append(e.arg, u.expr(depth-1, above))
		}
		return &expr{kind: btf.KindPtr, arg: []*expr{e}}
	case r < 21:
		e := &expr{kind: btf.KindEnum}
		u.values(e, "anon")
		return e
	case r < 22:
		return &expr{kind: btf.KindPtr, arg: []*expr{nil}}
	}
	e := &expr{kind: []btf.Kind{btf.KindStruct, btf.KindUnion}[u.rng.IntN(2)]}
	u.fields(e, max(depth-1, 0), above)
	return e
}

func (e *expr) named(name string) *expr { e.name = name; return e }

// use says which types of a name a unit has.
type use int

const (
	useDefinition use = iota
	useForward
	useMixed
)

// unit writes one compile unit, whose types are in random order.
type unit struct {
	u     *Universe
	nodes []node
	memo  map[*expr]int
	defs  map[*expr]int
	fwds  map[*named]int
	use   map[*named]use
	pick  map[*named]*expr

	behind, defined map[*named]bool // forward, definition of the name stands in types
}

// node is a record whose references are node numbers of the unit, 0 for void.
type node struct {
	name  string
	info  uint32
	third int
	refs  []int // ARRAY: element and index; elements' types
	extra []uint32
	strs  []string
	fixed bool // third is a number, not a reference
}

// Build writes all units and returns the input with the first id of each unit,
// and the end.
func (u *Universe) Build(t testing.TB, bigEndian bool) (*btf.Blob, []uint32) {
	t.Helper()
	b := btf.NewBuilder(bigEndian, nil)
	next := uint32(1)
	cus := []uint32{1}
	for range u.opt.Units {
		use, pick := map[*named]use{}, map[*named]*expr{}
		for _, n := range u.names {
			switch r := u.rng.IntN(10); {
			case r < 5:
				use[n] = useForward
			case r < 6 && u.opt.Mixed:
				use[n] = useMixed
			}
			pick[n] = n.variants[u.rng.IntN(len(n.variants))]
		}
		c := newUnit(u, use, pick)
		for !c.fill() {
			c = newUnit(u, use, pick)
		}
		next = c.write(b, next)
		cus = append(cus, next)
	}
	blob, err := b.Blob()
	if err != nil {
		t.Fatal(err)
	}
	return blob, cus
}

func newUnit(u *Universe, use map[*named]use, pick map[*named]*expr) *unit {
	return &unit{u: u, nodes: make([]node, 1), memo: map[*expr]int{}, defs: map[*expr]int{}, fwds: map[*named]int{},
		behind: map[*named]bool{}, defined: map[*named]bool{}, use: use, pick: pick}
}

// fill adds what the unit declares. It reports whether it came out well: where
// the forward of a name that turns out to be defined stands in types, it
// changes the use of the name and asks for another try. A compiler would use
// the definition in both places; libbpf, which knows one partner for each type
// only, keeps such types apart.
func (c *unit) fill() bool {
	rng := c.u.rng
	for range 1 + rng.IntN(len(c.u.names)) {
		n := c.u.names[rng.IntN(len(c.u.names))]
		switch rng.IntN(6) {
		case 0: // a forward that no struct uses, perhaps next to the definition
			if f := c.forward(n); f != 0 {
				p := c.add(node{info: btf.Info(btf.KindPtr, 0, false), third: f})
				q := c.add(node{info: btf.Info(btf.KindFuncProto, 1, false), refs: []int{p}, strs: []string{"arg"}})
				c.add(node{name: "f_" + n.name, info: btf.Info(btf.KindFunc, 1, false), third: q})
			}
		case 1:
			d := c.emit(&expr{to: n}, false)
			v := c.add(node{name: "v_" + n.name, info: btf.Info(btf.KindVar, 0, false), third: d, extra: []uint32{1}})
			if rng.IntN(2) == 0 {
				c.add(node{name: ".data", info: btf.Info(btf.KindDatasec, 1, false), third: 4096 + rng.IntN(9), refs: []int{v}, extra: []uint32{8, 16}, fixed: true})
			}
		case 2:
			d := c.emit(&expr{to: n}, false)
			c.add(node{name: "tag", info: btf.Info(btf.KindDeclTag, 0, false), third: d, extra: []uint32{uint32(rng.IntN(2)) - 1}})
		default:
			c.emit(&expr{to: n}, false)
			if rng.IntN(4) == 0 {
				c.defs, c.memo = map[*expr]int{}, map[*expr]int{}
			}
		}
	}
	well := true
	for n := range c.defined {
		if c.behind[n] && c.use[n] == useForward {
			c.use[n] = useDefinition
			well = false
		}
	}
	return well
}

func (c *unit) add(n node) int {
	c.nodes = append(c.nodes, n)
	return len(c.nodes) - 1
}

// forward is a forward declaration of n, or 0 if it has none.
func (c *unit) forward(n *named) int {
	if i := c.fwds[n]; i != 0 {
		return i
	}
	i := 0
	switch n.kind {
	case btf.KindStruct, btf.KindUnion:
		i = c.add(node{name: n.name, info: btf.Info(btf.KindFwd, 0, n.kind == btf.KindUnion), fixed: true})
	case btf.KindEnum, btf.KindEnum64:
		i = c.add(node{name: n.name, info: btf.Info(n.kind, 0, false), third: 4, fixed: true})
	}
	c.fwds[n] = i
	return i
}

// emit adds e and the types that it needs, and returns its number. behind says that a
// pointer leads to it, so that a forward declaration suffices.
func (c *unit) emit(e *expr, behind bool) int {
	if e == nil {
		return 0
	}
	if n := e.to; n != nil {
		how := c.use[n]
		if how == useMixed {
			how = use(c.u.rng.IntN(2))
		}
		if behind && how == useForward {
			if f := c.forward(n); f != 0 {
				c.behind[n] = true
				return f
			}
		}
		c.defined[n] = true
		return c.emit(c.pick[n], false)
	}
	memo := c.memo
	if e.name != "" && e.kind != btf.KindTypeTag {
		memo = c.defs
	}
	if i, ok := memo[e]; ok {
		return i
	}
	i := c.add(node{})
	memo[e] = i
	n := node{name: e.name, info: btf.Info(e.kind, 0, e.kflag)}
	switch e.kind {
	case btf.KindInt:
		n.third, n.fixed, n.extra = int(e.num/8), true, []uint32{e.num}
	case btf.KindFloat:
		n.third, n.fixed = int(e.num), true
	case btf.KindEnum, btf.KindEnum64:
		n.info = btf.Info(e.kind, uint32(len(e.fields)), e.kflag)
		n.third, n.fixed, n.strs = int(e.num), true, e.fields
		for j := range e.fields {
			n.extra = append(n.extra, uint32(j))
			if e.kind == btf.KindEnum64 {
				n.extra = append(n.extra, 1)
			}
		}
	case btf.KindArray:
		index := &expr{kind: btf.KindInt, name: "int", num: 32}
		n.refs, n.extra = []int{c.emit(e.arg[0], false), c.emit(index, false)}, []uint32{e.num}
	case btf.KindStruct, btf.KindUnion:
		n.info = btf.Info(e.kind, uint32(len(e.fields)), e.kflag)
		n.third, n.fixed, n.strs = int(e.num), true, e.fields
		for j, a := range e.arg {
			n.refs = append(n.refs, c.emit(a, false))
			off := uint32(64 * j)
			if e.kflag {
				off |= uint32(j) << 24
			}
			n.extra = append(n.extra, off)
		}
	case btf.KindFuncProto:
		n.info = btf.Info(e.kind, uint32(len(e.fields)), false)
		n.third, n.strs = c.emit(e.arg[0], false), e.fields
		for _, a := range e.arg[1:] {
			n.refs = append(n.refs, c.emit(a, false))
		}
	case btf.KindTypeTag, btf.KindConst, btf.KindVolatile:
		n.third = c.emit(e.arg[0], behind)
	default:
		n.third = c.emit(e.arg[0], true)
	}
	c.nodes[i] = n
	return i
}

// write appends the nodes in random order, the first with id next.
func (c *unit) write(b *btf.Builder, next uint32) uint32 {
	order := c.u.rng.Perm(len(c.nodes) - 1)
	ids := make([]uint32, len(c.nodes))
	for at, i := range order {
		ids[i+1] = next + uint32(at)
	}
	for _, i := range order {
		n := &c.nodes[i+1]
		third := uint32(n.third)
		if !n.fixed {
			third = ids[n.third]
		}
		var words []uint32
		switch k := btf.InfoKind(n.info); k {
		case btf.KindArray:
			words = []uint32{ids[n.refs[0]], ids[n.refs[1]], n.extra[0]}
		case btf.KindDatasec:
			words = []uint32{ids[n.refs[0]], n.extra[0], n.extra[1]}
		case btf.KindStruct, btf.KindUnion:
			for j, s := range n.strs {
				words = append(words, b.Str(s), ids[n.refs[j]], n.extra[j])
			}
		case btf.KindFuncProto:
			for j, s := range n.strs {
				words = append(words, b.Str(s), ids[n.refs[j]])
			}
		case btf.KindEnum, btf.KindEnum64:
			per := len(n.extra) / max(len(n.strs), 1)
			for j, s := range n.strs {
				words = append(append(words, b.Str(s)), n.extra[per*j:per*(j+1)]...)
			}
		default:
			words = n.extra
		}
		b.Add(n.name, n.info, third, words...)
	}
	return next + uint32(len(order))
}

// FirstDifference is the first line in which two texts differ.
func FirstDifference(a, b string) string {
	x, y := bytes.Split([]byte(a), []byte("\n")), bytes.Split([]byte(b), []byte("\n"))
	for i := range min(len(x), len(y)) {
		if !bytes.Equal(x[i], y[i]) {
			return fmt.Sprintf("%q, %q", x[i], y[i])
		}
	}
	return fmt.Sprintf("%d, %d lines", len(x), len(y))
}
