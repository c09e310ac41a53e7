package debuginfo

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/mmapelf"
)

// Type units (-fdebug-types-section; DWARF 4: section .debug_types, DWARF 5:
// DW_UT_type in .debug_info). A struct or enumeration has a unit of its own,
// which references name by a signature of 64 bits (DW_FORM_ref_sig8), or a
// declaration stands for it (DW_AT_signature). The linker keeps one copy.
//
// A unit that uses signatures is read with all type units that it leads to, as
// one group: for the deduplication that is what the unit would have been
// without the option, and memory stays that of a unit. What is kept is an index
// from signature to place, made when the first signature is met. The types of
// a unit come first, those of its type units follow in the order in which
// they were met. Types that no unit leads to, those of local variables, come
// behind the last unit.
//
// So the ids are not those of a build without the option, which would place a
// struct where it was first used: that place is not in the file any more. The
// types are the same. (pahole crashes, or leaves types out.)

// In a relocatable file, and in a .dwo, each type unit has a section of its own:
// .debug_types or another .debug_info, in a section group with the signature.

// typesBase is where the offsets of other sections start behind those of
// .debug_info.
const typesBase = 1 << 56

// Types is the index of the type units, made by the first call. Error: a header
// that cannot be read.
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

// SawType notes that a type unit went by in .debug_info.
func (f *File) SawType() { f.types.saw.Store(true) }

// HasTypes reports whether there are type units: some went by, or there are
// sections of them.
func (f *File) HasTypes() bool { return f.types.saw.Load() || len(f.typeSections()) > 0 }

// All is the number of type units that are the file's alone: of a .dwp, whose type
// units are those of several files, it is 0.
func (t *TypeIndex) All() int {
	if t.f.packed() {
		return 0
	}
	return len(t.units)
}

// Reached notes that a committed unit has led to type unit i.
func (t *TypeIndex) Reached(i uint32) { t.reached[i] = true }

// IsReached reports whether a committed unit has led to type unit i.
func (t *TypeIndex) IsReached(i uint32) bool { return t.reached[i] }

// Unreached is the type units to which no committed unit has led, in file order.
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

// Find is the type unit with a signature, and the place of its type: an offset
// behind those of .debug_info or in it, as Open gives them.
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

// Open makes c stand at the header of type unit i, whose bytes are there and
// relocated and whose abbreviations are compiled. It returns the place of the
// header.
func (t *TypeIndex) Open(c *Cursor, i uint32) (place uint64, err error) {
	x := &t.units[i]
	s := &t.sections[x.section]
	c.File = t.f
	off := x.off - s.base
	rest := s.data
	if x.copy != 0 {
		rest = t.copies.S[x.copy-1:]
	} else {
		rest = rest[off:]
	}
	if err := s.readHeader(rest, off, t.f.BigEndian, &c.Hdr); err != nil {
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
		if err := s.relocate(b, off); err != nil {
			return 0, fmt.Errorf("%s: %w", t.f.Path, err)
		}
		c.Hdr.Data = b
	}
	if err := c.compileAbbrevs(); err != nil {
		return 0, c.UnitError(err.Error())
	}
	return x.off, nil
}

// typeSections is the sections that have type units only.
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
	// Sections may share their bytes in a made file.
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

// readHeader reads the header at off of the section, whose bytes from there on
// are rest, into h. Data aliases rest, which is not relocated.
func (s *typeSection) readHeader(rest []byte, off uint64, bigEndian bool, h *dwarf.Unit) error {
	var buf [dwarf.MaxUnitHeader]byte
	head := buf[:copy(buf[:], rest)]
	if err := s.relocate(head, off); err != nil {
		return err
	}
	if s.types {
		return dwarf.ReadTypeUnitHeader(head, rest, off, bigEndian, h)
	}
	return dwarf.ReadUnitHeader(head, rest, off, bigEndian, h)
}

// relocate relocates b, a copy of what is at off of the section.
func (s *typeSection) relocate(b []byte, off uint64) error {
	if s.rel == nil {
		return nil
	}
	first := s.rel.Search(0, off)
	return s.rel.Apply(b, off, first, s.rel.Search(first, off+uint64(len(b))))
}

// make looks through the unit headers.
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
	// Of equal signatures the first one in the file counts.
	slices.SortStableFunc(t.units, func(a, b typeUnit) int { return cmp.Compare(a.sig, b.sig) })
	t.units = slices.CompactFunc(t.units, func(a, b typeUnit) bool { return a.sig == b.sig })
	t.reached = make([]bool, len(t.units))
	return nil
}

// addInfo adds the type units of .debug_info. It goes over a compressed
// section once more, and keeps copies of them.
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
	const pin = 0 // there is one reader
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
		if off >= again.given+f.releaseStep() {
			again.release(off)
		}
	}
	return nil
}
