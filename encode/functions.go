package encode

import (
	"errors"

	"github.com/btflite/btflite/compactstate"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/internal/unit"
)

// functions checks the unit's subprograms and fills u.funcs.states: it adds a state for each that has
// a symbol, with the prototype that its code shows.
func (f *input) functions(u *workspace) error {
	if len(u.unit.Funcs.S) == 0 {
		return nil
	}
	f.prepare(u)
	u.funcs.env.Link()
	if f.opt.For == ForReaders {
		u.funcs.env.LinkFar()
	}
	if f.placeFuncs(u) {
		if err := f.judge(u); err != nil {
			return err
		}
	}
	if f.opt.Functions == nil {
		return nil
	}
	u.holdTypes(f.run.set)
	defer u.releaseTypes(f.run.set)
	return definerOf(f, u).define()
}

// holdTypes keeps commits from changing the set until releaseTypes, if the set has types of
// the unit that the unit itself does not have.
func (u *workspace) holdTypes(set *dedup.Set) {
	if u.unit.Types.LeftOutNodes() > 0 {
		set.Hold()
	}
}

// releaseTypes ends what holdTypes began.
func (u *workspace) releaseTypes(set *dedup.Set) {
	if u.unit.Types.LeftOutNodes() > 0 {
		set.Release()
	}
}

// judge checks the functions that have a symbol.
func (f *input) judge(u *workspace) error {
	u.holdTypes(f.run.set)
	defer u.releaseTypes(f.run.set)
	u.funcs.env.Analyze()
	if err := u.funcs.env.Lists.Err(); err != nil {
		return err
	}
	for _, i := range u.unit.FuncOrder.S {
		if fn := &u.unit.Funcs.S[i]; fn.Entry != 0 {
			f.addState(u, fn)
		}
	}
	return nil
}

// prepare sets u.funcs.env, the facts about the unit that the check needs. In a merged
// file they come from the plan, because they hold for all units.
func (f *input) prepare(u *workspace) {
	c := &u.reader.Cursor
	e := &u.funcs.env
	addrSize, clang, exprs, copies := int(c.Hdr.AddrSize), u.unit.Facts.Clang, c.Hdr.Data, 0
	if f.merge != nil {
		addrSize, clang, exprs = int(f.merge.AddrSize), f.merge.Clang, f.File.Info
		if u.unit.OwnFuncs != 0 {
			copies = len(u.unit.Funcs.S) - u.unit.OwnFuncs
		}
		e.Lists.Reset(nil, nil)
		e.Lists.Both = [2][]byte{f.File.Loc, f.File.Loclists}
	}
	e.Lists.Reloc = c.File.ListRelocs()
	*e = callconv.Functions{
		Machine: c.File.Machine,
		Format: dwarf.ExprFormat{
			Version: c.Hdr.Version, AddrSize: uint8(addrSize), Dwarf64: c.Hdr.Dwarf64,
			BigEndian: f.File.BigEndian, Split: c.File.Split(),
		},
		Clang: clang, TrueSignature: f.opt.Features&TrueSignature != 0,
		Types: u.sizes(f.run.set, addrSize),
		Exprs: exprs, Entries: u.unit.Entries, Lists: e.Lists,
		Funcs: u.unit.Funcs.S, Params: u.unit.Params.S, Copies: copies, Order: u.unit.FuncOrder.S,
		Formats: u.unit.Formats.S, Only: e.Only,
	}
}

// sizes returns the types that decide sizes: the unit's own, and types of the set that
// were left out of the unit.
func (u *workspace) sizes(set *dedup.Set, addrSize int) callconv.Types {
	return callconv.Types{Nodes: u.unit.Types.Nodes.S, Members: u.unit.Types.Members.S, AddrSize: addrSize, Set: set, Classes: u.unit.Classes.S}
}

// placeFuncs looks the unit's functions up in the ELF function table, and sets Entry of those that are
// there and can be encoded. It reports whether there is one.
func (f *input) placeFuncs(u *workspace) (any bool) {
	table := f.run.funcs.table
	f.entriesAhead(u)
	for _, i := range u.unit.FuncOrder.S {
		fn := &u.unit.Funcs.S[i]
		if fn.Flags&callconv.FuncDeclaration != 0 || fn.Name == 0 || f.opt.For == ForReaders && u.unit.Facts.Foreign != 0 || !named(u.unit.Params.S[fn.First:][:fn.N]) {
			continue
		}
		fn.Entry = f.entryOf(u, fn.Name)
		if fn.Entry == 0 && f.run.raw != nil && table.Len() > 0 {
			f.run.raw.say(u, "could not find function '"+string(f.File.Names.Text(fn.Name))+"' in the ELF functions table")
		}
		if (u.unit.Unencodable.Any() || f.merge != nil) && fn.Entry != 0 && u.unit.DropFunc(fn) {
			fn.Entry = 0
		}
		any = any || fn.Entry != 0
	}
	return any
}

