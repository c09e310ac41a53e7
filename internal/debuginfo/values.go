package debuginfo

import (
	"cmp"

	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/dwarf"
)

// The values of a decoded DIE: numbers, names, addresses, places of location lists.
// Package names turns names into tokens.

// Number returns a numeric attribute; 0 if the DIE does not have it.
func (c *Cursor) Number(have uint32, v int) uint64 {
	if have>>v&1 == 0 {
		return 0
	}
	return c.Vals[v].Numeric()
}

// NameOf returns the token of DW_AT_name; 0 if the DIE does not have it.
func (c *Cursor) NameOf(have uint32) dedup.Name {
	if have&(1<<dwarf.VName) == 0 {
		return 0
	}
	return c.NameValue(&c.Vals[dwarf.VName])
}

// Text returns a string of the DIE that c has decoded last; "" if it does not have it.
func Text(c *Cursor, have uint32, v int) string {
	if have>>v&1 == 0 {
		return ""
	}
	return string(c.File.Names.Text(c.NameValue(&c.Vals[v])))
}

// NameValue returns the token of a string value; 0 if it is not a string, or an
// unreadable one.
func (c *Cursor) NameValue(v *dwarf.Value) dedup.Name {
	f := c.File
	switch v.Form {
	case dwarf.FormStrp:
		return f.Names.Offset(&c.Reader, v.U)
	case dwarf.FormString:
		return f.Names.At(c.Hdr.Data[v.U:])
	case dwarf.FormGNUStrpAlt, dwarf.FormStrpSup:
		return c.altName(v.U)
	case dwarf.FormLineStrp:
		if v.U >= uint64(len(f.other.lineStr)) {
			return 0
		}
		return f.Names.At(f.other.lineStr[v.U:])
	case dwarf.FormStrx, dwarf.FormStrx1, dwarf.FormStrx2, dwarf.FormStrx3, dwarf.FormStrx4, dwarf.FormGNUStrIndex:
		all, size := f.other.strOffsets, uint64(c.Hdr.OffsetSize())
		p, ok := indexed(all, c.str, v.U, size)
		if !ok {
			return 0
		}
		s := dwarf.Value{Form: dwarf.FormStrp, U: c.relocated(relStrOffsets, all, p, size)}
		return c.NameValue(&s)
	}
	return 0
}

// Target returns the place of the DIE to which a reference leads: Base and an offset in .debug_info. ok
// is false for other forms, and if the alternate file does not have the place.
func Target(c *Cursor, v *dwarf.Value) (place uint64, ok bool) {
	switch v.Form {
	case dwarf.FormRefAddr:
		return c.Base + v.U, true
	case dwarf.FormRef1, dwarf.FormRef2, dwarf.FormRef4, dwarf.FormRef8, dwarf.FormRefUdata:
		return c.Base + c.Hdr.Off + v.U, true
	}
	return c.File.InAlt(v)
}

// altName returns the name at an offset of the alternate file's .debug_str.
func (c *Cursor) altName(off uint64) dedup.Name {
	if c.File.Alt == nil {
		c.Reader.Bad = true
		return 0
	}
	return c.File.Alt.Names.Offset(&c.Reader, off)
}

// indexed returns the place of entry index in a table of entries of size bytes. The
// unit's part of the table starts at base.
func indexed(table []byte, base, index, size uint64) (p uint64, ok bool) {
	if index > uint64(len(table)) {
		return 0, false
	}
	p = base + index*size
	return p, p <= uint64(len(table)) && uint64(len(table))-p >= size
}

// Address reads DW_FORM_addr or an index into .debug_addr; 0 if there is none.
func (c *Cursor) Address(v *dwarf.Value) uint64 {
	switch v.Form {
	case dwarf.FormAddr:
		return v.U
	case dwarf.FormAddrx, dwarf.FormAddrx1, dwarf.FormAddrx2, dwarf.FormAddrx3, dwarf.FormAddrx4, dwarf.FormGNUAddrIndex:
		return c.AddressAt(v.U)
	case dwarf.FormLLVMAddrxOff:
		index, offset := v.U&(1<<32-1), v.U>>32
		if _, ok := c.AddressPlace(index); ok {
			return c.AddressAt(index) + offset
		}
	}
	return 0
}

// AddressAt returns the address at an index of .debug_addr; 0 if there is none.
func (c *Cursor) AddressAt(index uint64) uint64 {
	all, size := c.File.other.addr, uint64(c.Hdr.AddrSize)
	p, ok := indexed(all, c.bases.addr, index, size)
	if !ok || size != 4 && size != 8 {
		return 0
	}
	return c.relocated(relAddr, all, p, size)
}

// AddressPlace returns the place in .debug_addr of the address at an index.
func (c *Cursor) AddressPlace(index uint64) (off uint64, ok bool) {
	return indexed(c.File.other.addr, c.bases.addr, index, uint64(c.Hdr.AddrSize))
}

// ListAt turns an index of DW_FORM_loclistx into an offset in .debug_loclists. If it is
// unreadable, it sets Err.
func (c *Cursor) ListAt(index uint64) (uint32, bool) {
	f, size := c.File, uint64(c.Hdr.OffsetSize())
	p, ok := indexed(f.Loclists, c.loclists, index, size)
	if !ok {
		return 0, false
	}
	if _, err := f.inOrder.loclists.need(c.Seq, f.Loclists, p, size); err != nil {
		c.Err = cmp.Or(c.Err, err)
		return 0, false
	}
	o := c.relocated(relLoclists, f.Loclists, p, size) + c.loclists
	return uint32(o), o <= 1<<32-1
}
