package encode_test

import (
	"fmt"
	"math/rand/v2"

	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
)

// Random programs, for TestRandomUnits.

// randomProgram draws a file.
func randomProgram(seed uint64) dt.File {
	r := rand.New(rand.NewPCG(seed, 1))
	p := program{vary: []float64{0, 0.005, 0.02, 0.1}[r.IntN(4)]}
	p.steady = r.IntN(2) == 0
	p.twins = seed >= firstTwins && seed%2 == 0
	if seed >= firstEnums {
		p.other = []float64{0.02, 0.1, 0.4}[r.IntN(3)]
	}
	n := 10 + r.IntN(40)
	if p.alike = r.IntN(3) == 0; p.alike {
		n = 5 + r.IntN(6)
	}
	for i := range n {
		kind := r.IntN(kinds)
		if p.alike {
			kind = []int{aPointer, aStruct, aStruct, aTypedef, aConst}[r.IntN(5)]
		}
		if p.other > 0 && r.IntN(4) == 0 {
			kind = anEnum
		}
		p.types = append(p.types, drawn{kind: kind, seed: r.Uint64(), name: fmt.Sprintf("t%d", i)})
	}
	f := dt.File{Symbols: funcs(), Sections: []dt.Section{dt.Percpu()}, BigEndian: seed%4 == 3}
	for range 6 + r.IntN(24) {
		f.Units = append(f.Units, p.unit(r))
	}
	return f
}

// firstTwins is the seed from which on every other program has twins. Seeds below make the programs
// that they made when they found a fault.
const firstTwins = 1 << 20

// firstEnums is the seed from which on units declare enumerations, and define them in other ways.
const firstEnums = 1 << 24

// program is the list of types from which the units of a file draw.
type program struct {
	types  []drawn
	vary   float64 // how often a unit changes something
	alike  bool    // few types of few shapes: a unit often has a type where another one was in the last unit
	twins  bool    // units have types that differ only in what they lead to
	other  float64 // how often a unit has another enumeration of the same name, or declares it
	steady bool    // all units have their types in the same order, as compilers do
}

// drawn is a type of the list. The seed decides what it looks like.
type drawn struct {
	kind int
	seed uint64
	name string
}

// Kinds of drawn types.
const (
	aBase = iota
	aPointer
	aConst
	aTypedef
	aStruct
	aUnion
	anUnnamed
	aProto
	anArray
	anEnum
	anUnnamedEnum
	aForward
	kinds
)

// maker makes the DIEs of one unit.
type maker struct {
	*program
	r    *rand.Rand // differs between units
	dies []*dt.DIE  // by type, nil if it is not there yet
	all  []any
	open int // how deep die is inside itself
}

// unit draws a unit: it has some of the types, in any order.
func (p *program) unit(r *rand.Rand) *dt.Unit {
	m := maker{program: p, r: r, dies: make([]*dt.DIE, len(p.types))}
	for k := range 1 + r.IntN(len(p.types)) {
		if !p.steady {
			k = r.IntN(len(p.types))
		}
		m.die(k)
	}
	if !p.steady && (p.alike || r.IntN(3) == 0) {
		r.Shuffle(len(m.all), func(i, j int) { m.all[i], m.all[j] = m.all[j], m.all[i] })
	}
	if p.twins {
		m.twins(rand.New(rand.NewPCG(uint64(r.IntN(1<<30)), 3)))
	}
	m.all = append(m.all, function("f", fn1, m.any(), param("x", m.any(), 5)))
	u := dt.CU(m.all...)
	if r.IntN(4) == 0 {
		u.Version = 4
	}
	if r.IntN(4) == 0 {
		u.StrForm = dt.FormString
	}
	return u
}

// twins adds types that look the same but for what they lead to: structs without a name, and typedefs
// of one name. What they lead to is often left out, or a declaration, or itself a twin.
func (m *maker) twins(r *rand.Rand) {
	label := fmt.Sprintf("twin%d", r.IntN(8))
	for range 2 + r.IntN(3) {
		to := m.any()
		for range r.IntN(3) {
			switch r.IntN(4) {
			case 0:
				to = array(to, 2)
			case 1:
				to = typedef(label, to)
			case 2:
				to = composite(dt.TagStructureType, "", 8, member(label, to, 0))
			default:
				to = ptr(to)
			}
			m.all = append(m.all, to)
		}
		m.all = append(m.all, composite(dt.TagStructureType, "", 16, member(label, to, 0), member("b", m.any(), 8)))
	}
}

// any is a DIE that the unit has, or nil.
func (m *maker) any() *dt.DIE { return m.dies[m.r.IntN(len(m.dies))] }

// die returns the DIE of type i, and makes it if the unit does not have it yet.
func (m *maker) die(i int) *dt.DIE {
	if m.dies[i] != nil {
		return m.dies[i]
	}
	t := m.types[i]
	if m.open > 12 {
		t.kind = aForward
	}
	m.open++
	defer func() { m.open-- }()
	d := dt.N(0)
	m.dies[i] = d
	early := m.r.IntN(2) == 0 // before the types that it refers to
	if m.steady {
		early = t.seed%2 == 0
	}
	if early {
		m.all = append(m.all, d)
	}
	*d = *m.draw(t, i, rand.New(rand.NewPCG(t.seed, 2)))
	if !early {
		m.all = append(m.all, d)
	}
	return d
}