// named reports whether all parameters have names.
func named(params []callconv.Param) bool {
	for i := range params {
		if params[i].Name == 0 {
			return false
		}
	}
	return true
}

// addState adds the description that fn gives of its function. fn has a symbol and has
// been checked.
func (f *input) addState(u *workspace, fn *callconv.Func) {
	st := stateRec{Entry: fn.Entry, Ret: fn.Type, First: uint32(len(u.funcs.params.S)), FirstAn: fn.FirstAn, NAn: fn.NAn, Name: fn.Name}
	trueSig := f.opt.Features&TrueSignature != 0
	fl, sym := flagsOf(f.run.funcs.table, u, fn)
	if trueSig {
		st.Sym = sym
	}
	changed := trueSig && fn.Flags&callconv.FuncChanged != 0
	for j := range fn.N {
		p := &u.unit.Params.S[fn.First+j]
		if fn.Flags&callconv.FuncReordered != 0 && (p.Flags&callconv.ParamHasLoc == 0 || p.Flags&callconv.ParamOptimized != 0) ||
			changed && p.Flags&callconv.ParamOptimized != 0 {
			continue
		}
		cp := compactstate.Param{Name: p.Name, Type: p.Type}
		if changed && p.Member != 0 {
			cp.Name = f.memberName(u, p)
		}
		u.funcs.params.Append(cp)
	}
	if fn.Flags&callconv.FuncVariadic != 0 {
		u.funcs.params.Append(compactstate.Param{})
	}
	st.N = uint32(len(u.funcs.params.S)) - st.First
	st.Flags = fl
	u.funcs.states.Append(st)
}

// flagsOf returns the flags of the state for fn, and the symbol of its own at its address.
func flagsOf(table *compactstate.FuncTable, u *workspace, fn *callconv.Func) (fl compactstate.Flags, sym uint32) {
	match, optimized, sym := table.Symbol(fn.Entry, fn.LowPC)
	set := func(on bool, x compactstate.Flags) {
		if on {
			fl |= x
		}
	}
	set(fn.Flags&callconv.FuncUnexpectedReg != 0, compactstate.Unexpected)
	set(fn.Flags&callconv.FuncOptimizedParams != 0, compactstate.OptimizedParms)
	set(fn.Flags&callconv.FuncReordered != 0, compactstate.Reordered)
	set(fn.Flags&callconv.FuncChanged != 0, compactstate.Changed)
	set(u.funcs.env.Uncertain(fn), compactstate.Uncertain)
	set(match, compactstate.AddressMatches)
	set(fn.LowPC != 0, compactstate.HasAddress)
	set(optimized, compactstate.OptimizedSymbol)
	return fl, sym
}

// memberName returns the name for a struct parameter if only one member is passed.
func (f *input) memberName(u *workspace, p *callconv.Param) dedup.Name {
	name := append([]byte(nil), f.File.Names.Text(p.Name)...)
	name = append(append(name, "__"...), f.File.Names.Text(u.funcs.env.Types.Members[p.Member-1].Name)...)
	return f.File.Names.Token(name)
}

// entryCache is the number of look-ups that a workspace remembers, because many units have the
// same inline functions of headers.
const entryCache = 1 << entryBits

const entryBits = 13

// nameEntry returns the place in the cache for a name. It may have another name.
func (u *workspace) nameEntry(name dedup.Name) *nameEntry {
	return &u.funcs.entries.S[name*0x9e3779b1>>(32-entryBits)]
}

// entriesAhead prefetches for entryOf, for all functions of the unit.
func (f *input) entriesAhead(u *workspace) {
	if len(u.funcs.entries.S) == 0 {
		u.funcs.entries.Resize(entryCache)
	}
	tokens := u.funcs.tokens[:0]
	for i := range u.unit.Funcs.S {
		fn := &u.unit.Funcs.S[i]
		if name := fn.Name; name != 0 && fn.Flags&callconv.FuncDeclaration == 0 && u.nameEntry(name).name != name {
			tokens = append(tokens, name)
		}
	}
	u.funcs.tokens = tokens
	u.funcs.touched.Read(uint32(f.File.Names.Touch(tokens)))
	texts := u.funcs.texts[:0]
	for _, t := range tokens {
		texts = append(texts, f.File.Names.Text(t))
	}
	u.funcs.touched.Read(uint32(f.run.funcs.table.Ahead(texts)))
	u.funcs.texts = texts
}

