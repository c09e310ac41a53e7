package encode

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/btflite/btflite/compactstate"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/internal/debuginfo"
	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/internal/unit"
)

// With Options.Functions, DWARF is also read for facts that BTF does not have: where
// functions are defined, and where their parameters are at the entry. Workers note
// definitions in their workspaces, and the committer collects them. Names of files are
// looked up only on request.

// Reasons why one definition leaves a function out, in addition to the reasons of package
// compactstate.
const (
	faultUnnamed = "a parameter has no name"
	faultNoType  = "it uses a type that BTF has no kind for"
)

// definerOf returns u's scratch space for noting definitions, and makes it on first use.
func definerOf(f *input, u *workspace) *definer {
	if u.funcs.definer == nil {
		u.funcs.definer = &definer{u: u, seen: map[uint32]bool{}}
	}
	if j := u.funcs.definer; j.f != f {
		j.f, j.farUnit = f, 0
		j.decls.Forget()
	}
	return u.funcs.definer
}

// define notes the definitions of the unit's functions, after they have been checked.
func (j *definer) define() error {
	f, u := j.f, j.u
	clear(j.seen)
	j.drop() // in case the unit is read a second time
	q := f.opt.Functions
	for _, i := range u.unit.FuncOrder.S {
		fn := &u.unit.Funcs.S[i]
		if fn.Flags&callconv.FuncDeclaration != 0 || fn.Name == 0 {
			continue
		}
		entry := f.entryOf(u, fn.Name)
		if q.Wanted == nil && (entry == 0 || fn.Flags&callconv.FuncInline != 0) || q.Wanted != nil && !q.Wanted(f.File.Names.Text(fn.Name)) {
			continue
		}
		if f.merge != nil {
			if j.seen[fn.Off] {
				continue // the unit is imported more than once
			}
			j.seen[fn.Off] = true
		}
		d := definition{low: fn.LowPC, name: fn.Name, entry: entry, fault: faultOf(f.run.funcs.table, u, fn, entry), code: fn.LowPC != 0}
		if err := j.declare(&d, fn); err != nil {
			return err
		}
		d.first = uint32(len(j.params))
		for k := range fn.N {
			p := &u.unit.Params.S[fn.First+k]
			j.params = append(j.params, definedParam{p.Name, placeOf(u, i, p)})
		}
		d.nparams = fn.N
		j.defs = append(j.defs, d)
	}
	return nil
}

// faultOf returns the reason why this definition leaves fn out, or "". It knows only
// reasons that do not depend on other definitions.
func faultOf(table *compactstate.FuncTable, u *workspace, fn *callconv.Func, entry uint32) string {
	switch {
	case !named(u.unit.Params.S[fn.First:][:fn.N]):
		return faultUnnamed
	case entry != 0 && fn.Entry == 0:
		return faultNoType
	case fn.Entry == 0:
		return ""
	}
	switch fl, _ := flagsOf(table, u, fn); {
	case fl.Optimized():
		return compactstate.ReasonOptimized.String()
	case fl&compactstate.Reordered != 0:
		return compactstate.ReasonReordered.String()
	case fl&compactstate.Uncertain != 0:
		return compactstate.ReasonUncertain.String()
	case fl&compactstate.Unexpected != 0:
		return compactstate.ReasonUnexpected.String()
	}
	return ""
}

// maxOrigins bounds a chain of abstract origins and specifications.
const maxOrigins = 8

// declare fills in file and line of fn's declaration, from its DIE or from its origin's.
func (j *definer) declare(d *definition, fn *callconv.Func) error {
	for n := range maxOrigins {
		c, off, err := j.unitOf(fn.Off)
		if err != nil || c == nil {
			return err
		}
		if err := c.Table(dwarf.Places, &j.decls); err != nil {
			return err
		}
		x, ok := j.decls.Decl(c.Hdr.Data, off)
		if n == 0 {
			d.code = d.code || ok && x.Ranges
			d.unit = j.noteUnit(c)
		}
		// A definition omits attributes that its declaration has.
		if d.line == 0 {
			d.line = uint32(min(x.Line, 1<<31-1))
		}
		if x.HasFile {
			d.file, d.hasFile = uint32(min(x.File, 1<<32-1)), true
		}
		if !ok || d.line != 0 && d.hasFile {
			return nil
		}
		if fn = j.u.funcs.env.Origin(fn); fn == nil {
			return nil
		}
	}
	return nil
}

