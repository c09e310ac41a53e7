// Package callconv checks whether each parameter of a function arrives where the
// calling convention puts a parameter of its source type. A BPF program attaches
// by that convention, so BTF must not describe a function by its source prototype
// if the compiled function differs from it.
//
//	Link       names and types of concrete functions, from their abstract origins
//	Analyze    where each parameter is, then per function whether that is where
//	           it was expected
//	Uncertain  packed structs on the stack
//
// The rules are pahole 1.32's: pahole-behaviour 4.4 and 4.5. Where they differ from
// the truth of a machine, pahole's rule counts.
package callconv

import (
	"cmp"
	"slices"

	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/dwarf"
)

// Functions are the functions of a unit, and all that decides where their
// parameters are.
type Functions struct {
	Machine       uint16           // e_machine of the file
	Format        dwarf.ExprFormat // of the unit's expressions
	Clang         bool             // the producer is clang
	TrueSignature bool             // signatures that clang changed are wanted

	Types   Types
	Exprs   []byte // the data that LocOff of LocExpr is an offset in
	Entries []byte // the data that LocOff of LocEntries is an offset in
	Lists   Lists

	// Funcs are sorted by Off; Params[f.First:][:f.N] are the parameters of f, in reading
	// order.
	Funcs  []Func
	Params []Param
	Copies int      // how many Funcs at the end are copies: their Off repeats, and nothing refers to them
	Order  []uint32 // indexes of Funcs in functions-table order

	Formats []FormatRun // of Funcs, if not all have the same

	// Only reports whether function i is wanted; nil means that all are. Analyze sets no
	// flags of other functions, but their parameters still pass flags on to their origins.
	Only func(i uint32) bool
}

// FormatRun says which DWARF format the functions have from index First on, up to the next run.
type FormatRun struct {
	First   uint32
	Version uint16
	Dwarf64 bool
}

// Analyze sets FuncReordered, FuncUnexpectedReg, FuncOptimizedParams and FuncChanged
// of the functions, and the location fields of the parameters. Call it once, after
// Link: it expects records as they were read.
func (e *Functions) Analyze() {
	args := argRegsOf(e.Machine)
	for _, i := range e.Order {
		f := &e.Funcs[i]
		if !e.wanted(i) && (f.Origin == 0 || f.Flags&FuncDeclaration != 0) {
			continue
		}
		if len(e.Formats) > 0 {
			e.useFormat(i)
		}
		ps := e.paramsOf(f)
		for j := range ps {
			p := &ps[j]
			t := p.Type // Link took it from the origin, unless p has its own
			if p.HasType && p.Origin != 0 {
				if o, _ := e.originOf(f, p, j); o != nil {
					t = o.Type
				}
			}
			e.locate(p, t, &args)
		}
	}
	for _, i := range e.Order {
		if f := &e.Funcs[i]; f.Origin != 0 && f.Flags&FuncDeclaration == 0 {
			e.passOn(f)
		}
	}
	for _, i := range e.Order {
		if !e.wanted(i) {
			continue
		}
		f := &e.Funcs[i]
		if e.changed(f) {
			f.Flags |= FuncChanged
		}
		e.check(f, &args)
	}
}

// locate sets size and location of p, whose source type is t.
func (e *Functions) locate(p *Param, t dedup.Ref, args *argRegs) {
	p.Size = e.Types.typeSize(t)
	limit := 2 * e.Types.AddrSize
	if args.oneEach {
		limit = e.Types.AddrSize
	}
	if int(p.Size) > limit {
		p.Flags |= ParamInMemory
	}
	if p.LocKind == LocNone {
		return
	}
	d := locDecoder{p: p, format: e.Format, addrSize: uint64(e.Types.AddrSize)}
	d.twoRegs = int(p.Size) > e.Types.AddrSize && !args.oneEach
	d.wantPieces = e.TrueSignature && e.Clang
	switch p.LocKind {
	case LocExpr:
		off, n := uint64(p.LocOff), uint64(p.LocLen)
		if off+n <= uint64(len(e.Exprs)) {
			d.expr(e.Exprs[off:][:n], 0)
		}
	case LocEntries:
		off, n := uint64(p.LocOff), uint64(p.LocLen)
		if off+n <= uint64(len(e.Entries)) {
			d.entries(e.Entries[off:][:n])
		}
	case LocList:
		if e.Lists.Reloc != nil && e.Format.Version < 5 {
			e.Lists.relocated(&d, uint64(p.LocOff))
			break
		}
		// Relocated or not: in lists of DWARF 5 addresses are stepped over,
		// and no relocation changes the length of anything.
		before := *p
		for !d.list(e.Lists.Data, uint64(p.LocOff)) && e.Lists.extend() {
			*p = before
		}
	}
}

// wanted reports whether function i is wanted: see Only.
func (e *Functions) wanted(i uint32) bool { return e.Only == nil || e.Only(i) }

// copiedFlags are the flags that a parameter passes on to its origin.
const copiedFlags = ParamHasLoc | ParamHasConst | ParamConstant | ParamOnStack | ParamInMemory

// passOn copies flags, register and size of f's parameters to their origins. A flag
// stays set once any concrete function has set it; the register is the last
// function's. Parameters with a type of their own pass on nothing.
func (e *Functions) passOn(f *Func) {
	ps := e.paramsOf(f)
	for j := range ps {
		p := &ps[j]
		if p.Origin == 0 || p.HasType {
			continue
		}
		o, k := e.originOf(f, p, j)
		if o == nil {
			continue
		}
		if k&0xff != j&0xff {
			f.Flags |= FuncReordered
		}
		o.Flags |= p.Flags & copiedFlags
		if p.Reg >= 0 {
			o.Reg = p.Reg
		}
		o.Size = p.Size
		o.PieceFirst |= p.PieceFirst
		o.PieceSecond |= p.PieceSecond
	}
}

// useFormat makes Format and the section of Lists fit function i.
func (e *Functions) useFormat(i uint32) {
	r := FormatOf(e.Formats, i)
	e.Format.Version, e.Format.Dwarf64 = r.Version, r.Dwarf64
	e.Lists.choose(e.Format.Version)
}

// FormatOf returns the run that contains function i. runs are sorted by First, and begin with
// function 0.
func FormatOf(runs []FormatRun, i uint32) FormatRun {
	k, found := slices.BinarySearchFunc(runs, i, func(r FormatRun, i uint32) int { return cmp.Compare(r.First, i) })
	if !found {
		k--
	}
	// Units without functions start where the next one does.
	for k+1 < len(runs) && runs[k+1].First <= i {
		k++
	}
	return runs[k]
}
