package inline

import (
	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/internal/debuginfo"
	"github.com/btflite/btflite/internal/dwarf"
)

// Site is the body of an inlined function. The place of a DIE is its offset in .debug_info; for a DIE
// of the alternate file, that is added to the size of the file's .debug_info.
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
	at      uint64        // place of the unit
	table   dwarf.Abbrevs // of the plan Inlined
	entries dwarf.Entries
	vals    dwarf.Values // of the DIE that was decoded last
	env     Env
	lists   lists
	ranges  ranges
	file    *debuginfo.File // the file that ranges.sections are of
	base    uint64          // see Env.Base
	// skeleton has facts from the skeleton unit in the main file, for a unit in a .dwo file.
	skeleton struct {
		base, ranges uint64 // lists.how.Base and ranges.old
		sections     *debuginfo.Ranges
		relocatable  bool
	}
	stack []int32 // for each open DIE: the index of its site, or none
}

// none is for an open DIE that is not a site.
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

// Forget drops what the Reader remembers about a file.
func (r *Reader) Forget() {
	r.file, r.ranges.sections, r.skeleton.sections = nil, nil, nil
	r.table.Forget()
}

// Read adds the sites in the unit at c. funcs are the unit's functions; their Off is an offset in the
// unit. The error says which DIE cannot be read.
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

// Skeleton notes base and ranges of the skeleton unit at c for the unit that is read
// next.
func (r *Reader) Skeleton(c *debuginfo.Cursor) error {
	if err := r.start(c); err != nil {
		return err
	}
	s := &r.skeleton
	s.base, s.ranges, s.sections, s.relocatable = r.lists.how.Base, r.ranges.old, r.ranges.sections, c.File.Relocatable()
	return nil
}

// start prepares to read the unit at c, and reads its unit DIE.
func (r *Reader) start(c *debuginfo.Cursor) error {
	if err := c.Table(dwarf.Inlined, &r.table); err != nil {
		return c.UnitError(err.Error())
	}
	r.c, r.at = c, c.Base+c.Hdr.Off
	r.entries = dwarf.Entries{Abbrevs: &r.table, Vals: &r.vals, Data: c.Hdr.Data}
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
		Format:    c.ExprFormat(),
		AddressAt: c.AddressAt, Base: r.base, Relocatable: c.File.Relocatable(),
	}
	r.ranges.c = c
	r.lists.start(c)
	e := &r.entries
	if !e.At(h.First) || e.Abbrev == nil {
		return debuginfo.EntryError(&c.Position, e)
	}
	if e.Abbrev.Class != dwarf.ClassUnit {
		return c.DIEError(h.First, "the first DIE of the unit is not a unit DIE")
	}
	if !e.Decode() {
		return debuginfo.EntryError(&c.Position, e)
	}
	r.lists.how.Base, r.ranges.old, r.ranges.start = 0, 0, uint64(12)
	if h.Dwarf64 {
		r.ranges.start = 20
	}
	if s := &r.skeleton; c.File.Split() {
		// Addresses, and before DWARF 5 also ranges, are in the main file.
		r.lists.how.Base, r.ranges.old, r.env.Relocatable = s.base, s.ranges, s.relocatable
		if h.Version < 5 {
			r.ranges.sections = s.sections
		}
	}
	if r.has(dwarf.InlLowPC) {
		r.lists.how.Base = c.Address(&r.vals[dwarf.InlLowPC])
	}
	if r.has(dwarf.InlRnglistsBase) {
		r.ranges.start = r.vals[dwarf.InlRnglistsBase].U
	}
	if r.has(dwarf.InlRangesBase) {
		r.ranges.old = r.vals[dwarf.InlRangesBase].U
	}
	r.ranges.base = r.lists.how.Base
	return nil
}

// programBase returns the lowest address of a section with code: in a kernel, the address of _text.
func programBase(f *debuginfo.File) uint64 {
	base := ^uint64(0)
	for i := range f.ELF.Sections {
		if s := &f.ELF.Sections[i]; s.IsCode() {
			base = min(base, s.Addr)
		}
	}
	return base
}

// has reports whether the DIE that was decoded last has a value.
func (r *Reader) has(v int) bool { return r.entries.Have>>v&1 != 0 }

// function reads the subprogram at off with what is inlined there.
func (r *Reader) function(off int) error {
	e := &r.entries
	if !e.At(off) || e.Abbrev == nil || !e.Abbrev.Children || e.Abbrev.Class != dwarf.ClassFunc || !e.Decode() {
		return debuginfo.EntryError(&r.c.Position, e)
	}
	if !r.has(dwarf.InlLowPC) && !r.has(dwarf.InlRanges) {
		return nil
	}
	entry, ok := r.address()
	if !ok {
		entry = 0
	}
	return r.children(entry)
}