// unitOf returns the unit that contains the DIE at off, and the offset of the DIE in it.
// c is nil if there is none.
func (j *definer) unitOf(off uint32) (c *debuginfo.Cursor, at int, err error) {
	f := j.f
	if f.merge == nil {
		return &j.u.reader.Cursor, int(off), nil
	}
	k, ok := f.merge.At(uint64(off))
	if !ok {
		return nil, 0, nil
	}
	if j.far == nil {
		j.far = new(unit.Reader)
		j.far.Init(f.run.limit)
	}
	if far := j.far; j.farUnit != k+1 {
		far.Reset()
		far.Forget()
		j.decls.Forget()
		far.In, far.Cursor.Seq = &f.Input, j.u.reader.Cursor.Seq
		if err := far.OpenPlace(k); err != nil {
			return nil, 0, err
		}
		far.Cursor.File = f.FileOf(k)
		if _, _, err := far.Start(); err != nil {
			return nil, 0, err
		}
		j.farUnit = k + 1
	}
	return &j.far.Cursor, int(uint64(off) - f.merge.Places[k].Off), nil
}

// noteUnit returns the index of a unit in j.units, and adds the unit if it is new.
func (j *definer) noteUnit(c *debuginfo.Cursor) uint32 {
	x := definedUnit{f: j.f, name: c.Name}
	if j.u.unit.Facts.Skeleton != nil || c.File.Split() {
		x.lines, x.hasLines = j.skel.lines, j.skel.hasLines
	} else if d, ok := j.decls.Decl(c.Hdr.Data, c.Hdr.First); ok {
		x.lines, x.hasLines = d.LineTable, d.HasLines
	}
	if n := len(j.units); n > 0 && j.units[n-1] == x {
		return uint32(n - 1)
	}
	j.units = append(j.units, x)
	return uint32(len(j.units) - 1)
}

// noteSkeleton keeps the line table of the skeleton unit, which the full unit uses too.
func (j *definer) noteSkeleton() error {
	u := j.u
	if err := u.reader.Cursor.Table(dwarf.Places, &j.decls); err != nil {
		return err
	}
	x, _ := j.decls.Decl(u.reader.Cursor.Hdr.Data, u.reader.Cursor.Hdr.First)
	j.skel = definedUnit{lines: x.LineTable, hasLines: x.HasLines}
	j.decls.Forget()
	return nil
}

// placeOf returns where parameter p of function i is at the entry.
func placeOf(u *workspace, i uint32, p *callconv.Param) Place {
	expr, list, ok := u.funcs.env.Location(i, p)
	switch {
	case ok:
		at := placeIn(expr, u.funcs.env.Format)
		at.Moves = list
		return at
	case p.LocKind != callconv.LocNone:
		return Place{Kind: PlaceList}
	case p.Flags&callconv.ParamHasConst != 0:
		return Place{Kind: PlaceConstant}
	}
	return Place{}
}

// placeIn returns the place that a location expression describes.
func placeIn(expr []byte, f dwarf.ExprFormat) Place {
	var first, op dwarf.ExprOp
	x := dwarf.NewExpr(expr, f)
	if len(expr) == 0 {
		return Place{}
	}
	if !x.Next(&first) {
		return Place{Kind: PlaceCompute}
	}
	alone := x.Offset() == len(expr)
	value := x.Next(&op) && op.Code == dwarf.OpStackValue && x.Offset() == len(expr)
	switch c := first.Code; {
	case c >= dwarf.OpReg0 && c <= dwarf.OpReg31:
		return Place{Kind: PlaceRegister, Register: uint16(c - dwarf.OpReg0)}
	case c == dwarf.OpRegx:
		return Place{Kind: PlaceRegister, Register: uint16(min(first.A, 1<<16-1))}
	case c == dwarf.OpFbreg, c >= dwarf.OpBreg0 && c <= dwarf.OpBreg31, c == dwarf.OpBregx:
		if alone {
			return Place{Kind: PlaceStack}
		}
	case alone && c == dwarf.OpImplicitValue, value && (c >= dwarf.OpConst1u && c <= dwarf.OpConsts || c >= dwarf.OpLit0 && c <= dwarf.OpLit31):
		return Place{Kind: PlaceConstant}
	case c == dwarf.OpAddr, c == dwarf.OpAddrx, c == dwarf.OpGNUAddrIndex: // the last two in split DWARF
		if value {
			return Place{Kind: PlaceConstant}
		}
		if alone {
			return Place{Kind: PlaceFixed}
		}
	}
	return Place{Kind: PlaceCompute}
}

// take moves the definitions of a workspace to d.
func (d *defined) take(from *defined) {
	units, params := uint32(len(d.units)), uint32(len(d.params))
	d.units = append(d.units, from.units...)
	d.params = append(d.params, from.params...)
	for _, x := range from.defs {
		x.unit += units
		x.first += params
		d.defs = append(d.defs, x)
	}
	from.drop()
}

