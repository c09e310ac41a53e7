package encode

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/internal/elfreloc"
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

// typeUnits is the index of a file's type units. It does not change once it is
// made, but for reached, which belongs to the committer.
type typeUnits struct {
	units    []typeUnit // by signature
	sections []typeSection
	copies   arena.Vec[byte]
	reached  []bool         // by unit: a committed unit has led to it
	packed   map[uint64]int // of a .dwp: units by signature, which are not sorted
}

// typeUnit is one of them.
type typeUnit struct {
	sig     uint64
	off     uint64 // of the header, from the section's base
	die     uint64 // of the type, from off
	copy    uint64 // 1 + offset in copies; 0 if the section itself can be read
	section uint32 // index in sections
}

// typeSection is a section with type units. The first one is .debug_info.
type typeSection struct {
	base  uint64 // where its offsets start among those of all
	data  []byte
	types bool            // .debug_types
	rel   *elfreloc.Table // in order; nil if it has none

	// Of the type unit alone, in a .dwp:
	abbrevAt   uint64 // where offsets in .debug_abbrev start
	strOffsets []byte
}

// typesBase is where the offsets of other sections start behind those of
// .debug_info.
const typesBase = 1 << 56

// stub is a node that stands for another type.
type stub struct {
	node uint32
	ref  uint32 // DIE offset, then Ref
}

// typeIndex is the index, made by the first call.
func (f *file) typeIndex() (*typeUnits, error) {
	if f.packed {
		return &f.types, nil // see packedType
	}
	f.typesOnce.Do(func() { f.typesErr = f.indexTypes() })
	return &f.types, f.typesErr
}

// typeSections is the sections that have type units only.
func (f *file) typeSections() (all []*mmapelf.Section) {
	info := f.section(".debug_info")
	for i := range f.dwarf.Sections {
		s := &f.dwarf.Sections[i]
		if k := f.sectionKind(s.Name); k == ".debug_types" || k == ".debug_info" && s != info {
			all = append(all, s)
		}
	}
	return all
}

// sectionKind is a section's name without the file's prefix and suffix and as it
// is without compression; "" if it does not have them.
func (f *file) sectionKind(name string) string {
	name, begins := strings.CutPrefix(name, f.prefix)
	name, ends := strings.CutSuffix(name, f.suffix)
	if !begins || !ends {
		return ""
	}
	if rest, ok := strings.CutPrefix(name, ".z"); ok {
		return "." + rest
	}
	return name
}

