package unit

import (
	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/internal/debuginfo"
	"github.com/btflite/btflite/internal/dwarf"
)

// Kinds of DIEs that describe functions, variables, and annotations of any DIE. Each
// method reads the DIE d and returns where it stopped.

// funcParam reads a parameter of a function.
func (w *walker) funcParam(d die, top *frame) (next int, err error) {
	r, a := w.r, d.a
	if r.Unit.Funcs.S[top.owner].Flags&callconv.FuncDeclaration != 0 && a.Fixed && !a.Children {
		return d.p + int(a.Size), nil // its function is not recorded
	}
	if next, err = w.param(a, d.off, d.p, top); err != nil {
		return 0, err
	}
	if a.Children {
		owner, comp := top.owner, int32(top.n)-1
		fr := r.push(inPart, a.Tag)
		fr.owner, fr.comp, fr.an = owner, comp, ofParam
	}
	return next, nil
}

// function reads a subprogram.
func (w *walker) function(d die, top *frame) (next int, err error) {
	r := w.r
	next, have, err := w.attrs.decode(d)
	if err != nil {
		return 0, err
	}
	if err := w.subprogram(d.off, have); err != nil {
		return 0, err
	}
	i := uint32(len(r.Unit.Funcs.S) - 1)
	var an uint32
	if have&(1<<dwarf.VAnnotation) != 0 {
		an = uint32(r.Cursor.Vals[dwarf.VAnnotation].U)
	}
	if !d.a.Children {
		w.closeFunc(i, an)
		return next, nil
	}
	r.suspend(top)
	fr, err := w.open(d, inFunc, d.a.Tag)
	if err == nil {
		fr.owner, fr.an = i, an
	}
	return next, err
}

// variable reads a variable of the unit that may become a VAR.
func (w *walker) variable(d die) (next int, err error) {
	r := w.r
	if next, err = w.candidate(d); err != nil {
		return 0, err
	}
	if d.a.Children {
		fr := r.push(inPart, d.a.Tag)
		if n := len(r.Unit.Vars.S); n > 0 && r.Unit.Vars.S[n-1].Off == uint32(d.off) {
			fr.owner, fr.an = uint32(n-1), ofVariable
		}
	}
	return next, nil
}

// annotation reads an annotation of the open DIE.
func (w *walker) annotation(d die) (next int, err error) {
	next, have, err := w.attrs.decode(d)
	if err != nil {
		return 0, err
	}
	if d.a.Tag == dwarf.TagLLVMAnnotation {
		w.annotate(have)
	}
	if d.a.Children {
		return w.skipChildren(d, next)
	}
	return next, nil
}

// importUnit keeps the import d for expand.
func (w *walker) importUnit(d die) error {
	r := w.r
	_, have, err := w.attrs.decode(d)
	if err != nil {
		return err
	}
	if have&(1<<dwarf.VImport) == 0 {
		return nil
	}
	target, ok := debuginfo.Target(&r.Cursor, &r.Cursor.Vals[dwarf.VImport])
	if ok {
		r.group.imports.Append(importRec{uint32(len(r.Unit.Types.Order.S)), uint32(len(r.Unit.FuncOrder.S)), target})
	}
	return nil
}