func (d *defined) drop() { *d = defined{d.units[:0], d.defs[:0], d.params[:0]} }

// reporter answers Options.Functions. A nil one answers nothing.
type reporter struct {
	of       *run
	named    map[string][]uint32 // definitions, by name
	reported map[string]bool
	mu       sync.Mutex
	differ   map[string]string // by name
}

// newReporter indexes the definitions by name, once all units are committed. It returns
// nil without Options.Functions.
func (r *run) newReporter() *reporter {
	if r.opt.Functions == nil {
		return nil
	}
	t := &reporter{of: r, named: map[string][]uint32{}, differ: map[string]string{}, reported: map[string]bool{}}
	for i := range r.funcs.defs {
		name := string(r.names.Text(r.funcs.defs[i].name))
		t.named[name] = append(t.named[name], uint32(i))
	}
	return t
}

// mismatch keeps the first difference between two definitions of a function. See
// compactstate.Decide for what, a and b.
func (t *reporter) mismatch(entry uint32, what int, a, b []uint32) {
	name := string(t.of.funcs.table.Name(entry))
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.differ[name] != "" {
		return
	}
	switch {
	case what < 0:
		t.differ[name] = fmt.Sprintf("%d and %d parameters", len(a)/2, len(b)/2)
	case what == 0:
		t.differ[name] = "the types that are returned differ"
	default:
		t.differ[name] = fmt.Sprintf("the types of parameter %d differ", what)
	}
}

// encoded reports a function that is in the BTF.
func (t *reporter) encoded(name []byte) { t.report(Function{Name: string(name), Encoded: true}) }

// skipped reports a function that has a symbol and is left out.
func (t *reporter) skipped(name []byte, why compactstate.Reason) {
	x := Function{Name: string(name), Reason: why.String()}
	if why == compactstate.ReasonInconsistent {
		t.mu.Lock()
		x.Mismatch = t.differ[x.Name]
		t.mu.Unlock()
	}
	t.report(x)
}

func (t *reporter) report(x Function) {
	q := t.of.opt.Functions
	defs := t.named[x.Name]
	if defs == nil && q.Wanted != nil && !q.Wanted([]byte(x.Name)) {
		return
	}
	t.reported[x.Name] = true
	told := false
	x.definitions = func() ([]Definition, error) {
		if told {
			return nil, errTold
		}
		return t.definitions(defs)
	}
	q.Tell(&x)
	told = true
}

// errTold is the error for Definitions after Tell, when the memory of the run is gone.
var errTold = errors.New("the definitions of a function are asked for after Tell has returned")

// withoutSymbol reports the definitions without a symbol, after all functions with one. It does
// nothing after an error.
func (t *reporter) withoutSymbol(err error) {
	if t == nil || err != nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(t.named)) {
		if !t.reported[name] {
			t.report(Function{Name: name})
		}
	}
}

// definitions makes the result of Function.Definitions from the indexes of definitions.
func (t *reporter) definitions(defs []uint32) ([]Definition, error) {
	r := t.of
	var list []Definition
	for _, i := range defs {
		d := &r.funcs.defs[i]
		u := &r.funcs.units[d.unit]
		text := func(t dedup.Name) string { return string(r.names.Text(t)) }
		out := Definition{Unit: text(u.name), Line: int(d.line), Code: d.code, Address: d.low, Fault: d.fault}
		if d.hasFile && u.hasLines {
			l, err := u.lineFiles()
			if err != nil {
				return nil, err
			}
			out.File = l.File(u.lines, uint64(d.file))
		}
		if d.low != 0 {
			out.Section, out.Address = u.inSection(d.low)
			out.Symbol = string(r.funcs.table.SymbolAt(d.entry, out.Address))
		}
		for _, p := range r.funcs.params[d.first:][:d.nparams] {
			out.Params = append(out.Params, Parameter{text(p.name), p.place})
		}
		list = append(list, out)
	}
	return list, nil
}

// lineFiles opens .debug_line on first use.
func (du *definedUnit) lineFiles() (*debuginfo.Lines, error) {
	if du.f.lines == nil {
		l, err := debuginfo.OpenLines(du.f.File)
		if err != nil {
			return nil, err
		}
		du.f.lines = l
	}
	return du.f.lines, nil
}

// inSection returns the section of an object that contains an address, and the offset in
// it. For a linked file it returns the address itself.
func (du *definedUnit) inSection(address uint64) (section string, place uint64) {
	f := du.f
	if !f.File.Relocatable() {
		return "", address
	}
	for i, start := range f.File.Addresses() {
		if s := &f.File.ELF.Sections[i]; s.Flags&elfabi.SHFAlloc != 0 && address >= start && address-start < s.Size {
			return s.Name, address - start
		}
	}
	return "", address
}
