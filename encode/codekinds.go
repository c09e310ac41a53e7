package encode

import (
	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/internal/dwarf"
)

// The kinds of DIE that describe functions and variables, and annotations of any
// DIE. Each method reads the DIE d and returns where it stopped.

// funcParam reads a parameter of a function.
func (w *walker) funcParam(d die, top *frame) (next int, err error) {
	u, a := w.u, d.a
	if u.funcs.S[top.owner].Flags&callconv.FuncDeclaration != 0 && a.Fixed && !a.Children {
		return d.p + int(a.Size), nil // of no function that is judged
	}
	if next, err = w.f.param(u, a, d.off, d.p, top); err != nil {
		return 0, err
	}
	if a.Children {
		owner, comp := top.owner, int32(top.n)-1
		fr := u.push(ctxOther, a.Tag)
		fr.owner, fr.comp, fr.an = owner, comp, 1
	}
	return next, nil
}

// function reads a subprogram.
func (w *walker) function(d die, top *frame) (next int, err error) {
	f, u := w.f, w.u
	next, have, err := w.decode(d)
	if err != nil {
		return 0, err
	}
	if err := f.function(u, d.a, d.off, have); err != nil {
		return 0, err
	}
	i := uint32(len(u.funcs.S) - 1)
	var an uint32
	if have&(1<<dwarf.VAnnotation) != 0 {
		an = uint32(u.vals[dwarf.VAnnotation].U)
	}
	if !d.a.Children {
		f.closeFunc(u, i, an)
		return next, nil
	}
	f.suspend(u, top)
	fr, err := w.open(d, ctxFunc, d.a.Tag)
	if err == nil {
		fr.owner, fr.an = i, an
	}
	return next, err
}

// variable reads a variable of the unit that may be wanted.
func (w *walker) variable(d die) (next int, err error) {
	u := w.u
	if next, err = w.f.variable(u, d.a, d.off, d.p); err != nil {
		return 0, err
	}
	if d.a.Children {
		fr := u.push(ctxOther, d.a.Tag)
		if n := len(u.vars.S); n > 0 && u.vars.S[n-1].Off == uint32(d.off) {
			fr.owner, fr.an = uint32(n-1), 2
		}
	}
	return next, nil
}

// annotation reads an annotation of what is open.
func (w *walker) annotation(d die) (next int, err error) {
	next, have, err := w.decode(d)
	if err != nil {
		return 0, err
	}
	if d.a.Tag == dwarf.TagLLVMAnnotation {
		w.f.annotation(w.u, have)
	}
	if d.a.Children {
		return w.skipChildren(d, next)
	}
	return next, nil
}
