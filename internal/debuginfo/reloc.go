package debuginfo

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

// firstAddr is the address of the first section, as pahole has it.
const firstAddr = 0x10000

// LoadRelocs lays out the sections of a relocatable file and finds the relocations
// of the debug sections, after Load. With sorted, those of .debug_info get an
// index: see Unsorted.
func (f *File) LoadRelocs(sorted bool) error {
	r := &relocs{addrs: layout(f.Dwarf.Sections)}
	f.rel = r
	str := f.section(".debug_str")
	if str != nil && str.Flags&shfCompress == 0 && uint64(len(f.Names.Data)) == str.Size {
		r.inStr = section{file: f.Dwarf, sec: str}
	}
	if symtab := f.Dwarf.Section(".symtab"); symtab == nil || symtab.Type != shtSymtab {
		return nil // symbols says so
	}
	// A file may have more than 65,000 sections: each is looked for once.
	info, addr, strOffsets := f.section(".debug_info"), f.section(".debug_addr"), f.section(".debug_str_offsets")
	loclists, loc := f.section(".debug_loclists"), f.section(".debug_loc")
	for i := range f.Dwarf.Sections {
		s := &f.Dwarf.Sections[i]
		if s == str {
			r.str = uint32(i)
		}
		if s.Type != shtRela && s.Type != shtRel || uint64(s.Info) >= uint64(len(f.Dwarf.Sections)) {
			continue
		}
		target := &f.Dwarf.Sections[s.Info]
		var dst **elfreloc.Table
		var size int
		switch target {
		case info:
			dst, size = &r.info, len(f.Info)
			if s.Flags&shfCompress == 0 {
				r.inInfo = section{file: f.Dwarf, sec: s}
			}
		case addr:
			dst, size = &r.random[relAddr], len(f.other.addr)
		case strOffsets:
			dst, size = &r.random[relStrOffsets], len(f.other.strOffsets)
		case loclists:
			dst, size = &r.random[relLoclists], len(f.Loclists)
		case loc:
			dst, size = &r.random[relLoc], len(f.Loc)
		default:
			continue
		}
		if *dst != nil {
			return fmt.Errorf("%s: %s: a second relocation section of %s", f.Path, s.Name, target.Name)
		}
		t, err := f.relocsIn(s, target.Name, size)
		if err != nil {
			return err
		}
		// Those of .debug_info are read in order, which shows whether they
		// are in order (File.Header); the others are read at random.
		if dst != &r.info || sorted {
			t.Sort()
		}
		*dst = t
	}
	return nil
}

// relocsIn is the relocations that section s has of the section named target,
// which has size bytes.
func (f *File) relocsIn(s *mmapelf.Section, target string, size int) (*elfreloc.Table, error) {
	data, err := f.Dwarf.Data(s)
	if err != nil {
		return nil, err
	}
	r := f.rel
	if r.object == nil {
		symtab := f.Dwarf.Section(".symtab")
		syms, err := f.Dwarf.Data(symtab)
		if err != nil {
			return nil, err
		}
		extended, err := f.Dwarf.ExtendedIndexes(symtab)
		if err != nil {
			return nil, err
		}
		format := elfreloc.Format{Machine: f.Machine, Class64: f.Dwarf.Class64, BigEndian: f.BigEndian}
		if r.object, err = elfreloc.NewObject(format, syms, extended, r.addrs); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Path, err)
		}
	}
	t, err := r.object.NewTable(target, uint64(size), data, s.Type == shtRela)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", f.Path, s.Name, err)
	}
	return t, nil
}

// Addresses is where each section of a relocatable input is assumed to lie, by
// its index.
func (f *File) Addresses() []uint64 { return layout(f.ELF.Sections) }

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

// Header reads the header of the unit at off into c, whose first relocation is
// entry first, and which relocations belong to the unit. Units share the entries
// out between them in their order; that each lies in its unit, which Apply checks,
// proves that none was missed.
func (f *File) Header(off uint64, first int, c *Cursor) error {
	c.File = f
	if _, err := f.inOrder.info.need(c.Seq, f.Info, off, dwarf.MaxUnitHeader); err != nil {
		return err
	}
	if f.rel == nil || f.rel.info == nil {
		return dwarf.ReadUnit(f.Info, off, f.BigEndian, &c.Hdr)
	}
	t := f.rel.info
	rest := f.Info[off:]
	var buf [dwarf.MaxUnitHeader]byte
	head := buf[:copy(buf[:], rest)]
	if err := t.Apply(head, off, first, t.Search(first, off+uint64(len(head)))); err != nil {
		return err
	}
	if err := dwarf.ReadUnitHeader(head, rest, off, f.BigEndian, &c.Hdr); err != nil {
		return err
	}
	c.FirstReloc, c.LastReloc = first, t.Len()
	if end := c.Hdr.End(); end < uint64(len(f.Info)) {
		c.LastReloc = t.Search(first, end)
	}
	return nil
}

// relocate makes c.Hdr.Data a relocated copy of the unit.
func (c *Cursor) relocate() error {
	f := c.File
	if f.rel == nil || f.rel.info == nil {
		return nil
	}
	c.copy.Reset()
	b := c.copy.Extend(len(c.Hdr.Data))
	copy(b, f.Info[c.Hdr.Off:])
	names := elfreloc.Span{Section: f.rel.str}
	if err := f.rel.info.ApplySpan(b, c.Hdr.Off, c.FirstReloc, c.LastReloc, &names); err != nil {
		return fmt.Errorf("%s: %w", f.Path, err)
	}
	c.Hdr.Data = b
	c.Reader.Low = uint32(min(uint64(c.Reader.Low), names.Low))
	c.touchNames(names.Low, names.High)
	return nil
}

// touchNames reads one byte of each cache line of the unit's own part of
// .debug_str. In a module, where nearly every name comes again for each object,
// the walk would wait for memory at nearly every name: it asks for them in the
// order of the DIEs, which is none there.
func (c *Cursor) touchNames(low, high uint64) {
	const line = 64
	data := c.File.Names.Data
	if low > high || high >= uint64(len(data)) || high-low > maxNames {
		return
	}
	sum := byte(0)
	for s := data[low:high]; len(s) > line; s = s[line:] {
		sum += s[0]
	}
	c.touched = sum
}

// maxNames is the length of a part of .debug_str above which it would not stay
// in the cache, in bytes.
const maxNames = 1 << 20

// Unsorted reports whether an error may come from relocations of .debug_info
// that are not in the order of their offsets. It reads all of them.
func (f *File) Unsorted() bool { return f.rel != nil && f.rel.info != nil && f.rel.info.Sort() }

// ListRelocs is the relocations of .debug_loc; nil if it has none.
func (f *File) ListRelocs() *elfreloc.Table {
	if f.rel == nil {
		return nil
	}
	return f.rel.random[relLoc]
}

// relocated reads the number of 4 or 8 bytes at offset at of section b, which
// the caller has found to lie in it. kind is relAddr and the like.
func (c *Cursor) relocated(kind int, b []byte, at, size uint64) uint64 {
	f := c.File
	var buf [8]byte
	n := buf[:copy(buf[:size], b[at:])]
	if f.rel != nil {
		if t := f.rel.random[kind]; t != nil {
			first := t.Search(0, at)
			if err := t.Apply(n, at, first, t.Search(first, at+size)); err != nil {
				c.RelocFail = errors.Join(c.RelocFail, err)
			}
		}
	}
	if size == 8 {
		return f.Order().Uint64(n)
	}
	return uint64(f.Order().Uint32(n))
}
