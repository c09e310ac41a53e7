package unitrecord

import (
	"slices"

	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/internal/unit"
)

// places are the numbers that stand for DIE offsets of functions and parameters in a record:
// see funcs.go.
type places struct {
	of     []int    // by function: its place; 0 if it has none or is not written
	inline []bool   // by function: it is in a run (inline.go), and has no place
	index  []int    // by function: its number among those that are written
	at     []uint32 // DIE offsets of functions and parameters by place, from 1 on: ascending
	none   int      // a place that is not in use
}

// offsets are sorted DIE offsets.
type offsets []uint32

func (o offsets) has(off uint32) bool {
	_, ok := slices.BinarySearch(o, off)
	return ok
}

// referred returns the DIE offsets to which functions and parameters refer.
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

// to returns the place of a DIE offset.
func (p *places) to(off uint32) int {
	if off == 0 {
		return 0
	}
	if k, ok := slices.BinarySearch(p.at, off); ok {
		return k
	}
	return p.none
}

// isInline reports whether a function goes into a run of inline functions (inline.go).
// wanted are the offsets to which others refer.
func isInline(fn *callconv.Func, params []callconv.Param, wanted offsets) bool {
	if wanted.has(fn.Off) || fn.LowPC != 0 || fn.Origin != 0 || fn.Spec != 0 || fn.NAn != 0 || fn.Flags&callconv.FuncDeclaration != 0 {
		return false
	}
	for i := range params {
		if p := &params[i]; !p.HasType || p.Origin != 0 || p.Flags&(callconv.ParamHasConst|callconv.ParamHasLoc) != 0 || wanted.has(p.Off) {
			return false
		}
	}
	return true
}
