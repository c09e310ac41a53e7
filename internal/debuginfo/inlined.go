package debuginfo

import (
	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/internal/elfreloc"
)

// For the reader of inlined functions: location lists with their addresses, and address
// ranges.

// Ranges are the sections with address ranges: .debug_ranges and .debug_rnglists.
type Ranges struct {
	Old, New       []byte
	oldRel, newRel *elfreloc.Table
}

// LoadRanges finds the sections of f with address ranges. Call it after Load.
func LoadRanges(f *File) (*Ranges, error) {
	r := new(Ranges)
	for _, s := range []struct {
		name string
		data *[]byte
		rel  **elfreloc.Table
	}{{".debug_ranges", &r.Old, &r.oldRel}, {".debug_rnglists", &r.New, &r.newRel}} {
		sec := f.section(s.name)
		if sec == nil {
			continue
		}
		var err error
		if *s.data, err = f.Dwarf.Data(sec); err != nil {
			return nil, err
		}
		if f.packed() {
			f.dwo.whole[s.name] = *s.data
			if *s.data, err = f.dwo.partOf(f.Path, s.name, f.dwo.parts); err != nil {
				return nil, err
			}
		}
		if *s.rel, err = relocsOf(f, sec, len(*s.data)); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// ReleaseLists releases the mapped pages of the sections with address ranges and location
// lists.
func ReleaseLists(f *File) {
	for _, name := range []string{".debug_ranges", ".debug_rnglists", ".debug_loc", ".debug_loclists"} {
		if s := f.section(name); s != nil && s.Flags&elfabi.SHFCompressed == 0 {
			f.Dwarf.ReleaseRange(s.Offset, s.Size)
		}
	}
}

// Address returns the address at offset at of the section with ranges: .debug_rnglists if
// v5, else .debug_ranges. It returns false if the section ends there.
func (r *Ranges) Address(c *Cursor, v5 bool, at uint64) (uint64, bool) {
	b, rel, n := r.Old, r.oldRel, uint64(c.Hdr.AddrSize)
	if v5 {
		b, rel = r.New, r.newRel
	}
	return c.number(rel, &c.nearRange, b, at, n)
}

// Offset returns the number at offset at of .debug_rnglists. It is as long as a section
// offset of the unit.
func (r *Ranges) Offset(c *Cursor, at uint64) (uint64, bool) {
	return c.number(r.newRel, &c.nearRange, r.New, at, uint64(c.Hdr.OffsetSize()))
}

// ListAddress returns the address at offset at of b, which is the section of the unit's
// location lists from ListBytes. It returns false if b ends there.
func (c *Cursor) ListAddress(b []byte, at uint64) (uint64, bool) {
	return c.number(c.listRelocs(), &c.nearList, b, at, uint64(c.Hdr.AddrSize))
}

// listRelocs returns the relocations of the unit's location lists.
func (c *Cursor) listRelocs() *elfreloc.Table {
	switch f := c.File; {
	case f.rel == nil:
		return nil
	case c.Hdr.Version >= 5:
		return f.rel.random[relLoclists]
	default:
		return f.rel.random[relLoc]
	}
}

// MovedNumbers reports whether ULEB128 numbers in the lists of f may have relocations. If
// so, read them with ListULEB and Ranges.ULEB.
func MovedNumbers(f *File) bool { return f.rel != nil && elfreloc.NumbersMove(f.Machine) }

// ListULEB returns the ULEB128 number at offset at of b, the section of the location
// lists of the unit at c, and where it ends: -1 if that is beyond b.
func ListULEB(c *Cursor, b []byte, at int) (v uint64, next int) {
	return movedULEB(c.listRelocs(), b, at)
}

// ULEB is ListULEB for .debug_rnglists.
func (r *Ranges) ULEB(at int) (v uint64, next int) {
	return movedULEB(r.newRel, r.New, at)
}

// movedULEB reads a ULEB128 number with its relocations.
func movedULEB(rel *elfreloc.Table, b []byte, at int) (v uint64, next int) {
	v, next = dwarf.ULEB(b, at)
	if next < 0 || rel == nil {
		return v, next
	}
	field := append(make([]byte, 0, 10), b[at:next]...)
	if rel.Relocate(field, uint64(at)) != nil {
		return 0, -1
	}
	v, _ = dwarf.ULEB(field, 0)
	return v, next
}

// nearby remembers where the last search for a relocation ended.
type nearby struct {
	rel   *elfreloc.Table
	off   uint64
	first int
}

// search returns the index of the first relocation at or after off.
func (nb *nearby) search(rel *elfreloc.Table, off uint64) int {
	from := 0
	if nb.rel == rel && nb.off <= off {
		from = nb.first
	}
	*nb = nearby{rel, off, rel.Search(from, off)}
	return nb.first
}

// number reads a number of 4 or 8 bytes at offset at of b.
func (c *Cursor) number(rel *elfreloc.Table, near *nearby, b []byte, at, n uint64) (uint64, bool) {
	if at > uint64(len(b)) || uint64(len(b))-at < n || n != 4 && n != 8 {
		return 0, false
	}
	field := b[at : at+n]
	var buf [8]byte
	if rel != nil {
		field = buf[:copy(buf[:n], field)]
		first := near.search(rel, at)
		if rel.Apply(field, at, first, rel.Search(first, at+n)) != nil {
			return 0, false
		}
	}
	return number(c.File, field), true
}

// ListBytes returns the section of the unit's location lists. n bytes from offset off on
// can be read, if the section has so many.
func (c *Cursor) ListBytes(off, n uint64) ([]byte, error) {
	s, all := c.lists()
	return s.need(c.Seq, all, off, n)
}

// LoclistsBase returns where the unit's part of .debug_loclists starts. Indexes count
// from there.
func (c *Cursor) LoclistsBase() uint64 { return c.loclists }
