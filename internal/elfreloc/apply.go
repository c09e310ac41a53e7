package elfreloc

import (
	"encoding/binary"

	"github.com/btflite/btflite/internal/elfabi"
)

// Apply applies the entries from first to before last to b, a private copy of
// the section's bytes from offset off on. All of them must lie at offsets of
// that range: ErrOrder otherwise. A field that the end of the range cuts off is
// left as it is. After an error, some fields of b have been changed and others not.
func (t *Table) Apply(b []byte, off uint64, first, last int) error {
	var ignored Span
	return t.ApplySpan(b, off, first, last, &ignored)
}

// Span has the values stored in fields that refer to one section: offsets from Low to
// High, none if Low is above High. It may lack a field that is not a plain 64-bit
// little-endian RELA entry.
type Span struct {
	Section   uint32 // index in the section header table; 0 for none
	Low, High uint64
}

// Relocate is Apply with all entries for b, which it searches for. A nil Table has none.
func (t *Table) Relocate(b []byte, off uint64) error {
	if t == nil {
		return nil
	}
	first := t.Search(0, off)
	return t.Apply(b, off, first, t.Search(first, off+uint64(len(b))))
}

// ApplySpan is Apply, and sets s.Low and s.High.
func (t *Table) ApplySpan(b []byte, off uint64, first, last int, s *Span) error {
	o := t.o
	s.Low, s.High = ^uint64(0), 0
	if t.order == nil && o.class64 && !o.bigEndian && t.rela && !o.mips64el {
		return t.applyFast(b, off, first, last, s)
	}
	for i := first; i < last; i++ {
		e := t.at(i)
		if err := t.one(b, off, &e); err != nil {
			return err
		}
	}
	return nil
}

// applyFast is ApplySpan for the common format, 64-bit little-endian RELA, with
// the plain fields taken out of the general case. A module has millions of
// entries with few kinds of r_info, most of them the one of names.
func (t *Table) applyFast(b []byte, off uint64, first, last int, span *Span) error {
	data := t.data[first*relaSize : last*relaSize]
	var known [plainInfos]plainInfo
	var names plainInfo
	for {
		var n int
		n, span.Low, span.High = plainFields(data, b, off, &names, &known, span.Low, span.High)
		if data = data[n:]; len(data) < relaSize {
			return nil
		}
		at, info, addend := binary.LittleEndian.Uint64(data)-off, binary.LittleEndian.Uint64(data[8:]), binary.LittleEndian.Uint64(data[16:])
		w := t.o.plainWidth(uint32(info))
		if p := &known[info>>32%plainInfos]; p.info != info && w != 0 && at < uint64(len(b)) && uint64(len(b))-at >= 8 {
			if value, addr, section, err := t.o.symbol(uint32(info >> 32)); err == nil {
				*p = plainInfo{info, value + addr, w}
				if w == 4 && section != 0 && section == span.Section {
					names = *p
				}
				continue // once more
			}
		}
		e := entry{off: at + off, sym: uint32(info >> 32), typ: uint32(info), addend: addend}
		if err := t.one(b, off, &e); err != nil {
			return err
		}
		data = data[relaSize:]
	}
}

// plainFields applies entries from the start of data, as long as their r_info is in
// known and their fields are inside b. It returns how many bytes of data these entries
// take. Fields of names lower low and raise high. The function has few live variables,
// so that those for names stay in registers.
//
//go:noinline
func plainFields(data, b []byte, off uint64, names *plainInfo, known *[plainInfos]plainInfo, low, high uint64) (n int, lowest, highest uint64) {
	if len(b) < 8 {
		return 0, low, high
	}
	nameInfo, nameBase, end := names.info, names.base, uint64(len(b)-8)
	for n <= len(data)-relaSize {
		d := data[n : n+relaSize : n+relaSize]
		at, info, x := binary.LittleEndian.Uint64(d)-off, binary.LittleEndian.Uint64(d[8:]), binary.LittleEndian.Uint64(d[16:])
		if at > end || info == 0 { // 0 is unknown, and an unknown type has 0
			break
		}
		if info == nameInfo {
			x += nameBase
			low, high = min(low, x), max(high, x)
			binary.LittleEndian.PutUint32(b[at:at+8:at+8], uint32(x))
		} else {
			p := &known[info>>32%plainInfos]
			if p.info != info {
				break
			}
			if x += p.base; p.width == 4 {
				binary.LittleEndian.PutUint32(b[at:at+8:at+8], uint32(x))
			} else {
				binary.LittleEndian.PutUint64(b[at:at+8:at+8], x)
			}
		}
		n += relaSize
	}
	return n, low, high
}

