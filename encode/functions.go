package encode

import (
	"github.com/btflite/btflite/compactstate"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/internal/dwarf"
)

// stateRec is what one subprogram DIE contributes to the choice of functions,
// while its unit is in work: types are Refs of the unit. The committer turns
// it into a compactstate record.
type stateRec struct {
	Entry   uint32
	Sym     uint32
	Ret     dedup.Ref
	First   uint32 // in unit.stParams
	N       uint32
	FirstAn uint32 // in unit.annots
	NAn     uint32
	Name    dedup.Name
	Flags   compactstate.Flags
}

// functions judges the unit's subprograms and fills u.states: which of them
// count, where their parameters are, and what prototype they show.
func (f *file) functions(u *unit) {
	if len(u.funcs.S) == 0 {
		return
	}
	e := &u.env
	addrSize, clang, exprs, copies := int(u.hdr.AddrSize), u.clang, u.hdr.Data, 0
	if f.merge != nil {
		addrSize, clang, exprs = int(f.merge.addrSize), f.merge.clang, f.info
		if u.ownFuncs != 0 {
			copies = len(u.funcs.S) - u.ownFuncs
		}
		e.Lists.Reset(nil, nil)
		e.Lists.Both = [2][]byte{f.loc, f.loclists}
	}
	if f.rel != nil {
		e.Lists.Reloc = f.rel.random[relLoc]
	}
	*e = callconv.Functions{
		Machine: f.machine,
		Format: dwarf.ExprFormat{
			Version: u.hdr.Version, AddrSize: uint8(addrSize), Dwarf64: u.hdr.Dwarf64,
			BigEndian: f.bigEndian, Split: f.suffix != "",
		},
		Clang: clang, TrueSignature: f.opt.Features&TrueSignature != 0,
		Types: callconv.Types{Nodes: u.types.Nodes.S, Members: u.types.Members.S, AddrSize: addrSize},
		Exprs: exprs, Lists: e.Lists,
		Funcs: u.funcs.S, Params: u.params.S, Copies: copies, Order: u.funcOrder.S,
		Formats: u.formats.S, Only: e.Only,
	}
	e.Link()
	table := f.run.funcs
	any := false
	f.entriesAhead(u)
	for _, i := range u.funcOrder.S {
		fn := &u.funcs.S[i]
		if fn.Flags&callconv.FuncDeclaration != 0 || fn.Name == 0 {
			continue
		}
		named := true
		for j := range u.params.S[fn.First:][:fn.N] {
			if u.params.S[fn.First+uint32(j)].Name == 0 {
				named = false
				break
			}
		}
		if !named {
			continue
		}
		fn.Entry = f.entryOf(u, fn.Name)
		if fn.Entry == 0 && f.opt.Verbose != nil && table.Len() > 0 {
			f.verbose(u, "could not find function '"+string(f.names.Text(fn.Name))+"' in the ELF functions table")
		}
		if (len(u.left) > 0 || f.merge != nil) && fn.Entry != 0 && u.leftOutFunc(fn) {
			fn.Entry = 0
			u.countLeft(leftFunctions, 1)
		}
		any = any || fn.Entry != 0
	}
	if !any {
		return
	}
	e.Analyze()
	if err := e.Lists.Err(); err != nil {
		u.relocFail = err
	}
	trueSig := f.opt.Features&TrueSignature != 0
	for _, i := range u.funcOrder.S {
		fn := &u.funcs.S[i]
		if fn.Entry == 0 {
			continue
		}
		st := stateRec{Entry: fn.Entry, Ret: fn.Type, First: uint32(len(u.stParams.S)), FirstAn: fn.FirstAn, NAn: fn.NAn, Name: fn.Name}
		fl := compactstate.Flags(0)
		set := func(on bool, x compactstate.Flags) {
			if on {
				fl |= x
			}
		}
		set(fn.Flags&callconv.FuncUnexpectedReg != 0, compactstate.Unexpected)
		set(fn.Flags&callconv.FuncOptimizedParams != 0, compactstate.OptimizedParms)
		set(fn.Flags&callconv.FuncReordered != 0, compactstate.Reordered)
		set(fn.Flags&callconv.FuncChanged != 0, compactstate.Changed)
		set(e.Uncertain(fn), compactstate.Uncertain)
		match, optimized, sym := table.Symbol(fn.Entry, fn.LowPC)
		set(match, compactstate.AddressMatches)
		set(fn.LowPC != 0, compactstate.HasAddress)
		set(optimized, compactstate.OptimizedSymbol)
		if trueSig {
			st.Sym = sym
		}
		changed := trueSig && fn.Flags&callconv.FuncChanged != 0
		for j := range fn.N {
			p := &u.params.S[fn.First+j]
			if fn.Flags&callconv.FuncReordered != 0 && (p.Flags&callconv.ParamHasLoc == 0 || p.Flags&callconv.ParamOptimized != 0) ||
				changed && p.Flags&callconv.ParamOptimized != 0 {
				continue
			}
			cp := compactstate.Param{Name: p.Name, Type: p.Type}
			if changed && p.Member != 0 {
				m := &u.types.Members.S[p.Member-1]
				name := append([]byte(nil), f.names.Text(p.Name)...)
				name = append(append(name, "__"...), f.names.Text(m.Name)...)
				cp.Name = f.names.Token(name)
			}
			u.stParams.Append(cp)
		}
		if fn.Flags&callconv.FuncVariadic != 0 {
			u.stParams.Append(compactstate.Param{})
		}
		st.N = uint32(len(u.stParams.S)) - st.First
		st.Flags = fl
		u.states.Append(st)
	}
}

