package encode

import (
	"cmp"
	"slices"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/internal/inline"
	"github.com/btflite/btflite/internal/unit"
)

// Sites of inlined functions (Options.Inline, and the feature of that name): package
// inline reads them with each unit and keeps them, in the order of units. What they say
// of functions are types of the Set until it is numbered. The main BTF is made as
// without them; what comes on top has ids and strings behind its own, so that both
// together are one BTF, or the second is split BTF over the first.

// inlining is the state of a run that wants sites.
type inlining struct {
	store   inline.Store
	settled *inline.Settled
	names   []byte // the strings that come on top

	sections []codeSection // with code, by address
	last     int           // the one that was found last
	titles   []title       // names of LOCSECs, by section index

	funcs  []inlinedFunc // of the unit in work, by index of its functions
	values []value       // of the parameters of those
	words  []uint32
	places []uint32
	why    []string // for Options.InlineMissing
	chain  []uint32
}

// codeSection is a section of the leading input that sites can be in.
type codeSection struct {
	addr, size uint64
	index      uint32
}

// title is the string offset of a section's LOCSEC.
type title struct{ section, name uint32 }

// inlinedFunc is what is known of a function of the unit: 1 + its index in the store, or
// why it has none.
type inlinedFunc struct {
	index uint32
	first uint32 // of its parameters in inlining.values
	drop  inline.Drop
	bad   bool
}

// value is what the places of a parameter have to hold: size is 0 if that is not known.
type value struct {
	size   uint32
	signed bool
}

// maxInlined is what a table of sites may keep between units, in bytes.
const maxInlined = 128 << 10

// newInlining prepares the run for sites, if they are wanted.
func (r *run) newInlining() {
	if !r.opt.Inline && r.opt.Features&Inline == 0 {
		return
	}
	r.inline = new(inlining)
	arena.Bind(r.limit, &r.inline.store)
}

// readInlined has sites read with the units of the workspaces.
func (r *run) readInlined(workspaces []workspace) {
	for i := range workspaces {
		switch u := &workspaces[i]; {
		case r.inline == nil:
			u.unit.Inline = nil
		case u.unit.Inline == nil:
			u.unit.Inline = new(inline.Reader)
			u.unit.Inline.Init(r.limit)
		default:
			u.unit.Inline.Forget()
		}
	}
}

func (in *inlining) free() {
	if in != nil {
		in.store.Free()
		if in.settled != nil {
			in.settled.Free()
		}
	}
}

// listCode lists the sections of an input that have code.
func (in *inlining) listCode(f *input) {
	const alloc, execute = 2, 4
	var addrs []uint64
	if f.File.Relocatable() {
		addrs = f.File.Addresses()
	}
	for i := range f.File.ELF.Sections {
		s := &f.File.ELF.Sections[i]
		if s.Flags&(alloc|execute) != alloc|execute || s.Size == 0 {
			continue
		}
		c := codeSection{s.Addr, s.Size, uint32(i)}
		if addrs != nil {
			c.addr = addrs[i]
		}
		in.sections = append(in.sections, c)
	}
	slices.SortStableFunc(in.sections, func(a, b codeSection) int { return cmp.Compare(a.addr, b.addr) })
}

// sectionOf is the section with code that an address is in; nil for none.
func (in *inlining) sectionOf(addr uint64) *codeSection {
	if s := &in.sections[in.last]; addr-s.addr < s.size {
		return s
	}
	i, ok := slices.BinarySearchFunc(in.sections, addr, func(s codeSection, a uint64) int { return cmp.Compare(s.addr, a) })
	if !ok {
		i--
	}
	if i < 0 || addr-in.sections[i].addr >= in.sections[i].size {
		return nil
	}
	in.last = i
	return &in.sections[i]
}