// entryOf returns the entry of a name in the ELF function table, 0 if there is none.
func (f *input) entryOf(u *workspace, name dedup.Name) uint32 {
	e := u.nameEntry(name)
	if e.name != name {
		*e = nameEntry{name, f.run.funcs.table.Lookup(f.File.Names.Text(name))}
	}
	return e.entry
}

// errPadding ends a run because a DIE has the name of a symbol that may have been left out.
var errPadding = errors.New("a function has the name of padding")

// saveStates adds the strings of the unit's function states, in the order of FuncOrder, and takes
// the definitions for Options.Functions. keepStates moves the states themselves to the run; only in a
// merged file does saveStates do that, too.
func (f *input) saveStates(u *workspace) error {
	r := f.run
	if t := r.funcs.table; t != nil && t.NeedsPadding() {
		return errPadding
	}
	if u.funcs.definer != nil {
		r.funcs.take(&u.funcs.definer.defined)
	}
	if f.opt.For == ForReaders {
		if err := r.saveReadable(u); err != nil {
			return err
		}
	}
	if f.merge != nil {
		return keepStates(f, u)
	}
	// A state that is a repeat has no new names: it needs no look-up here.
	for i := range u.funcs.states.S {
		ps, annots := u.funcs.states.S[i].parts(u)
		if err := internState(r.set, ps, annots); err != nil {
			return u.reader.Cursor.UnitError(err.Error())
		}
	}
	return nil
}

// internState adds the strings of a state.
func internState(set *dedup.Set, ps []compactstate.Param, an []unit.Annot) (err error) {
	for j := range ps {
		if ps[j].Name, err = set.Intern(ps[j].Name); err != nil {
			return err
		}
	}
	for j := range an {
		if an[j].Value, err = set.Intern(an[j].Value); err != nil {
			return err
		}
	}
	return nil
}

// keepStates moves the unit's states to the run, in functions-table order. Their strings have been
// added, so a later unit may be committed meanwhile. In a merged file, keepStates adds the strings, or
// notes them for the end of the file.
func keepStates(f *input, u *workspace) error {
	if len(u.funcs.states.S) > 0 {
		f.run.funcs.states.Reserve(f.run.funcs.table.MaxEntry(), nil)
	}
	f.run.stats.FuncStates += uint64(len(u.funcs.states.S))
	for i := range u.funcs.states.S {
		st, raw := placeState(f, u, i)
		ps, annots := st.parts(u)
		switch m := f.merge; {
		case m == nil:
		case f.run.funcs.states.Has(st.Entry, st.Flags, st.Sym, st.Ret, ps, f.run.funcs.annotations(annots)):
			continue // its names have come with the first state
		case !m.finishing:
			m.keepNames(ps, annots)
		default:
			if err := internState(f.run.set, ps, annots); err != nil {
				return u.reader.Cursor.UnitError(err.Error())
			}
		}
		f.run.keepState(u, st, raw)
	}
	return nil
}

// placeState gives the types of state i ids of the Set. raw has their ids for -V.
func placeState(f *input, u *workspace, i int) (st *stateRec, raw []uint32) {
	st = &u.funcs.states.S[i]
	ps, _ := st.parts(u)
	if f.run.raw != nil {
		raw = f.run.raw.proto(u, st.Ret, ps)
	}
	st.Ret = u.id(st.Ret)
	for j := range ps {
		ps[j].Type = u.id(ps[j].Type)
	}
	return st, raw
}

// parts returns the parameters and annotations of a state.
func (st *stateRec) parts(u *workspace) ([]compactstate.Param, []unit.Annot) {
	return u.funcs.params.S[st.First:][:st.N], u.unit.Annots.S[st.FirstAn:][:st.NAn]
}

// keepState keeps a state unless it is a repeat.
func (r *run) keepState(u *workspace, st *stateRec, raw []uint32) {
	ps, annots := st.parts(u)
	if !r.funcs.states.Add(st.Entry, st.Flags, st.Sym, st.Ret, ps, r.funcs.annotations(annots)) {
		return
	}
	if raw != nil {
		r.raw.protos[r.funcs.states.Place(st.Entry)] = raw
	}
	r.funcs.names[st.Entry] = st.Name
}

// annotations returns the annotations of a state in the form that compactstate takes. The result is
// valid until the next call.
func (fs *functions) annotations(annots []unit.Annot) []compactstate.Annotation {
	if len(annots) == 0 {
		return nil
	}
	fs.scratch = fs.scratch[:0]
	for _, a := range annots {
		fs.scratch = append(fs.scratch, compactstate.Annotation{Value: a.Value, Component: a.Component})
	}
	return fs.scratch
}
