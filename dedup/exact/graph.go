package exact

import (
	"fmt"

	"github.com/btflite/btflite/btf"
)

const (
	// maxDepth is how many aggregates deep identical looks (libbpf's limit).
	maxDepth = 16
	// freeSteps and stepsPerType bound the steps of all comparisons together, which can be
	// as many as the cube of the number of types. Kernels take 15 for each type.
	freeSteps, stepsPerType = 1 << 25, 512
	// maxSteps bounds the steps of one call of identical. In libbpf they grow
	// exponentially with the depth, and never end on loops of plain references.
	maxSteps = 1 << 24
)

// structs places STRUCT, UNION and TYPEDEF in id order. A type equals a
// candidate if the graphs behind both are equivalent.
func (d *state) structs() error {
	for id := d.first; id < d.count(); id++ {
		switch d.kind(id) {
		case btf.KindStruct, btf.KindUnion, btf.KindTypedef:
			if d.mapped(id) {
				continue
			}
			if err := d.placeStruct(id); err != nil {
				return err
			}
			if err := d.checkSteps(id); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *state) placeStruct(id uint32) error {
	r := d.rec(id)
	same := shallow
	if r.Kind() == btf.KindTypedef {
		same = sameNameInfo
	}
	key := keyOf(r)
	for cur := d.index.first(key); cur >= 0; {
		var c uint32
		c, cur = d.index.at(cur)
		if !same(r, d.rec(c)) {
			continue
		}
		ok, err := d.walk(id, c)
		if err == nil {
			err = d.checkSteps(id)
		}
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		d.merge()
		if d.baseChange {
			continue
		}
		d.target[id] = c
		return nil
	}
	d.keep(key, id)
	return nil
}

// checkSteps returns an error if comparing types has taken too many steps.
func (d *state) checkSteps(id uint32) error {
	if d.steps+d.index.tried > freeSteps+stepsPerType*uint64(d.count()) {
		return fmt.Errorf("btf: types: [%d]: so many types have the same name or the same members, or hold each other, that comparing them would take too long", id)
	}
	return nil
}

// walk reports whether the graphs behind x and y are equivalent. It fills pair
// and paired with the pairing found; forwards match definitions.
func (d *state) walk(x, y uint32) (bool, error) {
	for _, y := range d.paired {
		d.pair[y] = unset
	}
	d.paired = d.paired[:0]
	d.baseChange = false
	d.stack = append(d.stack[:0], pair{x, y})
	for len(d.stack) > 0 {
		p := d.stack[len(d.stack)-1]
		d.stack = d.stack[:len(d.stack)-1]
		d.steps++
		ok, err := d.step(p.x, p.y)
		if !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// step compares one pair and pushes the pairs that its references lead to.
func (d *state) step(x, y uint32) (bool, error) {
	if d.final(x) == d.final(y) {
		return true, nil
	}
	if d.kind(y) == btf.KindFwd {
		if f := d.final(y); d.kind(f) != btf.KindFwd {
			y = f
		}
	}
	if h := d.pair[y]; h != unset {
		if h == x {
			return true, nil
		}
		d.budget = maxSteps
		ok, err := d.identical(h, x, maxDepth)
		d.steps += uint64(maxSteps - d.budget)
		return ok, err
	}
	d.pair[y] = x
	d.paired = append(d.paired, y)

	a, b := d.rec(x), d.rec(y)
	if a.Name() != b.Name() {
		return false, nil
	}
	ka, kb := a.Kind(), b.Kind()
	if (ka == btf.KindFwd) != (kb == btf.KindFwd) {
		if ka == btf.KindFwd {
			return forwardOf(a, b.Info()), nil
		}
		ok := forwardOf(b, a.Info())
		if ok && y < d.first {
			d.baseChange = true
		}
		return ok, nil
	}
	if ka != kb {
		return false, nil
	}
	return d.compare(x, a, b)
}

// compare compares two records of one kind and name. It pushes the pairs of their
// references so that they are popped in the order of comparison.
func (d *state) compare(x uint32, a, b btf.Record) (bool, error) {
	switch k := a.Kind(); k {
	case btf.KindInt:
		return equal(a, b), nil
	case btf.KindFloat, btf.KindFwd:
		return sameHead(a, b), nil
	case btf.KindEnum, btf.KindEnum64:
		return compatEnum(a, b), nil
	case btf.KindPtr, btf.KindConst, btf.KindVolatile, btf.KindRestrict,
		btf.KindTypedef, btf.KindFunc, btf.KindTypeTag:
		d.push(a.Third(), b.Third())
		return a.Info() == b.Info(), nil
	case btf.KindArray:
		elem, index, _ := a.Array()
		elemOf, indexOf, _ := b.Array()
		d.push(elem, elemOf)
		d.push(index, indexOf)
		return compatArray(a, b), nil
	case btf.KindStruct, btf.KindUnion:
		if !shallow(a, b) {
			return false, nil
		}
		for j := int(a.Vlen()) - 1; j >= 0; j-- {
			_, p, _ := a.Member(j)
			_, q, _ := b.Member(j)
			d.push(p, q)
		}
		return true, nil
	case btf.KindFuncProto:
		if !compatProto(a, b) {
			return false, nil
		}
		for j := int(a.Vlen()) - 1; j >= 0; j-- {
			_, p := a.Param(j)
			_, q := b.Param(j)
			d.push(p, q)
		}
		d.push(a.Third(), b.Third())
		return true, nil
	default:
		return false, fmt.Errorf("btf: types: a struct or typedef refers to %s [%d]", k, x)
	}
}

func (d *state) push(x, y uint32) { d.stack = append(d.stack, pair{x, y}) }

// merge applies what a successful walk found: forwards get the definitions they
// met, and structs that are not placed yet join their partners.
func (d *state) merge() {
	for _, y := range d.paired {
		x, y := d.final(d.pair[y]), d.final(y)
		kx, ky := d.kind(x), d.kind(y)
		if ky == btf.KindFwd && kx != btf.KindFwd {
			d.target[y] = x
		}
		if d.baseChange {
			continue
		}
		if kx == btf.KindFwd && ky != btf.KindFwd {
			d.target[x] = y
		}
		if (kx == btf.KindStruct || kx == btf.KindUnion) && !d.mapped(x) &&
			ky != btf.KindFwd && d.mapped(y) {
			d.target[x] = y
		}
	}
}

// identical compares two types by structure alone, at most depth aggregates deep. It
// is called if one compile unit has two copies of a type.
func (d *state) identical(x, y uint32, depth int) (bool, error) {
	for {
		if depth <= 0 {
			return false, nil
		}
		if x == y {
			return true, nil
		}
		if d.budget--; d.budget < 0 {
			return false, fmt.Errorf("btf: types: [%d] and [%d] are too complex to compare", x, y)
		}
		a, b := d.rec(x), d.rec(y)
		k := a.Kind()
		if k != b.Kind() {
			return false, nil
		}
		switch k {
		case btf.KindVoid:
			return true, nil
		case btf.KindInt:
			return equal(a, b), nil
		case btf.KindEnum, btf.KindEnum64:
			return compatEnum(a, b), nil
		case btf.KindFwd, btf.KindFloat:
			return sameHead(a, b), nil
		case btf.KindPtr, btf.KindConst, btf.KindVolatile, btf.KindRestrict,
			btf.KindTypedef, btf.KindFunc, btf.KindTypeTag:
			if !sameNameInfo(a, b) {
				return false, nil
			}
			x, y = a.Third(), b.Third()
		case btf.KindArray:
			if !compatArray(a, b) || !d.opt.StrictArrays {
				return compatArray(a, b), nil
			}
			return d.identicalRefs(a, b, depth-1)
		case btf.KindStruct, btf.KindUnion:
			if !shallow(a, b) {
				return false, nil
			}
			return d.identicalRefs(a, b, depth-1)
		case btf.KindFuncProto:
			if !compatProto(a, b) {
				return false, nil
			}
			if a.Third() != b.Third() {
				if ok, err := d.identical(a.Third(), b.Third(), depth-1); !ok || err != nil {
					return ok, err
				}
			}
			return d.identicalRefs(a, b, depth-1)
		default:
			return false, nil
		}
	}
}

// identicalRefs compares the references after the third word of two records of one kind
// and vlen.
func (d *state) identicalRefs(a, b btf.Record, depth int) (bool, error) {
	start, stride, n := btf.RefWords(a.Kind(), a.Vlen())
	for i := 0; i < n; i++ {
		x, y := a[start+i*stride], b[start+i*stride]
		if x == y {
			continue
		}
		if ok, err := d.identical(x, y, depth); !ok || err != nil {
			return ok, err
		}
	}
	return true, nil
}
