package debuginfo

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/mmapelf"
)

// A .dwp: several .dwo files put together, with an index of units by their id and
// one of type units by their signature (DWARF 5, section 7.3.5).

// openPacked opens the unit with an id in a .dwp; nil if there is no such file
// or it does not have the unit.
func (f *File) openPacked(path string, id uint64) (*File, error) {
	e, err := mmapelf.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	p := f.part(path, e)
	p.dwo.combined = true
	parts, err := indexEntry(p.ELF, ".debug_cu_index", id)
	if err == nil && parts != nil {
		err = p.loadSplit(parts)
	}
	if err != nil || parts == nil {
		p.Close()
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
func indexEntry(e *mmapelf.File, index string, id uint64) (map[string]span64, error) {
	sec := e.Section(index)
	if sec == nil {
		return nil, fmt.Errorf("%s: no %s", e.Path, index)
	}
	b, err := e.Data(sec)
	if err != nil {
		return nil, err
	}
	bad := fmt.Errorf("%s: %s: cut off", e.Path, index)
	if len(b) < 16 {
		return nil, bad
	}
	o := order(e.BigEndian)
	version := o.Uint32(b)
	if v := uint32(o.Uint16(b)); v == 5 {
		version = 5
	}
	if version != 2 && version != 5 {
		return nil, fmt.Errorf("%s: %s: unknown version %d", e.Path, index, version)
	}
	columns, units, slots := uint64(o.Uint32(b[4:])), uint64(o.Uint32(b[8:])), uint64(o.Uint32(b[12:]))
	rows := 16 + 12*slots
	if columns > 32 || rows+4*columns+8*columns*units > uint64(len(b)) {
		return nil, bad
	}
	if slots&(slots-1) != 0 {
		return nil, fmt.Errorf("%s: %s: %d slots, no power of two", e.Path, index, slots)
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
		if n == 8 && version == 5 { // macros before
			name = ".debug_rnglists"
		}
		if name != "" {
			at := rows + 4*columns + 4*(columns*(row-1)+c)
			parts[name] = span64{uint64(o.Uint32(b[at:])), uint64(o.Uint32(b[at+4*columns*units:]))}
		}
	}
	return parts, nil
}

// inPackage finds the type unit with a signature in a .dwp: its place in
// t.units, to which it is added. There it has abbreviations and names of
// its own. Only the worker that reads the unit uses the file.
func (t *TypeIndex) inPackage(sig uint64) (i int, ok bool, err error) {
	f := t.f
	if i, ok := t.packed[sig]; ok {
		return i, true, nil
	}
	parts, err := indexEntry(f.ELF, ".debug_tu_index", sig)
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
	if s.data, err = f.dwo.partOf(f.Path, name, parts); err != nil {
		return 0, false, err
	}
	if s.strOffsets, err = f.dwo.partOf(f.Path, ".debug_str_offsets", parts); err != nil {
		return 0, false, err
	}
	var h dwarf.Unit
	if err := s.readHeader(s.data, 0, f.BigEndian, &h); err != nil {
		return 0, false, fmt.Errorf("%s: %w", f.Path, err)
	}
	if !h.IsType() || h.Signature != sig {
		return 0, false, fmt.Errorf("%s: .debug_tu_index: no type unit %#016x where the index has it", f.Path, sig)
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
