package debuginfo

import (
	"fmt"

	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/internal/elfreloc"
	"github.com/btflite/btflite/mmapelf"
)

// In relocatable files (ET_REL: .o, .ko), the mapping is never written to, and no section
// is relocated as a whole. A unit is copied into its workspace and relocated there before
// it is read, so that readers of DIEs need not know about relocations. In other sections,
// single items are copied and relocated as they are read (pahole-behaviour 5.6 has the
// rules of addresses).

// firstAddr is the address of the first section, as in pahole.
const firstAddr = 0x10000

// loadRelocs lays out the sections of a relocatable file, and finds the relocations of
// the loaded debug sections. Relocations that are not sorted by offset get an index.
func (f *File) loadRelocs() error {
	r := &relocs{addrs: layout(f.Dwarf.Sections)}
	f.rel = r
	str := f.section(".debug_str")
	if str != nil && str.Flags&elfabi.SHFCompressed == 0 && uint64(len(f.Names.Data)) == str.Size {
		r.inStr = section{file: f.Dwarf, sec: str}
	}
	if symtab := f.Dwarf.Section(".symtab"); symtab == nil || symtab.Type != elfabi.SHTSymtab {
		return nil // symbols reports the fault
	}
	// A file may have more than 65,000 sections, so each is looked up once.
	info, addr, strOffsets := f.section(".debug_info"), f.section(".debug_addr"), f.section(".debug_str_offsets")
	loclists, loc := f.section(".debug_loclists"), f.section(".debug_loc")
	for i := range f.Dwarf.Sections {
		s := &f.Dwarf.Sections[i]
		if s == str {
			r.str = uint32(i)
		}
		if s.Type != elfabi.SHTRela && s.Type != elfabi.SHTRel && s.Type != elfabi.SHTCrel || uint64(s.Info) >= uint64(len(f.Dwarf.Sections)) {
			continue
		}
		target := &f.Dwarf.Sections[s.Info]
		var dst **elfreloc.Table
		var size int
		switch target {
		case info:
			dst, size = &r.info, len(f.Info)
			if s.Flags&elfabi.SHFCompressed == 0 {
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
		if s.Type == elfabi.SHTCrel {
			return fmt.Errorf("%s: %s: compact relocations (CREL) are not known; compile without --crel", f.Path, s.Name)
		}
		if *dst != nil {
			return fmt.Errorf("%s: %s: a second relocation section of %s", f.Path, s.Name, target.Name)
		}
		t, err := f.relocsIn(s, target.Name, size)
		if err != nil {
			return err
		}
		if dst != &r.info || !inOrderOf(t, section{file: f.Dwarf, sec: s}) {
			t.Sort()
		}
		*dst = t
	}
	return nil
}

// relocsIn returns the relocations in section s for the section named target, which has
// size bytes.
func (f *File) relocsIn(s *mmapelf.Section, target string, size int) (*elfreloc.Table, error) {
	data, err := f.Dwarf.Data(s)
	if err != nil {
		return nil, err
	}
	r := f.rel
	if r.object == nil {
		symtab := f.Dwarf.Section(".symtab")
		if symtab == nil || symtab.Type != elfabi.SHTSymtab {
			return nil, fmt.Errorf("%s: %s: no .symtab section to relocate by", f.Path, s.Name)
		}
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
	t, err := r.object.NewTable(target, uint64(size), data, s.Type == elfabi.SHTRela)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", f.Path, s.Name, err)
	}
	return t, nil
}

// relocsOf returns the relocations of a section of f with size bytes, sorted by offset; nil if it has none.
func relocsOf(f *File, sec *mmapelf.Section, size int) (t *elfreloc.Table, err error) {
	for i := range f.Dwarf.Sections {
		s := &f.Dwarf.Sections[i]
		if f.rel == nil || s.Type != elfabi.SHTRela && s.Type != elfabi.SHTRel || uint64(s.Info) != uint64(sec.Index) {
			continue
		}
		if t, err = f.relocsIn(s, sec.Name, size); err == nil {
			t.Sort()
		}
		break
	}
	return t, err
}

// Addresses returns the address of each section, by index. In a relocatable input, these are the
// addresses that the sections are assumed to have.
func (f *File) Addresses() []uint64 {
	if f.Relocatable() {
		return layout(f.ELF.Sections)
	}
	addrs := make([]uint64, len(f.ELF.Sections))
	for i := range addrs {
		addrs[i] = f.ELF.Sections[i].Addr
	}
	return addrs
}

// layout gives loaded sections addresses one after another, and all others address 0.
func layout(sections []mmapelf.Section) []uint64 {
	addrs := make([]uint64, len(sections))
	end := uint64(firstAddr)
	for i := range sections {
		s := &sections[i]
		if s.Flags&elfabi.SHFAlloc == 0 {
			continue
		}
		align := max(s.Align, 1)
		end = (end + align - 1) / align * align
		addrs[i] = end
		end += s.Size
	}
	return addrs
}

// inOrderOf reports whether relocations are sorted by offset. A large file has many of
// them, so they are asked for ahead and released, as in the later reading.
func inOrderOf(t *elfreloc.Table, in section) bool {
	if in.sec.Flags&elfabi.SHFCompressed != 0 {
		in.sec = nil // it has been expanded, so there is nothing to release
	}
	var ahead window
	size := uint64(t.EntrySize())
	step := int(fetchStep / size)
	for from := 0; from < t.Len(); from += step {
		ahead.advance(&in, uint64(from)*size)
		if !t.Ordered(from, min(from+step, t.Len())) {
			return false
		}
		in.release(uint64(from) * size)
	}
	in.release(uint64(t.Len()) * size)
	return true
}

// ListRelocs returns the relocations of .debug_loc; nil if it has none.
func (f *File) ListRelocs() *elfreloc.Table {
	if f.rel == nil {
		return nil
	}
	return f.rel.random[relLoc]
}
