package dwarf

// Plan describes one reader of DIEs: the class of each tag, the attributes that it reads
// in a class, and the value that each of them becomes. Compile turns abbreviations into
// tables by a plan. The numbers of values belong to the plan: two plans may use the same
// number for different attributes. Plans do not change once they are made.
type Plan struct {
	class  func(Tag) Class
	uses   [numClasses][denseAttrs]use // of attributes below denseAttrs
	beyond []beyond                    // of the others
	kinds  [numClasses][MaxValues]valueKind
}

// MaxValues is how many values a class can have: they are bits of Abbrev.Present.
const MaxValues = 32

// VSibling is the number of DW_AT_sibling in every plan.
const VSibling = MaxValues - 1

// denseAttrs is above the numbers of all attributes of DWARF 5. Those of vendors are larger.
const denseAttrs = 0x90

// use describes an attribute in a class: the value that it becomes, and the value's slot
// if it is direct; -1 for neither.
type use struct{ value, slot int8 }

var unused = use{-1, -1}

// beyond is the use of an attribute from denseAttrs on, by class.
type beyond struct {
	attr uint64
	uses [numClasses]use
}

// valueKind says which forms a slot can have: see Abbrevs.direct.
type valueKind uint8

const (
	aNumber valueKind = iota
	aName
	aReference
	aLocation
)

// attr says which value an attribute becomes.
type attr struct {
	at    uint64 // DW_AT_ number
	value int
	slot  int8 // of the value, in classes whose row has it in direct
	kind  valueKind
}

// row describes a class: the values that have a slot, and those that only Decode reads, as bits.
type row struct {
	class           Class
	direct, decoded uint32
}

// bit returns a mask with the bits of values.
func bit(vs ...int) (m uint32) {
	for _, v := range vs {
		m |= 1 << v
	}
	return m
}

// newPlan returns a plan that reads nothing.
func newPlan(class func(Tag) Class) *Plan {
	p := &Plan{class: class}
	for c := range p.uses {
		for at := range p.uses[c] {
			p.uses[c][at] = unused
		}
	}
	return p
}

// add makes the plan read the values of rows from the attributes attrs. It returns the plan.
func (p *Plan) add(attrs []attr, rows ...row) *Plan {
	for _, x := range attrs {
		for _, r := range rows {
			slot := int8(-1)
			if r.direct>>x.value&1 != 0 {
				slot = x.slot
			} else if r.decoded>>x.value&1 == 0 {
				continue
			}
			*p.place(r.class, x.at) = use{int8(x.value), slot}
			p.kinds[r.class][x.value] = x.kind
		}
	}
	return p
}

// place returns where the plan keeps the use of an attribute in a class.
func (p *Plan) place(c Class, at uint64) *use {
	if at < denseAttrs {
		return &p.uses[c][at]
	}
	for i := range p.beyond {
		if x := &p.beyond[i]; x.attr == at {
			return &x.uses[c]
		}
	}
	x := beyond{attr: at}
	for i := range x.uses {
		x.uses[i] = unused
	}
	p.beyond = append(p.beyond, x)
	return &p.beyond[len(p.beyond)-1].uses[c]
}

// useBeyond returns the use of an attribute from denseAttrs on in a class.
func (p *Plan) useBeyond(c Class, at uint64) use {
	for i := range p.beyond {
		if x := &p.beyond[i]; x.attr == at {
			return x.uses[c]
		}
	}
	return unused
}