// address returns where the code of the decoded DIE begins: its DW_AT_entry_pc, or else its lowest
// address.
func (r *Reader) address() (addr uint64, ok bool) {
	switch {
	case r.has(dwarf.InlLowPC):
		addr = r.c.Address(&r.vals[dwarf.InlLowPC])
		ok = addr != 0
	case r.has(dwarf.InlRanges):
		addr, ok = r.ranges.first(r.vals[dwarf.InlRanges].U, r.vals[dwarf.InlRanges].Form)
	}
	if r.has(dwarf.InlEntryPC) {
		switch v := &r.vals[dwarf.InlEntryPC]; v.Form {
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

// children reads the children of a function that is entered at entry.
func (r *Reader) children(entry uint64) error {
	e := &r.entries
	r.stack = append(r.stack[:0], none)
	site := point{}
	for len(r.stack) > 0 && e.Next() {
		if e.Abbrev == nil {
			r.stack = r.stack[:len(r.stack)-1]
			continue
		}
		open, top := int32(none), r.stack[len(r.stack)-1]
		switch class := e.Abbrev.Class; {
		case class == dwarf.ClassInlined:
			if e.Decode() {
				open = int32(len(r.Sites.S))
				site = r.site()
				r.env.AtEntry = site.addr == entry
			}
		case class == dwarf.ClassParam && top != none:
			if e.Decode() {
				r.param(top, site)
			}
			if e.Abbrev.Children {
				e.SkipChildren()
			}
			continue
		case class == dwarf.ClassBlock:
			e.Pass()
		default:
			e.Skip()
			continue
		}
		if e.Abbrev.Children {
			if len(r.stack) >= maxDepth {
				return r.c.DIEError(e.Off, "DIE tree too deep")
			}
			r.stack = append(r.stack, open)
		}
	}
	return debuginfo.EntryError(&r.c.Position, e)
}

// site adds the site that has been decoded.
func (r *Reader) site() point {
	s := Site{First: uint32(len(r.Params.S))}
	if r.has(dwarf.InlOrigin) {
		s.Origin, _ = debuginfo.Target(r.c, &r.vals[dwarf.InlOrigin])
	}
	s.Addr, _ = r.address()
	r.Sites.Append(s)
	at := point{addr: s.Addr}
	if r.has(dwarf.InlEntryView) && r.has(dwarf.InlEntryPC) {
		at.view = r.vals[dwarf.InlEntryView].U
	}
	return at
}

// param adds the decoded parameter to a site, which must be the last one.
func (r *Reader) param(site int32, at point) {
	s := &r.Sites.S[site]
	// The functions that are inlined here come after the parameters. A parameter after
	// those is not expected, and has no place among the parameters.
	if int(site) != len(r.Sites.S)-1 || s.N >= maxParams {
		return
	}
	p := Param{}
	if r.has(dwarf.InlOrigin) {
		p.Origin, _ = debuginfo.Target(r.c, &r.vals[dwarf.InlOrigin])
	}
	switch {
	case r.has(dwarf.InlConst):
		p.Place = r.constant(&r.vals[dwarf.InlConst])
	case r.has(dwarf.InlLocation) && at.addr != 0:
		p.Place = r.location(at)
	default:
		p.Place = missing(NoLocation)
	}
	r.Params.Append(p)
	s.N++
}

// constant returns the place of a parameter with DW_AT_const_value.
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

// block returns the bytes of a block or expression of the unit.
func (r *Reader) block(v *dwarf.Value) []byte {
	off, n := v.U>>32, v.U&0xffffffff
	return r.c.Hdr.Data[off:][:n]
}

// location returns the place of a parameter with DW_AT_location.
func (r *Reader) location(at point) Place {
	v := &r.vals[dwarf.InlLocation]
	views := uint64(0)
	if r.has(dwarf.InlViews) {
		views = r.vals[dwarf.InlViews].U
		if r.env.Format.Split && r.env.Format.Version >= 5 {
			views += r.c.LoclistsBase() // GCC counts from the end of the header there
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

// Add adds the sites of another Reader.
func (r *Reader) Add(from *Reader) {
	first := uint32(len(r.Params.S))
	for _, s := range from.Sites.S {
		s.First += first
		r.Sites.Append(s)
	}
	r.Params.AppendSlice(from.Params.S)
}

// Base returns the place of offset 0 of the unit that was read last.
func (r *Reader) Base() uint64 { return r.at }
