package unit

import (
	"encoding/binary"
	"errors"
	"math/bits"

	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/internal/names"
)

// plainWindow is how many bytes may be read from the first attribute of a Plain member after its
// name on, if that is inline: offsets are below 32, and a value has 4 bytes.
const plainWindow = 36

// inlineName returns the token and size, with the NUL, of an inline name that starts with
// the four bytes of the little-endian word w. The size is 0 if the name does not end in
// w.
func inlineName(w uint32) (t dedup.Name, size int) {
	zero := (w - 0x01010101) &^ w & 0x80808080
	if zero == 0 {
		return 0, 0
	}
	// The lowest set bit belongs to the first NUL.
	n := bits.TrailingZeros32(zero) / 8
	if n == 0 {
		return 0, 1
	}
	return names.Inline(w & (1<<(8*n) - 1)), n + 1
}

// oneMember reads a member of the open type top whose values load can read: its abbreviation is
// Direct or Inline. It returns errLongName for an inline name longer than three bytes.
func (w *walker) oneMember(a *dwarf.Abbrev, off, p int, top *frame) (m dedup.Member, next int, err error) {
	const (
		hasBitOffset = 1 << dwarf.VDataBitOffset
		bitField     = hasBitOffset | 1<<dwarf.VBitSize
	)
	r, b := w.r, w.attrs.b
	if a.Inline {
		// Compilers write names of up to three bytes inline.
		var size int
		if m.Name, size = inlineName(binary.LittleEndian.Uint32(b[p:])); size == 0 {
			return m, 0, errLongName
		}
		p += size
	} else if m.Name = w.attrs.load(p, a, dwarf.SlotName) + a.NameBase; m.Name-1 >= w.attrs.f.Names.Last && (m.Name != 0 || a.Present&(1<<dwarf.VName) != 0) {
		return m, 0, r.Cursor.BadName(off)
	}
	m.Type = w.attrs.load(p, a, dwarf.SlotType)
	loc := w.attrs.load(p, a, dwarf.SlotMemberLoc)
	if loc > maxOffset {
		return m, 0, r.Cursor.DIEError(off, "member at an offset over 536870911 bytes")
	}
	bit := loc * 8
	if a.Present&bitField != 0 {
		if a.Present&hasBitOffset != 0 {
			bit = w.attrs.load(p, a, dwarf.SlotDataBitOffset)
		}
		size := w.attrs.load(p, a, dwarf.SlotBitSize)
		if size > 0xff {
			if !isWhole(r, uint64(size), top) {
				return m, 0, r.Cursor.DIEError(off, "bit-field of over 255 bits")
			}
			size = 0
		}
		if size != 0 {
			top.kflag = true
			if bit > 0xffffff {
				return m, 0, r.Cursor.DIEError(off, "bit-field offset over 16777215 bits")
			}
			bit |= size << 24
		} else if bit&7 != 0 {
			return m, 0, r.Cursor.DIEError(off, "member at a bit offset that is not a whole byte")
		}
	}
	if top.tag == dwarf.TagUnionType && bit&0xffffff != 0 {
		return m, 0, r.Cursor.DIEError(off, "union member at an offset that is not 0")
	}
	if m.Type >= uint32(len(b)) {
		return m, 0, r.Cursor.OutOfUnit(off)
	}
	if n := &w.attrs.f.Names; n.Look() && (n.ByText || n.MayBeAlias(m.Name)) {
		m.Name = n.Settle(&r.Cursor.Reader, m.Name)
	}
	m.Val = bit
	return m, p + int(a.Size), nil
}

// isWhole reports whether a bit-field of the open type top, of over 255 bits, becomes an ordinary
// member. pahole keeps the low 8 bits of its size, for which BTF has room. They are 0, as for an
// ordinary member, if the size is a multiple of 32 bytes. The bit-field must fit into top.
//
//go:noinline
func isWhole(r *Reader, bits uint64, top *frame) bool {
	return bits&0xff == 0 && bits/8 <= uint64(r.Unit.Types.Nodes.S[top.owner].Third)
}

// errLongName says that a member has a long inline name. Then member has to read it.
var errLongName = errors.New("long inline name")
