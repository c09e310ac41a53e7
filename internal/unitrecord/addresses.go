package unitrecord

import (
	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/internal/unit"
)

// An address is a base, which the linker relocates, and an offset from it. All functions of
// a section share one base, so they need one relocation.

// address writes the sum of the address in a field and extra.
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
	if v.Form == dwarf.FormLLVMAddrxOff {
		w.indexed(v.U&(1<<32-1), v.U>>32)
		return
	}
	w.indexed(v.U, 0)
}

// indexed writes the sum of the address at an index of .debug_addr and extra.
func (w *Writer) indexed(index, extra uint64) {
	off, ok := w.dies.Cursor.AddressPlace(index)
	if !ok {
		w.fail("an index that leads out of .debug_addr")
		return
	}
	w.address(Field{Indexed: true, Off: off}, extra)
}

// variableAddress writes the address of v, with which its location begins. The walk has
// found it there.
func (w *Writer) variableAddress(v *unit.Var) {
	c := &w.dies.Cursor
	_, _, ok := c.DecodeAt(uint64(v.Off))
	off, n, _ := c.Vals[dwarf.VLocation].Block() // nothing else has an address
	s, static := dwarf.StaticAddress(c.Hdr.Data[off:off+n], c.ExprFormat())
	switch {
	case !ok || !static:
		w.fail("a variable without a location")
	case s.Indexed:
		w.indexed(s.Value, s.Extra)
	default:
		w.address(Field{Off: c.Hdr.Off + uint64(off) + 1}, s.Extra)
	}
}

// at returns base i as the linker has left it; ok is false if there is none.
func (b *bases) at(i uint64) (v uint64, ok bool) {
	if i >= uint64(len(b.words)/b.size) {
		return 0, false
	}
	order := elfabi.Order(b.bigEndian)
	word := b.words[int(i)*b.size:][:b.size]
	switch b.size {
	case 8:
		return order.Uint64(word), true
	case 4:
		return uint64(order.Uint32(word)), true
	}
	return 0, false
}

// address reads an address; 0 for one whose section the linker has dropped.
func (r *Reader) address() uint64 {
	c := &r.cols[colAddress]
	v, ok := r.bases.at(c.uint())
	offset := c.step()
	if !ok {
		c.bad = true
		return 0
	}
	if v == 0 {
		return 0
	}
	v += uint64(offset) - 1
	if r.bases.size == 4 {
		v = uint64(uint32(v))
	}
	return v
}
