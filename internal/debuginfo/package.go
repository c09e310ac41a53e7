package debuginfo

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"

	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/mmapelf"
)

// A .dwp holds several .dwo files, with an index of units by id and one of type units by
// signature (DWARF 5, section 7.3.5).

// openPacked opens the unit with an id in a .dwp. It returns nil if there is no such file
// or unit.
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

// Names of the sections in the columns of an index, by DW_SECT_ number. DWARF 5 (table
// 7.1) and version 2 agree, except for 5 and 8; 2 exists only in version 2.
var indexColumns = [...]string{1: ".debug_info", 2: ".debug_types", 3: ".debug_abbrev", 4: lineSection, 6: ".debug_str_offsets"}

const (
	lineSection   = ".debug_line"
	typeUnitIndex = ".debug_tu_index"
)

// packIndex is .debug_cu_index, or .debug_tu_index, which has signatures in place of ids:
//
//	version 4 (2), or version 2 (5) and padding 2; columns, units, slots 4 each
//	hash table of slots: id 8 each, then row 4 each, from 1
//	columns: section number 4 each
//	rows: offset 4 for each column; then the same with sizes
type packIndex struct {
	b                     []byte
	order                 binary.ByteOrder
	version               uint32
	columns, units, slots uint64
}

func openIndex(e *mmapelf.File, index string) (x packIndex, err error) {
	sec := e.Section(index)
	if sec == nil {
		return x, fmt.Errorf("%s: no %s", e.Path, index)
	}
	if x.b, err = e.Data(sec); err != nil {
		return x, err
	}
	bad := fmt.Errorf("%s: %s: cut off", e.Path, index)
	if len(x.b) < 16 {
		return x, bad
	}
	o := e.Order()
	x.order, x.version = o, o.Uint32(x.b)
	if v := uint32(o.Uint16(x.b)); v == 5 {
		x.version = 5
	}
	if x.version != 2 && x.version != 5 {
		return x, fmt.Errorf("%s: %s: unknown version %d", e.Path, index, x.version)
	}
	x.columns, x.units, x.slots = uint64(o.Uint32(x.b[4:])), uint64(o.Uint32(x.b[8:])), uint64(o.Uint32(x.b[12:]))
	if x.columns > 32 || 16+12*x.slots+4*x.columns+8*x.columns*x.units > uint64(len(x.b)) {
		return x, bad
	}
	if x.slots&(x.slots-1) != 0 {
		return x, fmt.Errorf("%s: %s: %d slots, no power of two", e.Path, index, x.slots)
	}
	return x, nil
}

// slot returns an id and its row, from 1. The row of an unused slot is 0.
func (x *packIndex) slot(k uint64) (id, row uint64) {
	return x.order.Uint64(x.b[16+8*k:]), uint64(x.order.Uint32(x.b[16+8*x.slots+4*k:]))
}

// parts looks an id up and returns its part of each section; nil if it is not there. It
// probes slot after slot, in steps that the id gives, up to an unused slot (section
// 7.3.5.3).
func (x *packIndex) parts(id uint64) map[string]span64 {
	row, step := uint64(0), id>>32&(x.slots-1)|1
	for k, n := id, uint64(0); n < x.slots; k, n = k+step, n+1 {
		k &= x.slots - 1
		has, at := x.slot(k)
		if at == 0 {
			break
		}
		if has == id {
			row = at
			break
		}
	}
	if row == 0 || row > x.units {
		return nil
	}
	parts := map[string]span64{}
	columns := 16 + 12*x.slots
	for c := range x.columns {
		if name := x.section(x.order.Uint32(x.b[columns+4*c:])); name != "" {
			at := columns + 4*x.columns + 4*(x.columns*(row-1)+c)
			parts[name] = span64{uint64(x.order.Uint32(x.b[at:])), uint64(x.order.Uint32(x.b[at+4*x.columns*x.units:]))}
		}
	}
	return parts
}

// section returns the name of a section by its number in a column; "" for a section that
// is not read here.
func (x *packIndex) section(number uint32) string {
	switch {
	case number == 5 && x.version == 5:
		return ".debug_loclists"
	case number == 5:
		return ".debug_loc"
	case number == 8 && x.version == 5: // in version 2 this was the section of macros
		return ".debug_rnglists"
	case number < uint32(len(indexColumns)):
		return indexColumns[number]
	}
	return ""
}

// indexEntry looks an id up in an index.
func indexEntry(e *mmapelf.File, index string, id uint64) (map[string]span64, error) {
	x, err := openIndex(e, index)
	if err != nil {
		return nil, err
	}
	return x.parts(id), nil
}

// Packed returns the signatures of the type units of a .dwp, in the order of its index,
// for Find. They belong to several files. It returns nil if the file is not a .dwp.
func (t *TypeIndex) Packed() ([]uint64, error) {
	if !t.f.packed() || t.f.ELF.Section(typeUnitIndex) == nil {
		return nil, nil
	}
	x, err := openIndex(t.f.ELF, typeUnitIndex)
	if err != nil {
		return nil, err
	}
	var all []uint64
	for k := range x.slots {
		if id, row := x.slot(k); row != 0 {
			all = append(all, id)
		}
	}
	return all, nil
}

// LinesAt returns the start of the part of .debug_line from which type unit i counts.
func (t *TypeIndex) LinesAt(i uint32) uint64 { return t.sections[t.units[i].section].linesAt }

// inPackage finds the type unit with a signature in a .dwp. It adds the unit to t.units
// and returns its index there. The unit has its own abbreviations and names. Only the
// worker that reads the unit uses the file.
func (t *TypeIndex) inPackage(sig uint64) (i int, ok bool, err error) {
	f := t.f
	if i, ok := t.packed[sig]; ok {
		return i, true, nil
	}
	parts, err := indexEntry(f.ELF, typeUnitIndex, sig)
	if parts == nil || err != nil {
		return 0, false, err
	}
	s := typeSection{base: typesBase, abbrevAt: parts[".debug_abbrev"].off, linesAt: parts[lineSection].off}
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
		return 0, false, fmt.Errorf("%s: %s: no type unit %#016x where the index has it", f.Path, typeUnitIndex, sig)
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
