// Command yardstick goes over the DIEs of a file once, keeps nothing, and prints how many there are. It is
// the bare scan of BENCHMARKS.md, and the instructions of an encoding are compared with its own over the
// years, so it is frozen: do not make it faster, and let it use nothing of this project that is made faster.
//
//	yardstick FILE [UNITS]
//
// It reads DWARF 4 and 5 of ELF files that are little-endian, as kernels for amd64 have it. For each unit it
// compiles the abbreviations to lists of sizes, then adds up sizes from DIE to DIE.
package main

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
)

func main() {
	units := 1 << 30
	var err error
	if len(os.Args) == 3 {
		units, err = strconv.Atoi(os.Args[2])
	}
	if len(os.Args) < 2 || len(os.Args) > 3 || err != nil {
		fmt.Fprintln(os.Stderr, "usage: yardstick FILE [UNITS]")
		os.Exit(2)
	}
	dies, err := scan(os.Args[1], units)
	if err != nil {
		fmt.Fprintf(os.Stderr, "yardstick: %s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
	fmt.Println(dies)
}

// scan counts the DIEs of the first units.
func scan(path string, units int) (dies int, err error) {
	defer func() {
		if cut := recover(); cut != nil {
			err = fmt.Errorf("cut short or damaged: %v", cut)
		}
	}()
	f, err := elf.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	infoSection, abbrevSection := f.Section(".debug_info"), f.Section(".debug_abbrev")
	if infoSection == nil || abbrevSection == nil || f.ByteOrder != binary.LittleEndian {
		return 0, errors.New("no little-endian DWARF")
	}
	abbrev, err := abbrevSection.Data()
	if err != nil {
		return 0, err
	}
	var info []byte // one unit at a time, so that the scan needs little memory
	for off := int64(0); uint64(off) < infoSection.Size && units > 0; units-- {
		var header [4]byte
		if _, err := infoSection.ReadAt(header[:], off); err != nil {
			return dies, err
		}
		size := 4 + int(binary.LittleEndian.Uint32(header[:]))
		info = slices.Grow(info[:0], size)[:size]
		if _, err := infoSection.ReadAt(info, off); err != nil {
			return dies, err
		}
		n, err := unit(info, abbrev)
		if err != nil {
			return dies, err
		}
		dies += n
		off += int64(size)
	}
	return dies, nil
}

// unit counts the DIEs of one unit.
func unit(b, abbrev []byte) (dies int, err error) {
	var table []declaration
	p := 0
	switch version := binary.LittleEndian.Uint16(b[4:]); version {
	case 4:
		table, err = compile(abbrev[binary.LittleEndian.Uint32(b[6:]):], int(b[10]))
		p = 11
	case 5:
		table, err = compile(abbrev[binary.LittleEndian.Uint32(b[8:]):], int(b[7]))
		p = 12
	default:
		err = fmt.Errorf("DWARF %d", version)
	}
	if err != nil {
		return 0, err
	}
	for depth := 0; p < len(b); {
		var code uint64
		if code, p = uleb(b, p); code == 0 {
			if depth--; depth <= 0 {
				break
			}
			continue
		}
		d := &table[code]
		dies++
		for _, s := range d.sizes {
			p = skip(b, p, s)
		}
		if d.children {
			depth++
		}
	}
	return dies, nil
}

// declaration is a compiled abbreviation. Neighbouring attributes of known size are one of its sizes.
type declaration struct {
	children bool
	sizes    []int
}

// Sizes that the data decides.
const (
	sizeULEB = -1 - iota
	sizeString
	sizeBlock1
	sizeBlock2
	sizeBlock4
	sizeBlock
)

// sizeOf are the sizes of forms: DWARF 5, section 7.5.6.
var sizeOf = map[uint64]int{
	0x03: sizeBlock2, 0x04: sizeBlock4, 0x05: 2, 0x06: 4, 0x07: 8, 0x08: sizeString, 0x09: sizeBlock, 0x0a: sizeBlock1, 0x0b: 1, 0x0c: 1,
	0x0d: sizeULEB, 0x0e: 4, 0x0f: sizeULEB, 0x10: 4, 0x11: 1, 0x12: 2, 0x13: 4, 0x14: 8, 0x15: sizeULEB, 0x17: 4, 0x18: sizeBlock, 0x19: 0,
	0x1a: sizeULEB, 0x1b: sizeULEB, 0x1c: 4, 0x1d: 4, 0x1e: 16, 0x1f: 4, 0x20: 8, 0x22: sizeULEB, 0x23: sizeULEB, 0x24: 8,
	0x25: 1, 0x26: 2, 0x27: 3, 0x28: 4, 0x29: 1, 0x2a: 2, 0x2b: 3, 0x2c: 4, 0x1f20: 4, 0x1f21: 4,
}

// compile compiles a table of abbreviations. Codes are their indexes: compilers number from 1.
func compile(b []byte, addressSize int) (table []declaration, err error) {
	for p := 0; ; {
		var code, form uint64
		if code, p = uleb(b, p); code == 0 {
			return table, nil
		}
		for uint64(len(table)) <= code && code < 1<<16 {
			table = append(table, declaration{})
		}
		d := &table[code]
		_, p = uleb(b, p) // tag
		d.children = b[p] != 0
		p++
		for {
			_, p = uleb(b, p) // attribute
			if form, p = uleb(b, p); form == 0 {
				break
			}
			size, known := sizeOf[form]
			switch {
			case form == 0x01: // DW_FORM_addr
				size = addressSize
			case form == 0x21: // DW_FORM_implicit_const: in the table
				_, p = uleb(b, p)
			case !known:
				return nil, fmt.Errorf("form %#x", form)
			}
			if n := len(d.sizes); n > 0 && size >= 0 && d.sizes[n-1] >= 0 {
				d.sizes[n-1] += size
			} else {
				d.sizes = append(d.sizes, size)
			}
		}
	}
}

// skip returns the place behind a value.
func skip(b []byte, p, size int) int {
	var n uint64
	switch size {
	case sizeULEB:
		_, p = uleb(b, p)
	case sizeString:
		for b[p] != 0 {
			p++
		}
		p++
	case sizeBlock1:
		p += 1 + int(b[p])
	case sizeBlock2:
		p += 2 + int(binary.LittleEndian.Uint16(b[p:]))
	case sizeBlock4:
		p += 4 + int(binary.LittleEndian.Uint32(b[p:]))
	case sizeBlock:
		n, p = uleb(b, p)
		p += int(n)
	default:
		p += size
	}
	return p
}

// uleb reads an unsigned or, if only its end matters, a signed LEB128 number.
func uleb(b []byte, p int) (v uint64, end int) {
	for shift := 0; ; shift += 7 {
		x := b[p]
		p++
		v |= uint64(x&0x7f) << (shift & 63)
		if x < 0x80 {
			return v, p
		}
	}
}
