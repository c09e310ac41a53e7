package debuginfo

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/mmapelf"
)

// Type units (-fdebug-types-section; DWARF 4: section .debug_types, DWARF 5: DW_UT_type
// in .debug_info): a struct or enumeration has its own unit. References name it by a
// signature of 64 bits (DW_FORM_ref_sig8), or a declaration stands for it
// (DW_AT_signature). The linker keeps one copy.
//
// A unit that uses signatures is read as one group with all type units that it refers to.
// For the deduplication, this is the unit that the compiler would have written without
// the option, and memory stays as for one unit. Only an index from signature to place is
// kept, which is made when the first signature occurs. The types of the unit come first,
// then its type units in the order of the references. Types to which no unit refers, such
// as types of local variables, come after the last unit.
//
// So ids differ from a build without the option, where a struct comes at its first use:
// the file does not have that place any more. The types are the same. (pahole crashes, or
// leaves types out.)

// In a relocatable file or a .dwo, each type unit has its own section: .debug_types or
// another .debug_info, in a section group with the signature.

// typesBase is where the offsets of other sections start, far above offsets in
// .debug_info.
const typesBase = 1 << 56

// Types returns the index of the type units, which the first call makes. It is an error
// if a header cannot be read.
func (f *File) Types() (*TypeIndex, error) {
	t := &f.types
	if f.packed() {
		t.f = f
		return t, nil // see TypeIndex.inPackage
	}
	t.once.Do(func() {
		t.f = f
		t.err = t.make()
	})
	return t, t.err
}

// SawType notes that .debug_info has a type unit.
func (f *File) SawType() { f.types.saw.Store(true) }

// HasTypes reports whether there are type units: .debug_info has shown one, or there are
// sections for them.
func (f *File) HasTypes() bool { return f.types.saw.Load() || len(f.typeSections()) > 0 }

// All returns the number of type units that belong to the file. It is 0 for a .dwp, whose
// type units belong to several files.
func (t *TypeIndex) All() int {
	if t.f.packed() {
		return 0
	}
	return len(t.units)
}

// Reached notes that a committed unit has referred to type unit i.
func (t *TypeIndex) Reached(i uint32) { t.reached[i] = true }

// IsReached reports whether a committed unit has referred to type unit i.
func (t *TypeIndex) IsReached(i uint32) bool { return t.reached[i] }

// Unreached returns the type units to which no committed unit has referred, in file
// order.
func (t *TypeIndex) Unreached() []uint32 {
	var left []uint32
	for i := range t.units {
		if !t.reached[i] {
			left = append(left, uint32(i))
		}
	}
	slices.SortFunc(left, func(a, b uint32) int { return cmp.Compare(t.units[a].off, t.units[b].off) })
	return left
}

// Find returns the type unit with a signature, and the place of its type: an offset in
// .debug_info, or one from typesBase on, as Open returns it.
func (t *TypeIndex) Find(sig uint64) (i int, place uint64, ok bool, err error) {
	if t.f.packed() {
		i, ok, err = t.inPackage(sig)
	} else {
		i, ok = slices.BinarySearchFunc(t.units, sig, func(x typeUnit, sig uint64) int { return cmp.Compare(x.sig, sig) })
	}
	if err != nil || !ok {
		return 0, 0, false, err
	}
	return i, t.units[i].off + t.units[i].die, true, nil
}

// Open moves c to the header of type unit i. The unit's bytes are loaded and relocated,
// and its abbreviations compiled. It returns the place of the header.
func (t *TypeIndex) Open(c *Cursor, i uint32) (place uint64, err error) {
	x := &t.units[i]
	s := &t.sections[x.section]
	c.File = t.f
	off := x.off - s.base
	tail := s.data
	if x.copy != 0 {
		tail = t.copies.S[x.copy-1:]
	} else {
		tail = tail[off:]
	}
	if err := s.readHeader(tail, off, t.f.BigEndian, &c.Hdr); err != nil {
		return 0, fmt.Errorf("%s: %w", t.f.Path, err)
	}
	c.Hdr.AbbrevOff += s.abbrevAt
	if t.f.packed() {
		t.f.other.strOffsets = s.strOffsets
	}
	if s.rel != nil {
		c.typeCopy.Reset()
		b := c.typeCopy.Extend(len(c.Hdr.Data))
		copy(b, c.Hdr.Data)
		if err := s.rel.Relocate(b, off); err != nil {
			return 0, fmt.Errorf("%s: %w", t.f.Path, err)
		}
		c.Hdr.Data = b
	}
	if err := c.compileAbbrevs(); err != nil {
		return 0, c.UnitError(err.Error())
	}
	return x.off, nil
}

// typeSections returns the sections that have only type units.
func (f *File) typeSections() (all []*mmapelf.Section) {
	info := f.section(".debug_info")
	for i := range f.Dwarf.Sections {
		s := &f.Dwarf.Sections[i]
		if k := f.kind(s.Name); k == ".debug_types" || k == ".debug_info" && s != info {
			all = append(all, s)
		}
	}
	return all
}

