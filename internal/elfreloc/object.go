// Package elfreloc applies the relocations of relocatable ELF files (ET_REL:
// .o, .ko) to private copies of parts of a section.
//
// A reader of debug sections wants a few hundred kilobytes at a time out of a
// section that may be larger than memory. Apply therefore takes a copy of any
// range and the relocations that fall into it; nothing is kept from call to
// call, and neither the section nor its relocations are ever written to.
//
// The package knows the relocation types that occur in debug sections of
// x86-64, i386, ARM, AArch64, s390, PowerPC and MIPS and SPARC (32 and 64 bit),
// RISC-V, LoongArch, BPF, Alpha, Hexagon, m68k, PA-RISC and SuperH. It does not open files: it works
// on the bytes of sections.
package elfreloc

import (
	"encoding/binary"
	"fmt"

	"github.com/btflite/btflite/internal/elfabi"
)

// Object has the facts that the relocation sections of one file share: the format, the
// symbols and the addresses of the sections. It is read-only once made.
type Object struct {
	machine   uint16
	class64   bool
	bigEndian bool
	mips64el  bool // r_info has its own layout
	order     binary.ByteOrder
	rules     []rule // by relocation type
	symtab    []byte
	extended  []byte
	addrs     []uint64
}

// Format is the part of the ELF header that relocations depend on.
type Format struct {
	Machine   uint16 // e_machine
	Class64   bool   // ELFCLASS64
	BigEndian bool   // ELFDATA2MSB
}

// NewObject returns an Object for a file of format f. symtab is the contents of its
// symbol table, extended the contents of the related SHT_SYMTAB_SHNDX section or nil,
// addrs the address of each section by index. All three are kept, and must not change
// while the Object is in use. It is an error if the relocations of the machine are not
// known.
func NewObject(f Format, symtab, extended []byte, addrs []uint64) (*Object, error) {
	m := rulesOf(f.Machine)
	if m == nil {
		return nil, fmt.Errorf("relocations of machine %d are not known", f.Machine)
	}
	o := &Object{machine: f.Machine, class64: f.Class64, bigEndian: f.BigEndian, symtab: symtab, extended: extended, addrs: addrs}
	o.order = elfabi.Order(f.BigEndian)
	o.mips64el = f.Machine == elfabi.EMMIPS && f.Class64 && !f.BigEndian
	for t, r := range m {
		if int(t) >= len(o.rules) {
			o.rules = append(o.rules, make([]rule, int(t)+1-len(o.rules))...)
		}
		o.rules[t] = r
	}
	return o, nil
}

// Entry sizes of symbol tables by class, in bytes.
//
//	32-bit: st_name u32, st_value u32, st_size u32, st_info, st_other u8, st_shndx u16
//	64-bit: st_name u32, st_info, st_other u8, st_shndx u16, st_value, st_size u64
const (
	symSize32 = 16
	symSize64 = 24
)

// symbol returns the value of symbol i and the address of its section. A symbol without a
// place in the file (undefined, common) has value and address 0, because nothing is known
// about it. An absolute symbol has address 0. section is the index of the section, 0 for
// these.
func (o *Object) symbol(i uint32) (value, addr uint64, section uint32, err error) {
	var shndx uint32
	if o.class64 {
		at := uint64(i) * symSize64
		if at+symSize64 > uint64(len(o.symtab)) {
			return 0, 0, 0, fmt.Errorf("symbol %d of %d", i, len(o.symtab)/symSize64)
		}
		s := o.symtab[at:][:symSize64]
		shndx, value = uint32(o.order.Uint16(s[6:])), o.order.Uint64(s[8:])
	} else {
		at := uint64(i) * symSize32
		if at+symSize32 > uint64(len(o.symtab)) {
			return 0, 0, 0, fmt.Errorf("symbol %d of %d", i, len(o.symtab)/symSize32)
		}
		s := o.symtab[at:][:symSize32]
		shndx, value = uint32(o.order.Uint16(s[14:])), uint64(o.order.Uint32(s[4:]))
	}
	switch {
	case shndx == elfabi.SHNXindex:
		if uint64(i)*4+4 > uint64(len(o.extended)) {
			return 0, 0, 0, fmt.Errorf("symbol %d has no extended section index", i)
		}
		shndx = o.order.Uint32(o.extended[uint64(i)*4:])
	case shndx == elfabi.SHNAbs:
		return value, 0, 0, nil
	case shndx == elfabi.SHNUndef || shndx >= elfabi.SHNLoReserve:
		return 0, 0, 0, nil
	}
	if uint64(shndx) >= uint64(len(o.addrs)) {
		return 0, 0, 0, fmt.Errorf("symbol %d is of section %d of %d", i, shndx, len(o.addrs))
	}
	return value, o.addrs[shndx], shndx, nil
}
