// Package dwarf reads the parts of DWARF that BTF needs: unit headers,
// abbreviations, attribute values, expressions and location lists. It works on
// slices of sections; it knows no ELF and no BTF, follows no reference, and reads
// nothing beyond the slices that it is given, whatever they hold.
package dwarf

import (
	"encoding/binary"
	"strconv"
)

// Unit types of DWARF 5 headers (section 7.5.1).
const (
	utCompile      = 0x01
	utType         = 0x02
	utPartial      = 0x03
	utSkeleton     = 0x04
	utSplitCompile = 0x05
	utSplitType    = 0x06
)

// Unit is a unit header of .debug_info or, for DWARF 4 type units, of .debug_types.
//
//	unit_length  4, or 12 bytes starting ff ff ff ff (64-bit DWARF)
//	version      2
//	DWARF 2-4:   debug_abbrev_offset 4|8, address_size 1
//	DWARF 5:     unit_type 1, address_size 1, debug_abbrev_offset 4|8,
//	             then by type: dwo_id 8; type_signature 8 and type_offset 4|8
type Unit struct {
	Off       uint64 // of the header in the section
	Data      []byte // the whole unit, header included: DIE references of the unit index it
	First     int    // offset in Data of the unit DIE
	AbbrevOff uint64 // of its table in .debug_abbrev
	Version   uint16 // of DWARF, 2 to 5
	AddrSize  uint8  // bytes of an address: 1, 2, 4 or 8
	Type      uint8  // DW_UT_, 0 before DWARF 5
	types     bool   // it is in .debug_types
	Dwarf64   bool   // 64-bit DWARF: section offsets have 8 bytes
	BigEndian bool   // byte order of the file
	Signature uint64 // of a type unit
	TypeOff   uint64 // of a type unit: offset in Data of the type's DIE
	DwoID     uint64 // of a skeleton unit and of the unit that it stands for
}

// IsType reports whether it is a type unit.
func (u *Unit) IsType() bool { return u.types || u.Type == utType || u.Type == utSplitType }

// End returns the section offset after the unit.
func (u *Unit) End() uint64 { return u.Off + uint64(len(u.Data)) }

// OffsetSize is the size in bytes of a section offset in the unit.
func (u *Unit) OffsetSize() int {
	if u.Dwarf64 {
		return 8
	}
	return 4
}

// MaxUnitHeader is the most bytes that a unit header can have.
const MaxUnitHeader = 40

// ReadUnit reads the header at off of the .debug_info section info into u. Data
// aliases info. ReadUnit reads no byte after the header. The error is an *Error; then u
// has only Off and what was read so far.
func ReadUnit(info []byte, off uint64, bigEndian bool, u *Unit) error {
	if off > uint64(len(info)) {
		*u = Unit{Off: off, BigEndian: bigEndian}
		return &Error{Section: ".debug_info", Offset: off, What: "unit header beyond the section"}
	}
	b := info[off:]
	return ReadUnitHeader(b[:min(len(b), MaxUnitHeader)], b, off, bigEndian, u)
}

// ReadUnitHeader is ReadUnit for a header whose bytes were relocated. head is a relocated
// copy of them, of MaxUnitHeader bytes or up to the end of the section. rest is the
// section from the header on; Data aliases it.
func ReadUnitHeader(head, rest []byte, off uint64, bigEndian bool, u *Unit) error {
	*u = Unit{Off: off, BigEndian: bigEndian}
	return u.read(head, rest)
}

// ReadTypeUnitHeader is ReadUnitHeader for .debug_types of DWARF 4 (section 7.5.1.2), whose headers
// go on with a signature and the offset of the type.
func ReadTypeUnitHeader(head, rest []byte, off uint64, bigEndian bool, u *Unit) error {
	*u = Unit{Off: off, BigEndian: bigEndian, types: true}
	return u.read(head, rest)
}