// openSections fills t.sections.
func (t *TypeIndex) openSections() error {
	f := t.f
	t.sections = []typeSection{{data: f.Info}}
	if f.rel != nil && f.rel.info != nil {
		t.sections[0].rel = f.rel.info
	}
	base := uint64(typesBase)
	place := make(map[uint32]uint32) // by index of the ELF section
	left := uint64(len(f.Dwarf.Bytes()))
	// Sections may overlap in a crafted file.
	take := func(s *mmapelf.Section) error {
		if s.Size > left {
			return fmt.Errorf("%s: %s: sections of type units are larger than the file", f.Path, s.Name)
		}
		left -= s.Size
		return nil
	}
	for _, s := range f.typeSections() {
		if err := take(s); err != nil {
			return err
		}
		data, err := f.Dwarf.Data(s)
		if err != nil {
			return err
		}
		place[uint32(s.Index)] = uint32(len(t.sections))
		t.sections = append(t.sections, typeSection{base: base, data: data, types: f.kind(s.Name) == ".debug_types"})
		base += uint64(len(data))
	}
	if f.rel == nil || len(place) == 0 || f.suffix != "" {
		return nil
	}
	for i := range f.Dwarf.Sections {
		s := &f.Dwarf.Sections[i]
		k, ok := place[s.Info]
		if !ok || s.Type != elfabi.SHTRela && s.Type != elfabi.SHTRel {
			continue
		}
		if err := take(s); err != nil {
			return err
		}
		to, target := &t.sections[k], f.Dwarf.Sections[s.Info].Name
		if to.rel != nil {
			return fmt.Errorf("%s: %s: a second relocation section of %s", f.Path, s.Name, target)
		}
		var err error
		if to.rel, err = f.relocsIn(s, target, len(to.data)); err != nil {
			return err
		}
		to.rel.Sort()
	}
	return nil
}

// readHeader reads the header at off of the section into h. tail is the section from
// there on. h.Data aliases tail, which is not relocated.
func (ts *typeSection) readHeader(tail []byte, off uint64, bigEndian bool, h *dwarf.Unit) error {
	var buf [dwarf.MaxUnitHeader]byte
	head := buf[:copy(buf[:], tail)]
	if err := ts.rel.Relocate(head, off); err != nil {
		return err
	}
	if ts.types {
		return dwarf.ReadTypeUnitHeader(head, tail, off, bigEndian, h)
	}
	return dwarf.ReadUnitHeader(head, tail, off, bigEndian, h)
}

// make reads all unit headers.
func (t *TypeIndex) make() error {
	f := t.f
	if err := t.openSections(); err != nil {
		return err
	}
	for k := 1; k < len(t.sections); k++ {
		s := &t.sections[k]
		for off := uint64(0); off < uint64(len(s.data)); {
			var h dwarf.Unit
			if err := s.readHeader(s.data[off:], off, f.BigEndian, &h); err != nil {
				return fmt.Errorf("%s: %w", f.Path, err)
			}
			if !h.IsType() {
				return fmt.Errorf("%s: a second .debug_info section has a unit that is not a type unit, at %#x", f.Path, off)
			}
			t.units = append(t.units, typeUnit{sig: h.Signature, off: s.base + off, die: h.TypeOff, section: uint32(k)})
			off = h.End()
		}
	}
	if err := t.addInfo(); err != nil {
		return err
	}
	// If signatures are equal, the first one in the file counts.
	slices.SortStableFunc(t.units, func(a, b typeUnit) int { return cmp.Compare(a.sig, b.sig) })
	t.units = slices.CompactFunc(t.units, func(a, b typeUnit) bool { return a.sig == b.sig })
	t.reached = make([]bool, len(t.units))
	return nil
}

// addInfo adds the type units of .debug_info. It reads a compressed section again, and
// keeps copies of the units.
func (t *TypeIndex) addInfo() error {
	f := t.f
	again := section{file: f.Dwarf, sec: f.inOrder.info.sec}
	info := f.Info
	if f.inOrder.info.stream != nil {
		st, err := f.Dwarf.Stream(f.section(".debug_info"))
		if err != nil {
			return err
		}
		defer st.Close()
		again.stream, info = st, st.Bytes()
	}
	const pin = 0 // the only reader
	for off := uint64(0); off < uint64(len(info)); {
		var h dwarf.Unit
		if _, err := again.need(pin, info, off, dwarf.MaxUnitHeader); err != nil {
			return err
		}
		if err := t.sections[0].readHeader(info[off:], off, f.BigEndian, &h); err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
		if h.IsType() {
			x := typeUnit{sig: h.Signature, off: off, die: h.TypeOff}
			if again.stream != nil {
				if _, err := again.need(pin, info, off, uint64(len(h.Data))); err != nil {
					return err
				}
				x.copy = uint64(len(t.copies.S)) + 1
				t.copies.AppendSlice(h.Data)
			}
			t.units = append(t.units, x)
		}
		off = h.End()
		again.unpin(pin)
		again.releaseBy(f.releaseStep(), off)
	}
	return nil
}
