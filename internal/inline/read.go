package inline

import (
	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/internal/debuginfo"
	"github.com/btflite/btflite/internal/dwarf"
)

// Site is the body of an inlined function. Places of DIEs are offsets in .debug_info,
// those of an alternate file behind those of the file.
type Site struct {
	Origin uint64 // place of the function's DIE
	Addr   uint64 // where the body begins; 0 if nothing says it
	First  uint32 // first parameter in Reader.Params
	N      uint32
}

// Param is a parameter of a site.
type Param struct {
	Origin uint64 // place of the parameter's DIE in the function
	Place
}

// Reader reads the inlined functions of one unit after the other, or of several into
// the same tables.
type Reader struct {
	Sites  arena.Vec[Site]
	Params arena.Vec[Param]

	c       *debuginfo.Cursor
	b       []byte
	at      uint64 // place of the unit
	abbrevs abbrevs
	d       die
	env     Env
	lists   lists
	ranges  ranges
	// Of the file that the ranges are of.
	file *debuginfo.File
	base uint64 // see Env.Base
	// skeleton is what the unit in the main file says of the one in a .dwo.
	skeleton struct{ base, ranges uint64 }
	stack    []int32 // of open DIEs: their sites, or none
}

// none is for an open DIE that is no site.
const none = -1

// Bounds for hostile files.
const (
	maxDepth  = 2048
	maxParams = 1 << 10 // of a site
	// unitEntries is how many entries of location lists a unit may have looked at,
	// beside one for each byte that it has.
	unitEntries = 1 << 16
)

// Init prepares a new Reader, whose memory has the limit l.
func (r *Reader) Init(l *arena.Limit) { arena.Bind(l, r) }

// Reset prepares for the next unit. Tables above keep bytes give their memory back.
func (r *Reader) Reset(keep int) {
	r.Sites.Trim(keep)
	r.Params.Trim(keep)
}

// Free gives the memory back.
func (r *Reader) Free() {
	r.Sites.Free()
	r.Params.Free()
}

// Forget ends what is remembered of a file.
func (r *Reader) Forget() { r.file, r.ranges.sections, r.abbrevs.file = nil, nil, nil }

