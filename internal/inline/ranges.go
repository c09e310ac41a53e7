package inline

import (
	"github.com/btflite/btflite/internal/debuginfo"
	"github.com/btflite/btflite/internal/dwarf"
)

// Address ranges (DWARF 5, section 2.17.3 and 7.25). The code here only looks for the first
// address of a list of ranges, which DWARF calls the base address of the DIE.

// ranges reads the lists of address ranges of a unit.
type ranges struct {
	c        *debuginfo.Cursor
	sections *debuginfo.Ranges
	base     uint64 // address from which offsets count, until a list names another one
	start    uint64 // offset in .debug_rnglists from which the unit's indexes and their offsets count
	old      uint64 // offset in .debug_ranges from which DW_AT_ranges counts, for units of a .dwo; else 0
}

// first returns the first address of the ranges at v, the value of a DW_AT_ranges.
func (r *ranges) first(v uint64, form dwarf.Form) (uint64, bool) {
	if r.sections == nil {
		return 0, false
	}
	c := r.c
	b, v5 := r.sections.New, c.Hdr.Version >= 5
	switch {
	case !v5:
		b, v = r.sections.Old, v+r.old
	case form == dwarf.FormRnglistx:
		if v > uint64(len(b)) {
			return 0, false
		}
		off, ok := r.sections.Offset(c, r.start+v*uint64(c.Hdr.OffsetSize()))
		if !ok {
			return 0, false
		}
		v = r.start + off
	}
	how := dwarf.ListAddresses{Base: r.base, Indexed: c.AddressAt}
	how.Address = func(at int) (uint64, bool) { return r.sections.Address(c, v5, uint64(at)) }
	if debuginfo.MovedNumbers(c.File) {
		how.Number = r.sections.ULEB
	}
	list := dwarf.NewRangeList(b, v, c.ExprFormat())
	list.UseAddresses(&how)
	if _, ok := list.Next(); !ok {
		return 0, false
	}
	return list.From, true
}
