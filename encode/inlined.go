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

// Sites of inlined functions are wanted with Options.Inline or the feature of that name.
// Package inline reads and keeps them, in the order of units. Types and functions that
// they refer to are ids of the Set until it is numbered. The main BTF does not depend on
// them: the added records have ids and strings after its own. So both together are one
// BTF, or the second is split BTF over the first.

// newInlining prepares the run to keep sites, if they are wanted.
func (r *run) newInlining() {
	if !r.opt.Inline && r.opt.Features&Inline == 0 {
		return
	}
	r.inline = new(inlining)
	arena.Bind(r.limit, &r.inline.store)
}

// readInlined makes the readers of the workspaces read sites too.
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
	addrs := f.File.Addresses()
	for i := range f.File.ELF.Sections {
		s := &f.File.ELF.Sections[i]
		if s.IsCode() {
			in.sections = append(in.sections, codeSection{addrs[i], s.Size, uint32(i)})
		}
	}
	slices.SortStableFunc(in.sections, func(a, b codeSection) int { return cmp.Compare(a.addr, b.addr) })
}

// sectionOf returns the code section that contains an address, or nil.
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

// saveInlined keeps the sites of a committed unit.
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
	r := inlinedUnit{inlining: in, u: u, own: u.unit.Funcs.S, types: u.sizes(f.run.set, int(u.reader.Cursor.Hdr.AddrSize))}
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

// inlinedUnit is the unit that is being saved.
type inlinedUnit struct {
	*inlining
	u     *workspace
	own   []callconv.Func
	types callconv.Types
	base  uint64 // place of offset 0 of own
	memo  [1 << memoBits]found
}

// found is a function of the unit: its offset and its index.
type found struct{ off, index uint32 }

const memoBits = 10

