package unitrecord

import (
	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/internal/unit"
)

// Functions. They refer to each other by DIE offset, but only the order counts. So in
// a record functions and parameters are numbered from 1 on, in the order of their DIEs:
// these numbers are places. Inline functions have none, because nothing refers to them
// (inline.go).

// The byte of a function in colFunc: the first flags of callconv.FuncFlags, and
const (
	funcFlags   = 1<<5 - 1
	funcOrigin  = 1 << 5 // it has an abstract origin or a specification
	funcAnnots  = 1 << 6 // it has annotations
	funcAddress = 1 << 7 // it has an address
)

// The byte of a parameter in colParam.
const (
	paramType   = 1 << iota // DW_AT_type exists
	paramConst              // DW_AT_const_value exists
	paramLoc                // DW_AT_location exists
	paramOrigin             // it has an abstract origin
	paramFar                // and that is not the parameter at the same place of the function's origin
	paramClass              // its type is a class; programs that do not know this flag pass over it
)

// The byte of a variable in colVar.
const (
	varExternal = 1 << iota
	varAnnots   // it has annotations
)

// funcs writes the functions of u, without declarations to which nothing refers.
func (w *Writer) funcs(u *unit.Unit) {
	p := w.placesOf(u)
	if w.err != nil {
		return
	}
	w.inlineRuns(u, p)
	turns := [2]uint64{} // lengths of a run of other functions and of the inline functions after it
	for i := range u.Funcs.S {
		switch {
		case p.inline[i]:
			turns[1]++
		case p.of[i] != 0:
			if turns[1] > 0 {
				w.turn(&turns)
			}
			turns[0]++
			w.function(u, &u.Funcs.S[i], p)
		}
	}
	if turns != [2]uint64{} {
		w.turn(&turns)
	}
	order := make([]uint32, 0, len(u.FuncOrder.S))
	for _, i := range u.FuncOrder.S {
		if p.inline[i] || p.of[i] != 0 {
			order = append(order, uint32(p.index[i]))
		}
	}
	w.order(colFuncOrder, order)
}

// turn writes these two lengths.
func (w *Writer) turn(turns *[2]uint64) {
	w.cols.uint(colFuncOrder, turns[0])
	w.cols.uint(colFuncOrder, turns[1])
	*turns = [2]uint64{}
}

func (w *Writer) function(u *unit.Unit, fn *callconv.Func, p *places) {
	c := &w.cols
	flags := byte(fn.Flags) & funcFlags
	if fn.Origin|fn.Spec != 0 {
		flags |= funcOrigin
		c.uint(colFuncMore, uint64(p.to(fn.Origin)))
		c.uint(colFuncMore, uint64(p.to(fn.Spec)))
	}
	if fn.LowPC != 0 {
		flags |= funcAddress
		w.lowPC(fn)
	}
	w.name(fn.Name)
	if fn.NAn != 0 {
		flags |= funcAnnots
		w.annots(u.Annots.S[fn.FirstAn:][:fn.NAn])
	}
	c.byte(colFunc, flags)
	if fn.Flags&callconv.FuncHasType != 0 {
		w.ref(fn.Type)
	}
	c.uint(colFuncMore, uint64(fn.N))
	origin := p.to(fn.Origin)
	for j := range u.Params.S[fn.First:][:fn.N] {
		w.param(&u.Params.S[fn.First:][j], p, origin+1+j)
	}
}

// param writes a parameter. Its origin, if it has one, is usually at the place expected.
func (w *Writer) param(pm *callconv.Param, p *places, expected int) {
	c := &w.cols
	flags := byte(0)
	if pm.HasType {
		flags |= paramType
		if w.env.Types.IsClass(pm.Type) {
			flags |= paramClass
		}
	}
	if pm.Flags&callconv.ParamHasConst != 0 {
		flags |= paramConst
	}
	if pm.Flags&callconv.ParamHasLoc != 0 {
		flags |= paramLoc
		c.uint(colPlace, uint64(w.location(pm)))
	}
	if pm.Origin != 0 {
		flags |= paramOrigin
		if to := p.to(pm.Origin); to != expected {
			flags |= paramFar
			c.uint(colOrigin, uint64(to))
		}
	}
	c.byte(colParam, flags)
	w.name(pm.Name)
	if pm.HasType {
		w.ref(pm.Type)
	}
}

// location returns the number of a parameter's location in the unit, and writes the location
// if it is new.
func (w *Writer) location(pm *callconv.Param) int {
	w.exprs = w.exprs[:0]
	w.env.Expressions(pm, func(x []byte) { w.exprs = append(w.exprs, x) })
	b, ok := callconv.Condense(w.scratch[:0], w.exprs, w.env.Format)
	w.scratch = b
	if !ok {
		w.fail("a location that is too long")
	}
	k, known := w.locations[string(b)]
	if !known {
		k = len(w.locations)
		w.locations[string(b)] = k
		w.cols.uint(colLocation, uint64(len(b)))
		w.cols.bytes(colLocation, b)
	}
	return k
}

func (w *Writer) annots(as []unit.Annot) {
	w.cols.uint(colAnnot, uint64(len(as)))
	for _, a := range as {
		w.name(a.Value)
		w.cols.step(colAnnot, int64(a.Component))
	}
}

// vars writes the candidates for variables of u.
func (w *Writer) vars(u *unit.Unit) {
	c := &w.cols
	for i := range u.Vars.S {
		v := &u.Vars.S[i]
		w.variableAddress(v)
		w.name(v.Name)
		w.ref(v.Type)
		flags := byte(0)
		if v.External {
			flags |= varExternal
		}
		if v.NAn != 0 {
			flags |= varAnnots
			w.annots(u.Annots.S[v.FirstAn:][:v.NAn])
		}
		c.byte(colVar, flags)
	}
}

// tags writes the declaration tags of types.
func (w *Writer) tags(u *unit.Unit) {
	last := int64(0)
	for _, t := range u.Tags.S {
		w.cols.step(colAnnot, int64(t.Node)-last)
		w.cols.step(colAnnot, int64(t.Component))
		w.name(t.Value)
		last = int64(t.Node)
	}
}