// read reads the header. Off, BigEndian and types are set.
func (u *Unit) read(head, rest []byte) error {
	off := u.Off
	fail := func(at uint64, what string) error {
		section := ".debug_info"
		if u.types {
			section = ".debug_types"
		}
		return &Error{Section: section, Offset: at, What: what}
	}
	b := head
	if len(b) < 12 {
		return fail(off, "unit header cut off")
	}
	var bo binary.ByteOrder = binary.LittleEndian
	if u.BigEndian {
		bo = binary.BigEndian
	}
	p := 4
	n := uint64(bo.Uint32(b))
	switch {
	case n == 0xffffffff:
		u.Dwarf64 = true
		n = bo.Uint64(b[4:])
		p = 12
	case n >= 0xfffffff0:
		return fail(off, "reserved unit length")
	}
	if n > uint64(len(rest)-p) {
		return fail(off, "unit length goes beyond the section")
	}
	if n > 1<<31-32 {
		return fail(off, "unit is larger than 2 GiB")
	}
	u.Data = rest[:uint64(p)+n]
	b = b[:min(len(b), len(u.Data))]
	need := func(k int) bool { return len(b)-p >= k }
	if !need(2) {
		return fail(off, "unit too short for its header")
	}
	u.Version = bo.Uint16(b[p:])
	p += 2
	if u.Version < 2 || u.Version > 5 {
		return fail(off, "unknown DWARF version "+utoa(uint64(u.Version)))
	}
	if u.types && u.Version > 4 {
		return fail(off, "DWARF "+utoa(uint64(u.Version))+" has no .debug_types")
	}
	osz := u.OffsetSize()
	readOff := func() uint64 {
		if osz == 8 {
			return bo.Uint64(b[p:])
		}
		return uint64(bo.Uint32(b[p:]))
	}
	readType := func() bool {
		if !need(8 + osz) {
			return false
		}
		u.Signature = bo.Uint64(b[p:])
		p += 8
		u.TypeOff = readOff()
		p += osz
		return true
	}
	if u.Version >= 5 {
		if !need(2 + osz) {
			return fail(off, "unit too short for its header")
		}
		u.Type, u.AddrSize = b[p], b[p+1]
		p += 2
		u.AbbrevOff = readOff()
		p += osz
		switch u.Type {
		case utSkeleton, utSplitCompile:
			if !need(8) {
				return fail(off, "unit too short for its header")
			}
			u.DwoID = bo.Uint64(b[p:])
			p += 8
		case utType, utSplitType:
			if !readType() {
				return fail(off, "unit too short for its header")
			}
		case utCompile, utPartial:
		default: // neither the fields of its header nor the start of its DIEs are known
			return fail(off, "unknown unit type "+utoa(uint64(u.Type)))
		}
	} else {
		if !need(osz + 1) {
			return fail(off, "unit too short for its header")
		}
		u.AbbrevOff = readOff()
		p += osz
		u.AddrSize = b[p]
		p++
		if u.types && !readType() {
			return fail(off, "unit too short for its header")
		}
	}
	if p > len(b) {
		return fail(off, "unit too short for its header")
	}
	switch u.AddrSize {
	case 1, 2, 4, 8:
	default:
		return fail(off, "address size "+utoa(uint64(u.AddrSize)))
	}
	if u.TypeOff > uint64(len(u.Data)) {
		return fail(off, "type lies beyond its unit")
	}
	u.First = p
	return nil
}

func utoa(v uint64) string { return strconv.FormatUint(v, 10) }

// Error is a fault of the DWARF data. It says where the fault is, not which
// file has it; callers add that.
type Error struct {
	Section string // ELF section name, for example ".debug_info"
	Offset  uint64 // in the section, of the datum that is at fault
	What    string // what is wrong, lower case, no full stop
}

// Error returns "section+0xoffset: what".
func (e *Error) Error() string {
	return e.Section + "+0x" + strconv.FormatUint(e.Offset, 16) + ": " + e.What
}
