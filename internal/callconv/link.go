package callconv

import (
	"cmp"
	"slices"
)

// Link gives functions and parameters the names and types of their abstract
// origin or specification. It follows one reference each, in the order of Order, as pahole
// does. Return types come last, from abstract origins only.
func (e *Functions) Link() {
	for _, i := range e.Order {
		f := &e.Funcs[i]
		if f.Name == 0 {
			from := f.Origin
			if from == 0 {
				from = f.Spec
			}
			if o := e.funcAt(from); o != nil {
				f.Name = o.Name
			}
		}
		ps := e.paramsOf(f)
		for j := range ps {
			p := &ps[j]
			if p.Origin == 0 || p.HasType {
				continue
			}
			if o, _ := e.originOf(f, p, j); o != nil {
				p.Type, p.Name = o.Type, o.Name
				p.Flags |= o.Flags & ParamClass
			}
		}
	}
	for _, i := range e.Order {
		f := &e.Funcs[i]
		if f.Flags&FuncHasType == 0 && f.Origin != 0 {
			if o := e.funcAt(f.Origin); o != nil {
				f.Type = o.Type
			}
		}
	}
}

// LinkFar follows Link, for programs that print functions: it takes names and types over
// several hops, and types from specifications, too. The name of a C++ constructor is two
// hops away.
func (e *Functions) LinkFar() {
	for _, i := range e.Order {
		f := &e.Funcs[i]
		for from, hops := f, 0; hops < maxHops && (f.Name == 0 || f.Flags&FuncHasType == 0); hops++ {
			if from = e.funcAt(cmp.Or(from.Origin, from.Spec)); from == nil {
				break
			}
			if f.Name == 0 {
				f.Name = from.Name
			}
			if f.Flags&FuncHasType == 0 && from.Flags&FuncHasType != 0 {
				f.Type, f.Flags = from.Type, f.Flags|FuncHasType
			}
		}
		ps := e.paramsOf(f)
		for j := range ps {
			for p, hops := &ps[j], 0; hops < maxHops && !ps[j].HasType; hops++ {
				if p, _ = e.originOf(f, p, j); p == nil {
					break
				}
				if p.HasType {
					ps[j].Type, ps[j].Name, ps[j].HasType = p.Type, cmp.Or(p.Name, ps[j].Name), true
				}
			}
		}
	}
}

// maxHops bounds a chain of references between functions, which in broken files may be
// a cycle.
const maxHops = 8

// originals returns the functions to which references can lead: all but the copies.
func (e *Functions) originals() []Func {
	if e.Copies > 0 {
		return e.Funcs[:len(e.Funcs)-e.Copies]
	}
	return e.Funcs
}

// paramsOf returns the parameters of f, which alias e.Params.
func (e *Functions) paramsOf(f *Func) []Param {
	if uint64(f.First)+uint64(f.N) > uint64(len(e.Params)) {
		return nil
	}
	return e.Params[f.First:][:f.N]
}

// funcAt returns the function whose DIE is at off, or nil.
func (e *Functions) funcAt(off uint32) *Func {
	if off == 0 {
		return nil
	}
	i, ok := slices.BinarySearchFunc(e.originals(), off, func(f Func, off uint32) int { return cmp.Compare(f.Off, off) })
	if !ok {
		return nil
	}
	return &e.Funcs[i]
}

// originOf returns the abstract origin of p, which is parameter j of f, and
// its position among the parameters of its own function, or nil.
func (e *Functions) originOf(f *Func, p *Param, j int) (*Param, int) {
	// Mostly the origin is the parameter at the same position of f's origin.
	if o := e.funcAt(f.Origin); o != nil {
		ps := e.paramsOf(o)
		if j < len(ps) && ps[j].Off == p.Origin {
			return &ps[j], j
		}
		if k := paramAt(ps, p.Origin); k >= 0 {
			return &ps[k], k
		}
	}
	// Otherwise take the last function that starts before the parameter.
	i, _ := slices.BinarySearchFunc(e.originals(), p.Origin, func(f Func, off uint32) int { return cmp.Compare(f.Off, off) })
	if i > 0 {
		ps := e.paramsOf(&e.Funcs[i-1])
		if k := paramAt(ps, p.Origin); k >= 0 {
			return &ps[k], k
		}
	}
	return nil, 0
}

// paramAt returns the index of the parameter whose DIE is at off, or -1.
func paramAt(ps []Param, off uint32) int {
	for k := range ps {
		if ps[k].Off == off {
			return k
		}
	}
	return -1
}