// number is a base type. The unit may have it several times.
func (m *maker) number(encoding int) *dt.DIE {
	d := base("int", 4, encoding)
	m.all = append(m.all, d)
	return d
}

// changed is true where this unit differs from the others.
func (m *maker) changed() bool { return m.r.Float64() < m.vary }

// draw makes the DIE of type i. All that units agree about comes from r. Only named structs and
// unions refer to later types, because BTF allows no other loops; a few units do it anyway.
func (m *maker) draw(t drawn, i int, r *rand.Rand) *dt.DIE {
	to := func() *dt.DIE {
		below := len(m.types)
		if t.kind != aStruct && t.kind != aUnion && m.r.IntN(1500) != 0 {
			below = i
		}
		k, other := r.Uint64(), m.r.Uint64()
		if m.changed() {
			k = other
		}
		switch {
		case k%16 == 0:
			return nil // void
		case below == 0:
			return m.number(ateSigned)
		}
		return m.die(int(k % uint64(below)))
	}
	name := t.name
	switch t.kind {
	case aPointer:
		return ptr(to())
	case aConst:
		return ref([]int{dt.TagConstType, dt.TagVolatileType}[r.IntN(2)], "", to())
	case aTypedef:
		return typedef(name, to())
	case anUnnamed:
		name = ""
		fallthrough
	case aStruct, aUnion:
		return m.composite(t.kind, name, r, to)
	case aProto:
		d := ref(dt.TagSubroutineType, "", to())
		for range r.IntN(4) {
			d.Add(ref(dt.TagFormalParameter, "", to()))
		}
		if r.IntN(5) == 0 {
			d.Add(dt.N(dt.TagUnspecifiedParams))
		}
		return d
	case anArray:
		return array(to(), []int{1 + r.IntN(9), 2, 3}[:1+r.IntN(3)]...)
	case anUnnamedEnum:
		name = ""
		fallthrough
	case anEnum:
		return m.enum(t, name, r)
	case aForward:
		return forward(dt.TagStructureType, name)
	}
	return base("b"+name, 1<<r.IntN(4), []int{ateSigned, ateUnsigned, ateBool, ateFloat}[r.IntN(4)])
}

// enum makes an enumeration.
func (m *maker) enum(t drawn, name string, r *rand.Rand) *dt.DIE {
	if name != "" && m.other > 0 && t.seed%4 == 0 {
		name = fmt.Sprintf("enum%d", t.seed>>8%3) // several types of the list have this name
	}
	if m.other > 0 && m.r.Float64() < m.other {
		return m.otherEnum(t, name)
	}
	d := enum(name, 4)
	if r.IntN(4) == 0 {
		sign := ateSigned
		if r.IntN(2) == 0 != m.changed() {
			sign = ateUnsigned
		}
		d = enum(name, 8, dt.Type(m.number(sign)))
	}
	low := int64(r.IntN(2) * -3)
	if m.changed() {
		low--
	}
	for k := range 1 + r.IntN(4) {
		d.Add(value(fmt.Sprintf("%s_%d", t.name, k), low+int64(k)))
	}
	if last := int64(-1); r.IntN(3) == 0 {
		if m.changed() {
			last = 1<<32 - 1 // the same four bytes
		}
		d.Add(value(t.name+"_last", last))
	}
	return d
}

// otherEnum makes an enumeration in place of the one that all units agree about: a declaration, or
// one with another size and other values.
func (m *maker) otherEnum(t drawn, name string) *dt.DIE {
	size := []int{1, 2, 4, 8}[m.r.IntN(4)]
	d := forward(dt.TagEnumerationType, name)
	how := m.r.IntN(5)
	if name == "" {
		how = 4 // no language declares an enumeration without a name
	}
	switch how {
	case 0, 1:
	case 2:
		d.Add(dt.Size(size))
	case 3: // as C23 and C++ declare it
		d.Add(dt.Size(size), dt.Type(m.number(ateSigned)))
	default:
		return enum(name, size, value(t.name+"_0", int64(m.r.IntN(2))))
	}
	return d
}

// composite makes a struct or union.
func (m *maker) composite(kind int, name string, r *rand.Rand, to func() *dt.DIE) *dt.DIE {
	tag := dt.TagStructureType
	if kind == aUnion {
		tag = dt.TagUnionType
	}
	if name != "" && m.changed() {
		return forward(tag, name)
	}
	size := 64
	if m.changed() {
		size += 8
	}
	d := composite(tag, name, size)
	for k := range r.IntN(6) {
		at := 8 * k
		if kind == aUnion {
			at = 0
		}
		if m.changed() && kind != aUnion {
			at++
		}
		label := []string{"a", "member", "m", ""}[r.IntN(4)]
		if m.alike && !m.changed() {
			label = "a"
		}
		switch {
		case kind != aUnion && r.IntN(6) == 0:
			d.Add(ref(dt.TagMember, label, to(), dt.BitAt(8*at+r.IntN(3)), dt.BitSize(1+r.IntN(5))))
		case r.IntN(12) == 0:
			d.Add(ref(dt.TagMember, label, to(), dt.Count(1), dt.MemberAt(at)))
		default:
			d.Add(member(label, to(), at))
		}
	}
	return d
}