// saveInlined keeps the sites of a unit that has been committed.
func saveInlined(f *input, u *workspace) {
	in := f.run.inline
	if in == nil || u.unit.Inline == nil || len(u.unit.Inline.Sites.S) == 0 || !f.first {
		return
	}
	if in.sections == nil {
		if in.listCode(f); len(in.sections) == 0 {
			in.sections = []codeSection{{}}
		}
	}
	in.funcs = slices.Grow(in.funcs[:0], len(u.unit.Funcs.S))[:len(u.unit.Funcs.S)]
	clear(in.funcs)
	in.values = in.values[:0]
	r := inlinedUnit{inlining: in, u: u, own: u.unit.Funcs.S}
	if u.unit.OwnFuncs != 0 {
		r.own = u.unit.Funcs.S[:u.unit.OwnFuncs]
	}
	if f.merge == nil {
		r.base = u.unit.Inline.Base()
	}
	for i := range u.unit.Inline.Sites.S {
		r.site(f, &u.unit.Inline.Sites.S[i])
	}
}

// inlinedUnit is the unit in work.
type inlinedUnit struct {
	*inlining
	u    *workspace
	own  []callconv.Func
	base uint64 // place of offset 0 of own
	memo [1 << memoBits]found
}

// found is where a function was found.
type found struct{ off, index uint32 }

const memoBits = 10