// nameEntry remembers which ELF function a name token stands for.
type nameEntry struct{ name, entry uint32 }

// entryCache is the number of look-ups that a slot remembers: inline functions
// of headers come again in unit after unit.
const entryCache = 1 << entryBits

const entryBits = 13

// nameEntry is the one place where the slot remembers a name, which may have
// another one there.
func (u *unit) nameEntry(name dedup.Name) *nameEntry {
	return &u.entries.S[name*0x9e3779b1>>(32-entryBits)]
}

// entriesAhead prepares entryOf for the unit's functions.
func (f *file) entriesAhead(u *unit) {
	if len(u.entries.S) == 0 {
		u.entries.Resize(entryCache)
	}
	tokens := u.tokens[:0]
	for i := range u.funcs.S {
		fn := &u.funcs.S[i]
		if name := fn.Name; name != 0 && fn.Flags&callconv.FuncDeclaration == 0 && u.nameEntry(name).name != name {
			tokens = append(tokens, name)
		}
	}
	u.tokens = tokens
	u.touched += f.names.Touch(tokens)
	texts := u.texts[:0]
	for _, t := range tokens {
		texts = append(texts, f.names.Text(t))
	}
	u.touched += f.run.funcs.Ahead(texts)
	u.texts = texts
}

// entryOf is the ELF function table's entry for a name, 0 if there is none.
func (f *file) entryOf(u *unit, name dedup.Name) uint32 {
	e := u.nameEntry(name)
	if e.name != name {
		*e = nameEntry{name, f.run.funcs.Lookup(f.names.Text(name))}
	}
	return e.entry
}

// saveStates hands the unit's states over to the run, in functions-table
// order; their names go into the string section as they come.
func (f *file) saveStates(u *unit) error {
	r := f.run
	if len(u.states.S) > 0 {
		r.states.Reserve(r.funcs.MaxEntry())
	}
	for i := range u.states.S {
		st := &u.states.S[i]
		ps := u.stParams.S[st.First:][:st.N]
		var raw []uint32
		if r.raw != nil {
			raw = r.raw.proto(u, st.Ret, ps)
		}
		for j := range ps {
			ps[j].Type = u.id(ps[j].Type)
		}
		an := r.annScratch[:0]
		for _, a := range u.annots.S[st.FirstAn:][:st.NAn] {
			an = append(an, compactstate.Annotation{Value: a.Value, Component: a.Component})
		}
		r.annScratch = an
		ret := u.id(st.Ret)
		r.stats.FuncStates++
		if r.states.Has(st.Entry, st.Flags, st.Sym, ret, ps, an) {
			continue // seen before, with all its names
		}
		if f.merge != nil && !f.merge.finishing {
			f.merge.later(ps, an)
			r.addState(st, ret, ps, an, raw)
			continue
		}
		var err error
		for j := range ps {
			if ps[j].Name, err = r.intern(ps[j].Name); err != nil {
				return f.unitError(u, err.Error())
			}
		}
		for j := range an {
			if an[j].Value, err = r.intern(an[j].Value); err != nil {
				return f.unitError(u, err.Error())
			}
		}
		r.addState(st, ret, ps, an, raw)
	}
	return nil
}

// addState keeps a state; raw are the ids of its types for -V.
func (r *run) addState(st *stateRec, ret uint32, ps []compactstate.Param, an []compactstate.Annotation, raw []uint32) {
	if r.states.Add(st.Entry, st.Flags, st.Sym, ret, ps, an) && raw != nil {
		r.raw.protos[r.states.Place(st.Entry)] = raw
	}
	r.funcName[st.Entry] = st.Name
}

// id is the set id of a Ref after the unit was committed.
func (u *unit) id(ref dedup.Ref) uint32 {
	switch {
	case ref == 0:
		return 0
	case ref&dedup.Extern != 0:
		return ref &^ dedup.Extern
	case ref == refLeftOut:
		return ref
	}
	return u.types.ID.S[ref-1]
}
