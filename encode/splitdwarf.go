package encode

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/internal/names"
	"github.com/btflite/btflite/mmapelf"
)

// Split DWARF (-gsplit-dwarf; DWARF 5 sections 3.1.2 and 7.3.2, for DWARF 4 the
// GNU extension that it was made from). A skeleton unit in the file names a
// .dwo file, which has the unit itself in sections of its own; addresses are
// in the file's .debug_addr. Several .dwo files may be put together in a .dwp
// beside the file, with an index (section 7.3.5).
//
// The unit is read from there in place of its skeleton, at the skeleton's place
// in the order, so the BTF is that of a build without -gsplit-dwarf. A .dwo is
// open only while its unit is read. One that cannot be found is an error: the
// types would be missing without a sign. (pahole leaves them out.)

// skeleton is what a unit says of the unit that it stands for.
type skeleton struct {
	name, dir string // of the .dwo, dir may be ""
	id        uint64
}

// skeletonOf reads the attributes of a unit DIE.
func (f *file) skeletonOf(u *unit, have uint32) *skeleton {
	s := &skeleton{id: u.hdr.DwoID, name: string(f.names.Text(f.nameValue(u, &u.vals[dwarf.VDwoName])))}
	if have&(1<<dwarf.VCompDir) != 0 {
		s.dir = string(f.names.Text(f.nameValue(u, &u.vals[dwarf.VCompDir])))
	}
	if have&(1<<dwarf.VDwoID) != 0 {
		s.id = u.splitID
	}
	return s
}

// readSplit is readUnit for the unit that u.skeleton stands for.
func (f *file) readSplit(u *unit) error {
	skel, hdr, addrBase := u.skeleton, u.hdr, u.addrBase
	dwo, err := f.openDwo(u, skel)
	if err != nil {
		return err
	}
	defer dwo.close()
	// What the slot remembers is of other sections than these.
	forget := func() {
		u.own.Forget()
	}
	forget()
	defer func() {
		u.hdr, u.reader.Low = hdr, ^uint32(0)
		u.env.Lists.Reset(nil, nil)
		forget()
	}()
	for off := uint64(0); ; off = u.hdr.End() {
		if off >= uint64(len(dwo.info)) {
			return fmt.Errorf("%s: no unit has the id %#016x of its skeleton in %s", dwo.path, skel.id, f.path)
		}
		if err := dwarf.ReadUnit(dwo.info, off, f.bigEndian, &u.hdr); err != nil {
			return fmt.Errorf("%s: %w", dwo.path, err)
		}
		u.hdr.AbbrevOff += dwo.abbrevAt
		if u.hdr.IsType() {
			continue
		}
		u.skeleton, u.splitID = nil, 0
		p, skip, err := dwo.startUnit(u)
		if u.splitID != 0 {
			u.hdr.DwoID = u.splitID
		}
		if u.filtered {
			return nil
		}
		if err != nil {
			return err
		}
		if u.hdr.DwoID != skel.id {
			continue
		}
		if skip {
			return nil
		}
		u.addrBase = addrBase
		return dwo.readSplitUnit(u, p, f)
	}
}

// readSplitUnit reads the unit in f, a .dwo of the file main.
func (f *file) readSplitUnit(u *unit, p int, main *file) error {
	if err := f.walk(u, p); err != nil {
		return err
	}
	if u.reader.Bad {
		return f.unitError(u, "a name lies beyond .debug_str.dwo")
	}
	// All type units are this unit's, those that nothing leads to as well; whose
	// those of a .dwp are is not known.
	if !f.packed {
		t, err := f.typeIndex()
		if err != nil {
			return err
		}
		for i := range t.units {
			u.needTypes = append(u.needTypes, uint32(i))
		}
	}
	if err := f.link(u); err != nil {
		return err
	}
	u.needTypes = u.needTypes[:0] // indexes of an index that goes
	return f.resolveUnit(u, main)
}