// find returns the index of the function at a place.
func (iu *inlinedUnit) find(place uint64) (i int, ok bool) {
	if place-iu.base > 1<<32-1 {
		return 0, false
	}
	off := uint32(place - iu.base)
	memo := &iu.memo[off*0x9e3779b1>>(32-memoBits)]
	if memo.off == off && off != 0 {
		return int(memo.index), true
	}
	low, high := 0, len(iu.own)
	for low < high {
		if mid := int(uint(low+high) / 2); iu.own[mid].Off < off {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low == len(iu.own) || iu.own[low].Off != off {
		return 0, false
	}
	*memo = found{off, uint32(low)}
	return low, true
}

// maxAbstract bounds a chain of abstract origins.
const maxAbstract = 8

// origins fills iu.chain with the indexes of the function at a place and of its abstract origins. It
// reports false if one of them is not in the unit, or the chain is too long.
func (iu *inlinedUnit) origins(place uint64) bool {
	iu.chain = iu.chain[:0]
	for range maxAbstract {
		i, ok := iu.find(place)
		if !ok {
			return false
		}
		iu.chain = append(iu.chain, uint32(i))
		if iu.own[i].Origin == 0 {
			return true
		}
		place = iu.base + uint64(iu.own[i].Origin)
	}
	return false
}

// site keeps a site in the store, or counts why it is left out.
func (iu *inlinedUnit) site(f *input, s *inline.Site) {
	if s.Addr == 0 {
		iu.store.Drop(inline.NoAddress)
		return
	}
	sec := iu.sectionOf(s.Addr)
	if sec == nil || s.Addr-sec.addr > 1<<32-1 {
		iu.store.Drop(inline.NoSection)
		return
	}
	if !iu.origins(s.Origin) {
		iu.store.Drop(inline.NoFunction)
		return
	}
	i := iu.chain[len(iu.chain)-1]
	fn, known := &iu.own[i], &iu.funcs[i]
	if known.index == 0 && !known.bad {
		*known = iu.function(f, fn)
	}
	if known.bad {
		iu.store.Drop(known.drop)
		return
	}
	iu.place(f, s, fn, iu.values[known.first:])
	if f.opt.InlineMissing != nil {
		f.opt.InlineMissing(f.File.Names.Text(fn.Name), f.File.ELF.Sections[sec.index].Name, uint32(s.Addr-sec.addr), iu.why)
	}
	iu.store.Site(known.index-1, sec.index, uint32(s.Addr-sec.addr), iu.places, fn.Flags&callconv.FuncVariadic != 0)
}

// function returns the store's entry for fn, and adds it on first use.
func (iu *inlinedUnit) function(f *input, fn *callconv.Func) inlinedFunc {
	u := iu.u
	bad := func(why inline.Drop) inlinedFunc { return inlinedFunc{drop: why, bad: true} }
	if fn.Name == 0 {
		return bad(inline.NoFunction)
	}
	ret := u.id(fn.Type)
	if ret == unit.Dropped {
		return bad(inline.NoType)
	}
	ps := u.unit.Params.S[fn.First:][:fn.N]
	iu.words = append(iu.words[:0], fn.Name, ret)
	for i := range ps {
		typ := u.id(ps[i].Type)
		if typ == unit.Dropped || typ == 0 {
			return bad(inline.NoType)
		}
		iu.words = append(iu.words, ps[i].Name, typ)
	}
	if fn.Flags&callconv.FuncVariadic != 0 {
		iu.words = append(iu.words, 0, 0)
	}
	first := uint32(len(iu.values))
	for i := range ps {
		iu.values = append(iu.values, iu.valueOf(ps[i].Type))
	}
	if i, ok := iu.store.Known(iu.words); ok {
		return inlinedFunc{index: 1 + i, first: first}
	}
	ok := identifier(f.File.Names.Text(fn.Name))
	for i := range ps {
		ok = ok && ps[i].Name != 0 && identifier(f.File.Names.Text(ps[i].Name))
	}
	if !ok {
		return bad(inline.BadName)
	}
	return inlinedFunc{index: 1 + iu.store.Func(iu.words), first: first}
}

// identifier reports whether kernels accept name as the name of a function.
func identifier(name []byte) bool {
	const longest = 511 // in bytes; Linux: KSYM_NAME_LEN is 512, with the NUL
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

// place fills iu.places with the places of fn's parameters at a site, as indexes of the store. values
// describes their types. For Options.InlineMissing, it fills iu.why.
func (iu *inlinedUnit) place(f *input, s *inline.Site, fn *callconv.Func, values []value) {
	u := iu.u
	ps := u.unit.Params.S[fn.First:][:fn.N]
	iu.places, iu.why = iu.places[:0], iu.why[:0]
	explain := f.opt.InlineMissing != nil
	const unset = ^uint32(0)
	for range ps {
		iu.places = append(iu.places, unset)
		if explain {
			iu.why = append(iu.why, inline.NotListed.String())
		}
	}
	next := 0
	found := u.unit.Inline.Params.S[s.First:][:s.N]
	for i := range found {
		j, ok := iu.paramOf(found[i].Origin, ps, next)
		if !ok {
			continue
		}
		next = j + 1
		// GCC describes some parameters twice. The first one that has a place counts.
		if k := iu.places[j]; k == unset || found[k].Kind == inline.Missing && found[i].Kind != inline.Missing {
			iu.places[j] = uint32(i)
		}
	}
	for j, k := range iu.places {
		if k == unset {
			iu.places[j] = iu.store.Missing(inline.NotListed)
			continue
		}
		place, why := iu.store.Place(&found[k].Place, values[j].size, values[j].signed)
		iu.places[j] = place
		if explain {
			iu.why[j] = why.String()
		}
	}
}

// paramOf returns the index in ps of the parameter that the DIE at place describes, itself or by the
// abstract origins of iu.chain. It tries the index guess first.
func (iu *inlinedUnit) paramOf(place uint64, ps []callconv.Param, guess int) (j int, ok bool) {
	off := uint32(place - iu.base)
	if uint64(off) != place-iu.base {
		return 0, false
	}
	for range iu.chain {
		if guess < len(ps) && ps[guess].Off == off {
			return guess, true
		}
		for j := range ps {
			if ps[j].Off == off {
				return j, true
			}
		}
		next := uint32(0)
		for _, i := range iu.chain[:len(iu.chain)-1] {
			fn := &iu.own[i]
			for _, p := range iu.u.unit.Params.S[fn.First:][:fn.N] {
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

// maxTypes bounds a chain of typedefs and qualifiers.
const maxTypes = 64

// valueOf returns the size and sign of the type ref.
func (iu *inlinedUnit) valueOf(ref dedup.Ref) value {
	for range maxTypes {
		n, ok := iu.types.Node(ref)
		if !ok {
			return value{}
		}
		switch k := btf.InfoKind(n.Info); k {
		case btf.KindPtr:
			return value{uint32(iu.u.reader.Cursor.Hdr.AddrSize), false}
		case btf.KindInt:
			return value{callconv.DwarfSize(&n), n.Aux>>24&1 != 0}
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