// openTypeSections fills t.sections.
func (f *file) openTypeSections(t *typeUnits) error {
	t.sections = []typeSection{{data: f.info}}
	if f.rel != nil && f.rel.info != nil {
		t.sections[0].rel = f.rel.info
	}
	base := uint64(typesBase)
	place := make(map[uint32]uint32) // by index of the ELF section
	left := uint64(len(f.dwarf.Bytes()))
	// Sections may share their bytes in a made file.
	take := func(s *mmapelf.Section) error {
		if s.Size > left {
			return fmt.Errorf("%s: %s: sections of type units are larger than the file", f.path, s.Name)
		}
		left -= s.Size
		return nil
	}
	for _, s := range f.typeSections() {
		if err := take(s); err != nil {
			return err
		}
		data, err := f.dwarf.Data(s)
		if err != nil {
			return err
		}
		place[uint32(s.Index)] = uint32(len(t.sections))
		t.sections = append(t.sections, typeSection{base: base, data: data, types: f.sectionKind(s.Name) == ".debug_types"})
		base += uint64(len(data))
	}
	if f.rel == nil || len(place) == 0 || f.suffix != "" {
		return nil
	}
	for i := range f.dwarf.Sections {
		s := &f.dwarf.Sections[i]
		k, ok := place[s.Info]
		if !ok || s.Type != shtRela && s.Type != shtRel {
			continue
		}
		if err := take(s); err != nil {
			return err
		}
		to, target := &t.sections[k], f.dwarf.Sections[s.Info].Name
		if to.rel != nil {
			return fmt.Errorf("%s: %s: a second relocation section of %s", f.path, s.Name, target)
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

// indexTypes looks through the unit headers.
func (f *file) indexTypes() error {
	t := &f.types
	if err := f.openTypeSections(t); err != nil {
		return err
	}
	for k := 1; k < len(t.sections); k++ {
		s := &t.sections[k]
		for off := uint64(0); off < uint64(len(s.data)); {
			var h dwarf.Unit
			if err := s.readHeader(s.data[off:], off, f.bigEndian, &h); err != nil {
				return fmt.Errorf("%s: %w", f.path, err)
			}
			if !h.IsType() {
				return fmt.Errorf("%s: a second .debug_info section has a unit that is no type unit, at %#x", f.path, off)
			}
			t.units = append(t.units, typeUnit{sig: h.Signature, off: s.base + off, die: h.TypeOff, section: uint32(k)})
			off = h.End()
		}
	}
	if err := f.indexInfo(t); err != nil {
		return err
	}
	// Of equal signatures the first one in the file counts.
	slices.SortStableFunc(t.units, func(a, b typeUnit) int { return cmp.Compare(a.sig, b.sig) })
	t.units = slices.CompactFunc(t.units, func(a, b typeUnit) bool { return a.sig == b.sig })
	t.reached = make([]bool, len(t.units))
	return nil
}

// indexInfo adds the type units of .debug_info. It goes over a compressed
// section once more, and keeps copies of them.
func (f *file) indexInfo(t *typeUnits) error {
	if rel := t.sections[0].rel; rel != nil && !rel.Ordered() {
		return fmt.Errorf("%s: %w", f.path, elfreloc.ErrOrder) // the run starts again
	}
	again := section{sec: f.infoSec.sec}
	info := f.info
	if f.infoSec.stream != nil {
		st, err := f.dwarf.Stream(f.section(".debug_info"))
		if err != nil {
			return err
		}
		defer st.Close()
		again.stream, info = st, st.Bytes()
	}
	var pin unit
	for off := uint64(0); off < uint64(len(info)); {
		var h dwarf.Unit
		if _, err := again.need(&pin, info, off, dwarf.MaxUnitHeader); err != nil {
			return err
		}
		if err := t.sections[0].readHeader(info[off:], off, f.bigEndian, &h); err != nil {
			return fmt.Errorf("%s: %w", f.path, err)
		}
		if h.IsType() {
			x := typeUnit{sig: h.Signature, off: off, die: h.TypeOff}
			if again.stream != nil {
				if _, err := again.need(&pin, info, off, uint64(len(h.Data))); err != nil {
					return err
				}
				x.copy = uint64(len(t.copies.S)) + 1
				t.copies.AppendSlice(h.Data)
			}
			t.units = append(t.units, x)
		}
		off = h.End()
		again.unpin(&pin)
		if off >= again.given+f.releaseStep() {
			again.release(f, off)
		}
	}
	return nil
}

// signature keeps a reference to the type with a signature until its type
// unit has been read.
func (f *file) signature(u *unit, at int, sig uint64) (uint32, error) {
	t, err := f.typeIndex()
	if err != nil {
		return 0, err
	}
	var i int
	var ok bool
	if f.packed {
		i, ok, err = f.packedType(sig)
	} else {
		i, ok = slices.BinarySearchFunc(t.units, sig, func(x typeUnit, sig uint64) int { return cmp.Compare(x.sig, sig) })
	}
	if err != nil {
		return 0, err
	}
	if !ok {
		return 0, f.dieError(u, at, fmt.Sprintf("no type unit has the signature %#016x", sig))
	}
	k := len(u.cross.S)
	if k >= crossRef || len(u.hdr.Data) >= crossRef {
		return 0, f.dieError(u, at, "too many references to type units")
	}
	u.cross.Append(t.units[i].off + t.units[i].die)
	u.needTypes = append(u.needTypes, uint32(i))
	return extraRef | crossRef | uint32(k), nil
}

// addStub makes the next node stand for the type that DW_AT_signature names,
// which GCC also writes for types of the same unit. have is from the DIE at off.
func (f *file) addStub(u *unit, off int, have uint32) error {
	r, err := f.refOf(u, off, have, dwarf.VSignature)
	u.stubs = append(u.stubs, stub{uint32(len(u.types.Nodes.S)), r})
	return err
}

// defines is called for node i with a DW_AT_specification: in a type unit GCC
// declares the type where it belongs, and the declaration stands for it.
func (f *file) defines(u *unit, i uint32) {
	if spec := u.vals[dwarf.VSpec].U; u.hdr.IsType() && spec < uint64(len(u.hdr.Data)) {
		u.specs = append(u.specs, stub{node: i, ref: uint32(spec)})
	}
}

// addPart makes the unit that was walked last a part of the group.
func (u *unit) addPart(off uint64) {
	u.parts.Append(part{off: off, end: off + uint64(len(u.hdr.Data)), bits: uint32(len(u.allStarts.S))})
	u.allStarts.AppendSlice(u.starts.S)
}

// readTypes adds the type units that the slot's unit leads to, directly or by
// others, and settles references by signature. The unit has been linked.
func (f *file) readTypes(u *unit) error {
	t, err := f.typeIndex()
	if err != nil {
		return err
	}
	hdr, name, language, clang, dies := u.hdr, u.name, u.language, u.clang, u.dies
	strBase, addrBase, loclistsBase := u.strBase, u.addrBase, u.loclistsBase
	read := make(map[uint32]bool)
	for _, i := range u.seeds {
		read[i] = true
		if err := f.readType(u, t, &t.units[i], true); err != nil {
			return err
		}
		dies += u.dies
	}
	for k := 0; k < len(u.needTypes); k++ {
		if i := u.needTypes[k]; !read[i] {
			read[i] = true
			if err := f.readType(u, t, &t.units[i], false); err != nil {
				return err
			}
			dies += u.dies
		}
	}
	u.hdr, u.name, u.language, u.clang, u.dies = hdr, name, language, clang, dies
	u.strBase, u.addrBase, u.loclistsBase = strBase, addrBase, loclistsBase
	slices.SortFunc(u.parts.S, func(a, b part) int { return cmp.Compare(a.off, b.off) })
	return f.linkCross(u)
}

// readType walks and links one type unit. With filter the language options
// hold for it, else for what led to it.
func (f *file) readType(u *unit, t *typeUnits, x *typeUnit, filter bool) error {
	s := &t.sections[x.section]
	off := x.off - s.base
	rest := s.data
	if x.copy != 0 {
		rest = t.copies.S[x.copy-1:]
	} else {
		rest = rest[off:]
	}
	if err := s.readHeader(rest, off, f.bigEndian, &u.hdr); err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	u.hdr.AbbrevOff += s.abbrevAt
	if f.packed {
		f.strOffsets = s.strOffsets
	}
	if s.rel != nil {
		u.typeCopy.Reset()
		b := u.typeCopy.Extend(len(u.hdr.Data))
		copy(b, u.hdr.Data)
		if err := s.relocate(b, off); err != nil {
			return fmt.Errorf("%s: %w", f.path, err)
		}
		u.hdr.Data = b
	}
	u.from = u.mark()
	order, annots := len(u.funcOrder.S), len(u.annots.S)
	u.extra.Reset()
	u.starts.Reset()
	u.dies = 0
	if err := f.compileAbbrevs(u); err != nil {
		return f.unitError(u, err.Error())
	}
	p, skip, err := f.unitDIE(u)
	if err != nil || skip || filter && f.leftOut(u) {
		return err
	}
	if err := f.walk(u, p); err != nil {
		return err
	}
	if u.reader.Bad {
		return f.unitError(u, "a name lies beyond .debug_str")
	}
	// Methods are declared here and described where the unit has them.
	u.funcs.S, u.params.S, u.vars.S = u.funcs.S[:u.from.funcs], u.params.S[:u.from.params], u.vars.S[:u.from.vars]
	u.funcOrder.S, u.annots.S = u.funcOrder.S[:order], u.annots.S[:annots]
	f.linkRefs(u)
	u.addPart(x.off)
	return nil
}

// typeBatch is how many type units that no unit has led to are read together.
const typeBatch = 256

// finishTypes encodes the types that no unit has led to.
func (f *file) finishTypes() error {
	if !f.sawTypes.Load() && len(f.typeSections()) == 0 {
		return nil
	}
	t, err := f.typeIndex()
	if err != nil {
		return err
	}
	// In file order, however the index is sorted.
	var left []uint32
	for i := range t.units {
		if !t.reached[i] {
			left = append(left, uint32(i))
		}
	}
	slices.SortFunc(left, func(a, b uint32) int { return cmp.Compare(t.units[a].off, t.units[b].off) })
	var u unit
	u.init(f.run.limit)
	defer u.free()
	u.seq = -1 // of none of the slots
	for len(left) > 0 {
		u.reset()
		u.seeds = u.seeds[:0]
		for len(left) > 0 && len(u.seeds) < typeBatch {
			if !t.reached[left[0]] { // an earlier batch may have led to it
				u.seeds = append(u.seeds, left[0])
			}
			left = left[1:]
		}
		f.read(&u)
		if err := f.commitUnit(&u); err != nil {
			return err
		}
	}
	return nil
}

// readSeeds is readUnit for type units that no unit has led to.
func (f *file) readSeeds(u *unit) error {
	if err := f.readTypes(u); err != nil {
		return err
	}
	if err := f.linkRest(u); err != nil {
		return err
	}
	f.logTypes(u)
	f.run.set.Resolve(&u.types)
	return nil
}
