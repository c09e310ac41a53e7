package btf

import (
	"fmt"
	"strings"
)

// Flags of a LOC_PARAM. They are its first extra word; the other extra words are values.
const (
	LocSigned = 1 << iota // the constant, or the offset, is signed
	LocConst              // the parameter is a constant: the values, the low word first
	LocAddr               // with LocConst: it is an address, relative to the start of the program
	LocReg                // the first value is the DWARF number of a register; with two, each holds a half
	LocDeref              // the parameter is in memory, where the register points
	LocOffset             // the values after the register are an offset that is added to it
)

// LocFrameBase as a register means the frame base of the function around a site
// (DW_OP_fbreg).
const LocFrameBase = ^uint32(0)

// LocText writes a LOC_PARAM as bpftool does: "reg1", "*(reg2 + 0x10)", "fbreg - 0x10",
// "0x2". A record with flags that have no such form is written as a list of numbers.
func LocText(r Record) string {
	if r.Kind() != KindLocParam {
		return ""
	}
	flags, values := r[3], r[4:r.Len()]
	long := func(v []uint32) uint64 {
		x := uint64(v[0])
		if len(v) > 1 {
			x |= uint64(v[1]) << 32
		}
		return x
	}
	switch n := len(values); {
	case flags&LocConst != 0 && (n == 1 || n == 2):
		v := long(values)
		bits := 8 * min(max(r.Third(), 1), 8)
		if s := int64(v<<(64-bits)) >> (64 - bits); flags&LocSigned != 0 && flags&LocAddr == 0 && s < 0 {
			return fmt.Sprintf("-%#x", uint64(-s))
		}
		if flags&LocAddr != 0 {
			return fmt.Sprintf("%#x (addr)", v)
		}
		return fmt.Sprintf("%#x", v)
	case flags&LocReg != 0 && flags&LocOffset != 0 && (n == 2 || n == 3):
		v := long(values[1:])
		sign, size := "+", v
		if s := int64(v); flags&LocSigned != 0 && n == 2 && int32(v) < 0 {
			sign, size = "-", uint64(-int64(int32(v)))
		} else if flags&LocSigned != 0 && n == 3 && s < 0 {
			sign, size = "-", uint64(-s)
		}
		text := fmt.Sprintf("%s %s %#x", regText(values[0]), sign, size)
		if flags&LocDeref != 0 {
			return "*(" + text + ")"
		}
		return text
	case flags&LocReg != 0 && flags&LocDeref != 0 && n == 1:
		return "*(" + regText(values[0]) + ")"
	case flags&LocReg != 0 && n > 0:
		var parts []string
		for _, v := range values {
			parts = append(parts, regText(v))
		}
		return strings.Join(parts, " ")
	}
	return fmt.Sprintf("%#x", values)
}

func regText(reg uint32) string {
	if reg == LocFrameBase {
		return "fbreg"
	}
	return fmt.Sprintf("reg%d", reg)
}
