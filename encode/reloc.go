package encode

import (
	"errors"
	"fmt"

	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/internal/elfreloc"
	"github.com/btflite/btflite/mmapelf"
)

// Relocatable files (ET_REL: .o, .ko). The mapping is never written to, and no
// section is relocated as a whole: a unit is copied into its slot and
// relocated there before it is read, so that all that reads DIEs works as for
// linked files; of the other sections, what is read is copied and relocated at
// the moment it is read (pahole-behaviour 5.6 has the rules of addresses).

// relocs is what a relocatable file has beyond a linked one.
type relocs struct {
	addrs []uint64 // where each section is assumed to lie, by index
	own   []uint64 // the same of the file itself, if DWARF is in a separate one

	object *elfreloc.Object
	info   *elfreloc.Table // of .debug_info, nil if it has none
	random [relKinds]*elfreloc.Table

	inInfo, inStr section // the section of info, and .debug_str: given back as they are read
	str           uint32  // section index of .debug_str
}

// Sections of which single numbers or lists are read.
const (
	relAddr = iota
	relStrOffsets
	relLoclists
	relLoc
	relKinds
)

const (
	shtRela   = 4
	shtRel    = 9
	firstAddr = 0x10000 // of the first section, as pahole has it
)

// openRelocs lays out the sections and finds the relocations of the debug
// sections.
func (f *file) openRelocs() error {
	r := &relocs{addrs: layout(f.dwarf.Sections), own: layout(f.elf.Sections)}
	f.rel = r
	str := f.section(".debug_str")
	if str != nil && str.Flags&shfCompressed == 0 && uint64(len(f.names.Data)) == str.Size {
		r.inStr.sec = str
	}
	if symtab := f.dwarf.Section(".symtab"); symtab == nil || symtab.Type != shtSymtab {
		return nil // symbols says so
	}
	// A file may have more than 65,000 sections: each is looked for once.
	info, addr, strOffsets := f.section(".debug_info"), f.section(".debug_addr"), f.section(".debug_str_offsets")
	loclists, loc := f.section(".debug_loclists"), f.section(".debug_loc")
	for i := range f.dwarf.Sections {
		s := &f.dwarf.Sections[i]
		if s == str {
			r.str = uint32(i)
		}
		if s.Type != shtRela && s.Type != shtRel || uint64(s.Info) >= uint64(len(f.dwarf.Sections)) {
			continue
		}
		target := &f.dwarf.Sections[s.Info]
		var dst **elfreloc.Table
		var size int
		switch target {
		case info:
			dst, size = &r.info, len(f.info)
			if s.Flags&shfCompressed == 0 {
				r.inInfo.sec = s
			}
		case addr:
			dst, size = &r.random[relAddr], len(f.addr)
		case strOffsets:
			dst, size = &r.random[relStrOffsets], len(f.strOffsets)
		case loclists:
			dst, size = &r.random[relLoclists], len(f.loclists)
		case loc:
			dst, size = &r.random[relLoc], len(f.loc)
		default:
			continue
		}
		if *dst != nil {
			return fmt.Errorf("%s: %s: a second relocation section of %s", f.path, s.Name, target.Name)
		}
		t, err := f.relocsIn(s, target.Name, size)
		if err != nil {
			return err
		}
		// Those of .debug_info are read in order, which shows whether they
		// are in order (pipeline.header); the others are read at random.
		if dst != &r.info || f.run.trial.sortRelocs {
			t.Sort()
		}
		*dst = t
	}
	return nil
}

// relocsIn is the relocations that section s has of the section named target,
// which has size bytes.
func (f *file) relocsIn(s *mmapelf.Section, target string, size int) (*elfreloc.Table, error) {
	data, err := f.dwarf.Data(s)
	if err != nil {
		return nil, err
	}
	r := f.rel
	if r.object == nil {
		symtab := f.dwarf.Section(".symtab")
		syms, err := f.dwarf.Data(symtab)
		if err != nil {
			return nil, err
		}
		extended, err := f.dwarf.ExtendedIndexes(symtab)
		if err != nil {
			return nil, err
		}
		format := elfreloc.Format{Machine: f.machine, Class64: f.dwarf.Class64, BigEndian: f.bigEndian}
		if r.object, err = elfreloc.NewObject(format, syms, extended, r.addrs); err != nil {
			return nil, fmt.Errorf("%s: %w", f.path, err)
		}
	}
	t, err := r.object.NewTable(target, uint64(size), data, s.Type == shtRela)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", f.path, s.Name, err)
	}
	return t, nil
}

