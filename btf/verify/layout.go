package verify

import (
	"fmt"

	"github.com/btflite/btflite/btf"
)

// Sizes and places of what arrays, structs and unions hold.

// stepArray goes on with an array: the index type first, then the elements.
func (l *links) stepArray(f *frame, at int) (down uint32, rule string) {
	elem, index, n := l.word(at+12), l.word(at+16), l.word(at+20)
	if f.next == 0 {
		if in(sources, l.kind(index)) {
			return 0, fmt.Sprintf("index type [%d] is a %s", index, l.kind(index))
		}
		if down := l.below(f, index); down != 0 {
			return down, ""
		}
		final, _ := l.behind(index)
		if l.kind(final) != btf.KindInt || !l.regularInt(final) {
			return 0, fmt.Sprintf("index type [%d] is not a regular INT", index)
		}
		f.next = 1
	}
	if in(sources, l.kind(elem)) {
		return 0, fmt.Sprintf("element type [%d] is a %s", elem, l.kind(elem))
	}
	if down := l.below(f, elem); down != 0 {
		return down, ""
	}
	final, size := l.behind(elem)
	switch k := l.kind(final); {
	case !in(sized, k):
		return 0, fmt.Sprintf("element type [%d] has no size", elem)
	case k == btf.KindInt && !l.regularInt(final):
		return 0, fmt.Sprintf("element type [%d] is an INT of odd bits", elem)
	}
	if uint64(size)*uint64(n) >= 1<<32 {
		return 0, fmt.Sprintf("%d elements of %d bytes need more than 32 bits", n, size)
	}
	return 0, ""
}

// regularInt reports whether an INT has 8, 16, 32, 64 or 128 bits from bit 0 on.
// Its size in bytes does not matter to the kernel.
func (l *links) regularInt(id uint32) bool {
	switch l.get(id, 3) & 0xff00ff {
	case 8, 16, 32, 64, 128:
		return true
	}
	return false
}

func (l *links) stepMembers(f *frame, at int, info, size uint32) (down uint32, rule string) {
	vlen := btf.InfoVlen(info)
	kflag := btf.InfoKflag(info)
	for ; f.next < vlen && !l.endedAt(int(f.next), askElements); f.next++ {
		m := at + 12 + 12*int(f.next)
		typ, off := l.word(m+4), l.word(m+8)
		if in(sources, l.kind(typ)) {
			return 0, l.element("member", int(f.next), l.word(m)) + fmt.Sprintf("type [%d] is a %s", typ, l.kind(typ))
		}
		if down := l.below(f, typ); down != 0 {
			return down, ""
		}
		bits := uint32(0)
		if kflag {
			off, bits = off&0xffffff, off>>24
		}
		if rule := l.member(typ, off, bits, kflag, size); rule != "" {
			return 0, l.element("member", int(f.next), l.word(m)) + rule
		}
	}
	return 0, ""
}

// member checks one member: a type that needs no further walk, at bit off of a
// struct of size bytes, bits wide if it is a bit-field.
func (l *links) member(typ, off, bits uint32, kflag bool, size uint32) string {
	final, n := l.behind(typ)
	k := l.kind(final)
	if !in(sized, k) {
		return fmt.Sprintf("type [%d] has no size", typ)
	}
	if bits != 0 && !in(1<<btf.KindInt|1<<btf.KindEnum|1<<btf.KindEnum64, k) {
		return fmt.Sprintf("a bit-field of %s", k)
	}
	width := uint64(n) * 8
	start := uint64(off)
	switch k {
	case btf.KindInt:
		data := l.get(final, 3)
		nr := data & 0xff
		width = uint64(nr)
		if !kflag {
			start += uint64(data >> 16 & 0xff)
			break
		}
		if !l.regularInt(final) {
			return fmt.Sprintf("type [%d] is an INT of odd bits", typ)
		}
		switch {
		case bits > nr:
			return fmt.Sprintf("a bit-field of %d bits in an INT of %d", bits, nr)
		case bits != 0:
			width = uint64(bits)
		case off%8 != 0:
			return fmt.Sprintf("bit offset %d is not a multiple of 8", off)
		}
	case btf.KindEnum, btf.KindEnum64:
		if !kflag {
			if off%8 != 0 {
				return fmt.Sprintf("bit offset %d is not a multiple of 8", off)
			}
			break
		}
		switch {
		case bits > 32:
			return fmt.Sprintf("a bit-field of %d bits in an enumeration", bits)
		case bits != 0:
			width = uint64(bits)
		case off%8 != 0:
			return fmt.Sprintf("bit offset %d is not a multiple of 8", off)
		default:
			width = 32 // whatever its size
		}
	case btf.KindFloat:
		if align := uint32(min(n, l.ptrSize)); off%8 != 0 || off/8%align != 0 {
			return fmt.Sprintf("bit offset %d is not aligned to %d bytes", off, align)
		}
	default:
		if off%8 != 0 {
			return fmt.Sprintf("bit offset %d is not a multiple of 8", off)
		}
	}
	if k == btf.KindInt && start%8+width > 128 {
		return fmt.Sprintf("%d bits at bit %d span more than 128", width, start)
	}
	if (start+width+7)/8 > uint64(size) {
		return fmt.Sprintf("ends at bit %d, behind its %d bytes", start+width, size)
	}
	return ""
}
