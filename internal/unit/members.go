package unit

import (
	"encoding/binary"
	"errors"
	"math/bits"

	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/internal/names"
)

// runs reads several DIEs of one kind at once.
type runs struct {
	r     *Reader
	attrs attrs
}

// memberRun reads the member at p, whose code has been read at off, and all
// members that follow and have values that are read by masked loads, into the
// open type top. It returns the offset of the first DIE that is none, and how
// many DIEs came after the first one.
func (w *runs) memberRun(a *dwarf.Abbrev, off, p int, top *frame) (next int, more uint64, err error) {
	r, b := w.r, w.attrs.b
	tab := r.Cursor.Abbrevs.Dense()
	union := top.tag == dwarf.TagUnionType
	members := &r.Unit.Types.Members
	start := len(members.S)
	for {
		n := 0
		if a.Plain && !w.attrs.be {
			n, next = w.plainRun(a, p, union)
		}
		if n == 0 {
			var m dedup.Member
			if m, next, err = w.oneMember(a, off, p, top); err != nil {
				if err == errLongName {
					next = off
				}
				more = uint64(len(members.S) - start)
				break
			}
			members.Append(m)
		}
		// Stay here while the next DIE is such a member too.
		p = next
		more = uint64(len(members.S)-start) - 1
		if p >= len(b) {
			break
		}
		code := int(b[p])
		if code >= 0x80 || code >= len(tab) {
			break
		}
		a = &tab[code]
		if a.Class != dwarf.ClassMember || !a.Direct && !a.Inline || a.Children || p+9+int(a.Size) > len(b) {
			break
		}
		off = p
		p++
	}
	k := uint32(len(members.S) - start)
	top.n += k
	top.comp += int32(k)
	return next, more, err
}

// plainRun appends the Plain member at p, whose abbreviation is a, and those that
// follow to the unit's. It returns their number, 0 if that one is not valid, and
// the offset of the next DIE. It may stop before the last one.
func (w *runs) plainRun(a *dwarf.Abbrev, p int, union bool) (n, next int) {
	r, names := w.r, &w.attrs.f.Names
	members := &r.Unit.Types.Members
	first := len(members.S)
	members.Grow(first + 1)
	n, next = plainMembers(members.S[first:cap(members.S)], w.attrs.b, p, a, r.Cursor.Abbrevs.Dense(), names.Last, union)
	members.S = members.S[:first+n]
	names.SettleAll(&r.Cursor.Reader, members.S[first:])
	return n, next
}

// plainMembers is the hot loop of the encoder: members are almost half of all
// DIEs, come in runs, and nearly all are Plain. It reads the members of a
// little-endian file from p on, the first of which has abbreviation a, to out
// and returns their number and the offset of the next DIE. It stops when out is
// full, at a member that is not Plain or not valid, and near the end of the unit.
// Little is to be live here, so that all of it stays in registers.
//
//go:noinline
func plainMembers(out []dedup.Member, b []byte, p int, a *dwarf.Abbrev, tab []dwarf.Abbrev, lastName dedup.Name, union bool) (n, next int) {
	tab = tab[:min(len(tab), 0x80)] // codes of one byte
	b = b[:len(b):len(b)]           // one register for both lengths
	wrong := uint32(0)              // bits that no bit offset has
	if union {
		wrong = 0xffffff
	}
	p-- // the code
	for p < len(b)-plainWindow && n < len(out) {
		d := b[p+1 : p+1+plainWindow : p+1+plainWindow]
		skip, name := 0, dedup.Name(0)
		if a.Inline {
			if name, skip = inlineName(binary.LittleEndian.Uint32(d)); skip == 0 {
				return n, p
			}
		} else {
			s := &a.Slots[dwarf.SlotName]
			name = binary.LittleEndian.Uint32(d[s.Off&31:])&s.Mask + a.NameBase
			if name-1 >= lastName && (name != 0 || a.Present&(1<<dwarf.VName) != 0) {
				return n, p
			}
		}
		s := &a.Slots[dwarf.SlotType]
		typ := binary.LittleEndian.Uint32(d[(skip+int(s.Off))&31:]) & s.Mask
		s = &a.Slots[dwarf.SlotMemberLoc]
		loc := (binary.LittleEndian.Uint32(d[(skip+int(s.Off))&31:])&s.Mask + uint32(s.Const)) * 8
		if typ >= uint32(len(b)) || loc&wrong != 0 {
			return n, p
		}
		out[n] = dedup.Member{Name: name, Type: typ, Val: loc}
		n++
		p += 1 + skip + int(a.Size)
		if uint(p) >= uint(len(b)) || uint(b[p]) >= uint(len(tab)) {
			break
		}
		if a = &tab[b[p]]; !a.Plain {
			break
		}
	}
	return n, p
}

// plainWindow is how many bytes behind its code plainMembers may look at, for a
// Plain member with a name of up to three bytes in front.
const plainWindow = 36

// inlineName is the token of an inline name that starts with the four bytes of
// the little-endian word w, and its size with the NUL; 0 if that is not in w.
func inlineName(w uint32) (t dedup.Name, size int) {
	zero := (w - 0x01010101) &^ w & 0x80808080
	if zero == 0 {
		return 0, 0
	}
	// The lowest bit that is set belongs to the first NUL.
	n := bits.TrailingZeros32(zero) / 8
	if n == 0 {
		return 0, 1
	}
	return names.Inline(w & (1<<(8*n) - 1)), n + 1
}

// oneMember reads a member whose values are read by masked loads. A name that
// is written in place and is longer than three bytes gives errLongName.
func (w *runs) oneMember(a *dwarf.Abbrev, off, p int, top *frame) (m dedup.Member, next int, err error) {
	const (
		hasBitOffset = 1 << dwarf.VDataBitOffset
		bitField     = hasBitOffset | 1<<dwarf.VBitSize
	)
	r, b := w.r, w.attrs.b
	if a.Inline {
		// Compilers write names of up to three bytes in place.
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
		if size := w.attrs.load(p, a, dwarf.SlotBitSize); size > 0xff {
			return m, 0, r.Cursor.DIEError(off, "bit-field of over 255 bits")
		} else if size != 0 {
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

// errLongName says that memberRun has met a member with a long inline name,
// which is to be read the other way.
var errLongName = errors.New("long inline name")
