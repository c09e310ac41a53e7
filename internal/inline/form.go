package inline

import (
	"bytes"
	"encoding/binary"

	"github.com/btflite/btflite/internal/debuginfo"
	"github.com/btflite/btflite/internal/dwarf"
)

// readValue reads the value of form v.Form, which is none of a fixed size or came by
// DW_FORM_indirect, at b[p:] of the unit at c. It returns where the value ends, or -1.
func readValue(c *debuginfo.Cursor, b []byte, p int, v *dwarf.Value) int {
	switch v.Form {
	case dwarf.FormData16:
		v.U = uint64(p)<<32 | 16
		return p + 16
	case dwarf.FormUdata, dwarf.FormRefUdata, dwarf.FormStrx, dwarf.FormAddrx, dwarf.FormLoclistx, dwarf.FormRnglistx,
		dwarf.FormGNUAddrIndex, dwarf.FormGNUStrIndex:
		v.U, p = dwarf.ULEB(b, p)
		return p
	case dwarf.FormSdata:
		s, q := dwarf.SLEB(b, p)
		v.U = uint64(s)
		return q
	case dwarf.FormFlagPresent:
		v.U = 1
		return p
	case dwarf.FormString:
		n := bytes.IndexByte(b[min(p, len(b)):], 0)
		if n < 0 {
			return -1
		}
		v.U = uint64(p)
		return p + n + 1
	case dwarf.FormBlock1, dwarf.FormBlock2, dwarf.FormBlock4, dwarf.FormBlock, dwarf.FormExprloc:
		return block(c, b, p, v)
	case dwarf.FormIndirect:
		form, q := dwarf.ULEB(b, p)
		if q < 0 || form == uint64(dwarf.FormIndirect) || form == uint64(dwarf.FormImplicitConst) || form > 0xffff {
			return -1
		}
		v.Form = dwarf.Form(form)
		h := &c.Hdr
		t := abbrevs{version: h.Version, addr: h.AddrSize, long: h.Dwarf64}
		n := t.sizeOf(v.Form)
		if n < 0 || v.Form == dwarf.FormFlagPresent {
			return readValue(c, b, q, v)
		}
		return fixed(c, b, q, n, v)
	}
	return -1
}

// fixed reads a number of n bytes.
func fixed(c *debuginfo.Cursor, b []byte, p, n int, v *dwarf.Value) int {
	if p < 0 || len(b)-p < n {
		return -1
	}
	v.U = number(b[p:p+n], c.File.BigEndian)
	return p + n
}

// number is the number that b has, of at most 8 bytes.
func number(b []byte, bigEndian bool) (v uint64) {
	if bigEndian {
		switch len(b) {
		case 4:
			return uint64(binary.BigEndian.Uint32(b))
		case 8:
			return binary.BigEndian.Uint64(b)
		}
		for _, x := range b {
			v = v<<8 | uint64(x)
		}
		return v
	}
	switch len(b) {
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	case 8:
		return binary.LittleEndian.Uint64(b)
	}
	for i := len(b) - 1; i >= 0; i-- {
		v = v<<8 | uint64(b[i])
	}
	return v
}

// block reads the bounds of a block.
func block(c *debuginfo.Cursor, b []byte, p int, v *dwarf.Value) int {
	var n uint64
	switch v.Form {
	case dwarf.FormBlock, dwarf.FormExprloc:
		n, p = dwarf.ULEB(b, p)
	default:
		var size dwarf.Value
		width := map[dwarf.Form]int{dwarf.FormBlock1: 1, dwarf.FormBlock2: 2, dwarf.FormBlock4: 4}[v.Form]
		p = fixed(c, b, p, width, &size)
		n = size.U
	}
	if p < 0 || n > uint64(len(b)-p) {
		return -1
	}
	v.U = uint64(p)<<32 | n
	return p + int(n)
}