// relaSize is the size of a 64-bit RELA entry in bytes.
const relaSize = 24

// plainInfo describes the entries with one r_info for applyFast. Their fields get base
// and the addend.
type plainInfo struct {
	info  uint64
	base  uint64 // address of the symbol
	width int    // 4 or 8; 0 for no such entries
}

// plainInfos is how many of them are remembered, by the low bits of the symbol.
const plainInfos = 64

// plainWidth is the width of a field that gets the sum of symbol and addend, in
// bytes; 0 for relocations of another kind, type 0 among them.
func (o *Object) plainWidth(typ uint32) int {
	if typ != 0 && typ < uint32(len(o.rules)) {
		switch o.rules[typ] {
		case rule{actSet, 4}:
			return 4
		case rule{actSet, 8}:
			return 8
		}
	}
	return 0
}

// one applies one entry.
func (t *Table) one(b []byte, off uint64, e *entry) error {
	o := t.o
	if e.off >= t.limit {
		return t.fail(e, "offset beyond the section")
	}
	if e.off-off >= uint64(len(b)) {
		return ErrOrder
	}
	typ := e.typ
	if o.machine == elfabi.EMMIPS && o.class64 {
		// Of three types to be applied one after the other, debug sections
		// need the first only.
		if typ>>8&0xffff != 0 {
			return t.fail(e, "compound relocation")
		}
		typ &= 0xff
	}
	if typ >= uint32(len(o.rules)) || o.rules[typ].act == actUnknown {
		return t.fail(e, "not known in debug sections")
	}
	r := o.rules[typ]
	if r.act == actNone {
		return nil
	}
	value, addr, _, err := o.symbol(e.sym)
	if err != nil {
		return t.fail(e, err.Error())
	}
	if r.act == actTLS {
		addr = 0
	}
	x := value + addr + e.addend
	f := b[e.off-off:]
	if r.width == 0 {
		return t.uleb(f, e, r.act, x)
	}
	if len(f) < int(r.width) {
		if uint64(r.width) > t.limit-e.off {
			return t.fail(e, "field goes beyond the section")
		}
		return nil
	}
	f = f[:r.width]
	switch r.act {
	case actSet, actTLS:
		if !t.rela {
			x += o.load(f)
		}
	case actAdd:
		x = o.load(f) + x
	case actSub:
		x = o.load(f) - x
	case actSet6:
		x = uint64(f[0])&0xc0 | x&0x3f
	case actAdd6:
		x = uint64(f[0])&0xc0 | (uint64(f[0])+x)&0x3f
	case actSub6:
		x = uint64(f[0])&0xc0 | (uint64(f[0])-x)&0x3f
	}
	o.store(f, x)
	return nil
}

// uleb applies a relocation to the ULEB128 that f starts with. The number
// keeps its length, filled up with zeros; bits that do not fit are lost.
func (t *Table) uleb(f []byte, e *entry, act action, x uint64) error {
	var v uint64
	n := 0
	for {
		if n == len(f) {
			if t.limit-e.off > uint64(n) {
				return nil // cut off by the end of the range
			}
			return t.fail(e, "number goes beyond the section")
		}
		if n < 10 {
			v |= uint64(f[n]&0x7f) << (7 * n)
		}
		n++
		if f[n-1] < 0x80 {
			break
		}
	}
	switch act {
	case actAddULEB:
		x = v + x
	case actSubULEB:
		x = v - x
	}
	for i := range n {
		f[i] = f[i]&0x80 | byte(x&0x7f)
		x >>= 7
	}
	return nil
}

func (t *Table) fail(e *entry, what string) error {
	return &Error{t.section, e.off, e.typ, what}
}

// load reads a field of 1, 2, 3, 4 or 8 bytes.
func (o *Object) load(f []byte) uint64 {
	switch len(f) {
	case 4:
		return uint64(o.order.Uint32(f))
	case 8:
		return o.order.Uint64(f)
	case 1:
		return uint64(f[0])
	case 2:
		return uint64(o.order.Uint16(f))
	}
	// 3 bytes: LoongArch only, which is little-endian.
	return uint64(f[0]) | uint64(f[1])<<8 | uint64(f[2])<<16
}

// store writes a field of 1, 2, 3, 4 or 8 bytes.
func (o *Object) store(f []byte, x uint64) {
	switch len(f) {
	case 4:
		o.order.PutUint32(f, uint32(x))
	case 8:
		o.order.PutUint64(f, x)
	case 1:
		f[0] = byte(x)
	case 2:
		o.order.PutUint16(f, uint16(x))
	case 3:
		f[0], f[1], f[2] = byte(x), byte(x>>8), byte(x>>16)
	}
}