// layout gives the sections that are loaded addresses one behind the other,
// and all others address 0.
func layout(sections []mmapelf.Section) []uint64 {
	addrs := make([]uint64, len(sections))
	end := uint64(firstAddr)
	for i := range sections {
		s := &sections[i]
		if s.Flags&shfAlloc == 0 {
			continue
		}
		align := max(s.Align, 1)
		end = (end + align - 1) / align * align
		addrs[i] = end
		end += s.Size
	}
	return addrs
}

// header reads the header of the unit at off, whose first relocation is entry
// first, and which relocations belong to the unit. Units share the entries out
// between them in their order; that each lies in its unit, which Apply checks,
// proves that none was missed.
func (f *file) header(off uint64, first int, u *unit) error {
	if _, err := f.infoSec.need(u, f.info, off, dwarf.MaxUnitHeader); err != nil {
		return err
	}
	if f.rel == nil || f.rel.info == nil {
		return dwarf.ReadUnit(f.info, off, f.bigEndian, &u.hdr)
	}
	t := f.rel.info
	rest := f.info[off:]
	var buf [dwarf.MaxUnitHeader]byte
	head := buf[:copy(buf[:], rest)]
	if err := t.Apply(head, off, first, t.Search(first, off+uint64(len(head)))); err != nil {
		return err
	}
	if err := dwarf.ReadUnitHeader(head, rest, off, f.bigEndian, &u.hdr); err != nil {
		return err
	}
	u.firstReloc, u.lastReloc = first, t.Len()
	if end := u.hdr.End(); end < uint64(len(f.info)) {
		u.lastReloc = t.Search(first, end)
	}
	return nil
}

// relocateUnit makes u.hdr.Data a relocated copy of the unit.
func (f *file) relocateUnit(u *unit) error {
	if f.rel == nil || f.rel.info == nil {
		return nil
	}
	u.copy.Reset()
	b := u.copy.Extend(len(u.hdr.Data))
	copy(b, f.info[u.hdr.Off:])
	names := elfreloc.Span{Section: f.rel.str}
	if err := f.rel.info.ApplySpan(b, u.hdr.Off, u.firstReloc, u.lastReloc, &names); err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	u.hdr.Data = b
	u.reader.Low = uint32(min(uint64(u.reader.Low), names.Low))
	f.touchNames(u, names.Low, names.High)
	return nil
}

// touchNames reads one byte of each cache line of the unit's own part of
// .debug_str. In a module, where nearly every name comes again for each object,
// the walk would wait for memory at nearly every name: it asks for them in the
// order of the DIEs, which is none there.
func (f *file) touchNames(u *unit, low, high uint64) {
	const line = 64
	if low > high || high >= uint64(len(f.names.Data)) || high-low > maxNames {
		return
	}
	sum := byte(0)
	for s := f.names.Data[low:high]; len(s) > line; s = s[line:] {
		sum += s[0]
	}
	u.touched = sum
}

// maxNames is the length of a part of .debug_str above which it would not stay
// in the cache, in bytes.
const maxNames = 1 << 20

// unsorted reports whether an error may come from relocations of .debug_info
// that are not in the order of their offsets. It reads all of them.
func (f *file) unsorted() bool {
	return f.rel != nil && f.rel.info != nil && !f.run.trial.sortRelocs && f.rel.info.Sort()
}

// relocated reads the number of 4 or 8 bytes at offset at of section b, which
// the caller has found to lie in it. kind is relAddr and the like.
func (f *file) relocated(u *unit, kind int, b []byte, at, size uint64) uint64 {
	var buf [8]byte
	n := buf[:copy(buf[:size], b[at:])]
	if f.rel != nil {
		if t := f.rel.random[kind]; t != nil {
			first := t.Search(0, at)
			if err := t.Apply(n, at, first, t.Search(first, at+size)); err != nil {
				u.relocFail = errors.Join(u.relocFail, err)
			}
		}
	}
	if size == 8 {
		return f.order().Uint64(n)
	}
	return uint64(f.order().Uint32(n))
}