// find is the index of the function at a place.
func (r *inlinedUnit) find(place uint64) (i int, ok bool) {
	if place-r.base > 1<<32-1 {
		return 0, false
	}
	off := uint32(place - r.base)
	memo := &r.memo[off*0x9e3779b1>>(32-memoBits)]
	if memo.off == off && off != 0 {
		return int(memo.index), true
	}
	low, high := 0, len(r.own)
	for low < high {
		if mid := int(uint(low+high) / 2); r.own[mid].Off < off {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low == len(r.own) || r.own[low].Off != off {
		return 0, false
	}
	*memo = found{off, uint32(low)}
	return low, true
}

// maxAbstract is how many abstract origins lead to a function.
const maxAbstract = 8

// origins puts the function at a place, and those that it stands for, into r.chain.
func (r *inlinedUnit) origins(place uint64) bool {
	r.chain = r.chain[:0]
	for range maxAbstract {
		i, ok := r.find(place)
		if !ok {
			return false
		}
		r.chain = append(r.chain, uint32(i))
		if r.own[i].Origin == 0 {
			return true
		}
		place = r.base + uint64(r.own[i].Origin)
	}
	return false
}

// site keeps one site.
func (r *inlinedUnit) site(f *input, s *inline.Site) {
	if s.Addr == 0 {
		r.store.Drop(inline.NoAddress)
		return
	}
	sec := r.sectionOf(s.Addr)
	if sec == nil || s.Addr-sec.addr > 1<<32-1 {
		r.store.Drop(inline.NoSection)
		return
	}
	if !r.origins(s.Origin) {
		r.store.Drop(inline.NoFunction)
		return
	}
	i := r.chain[len(r.chain)-1]
	fn, known := &r.own[i], &r.funcs[i]
	if known.index == 0 && !known.bad {
		*known = r.function(f, fn)
	}
	if known.bad {
		r.store.Drop(known.drop)
		return
	}
	r.place(f, s, fn, r.values[known.first:])
	if f.opt.InlineMissing != nil {
		f.opt.InlineMissing(f.File.Names.Text(fn.Name), f.File.ELF.Sections[sec.index].Name, uint32(s.Addr-sec.addr), r.why)
	}
	r.store.Site(known.index-1, sec.index, uint32(s.Addr-sec.addr), r.places, fn.Flags&callconv.FuncVariadic != 0)
}

// function is what the store knows of a function from now on.
func (r *inlinedUnit) function(f *input, fn *callconv.Func) inlinedFunc {
	u := r.u
	bad := func(why inline.Drop) inlinedFunc { return inlinedFunc{drop: why, bad: true} }
	if fn.Name == 0 {
		return bad(inline.NoFunction)
	}
	ret := u.id(fn.Type)
	if ret == unit.Dropped {
		return bad(inline.NoType)
	}
	ps := u.unit.Params.S[fn.First:][:fn.N]
	r.words = append(r.words[:0], fn.Name, ret)
	for i := range ps {
		typ := u.id(ps[i].Type)
		if typ == unit.Dropped || typ == 0 {
			return bad(inline.NoType)
		}
		r.words = append(r.words, ps[i].Name, typ)
	}
	if fn.Flags&callconv.FuncVariadic != 0 {
		r.words = append(r.words, 0, 0)
	}
	first := uint32(len(r.values))
	for i := range ps {
		r.values = append(r.values, r.valueOf(ps[i].Type))
	}
	if i, ok := r.store.Known(r.words); ok {
		return inlinedFunc{index: 1 + i, first: first}
	}
	ok := identifier(f.File.Names.Text(fn.Name))
	for i := range ps {
		ok = ok && ps[i].Name != 0 && identifier(f.File.Names.Text(ps[i].Name))
	}
	if !ok {
		return bad(inline.BadName)
	}
	return inlinedFunc{index: 1 + r.store.Func(r.words), first: first}
}

// identifier reports whether kernels take a name for that of a function.
func identifier(name []byte) bool {
	const longest = 511 // Linux: KSYM_NAME_LEN, with the NUL
	if len(name) == 0 || len(name) > longest {
		return false
	}
	for i, c := range name {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '.'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// place puts into r.places where the parameters of fn, of these values, are at a site.
func (r *inlinedUnit) place(f *input, s *inline.Site, fn *callconv.Func, values []value) {
	u := r.u
	ps := u.unit.Params.S[fn.First:][:fn.N]
	r.places, r.why = r.places[:0], r.why[:0]
	tell := f.opt.InlineMissing != nil
	const unset = ^uint32(0)
	for range ps {
		r.places = append(r.places, unset)
		if tell {
			r.why = append(r.why, inline.NotListed.String())
		}
	}
	next := 0
	found := u.unit.Inline.Params.S[s.First:][:s.N]
	for i := range found {
		j, ok := r.paramOf(found[i].Origin, ps, next)
		if !ok {
			continue
		}
		next = j + 1
		// GCC describes some parameters twice: the first one with a place counts.
		if k := r.places[j]; k == unset || found[k].Kind == inline.Missing && found[i].Kind != inline.Missing {
			r.places[j] = uint32(i)
		}
	}
	for j, k := range r.places {
		if k == unset {
			r.places[j] = r.store.Missing(inline.NotListed)
			continue
		}
		place, why := r.store.Place(&found[k].Place, values[j].size, values[j].signed)
		r.places[j] = place
		if tell {
			r.why[j] = why.String()
		}
	}
}

// paramOf is which of the parameters ps one at a site stands for; it is probably number
// guess.
func (r *inlinedUnit) paramOf(place uint64, ps []callconv.Param, guess int) (j int, ok bool) {
	off := uint32(place - r.base)
	if uint64(off) != place-r.base {
		return 0, false
	}
	for range r.chain {
		if guess < len(ps) && ps[guess].Off == off {
			return guess, true
		}
		for j := range ps {
			if ps[j].Off == off {
				return j, true
			}
		}
		next := uint32(0)
		for _, i := range r.chain[:len(r.chain)-1] {
			fn := &r.own[i]
			for _, p := range r.u.unit.Params.S[fn.First:][:fn.N] {
				if p.Off == off {
					next = p.Origin
				}
			}
		}
		if off = next; off == 0 {
			break
		}
	}
	return 0, false
}

// maxTypes bounds the way along a chain of types.
const maxTypes = 64

// valueOf is what there is of a type.
func (r *inlinedUnit) valueOf(ref dedup.Ref) value {
	for range maxTypes {
		if ref == 0 || int64(ref) > int64(len(r.u.unit.Types.Nodes.S)) {
			return value{}
		}
		n := &r.u.unit.Types.Nodes.S[ref-1]
		switch k := btf.InfoKind(n.Info); k {
		case btf.KindPtr:
			return value{uint32(r.u.reader.Cursor.Hdr.AddrSize), false}
		case btf.KindInt:
			return value{callconv.DwarfSize(n), n.Aux>>24&1 != 0}
		case btf.KindEnum, btf.KindEnum64:
			return value{n.Third, btf.InfoKflag(n.Info)}
		case btf.KindFloat, btf.KindStruct, btf.KindUnion:
			return value{n.Third, false}
		case btf.KindArray, btf.KindFwd, btf.KindFuncProto:
			return value{}
		}
		ref = n.Third
	}
	return value{}
}
