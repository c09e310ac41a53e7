package unitrecord

import (
	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/internal/unit"
)

// Variables and addresses. An address is a base, which the linker relocates, and an
// offset from it: the functions of one section share one base, and so one
// relocation.

// The byte of a variable in colVar.
const (
	varExternal = 1 << iota
	varAnnots   // it has annotations
)

// Field says where an address is: in .debug_info or in .debug_addr.
type Field struct {
	Indexed bool   // in .debug_addr
	Off     uint64 // in the section
}

// Addresses are the relocations of an object.
type Addresses interface {
	// Base gives the address in the field as the number of a base and an offset.
	// Bases count from 0 for each record; ok is false if there is no relocation
	// that a base can have.
	Base(f Field) (base int, offset uint64, ok bool)
}

// vars writes the candidates for variables of u.
func (w *Writer) vars(u *unit.Unit) {
	c := &w.cols
	for i := range u.Vars.S {
		v := &u.Vars.S[i]
		w.variableAddress(v)
		w.name(v.Name)
		w.ref(v.Type)
		flags := byte(0)
		if v.External {
			flags |= varExternal
		}
		if v.NAn != 0 {
			flags |= varAnnots
			w.annots(u.Annots.S[v.FirstAn:][:v.NAn])
		}
		c.byte(colVar, flags)
	}
}

// address writes the address in a field, which is more by extra.
func (w *Writer) address(f Field, extra uint64) {
	base, offset, ok := w.addrs.Base(f)
	if !ok {
		w.fail("an address without a relocation that can be kept")
		return
	}
	w.bases = max(w.bases, base+1)
	w.cols.uint(colAddress, uint64(base))
	w.cols.step(colAddress, int64(offset+extra))
}

// lowPC writes DW_AT_low_pc of fn.
func (w *Writer) lowPC(fn *callconv.Func) {
	c := &w.dies.Cursor
	b := c.Hdr.Data
	code, p := dwarf.ULEB(b, int(fn.Off))
	a := c.Abbrevs.Lookup(code)
	if p < 0 || a == nil {
		w.fail("a function without an abbreviation")
		return
	}
	at := c.Abbrevs.Place(a, b, p, dwarf.VLowPC)
	if _, have := c.Abbrevs.Decode(a, b, p, &c.Vals); at < 0 || have>>dwarf.VLowPC&1 == 0 {
		w.fail("an address of an unknown form")
		return
	}
	v := &c.Vals[dwarf.VLowPC]
	if v.Form == dwarf.FormAddr {
		w.address(Field{Off: c.Hdr.Off + uint64(at)}, 0)
		return
	}
	w.indexed(v.U, 0)
}

// indexed writes the address at an index of .debug_addr.
func (w *Writer) indexed(index, extra uint64) {
	off, ok := w.dies.Cursor.AddressPlace(index)
	if !ok {
		w.fail("an index that leads out of .debug_addr")
		return
	}
	w.address(Field{Indexed: true, Off: off}, extra)
}

// variableAddress writes the address of v, which its location begins with.
func (w *Writer) variableAddress(v *unit.Var) {
	c := &w.dies.Cursor
	_, have, ok := c.DecodeAt(uint64(v.Off))
	off, n, block := c.Vals[dwarf.VLocation].Block()
	if !ok || have>>dwarf.VLocation&1 == 0 || !block {
		w.fail("a variable without a location")
		return
	}
	switch s, ok := dwarf.StaticAddress(c.Hdr.Data[off:off+n], c.ExprFormat()); {
	case !ok:
		w.fail("a variable without a location")
	case s.Indexed:
		w.indexed(s.Value, s.Extra)
	default:
		w.address(Field{Off: c.Hdr.Off + uint64(off) + 1}, s.Extra)
	}
}
