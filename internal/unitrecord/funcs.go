package unitrecord

import (
	"slices"

	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/internal/unit"
)

// Functions. References between them are by DIE offset, of which only the order
// counts: in a record a function and its parameters have neighbouring numbers, places,
// from 1 on. Inline functions, to which nothing refers, have none (inline.go).

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
	paramFar                // which is not at the same place of the function's own origin
)

// funcs writes the functions of u. Declarations to which nothing refers do not count.
func (w *Writer) funcs(u *unit.Unit) {
	p := w.placesOf(u)
	if w.err != nil {
		return
	}
	w.inlineRuns(u, p)
	turns := [2]uint64{} // functions that follow each other, of both sorts
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

// turn writes how many functions follow each other.
func (w *Writer) turn(turns *[2]uint64) {
	w.cols.uint(colFuncOrder, turns[0])
	w.cols.uint(colFuncOrder, turns[1])
	*turns = [2]uint64{}
}

// places are the numbers that stand for DIE offsets.
type places struct {
	of     []int    // by function: its place; 0 for one that is not written, or has none
	inline []bool   // by function: it is in a run (inline.go), and has no place
	index  []int    // by function: its number among those that are written
	at     []uint32 // DIE offsets of functions and parameters by place, from 1 on: ascending
	none   int      // a place that nothing has
}

// offsets are DIE offsets, in order.
type offsets []uint32

func (o offsets) has(off uint32) bool {
	_, ok := slices.BinarySearch(o, off)
	return ok
}

// referred is what functions and parameters refer to.
func referred(u *unit.Unit) (o offsets) {
	for i := range u.Funcs.S {
		fn := &u.Funcs.S[i]
		if fn.Origin|fn.Spec != 0 {
			o = append(o, fn.Origin, fn.Spec)
		}
	}
	for i := range u.Params.S {
		if p := &u.Params.S[i]; p.Origin != 0 {
			o = append(o, p.Origin)
		}
	}
	slices.Sort(o)
	return o
}

// placesOf gives the functions of u their places.
func (w *Writer) placesOf(u *unit.Unit) *places {
	wanted := referred(u)
	n := len(u.Funcs.S)
	p := &places{of: make([]int, n), inline: make([]bool, n), index: make([]int, n), at: make([]uint32, 1, n+len(u.Params.S)+1)}
	place, number, inline := 1, 0, 0
	last := uint32(0)
	for i := range u.Funcs.S {
		fn := &u.Funcs.S[i]
		if fn.Flags&callconv.FuncDeclaration != 0 && !wanted.has(fn.Off) && fn.Origin == 0 && fn.Spec == 0 {
			continue
		}
		p.index[i] = number
		number++
		if fn.Off < last {
			w.fail("functions that lie in each other")
		}
		last = fn.Off
		if isInline(fn, u.Params.S[fn.First:][:fn.N], wanted) {
			p.inline[i] = true
			inline++
			continue
		}
		p.of[i], p.at = place, append(p.at, fn.Off)
		place++
		for j := range u.Params.S[fn.First:][:fn.N] {
			pm := &u.Params.S[fn.First:][j]
			p.at = append(p.at, pm.Off)
			place++
			if pm.Off < last {
				w.fail("parameters out of order")
			}
			last = pm.Off
		}
	}
	p.none = place
	w.head.funcs, w.head.params = number-inline, place-1-(number-inline)
	return p
}

// to is the place of a DIE offset.
func (p *places) to(off uint32) int {
	if off == 0 {
		return 0
	}
	if k, ok := slices.BinarySearch(p.at, off); ok {
		return k
	}
	return p.none
}

// function writes a function with its parameters.
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
		w.param(u, &u.Params.S[fn.First:][j], p, origin+1+j)
	}
}

// param writes a parameter, whose origin is expected at a place.
func (w *Writer) param(u *unit.Unit, pm *callconv.Param, p *places, expected int) {
	c := &w.cols
	flags := byte(0)
	if pm.HasType {
		flags |= paramType
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

// location gives the number of a parameter's location among those of the unit.
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

// ref writes a reference that is not part of a node.
func (w *Writer) ref(r dedup.Ref) { w.refs.write(&w.cols, 0, r, colRef) }

// annots writes annotations.
func (w *Writer) annots(as []unit.Annot) {
	w.cols.uint(colAnnot, uint64(len(as)))
	for _, a := range as {
		w.name(a.Value)
		w.cols.step(colAnnot, int64(a.Component))
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