// openDwo opens the unit of a skeleton: in the .dwp beside the file, or in its
// .dwo where the compiler put it or beside the file.
func (f *file) openDwo(u *unit, s *skeleton) (*file, error) {
	var tried, places []string
	switch {
	case filepath.IsAbs(s.name):
		places = []string{s.name}
	case s.dir != "":
		places = []string{filepath.Join(s.dir, s.name)}
	}
	if !f.alone {
		if dwo, err := f.openPacked(f.path+".dwp", s.id); dwo != nil || err != nil {
			return dwo, err
		}
		own := filepath.Dir(f.path)
		if !filepath.IsAbs(s.name) {
			places = append(places, filepath.Join(own, s.name))
		}
		places = append(places, filepath.Join(own, filepath.Base(s.name)))
	}
	for _, path := range slices.Compact(places) {
		e, err := mmapelf.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			tried = append(tried, path)
			continue
		}
		if err != nil {
			return nil, err
		}
		dwo := f.part(path, e)
		if err := dwo.loadSplit(nil); err != nil {
			dwo.close()
			return nil, err
		}
		return dwo, nil
	}
	return nil, f.unitError(u, fmt.Sprintf("its .dwo file %s is not there (looked for %s, and %s.dwp)",
		quote([]byte(s.name)), strings.Join(tried, ", "), f.path))
}

// part is a file that has units of this one.
func (f *file) part(path string, e *mmapelf.File) *file {
	p := &file{
		run: f.run, opt: f.opt, path: path, elf: e, dwarf: e, bigEndian: f.bigEndian, addrSize: f.addrSize, machine: f.machine,
		names:    names.Text{Table: f.names.Table, ByText: true},
		wantVars: f.wantVars, varSections: f.varSections, addr: f.addr, suffix: ".dwo",
	}
	if f.rel != nil {
		p.rel = new(relocs)
		p.rel.random[relAddr] = f.rel.random[relAddr]
	}
	return p
}

// loadSplit finds the sections, or the unit's parts of them in a .dwp.
func (f *file) loadSplit(parts map[string]span64) error {
	f.whole = make(map[string][]byte)
	for _, s := range []struct {
		name string
		data *[]byte
	}{
		{".debug_info", &f.info}, {".debug_abbrev", &f.abbrev}, {".debug_str", &f.names.Data}, {".debug_str_offsets", &f.strOffsets},
		{".debug_loc", &f.loc}, {".debug_loclists", &f.loclists}, {".debug_types", nil},
	} {
		sec := f.section(s.name)
		if sec == nil || s.data == nil && !f.packed {
			continue
		}
		var err error
		if f.whole[s.name], err = f.elf.Data(sec); err != nil {
			return err
		}
		if s.data == nil {
			continue
		}
		if *s.data, err = f.partOf(s.name, parts); err != nil {
			return err
		}
	}
	if len(f.info) == 0 {
		return fmt.Errorf("%s: no .debug_info.dwo", f.path)
	}
	// Type units have other tables in the same section.
	f.abbrev, f.abbrevAt = f.whole[".debug_abbrev"], parts[".debug_abbrev"].off
	f.names.Place()
	return nil
}

// span64 is a part of a section, in bytes.
type span64 struct{ off, size uint64 }

// partOf is the part of a section that a row of an index names, or all of it.
func (f *file) partOf(name string, parts map[string]span64) ([]byte, error) {
	b := f.whole[name]
	p, ok := parts[name]
	if !ok {
		return b, nil
	}
	if p.off > uint64(len(b)) || p.size > uint64(len(b))-p.off {
		return nil, fmt.Errorf("%s: %s: the index leads out of the section", f.path, name)
	}
	return b[p.off:][:p.size], nil
}

// packedType finds the type unit with a signature in a .dwp: its place in
// f.types.units, to which it is added. There it has abbreviations and names of
// its own. Only the worker that reads the unit uses f.
func (f *file) packedType(sig uint64) (i int, ok bool, err error) {
	t := &f.types
	if i, ok := t.packed[sig]; ok {
		return i, true, nil
	}
	parts, err := f.indexEntry(".debug_tu_index", sig)
	if parts == nil || err != nil {
		return 0, false, err
	}
	s := typeSection{base: typesBase, abbrevAt: parts[".debug_abbrev"].off}
	if n := len(t.sections); n > 0 {
		s.base = t.sections[n-1].base + uint64(len(t.sections[n-1].data))
	}
	name := ".debug_info"
	if _, s.types = parts[".debug_types"]; s.types {
		name = ".debug_types"
	}
	if s.data, err = f.partOf(name, parts); err != nil {
		return 0, false, err
	}
	if s.strOffsets, err = f.partOf(".debug_str_offsets", parts); err != nil {
		return 0, false, err
	}
	var h dwarf.Unit
	if err := s.readHeader(s.data, 0, f.bigEndian, &h); err != nil {
		return 0, false, fmt.Errorf("%s: %w", f.path, err)
	}
	if !h.IsType() || h.Signature != sig {
		return 0, false, fmt.Errorf("%s: .debug_tu_index: no type unit %#016x where the index has it", f.path, sig)
	}
	if t.packed == nil {
		t.packed = make(map[uint64]int)
	}
	i = len(t.units)
	t.packed[sig] = i
	t.units = append(t.units, typeUnit{sig: sig, off: s.base, die: h.TypeOff, section: uint32(len(t.sections))})
	t.sections = append(t.sections, s)
	return i, true, nil
}

