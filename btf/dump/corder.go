package dump

import (
	"fmt"

	"github.com/btflite/btflite/btf"
)

// The order of definitions. C wants a type to be defined before it is used by value, and
// declared before a pointer to it. So each type comes after the types that it has by
// value; types are taken in the order of the roots. A struct or union to which only
// pointers lead waits for its turn: a declaration suffices.

// States of a type in an orderer.
const (
	untouched = iota
	open      // the types that it needs are being put in order
	placed
)

// orderer finds the order of definitions.
type orderer struct {
	b       *btf.Blob
	inner   []bool // by id: an enum without a name that something refers to, defined there
	state   []uint8
	defined []uint32      // the ids to define, in order
	inside  []inComposite // the structs and unions that are open
	depth   int
	steps   int // that may still be taken

	// mayName says that structs and unions without a name can get one. tagged has the ids that
	// need one, because pointers in such a type lead back to it. Then nobody may use the order.
	mayName bool
	tagged  []uint32
}

// inComposite is a struct or union whose members are being put in order.
type inComposite struct {
	id      uint32
	pointed bool // a pointer led to it
}

// newOrderer looks for enums that are not definitions of their own.
func newOrderer(b *btf.Blob) *orderer {
	n := b.TypeCount()
	o := &orderer{b: b, inner: make([]bool, n), state: make([]uint8, n), steps: 1 << 20}
	for over := b; over != nil; over = over.Base {
		o.steps += stepsPerWord * len(over.Words)
	}
	for id := uint32(1); id < n; id++ {
		rec := b.Record(id)
		skip := rec.Kind() == btf.KindFuncProto // its result does not count, as in bpftool
		btf.EachRef(rec, func(ref *uint32) {
			if !skip {
				o.inner[*ref] = true
			}
			skip = false
		})
	}
	return o
}

// place puts a type in order, after the types that it needs. pointed says that only a
// pointer leads to it. It reports whether the type no longer needs a declaration.
func (o *orderer) place(id uint32, pointed bool) (known bool, err error) {
	if id == 0 {
		return true, nil
	}
	rec := o.b.Record(id)
	switch o.state[id] {
	case placed:
		return true, nil
	case open: // a struct or union
		if pointed && rec.Name() != 0 {
			return false, nil
		}
		return false, o.cycle(id, rec, pointed)
	}
	if o.steps--; o.steps < 0 {
		return false, fmt.Errorf("%w: type [%d]", errSteps, id)
	}
	if o.depth++; o.depth > maxDepth {
		return false, fmt.Errorf("%w: type [%d]", errDepth, id)
	}
	defer func() { o.depth-- }()
	switch k := rec.Kind(); k {
	case btf.KindInt, btf.KindFloat:
		o.state[id] = placed
		return false, nil
	case btf.KindPtr:
		known, err = o.place(rec.Third(), true)
		o.state[id] = placed
		return known, err
	case btf.KindArray:
		elem, _, _ := rec.Array()
		known, err = o.place(elem, false)
		o.state[id] = placed
		return known, err
	case btf.KindStruct, btf.KindUnion:
		return o.composite(id, rec, pointed)
	case btf.KindEnum, btf.KindEnum64, btf.KindFwd:
		if rec.Name() != 0 || !o.inner[id] {
			o.defined = append(o.defined, id)
		}
		o.state[id] = placed
		return true, nil
	case btf.KindTypedef:
		return o.typedef(id, rec, pointed)
	case btf.KindVolatile, btf.KindConst, btf.KindRestrict, btf.KindTypeTag:
		return o.place(rec.Third(), pointed)
	case btf.KindFuncProto:
		return o.prototype(rec, pointed)
	}
	o.state[id] = placed // C has no such type
	return false, nil
}

// composite places a struct or union. One without a name is written where it is used,
// even behind a pointer.
func (o *orderer) composite(id uint32, rec btf.Record, pointed bool) (known bool, err error) {
	if pointed && rec.Name() != 0 {
		return false, nil
	}
	o.state[id] = open
	o.inside = append(o.inside, inComposite{id, pointed})
	for j := range int(rec.Vlen()) {
		_, typ, _ := rec.Member(j)
		if _, err := o.place(typ, false); err != nil {
			return false, err
		}
	}
	o.inside = o.inside[:len(o.inside)-1]
	if rec.Name() != 0 {
		o.defined = append(o.defined, id)
	}
	o.state[id] = placed
	return true, nil
}

// typedef places a typedef. Behind a pointer it waits like a struct if its type does.
func (o *orderer) typedef(id uint32, rec btf.Record, pointed bool) (known bool, err error) {
	known, err = o.place(rec.Third(), pointed)
	if err != nil || pointed && !known {
		return false, err
	}
	if o.state[id] == placed { // by its own type
		return true, nil
	}
	o.defined = append(o.defined, id)
	o.state[id] = placed
	return true, nil
}

// prototype places the types of a function.
func (o *orderer) prototype(rec btf.Record, pointed bool) (known bool, err error) {
	if known, err = o.place(rec.Third(), pointed); err != nil {
		return false, err
	}
	for j := range int(rec.Vlen()) {
		_, typ := rec.Param(j)
		one, err := o.place(typ, pointed)
		if err != nil {
			return false, err
		}
		known = known || one
	}
	return known, nil
}

// cycle is for an open struct or union that something in it leads to. If only a pointer or a struct
// behind one does, a name lets C say so: with a name, it may be declared before it is defined. The
// compilers of Go and Modula-2 write such types, because they name only the typedef.
func (o *orderer) cycle(id uint32, rec btf.Record, pointed bool) error {
	for i := len(o.inside) - 1; !pointed && o.inside[i].id != id; i-- {
		if in := o.inside[i]; in.pointed {
			id, rec, pointed = in.id, o.b.Record(in.id), true
			break
		}
	}
	switch {
	case !pointed:
		return fmt.Errorf("type [%d] %s '%s' contains itself", id, rec.Kind(), printable(o.b, rec.Name()))
	case !o.mayName:
		return fmt.Errorf("type [%d] %s has no name, and pointers in it lead back to it; only strict C can say this", id, rec.Kind())
	}
	o.tagged = append(o.tagged, id)
	return nil
}