// Read adds the sites in the functions of the unit at c, which funcs are: their Off is
// an offset in the unit. The error is of DIEs that cannot be read.
func (r *Reader) Read(c *debuginfo.Cursor, funcs []callconv.Func) error {
	if len(funcs) == 0 {
		return nil
	}
	if err := r.start(c); err != nil {
		return err
	}
	for i := range funcs {
		if f := &funcs[i]; f.Flags&(callconv.FuncDeclaration|callconv.FuncInline) == 0 {
			if err := r.function(int(f.Off)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Skeleton notes what the skeleton unit at c says of the unit that is read next.
func (r *Reader) Skeleton(c *debuginfo.Cursor) error {
	if err := r.start(c); err != nil {
		return err
	}
	r.skeleton.base, r.skeleton.ranges = r.lists.base, r.ranges.old
	return nil
}

// start makes the Reader stand at a unit.
func (r *Reader) start(c *debuginfo.Cursor) error {
	if err := r.abbrevs.load(c); err != nil {
		return c.UnitError(err.Error())
	}
	r.c, r.b, r.at = c, c.Hdr.Data, c.Base+c.Hdr.Off
	h := &c.Hdr
	if r.file != c.File {
		sections, err := debuginfo.LoadRanges(c.File)
		if err != nil {
			return err
		}
		r.file, r.ranges.sections = c.File, sections
		if !c.File.Split() {
			r.base = programBase(c.File)
		}
	}
	r.env = Env{
		Format:    dwarf.ExprFormat{Version: h.Version, AddrSize: h.AddrSize, Dwarf64: h.Dwarf64, BigEndian: c.File.BigEndian, Split: c.File.Split()},
		AddressAt: c.AddressAt, Base: r.base, Relocatable: c.File.Relocatable(),
	}
	r.ranges.c, r.lists.c = c, c
	r.lists.budget = len(r.b) + unitEntries
	r.lists.plain, r.lists.moved = !c.File.Relocatable(), debuginfo.MovedNumbers(c.File)
	a, p, err := r.next(h.First)
	if err != nil || a == nil {
		return err
	}
	if !a.read {
		return c.DIEError(h.First, "the first DIE of the unit is not a unit DIE")
	}
	d := &r.d
	if r.abbrevs.decode(a, c, r.b, p, d) < 0 {
		return c.CutOff(h.First)
	}
	r.lists.base, r.ranges.old, r.ranges.start = 0, 0, uint64(12)
	if h.Dwarf64 {
		r.ranges.start = 20
	}
	if c.File.Split() {
		r.lists.base, r.ranges.old = r.skeleton.base, r.skeleton.ranges
	}
	if d.has(atLowPC) {
		r.lists.base = c.Address(&d.v[atLowPC])
	}
	if d.has(atRnglistsBase) {
		r.ranges.start = d.v[atRnglistsBase].U
	}
	if d.has(atRangesBase) {
		r.ranges.old = d.v[atRangesBase].U
	}
	r.ranges.base = r.lists.base
	return nil
}

// programBase is the lowest address of a section with code: of a kernel _text.
func programBase(f *debuginfo.File) uint64 {
	const alloc, execute = 2, 4
	base := ^uint64(0)
	for i := range f.ELF.Sections {
		if s := &f.ELF.Sections[i]; s.Flags&(alloc|execute) == alloc|execute && s.Size > 0 {
			base = min(base, s.Addr)
		}
	}
	return base
}

// next reads the code of the DIE at p. The abbreviation is nil for the zero that ends
// children; q is where the attributes begin.
func (r *Reader) next(p int) (a *abbrev, q int, err error) {
	if p < len(r.b) && int(r.b[p]) < len(r.abbrevs.dense) && r.b[p] < 0x80 {
		if a = &r.abbrevs.dense[r.b[p]]; a.tag != 0 {
			return a, p + 1, nil
		}
	}
	code, q := dwarf.ULEB(r.b, p)
	switch {
	case q < 0:
		return nil, 0, r.c.CutOff(p)
	case code == 0:
		return nil, q, nil
	}
	if a = r.abbrevs.lookup(code); a == nil {
		return nil, 0, r.c.DIEError(p, "no abbreviation has its code")
	}
	return a, q, nil
}

// function reads the subprogram at off with what is inlined there.
func (r *Reader) function(off int) error {
	a, p, err := r.next(off)
	if err != nil || a == nil || !a.children || a.tag != dwarf.TagSubprogram {
		return err
	}
	d := &r.d
	if p = r.abbrevs.decode(a, r.c, r.b, p, d); p < 0 {
		return r.c.CutOff(off)
	}
	if !d.has(atLowPC) && !d.has(atRanges) {
		return nil
	}
	entry, ok := r.address(d)
	if !ok {
		entry = 0
	}
	return r.children(p, entry)
}

// address is where the code of a DIE begins: the entry that the compiler names, or what
// DWARF calls the base address.
func (r *Reader) address(d *die) (addr uint64, ok bool) {
	switch {
	case d.has(atLowPC):
		addr = r.c.Address(&d.v[atLowPC])
		ok = addr != 0
	case d.has(atRanges):
		addr, ok = r.ranges.first(d.v[atRanges].U, d.v[atRanges].Form)
	}
	if d.has(atEntryPC) {
		switch v := &d.v[atEntryPC]; v.Form {
		case dwarf.FormData1, dwarf.FormData2, dwarf.FormData4, dwarf.FormData8, dwarf.FormUdata, dwarf.FormImplicitConst:
			return addr + v.U, ok
		default:
			if x := r.c.Address(v); x != 0 {
				return x, true
			}
		}
	}
	return addr, ok
}

// children reads the children of a function that is entered at entry, from p on.
func (r *Reader) children(p int, entry uint64) error {
	r.stack = append(r.stack[:0], none)
	site := point{}
	for len(r.stack) > 0 {
		if p >= len(r.b) {
			return nil // as the walk over the types has it
		}
		off := p
		a, q, err := r.next(p)
		if err != nil {
			return err
		}
		if a == nil {
			r.stack = r.stack[:len(r.stack)-1]
			p = q
			continue
		}
		open := int32(none)
		switch top := r.stack[len(r.stack)-1]; {
		case a.tag == dwarf.TagInlinedSubroutine:
			if p = r.abbrevs.decode(a, r.c, r.b, q, &r.d); p < 0 {
				return r.c.CutOff(off)
			}
			open = int32(len(r.Sites.S))
			site = r.site()
			r.env.AtEntry = site.addr == entry
		case a.tag == dwarf.TagFormalParameter && top != none:
			if p = r.abbrevs.decode(a, r.c, r.b, q, &r.d); p < 0 {
				return r.c.CutOff(off)
			}
			r.param(top, site)
			if a.children {
				if p, err = r.skipChildren(off, p); err != nil {
					return err
				}
			}
			continue
		case a.tag == dwarf.TagLexicalBlock:
			if p = r.abbrevs.decode(a, r.c, r.b, q, &r.d); p < 0 {
				return r.c.CutOff(off)
			}
		default:
			if p, err = r.skip(a, off, q); err != nil {
				return err
			}
			continue
		}
		if a.children {
			if len(r.stack) >= maxDepth {
				return r.c.DIEError(off, "DIE tree too deep")
			}
			r.stack = append(r.stack, open)
		}
	}
	return nil
}

// skip goes over a DIE of no interest, with its children.
func (r *Reader) skip(a *abbrev, off, p int) (next int, err error) {
	if a.read && a.tag != dwarf.TagFormalParameter {
		if p = r.abbrevs.decode(a, r.c, r.b, p, &r.d); p < 0 {
			return 0, r.c.CutOff(off)
		}
		if a.children && r.d.has(atSibling) {
			if sib := r.d.v[atSibling].U; sib > uint64(p) && sib <= uint64(len(r.b)) {
				return int(sib), nil
			}
			return 0, r.c.DIEError(off, "sibling reference does not lead forward")
		}
	} else {
		code, _ := dwarf.ULEB(r.b, off)
		x := r.c.Abbrevs.Lookup(code)
		switch {
		case x == nil:
			return 0, r.c.DIEError(off, "no abbreviation has its code")
		case x.Fixed:
			p += int(x.Size)
		default:
			if p, _ = r.c.Abbrevs.Decode(x, r.b, p, &r.c.Vals); p < 0 {
				return 0, r.c.CutOff(off)
			}
		}
	}
	if !a.children {
		return p, nil
	}
	return r.skipChildren(off, p)
}

func (r *Reader) skipChildren(off, p int) (next int, err error) {
	next, ok := r.c.SkipChildren(p)
	if !ok {
		return 0, r.c.CutOff(off)
	}
	return next, nil
}

// site adds the site that has been decoded.
func (r *Reader) site() point {
	d := &r.d
	s := Site{First: uint32(len(r.Params.S))}
	if d.has(atOrigin) {
		s.Origin = r.reference(&d.v[atOrigin])
	}
	s.Addr, _ = r.address(d)
	r.Sites.Append(s)
	at := point{addr: s.Addr}
	if d.has(atEntryView) && d.has(atEntryPC) {
		at.view = d.v[atEntryView].U
	}
	return at
}

// reference is the place that a reference leads to; 0 if that is nothing.
func (r *Reader) reference(v *dwarf.Value) uint64 {
	c := r.c
	switch v.Form {
	case dwarf.FormRef1, dwarf.FormRef2, dwarf.FormRef4, dwarf.FormRef8, dwarf.FormRefUdata:
		return r.at + v.U
	case dwarf.FormRefAddr:
		return c.Base + v.U
	}
	place, _ := c.File.InAlt(v)
	return place
}

// param adds the parameter that has been decoded to a site, the last one.
func (r *Reader) param(site int32, at point) {
	s := &r.Sites.S[site]
	// Behind the parameters come the functions that are inlined here. What follows
	// those is not expected, and has no place among the parameters.
	if int(site) != len(r.Sites.S)-1 || s.N >= maxParams {
		return
	}
	d := &r.d
	p := Param{}
	if d.has(atOrigin) {
		p.Origin = r.reference(&d.v[atOrigin])
	}
	switch {
	case d.has(atConst):
		p.Place = r.constant(&d.v[atConst])
	case d.has(atLocation) && at.addr != 0:
		p.Place = r.location(d, at)
	default:
		p.Place = missing(NoLocation)
	}
	r.Params.Append(p)
	s.N++
}

// constant is the place of a parameter with DW_AT_const_value.
func (r *Reader) constant(v *dwarf.Value) Place {
	switch v.Form {
	case dwarf.FormData1, dwarf.FormData2, dwarf.FormData4, dwarf.FormData8, dwarf.FormSdata, dwarf.FormUdata, dwarf.FormImplicitConst:
		return Place{Kind: Const, Value: v.U}
	case dwarf.FormBlock, dwarf.FormBlock1, dwarf.FormBlock2, dwarf.FormBlock4, dwarf.FormExprloc:
		if b := r.block(v); len(b) > 0 && len(b) <= maxConst {
			return constBytes(b, r.env.Format.BigEndian)
		}
		return missing(WrongSize)
	}
	return missing(Computed)
}

// block is the bytes of a block.
func (r *Reader) block(v *dwarf.Value) []byte {
	off, n := v.U>>32, v.U&0xffffffff
	if off+n > uint64(len(r.b)) {
		return nil
	}
	return r.b[off:][:n]
}

// location is the place of a parameter with DW_AT_location.
func (r *Reader) location(d *die, at point) Place {
	v := &d.v[atLocation]
	views := uint64(0)
	if d.has(atViews) {
		views = d.v[atViews].U
		if r.env.Format.Split && r.env.Format.Version >= 5 {
			views += r.c.LoclistsBase() // GCC counts from behind the header there
		}
	}
	switch v.Form {
	case dwarf.FormSecOffset, dwarf.FormData4, dwarf.FormData8:
		return r.lists.at(&r.env, v.U, views, at)
	case dwarf.FormLoclistx:
		off, ok := r.c.ListAt(v.U)
		if !ok {
			return missing(BadList)
		}
		return r.lists.at(&r.env, uint64(off), views, at)
	case dwarf.FormBlock, dwarf.FormBlock1, dwarf.FormBlock2, dwarf.FormBlock4, dwarf.FormExprloc:
		return r.env.Place(r.block(v))
	}
	return missing(BadExpression)
}

// Add adds what another Reader has found.
func (r *Reader) Add(from *Reader) {
	first := uint32(len(r.Params.S))
	for _, s := range from.Sites.S {
		s.First += first
		r.Sites.Append(s)
	}
	r.Params.AppendSlice(from.Params.S)
}

// Base is what is added to offsets of DIEs in the unit that was read last to make
// places of them.
func (r *Reader) Base() uint64 { return r.at }