// openPacked opens the unit with an id in a .dwp; nil if there is no such file
// or it does not have the unit.
func (f *file) openPacked(path string, id uint64) (*file, error) {
	e, err := mmapelf.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	p := f.part(path, e)
	p.packed = true
	parts, err := p.indexEntry(".debug_cu_index", id)
	if err == nil && parts != nil {
		err = p.loadSplit(parts)
	}
	if err != nil || parts == nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// Names of the sections in the columns of an index, by DW_SECT_ number: those
// of DWARF 5 (table 7.1) are also those of version 2, which has 2 as well, but
// for 5 and 8.
var indexColumns = map[uint32]string{1: ".debug_info", 2: ".debug_types", 3: ".debug_abbrev", 6: ".debug_str_offsets"}

// indexEntry looks an id up in .debug_cu_index, or the signature of a type unit
// in .debug_tu_index: where its parts of the sections are; nil if it is not there.
//
//	version 4 (2), or version 2 (5) and padding 2; columns, units, slots 4 each
//	hash table of slots: id 8 each, then row 4 each, from 1
//	columns: section number 4 each
//	rows: offset 4 for each column; then the same with sizes
func (f *file) indexEntry(index string, id uint64) (map[string]span64, error) {
	sec := f.elf.Section(index)
	if sec == nil {
		return nil, fmt.Errorf("%s: no %s", f.path, index)
	}
	b, err := f.elf.Data(sec)
	if err != nil {
		return nil, err
	}
	bad := fmt.Errorf("%s: %s: cut off", f.path, index)
	if len(b) < 16 {
		return nil, bad
	}
	o := f.order()
	version := o.Uint32(b)
	if v := uint32(o.Uint16(b)); v == 5 {
		version = 5
	}
	if version != 2 && version != 5 {
		return nil, fmt.Errorf("%s: %s: unknown version %d", f.path, index, version)
	}
	columns, units, slots := uint64(o.Uint32(b[4:])), uint64(o.Uint32(b[8:])), uint64(o.Uint32(b[12:]))
	rows := 16 + 12*slots
	if columns > 32 || rows+4*columns+8*columns*units > uint64(len(b)) {
		return nil, bad
	}
	if slots&(slots-1) != 0 {
		return nil, fmt.Errorf("%s: %s: %d slots, no power of two", f.path, index, slots)
	}
	// Section 7.3.5.3: from slot to slot in steps that the id gives, to an
	// unused one.
	row := uint64(0)
	step := id>>32&(slots-1) | 1
	for k, n := id, uint64(0); n < slots; k, n = k+step, n+1 {
		k &= slots - 1
		x := uint64(o.Uint32(b[16+8*slots+4*k:]))
		if x == 0 {
			break
		}
		if o.Uint64(b[16+8*k:]) == id {
			row = x
			break
		}
	}
	if row == 0 || row > units {
		return nil, nil
	}
	parts := map[string]span64{}
	for c := range columns {
		n := o.Uint32(b[rows+4*c:])
		name := indexColumns[n]
		if n == 5 {
			name = ".debug_loc"
			if version == 5 {
				name = ".debug_loclists"
			}
		}
		if name != "" {
			at := rows + 4*columns + 4*(columns*(row-1)+c)
			parts[name] = span64{uint64(o.Uint32(b[at:])), uint64(o.Uint32(b[at+4*columns*units:]))}
		}
	}
	return parts, nil
}
