package unitrecord

import (
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/internal/unit"
)

// locations finds the n locations in colLocation. The bytes of the column become the
// Entries of u.
func (r *Reader) locations(u *unit.Unit, n int) {
	c := &r.cols[colLocation]
	u.Entries = c.b
	r.spans = r.spans[:0]
	for range n {
		size := c.count(c)
		r.spans = append(r.spans, span{uint32(c.p), uint32(size)})
		c.p += size
	}
}

// funcs reads n functions with m parameters, and inline functions: all, or those that may
// have a symbol. The offset of a function is twice its place. Inline functions have odd
// offsets, which are between the offsets of their neighbours.
func (r *Reader) funcs(u *unit.Unit, in *unit.Input, n, m int, all bool) {
	inline := r.findRuns()
	r.wantFuncs(n+m, all)
	r.funcRefs = r.funcRefs[:0]
	place := uint32(1)
	for turns := &r.cols[colFuncOrder]; n+inline > 0 && !r.bad; {
		own, others := turns.uint(), turns.uint()
		if own > uint64(n) || others > uint64(inline) || own+others == 0 {
			r.bad = true
			return
		}
		n, inline = n-int(own), inline-int(others)
		for range own {
			r.funcRefs = append(r.funcRefs, dedup.Ref(len(u.Funcs.S)+1))
			count := r.function(u, in, place)
			if uint64(count) > uint64(m) {
				r.bad = true
				return
			}
			m, place = m-int(count), place+1+count
		}
		r.inlineFuncs(u, int(others), 2*place-1)
	}
	if r.bad = r.bad || m != 0; r.bad {
		return
	}
	for _, t := range r.order(colFuncOrder, len(r.funcRefs)) {
		for _, k := range r.funcRefs[t.from:][:t.n] {
			if k&dedup.Extern == 0 {
				u.FuncOrder.Append(k - 1)
			}
		}
	}
}

// wantFuncs decides which inline functions are read: all, or those that may have a symbol.
// It looks up their names, and the names of the other functions and of all parameters,
// whose number is names.
func (r *Reader) wantFuncs(names int, all bool) {
	for i := range r.inline.runs {
		t := &r.inline.runs[i]
		if t.read = all || !r.names.names.isDull(t.key); t.read {
			r.names.want(t.names, t.fresh)
		}
	}
	if len(r.cols[colAnnot].b) == 0 { // else there are names between these
		r.names.want(r.names.next, fresh(r.cols[colName], names))
	}
	r.names.askAll()
}

// function reads the function at a place. It returns how many parameters it has.
func (r *Reader) function(u *unit.Unit, in *unit.Input, place uint32) uint32 {
	fn := callconv.Func{Off: 2 * place, First: uint32(len(u.Params.S)), FirstAn: uint32(len(u.Annots.S))}
	flags := r.cols[colFunc].byte()
	fn.Flags = callconv.FuncFlags(flags & funcFlags)
	more := &r.cols[colFuncMore]
	if flags&funcOrigin != 0 {
		fn.Origin, fn.Spec = 2*more.uint32(), 2*more.uint32()
	}
	if flags&funcAddress != 0 {
		fn.LowPC = r.address()
	}
	fn.Name = r.name()
	if flags&funcAnnots != 0 {
		fn.NAn = r.annots(u, in)
	}
	if fn.Flags&callconv.FuncHasType != 0 {
		fn.Type = r.ref()
	}
	fn.N = more.uint32()
	if int(fn.N) > r.cols[colParam].left() {
		r.bad = true
		return 0
	}
	for j := range fn.N {
		r.param(u, 2*(place+1+j), fn.Origin+2*(1+j))
	}
	u.Funcs.Append(fn)
	return fn.N
}

// param reads a parameter. expected is the usual offset of its origin.
func (r *Reader) param(u *unit.Unit, place, expected uint32) {
	flags := r.cols[colParam].byte()
	pm := callconv.Param{Off: place, Reg: -1, HasType: flags&paramType != 0}
	if flags&paramConst != 0 {
		pm.Flags |= callconv.ParamHasConst
	}
	if flags&paramClass != 0 {
		pm.Flags |= callconv.ParamClass
	}
	if flags&paramLoc != 0 {
		pm.Flags |= callconv.ParamHasLoc
		pm.LocKind = callconv.LocEntries
		k := r.cols[colPlace].uint()
		if k >= uint64(len(r.spans)) {
			r.bad = true
			return
		}
		pm.LocOff, pm.LocLen = r.spans[k].off, r.spans[k].n
	}
	if flags&paramOrigin != 0 {
		pm.Origin = expected
		if flags&paramFar != 0 {
			pm.Origin = 2 * r.cols[colOrigin].uint32()
		}
	}
	pm.Name = r.name()
	if pm.HasType {
		pm.Type = r.ref()
	}
	u.Params.Append(pm)
}

// annots reads annotations. It returns how many of them the unit has got.
func (r *Reader) annots(u *unit.Unit, in *unit.Input) uint32 {
	n := r.cols[colAnnot].count(&r.cols[colAnnot])
	for range n {
		a := unit.Annot{Value: r.name(), Component: int32(r.cols[colAnnot].step())}
		if in.Options.DeclTag {
			u.Annots.Append(a)
		}
	}
	if !in.Options.DeclTag {
		return 0
	}
	return uint32(n)
}

// vars reads n variables, and keeps those in wanted sections.
func (r *Reader) vars(u *unit.Unit, in *unit.Input, n int) {
	for range n {
		addr := r.address()
		code, name := r.cols[colName].byte(), 0
		if code != 0 {
			name = r.names.number(code, &r.cols[colName])
		}
		v := unit.Var{Type: r.ref(), FirstAn: uint32(len(u.Annots.S))}
		flags := r.cols[colVar].byte()
		v.External = flags&varExternal != 0
		if flags&varAnnots != 0 {
			v.NAn = r.annots(u, in)
		}
		if in.Place(&v, addr) {
			if code != 0 {
				v.Name = r.names.token(name)
			}
			u.Vars.Append(v)
		}
	}
}

// tags reads n declaration tags of types.
func (r *Reader) tags(u *unit.Unit, in *unit.Input, n int) {
	c := &r.cols[colAnnot]
	node := int64(0)
	for range n {
		node += c.step()
		t := unit.Tag{Node: uint32(node), Component: int32(c.step()), Value: r.name()}
		if uint64(node) >= uint64(len(u.Types.Nodes.S)) {
			r.bad = true
			return
		}
		switch btf.InfoKind(u.Types.Nodes.S[node].Info) {
		case btf.KindStruct, btf.KindUnion, btf.KindTypedef:
		default:
			r.bad = true
		}
		if in.Options.DeclTag {
			u.Tags.Append(t)
		}
	}
}
