package inline

import (
	"github.com/btflite/btflite/internal/debuginfo"
	"github.com/btflite/btflite/internal/dwarf"
)

// Address ranges (DWARF 5, section 2.17.3 and 7.25). The code here only looks for the first
// address of a list of ranges, which DWARF calls the base address of the DIE.

// maxBases is how many entries may come before the first range.
const maxBases = 16

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
	if r.c.Hdr.Version < 5 {
		return r.first2(v + r.old)
	}
	if form == dwarf.FormRnglistx {
		if v > uint64(len(r.sections.New)) {
			return 0, false
		}
		off, ok := r.sections.Offset(r.c, r.start+v*uint64(r.c.Hdr.OffsetSize()))
		if !ok {
			return 0, false
		}
		v = r.start + off
	}
	return r.first5(v)
}

// first2 is first for .debug_ranges.
func (r *ranges) first2(at uint64) (uint64, bool) {
	n := uint64(r.c.Hdr.AddrSize)
	ones := ^uint64(0) >> (64 - 8*(n&15))
	base := r.base
	for range maxBases {
		from, ok := r.sections.Address(r.c, false, at)
		if !ok {
			return 0, false
		}
		to, ok := r.sections.Address(r.c, false, at+n)
		switch {
		case !ok, from == 0 && to == 0:
			return 0, false
		case from != ones:
			return base + from, true
		}
		base, at = to, at+2*n
	}
	return 0, false
}

// first5 is first for .debug_rnglists.
func (r *ranges) first5(at uint64) (uint64, bool) {
	b, base := r.sections.New, r.base
	for range maxBases {
		if at >= uint64(len(b)) {
			return 0, false
		}
		kind := b[at]
		at++
		switch kind {
		case dwarf.RLEBaseAddressx, dwarf.RLEStartxEndx, dwarf.RLEStartxLength, dwarf.RLEOffsetPair:
			v, p := dwarf.ULEB(b, int(at))
			switch {
			case p < 0:
				return 0, false
			case kind == dwarf.RLEOffsetPair && debuginfo.MovedNumbers(r.c.File):
				v, p = r.sections.ULEB(int(at))
				return base + v, p >= 0
			case kind == dwarf.RLEOffsetPair:
				return base + v, true
			case kind != dwarf.RLEBaseAddressx:
				return r.c.AddressAt(v), true
			}
			base, at = r.c.AddressAt(v), uint64(p)
		case dwarf.RLEBaseAddress, dwarf.RLEStartEnd, dwarf.RLEStartLength:
			v, ok := r.sections.Address(r.c, true, at)
			if !ok || kind != dwarf.RLEBaseAddress {
				return v, ok
			}
			base, at = v, at+uint64(r.c.Hdr.AddrSize)
		default:
			return 0, false
		}
	}
	return 0, false
}
