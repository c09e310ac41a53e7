package unit

import (
	"encoding/binary"
	"errors"
	"math/bits"

	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/internal/names"
)

// memberRun reads the member at p, whose code is at off, and all following members whose
// values masked loads can read, into the open type top. It returns the offset of the
// first other DIE, and how many members came after the first one.
func (rs *runs) memberRun(a *dwarf.Abbrev, off, p int, top *frame) (next int, added uint64, err error) {
	r, b := rs.r, rs.attrs.b
	tab := r.Cursor.Abbrevs.Dense()
	union := top.tag == dwarf.TagUnionType
	members := &r.Unit.Types.Members
	start := len(members.S)
	for {
		n := 0
		if a.Plain && !rs.attrs.be {
			n, next = rs.plainRun(a, p, union)
		}
		if n == 0 {
			var m dedup.Member
			if m, next, err = rs.oneMember(a, off, p, top); err != nil {
				if err == errLongName {
					next = off
				}
				added = uint64(len(members.S) - start)
				break
			}
			members.Append(m)
		}
		// Stay here while the next DIE is a member of this kind too.
		p = next
		added = uint64(len(members.S)-start) - 1
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
	return next, added, err
}

// plainRun appends the Plain member at p, whose abbreviation is a, and the Plain members
// that follow. It returns their number, 0 if the first one is not valid, and the offset
// of the next DIE. It may stop early.
func (rs *runs) plainRun(a *dwarf.Abbrev, p int, union bool) (n, next int) {
	r, names := rs.r, &rs.attrs.f.Names
	members := &r.Unit.Types.Members
	first := len(members.S)
	members.Grow(first + 1)
	n, next = plainMembers(members.S[first:cap(members.S)], rs.attrs.b, p, a, r.Cursor.Abbrevs.Dense(), names.Last, union)
	members.S = members.S[:first+n]
	names.SettleAll(&r.Cursor.Reader, members.S[first:])
	return n, next
}

// plainMembers is the hot loop of the encoder. Members are almost half of all DIEs, come
// in runs, and nearly all are Plain. It reads the members of a little-endian file from p
// on into out; a is the first one's abbreviation. It returns their number and the offset
// of the next DIE. It stops if out is full, at a member that is not Plain or not valid,
// and near the end of the unit. Few variables are live here, so that all of them stay in
// registers.
//
//go:noinline
func plainMembers(out []dedup.Member, b []byte, p int, a *dwarf.Abbrev, tab []dwarf.Abbrev, lastName dedup.Name, union bool) (n, next int) {
	tab = tab[:min(len(tab), 0x80)] // codes of one byte
	b = b[:len(b):len(b)]           // one register for both lengths
	wrong := uint32(0)              // bits that are 0 in every bit offset
	if union {
		wrong = 0xffffff
	}
	p-- // where the code is
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

// plainWindow is how many bytes after its code plainMembers may read for a Plain member
// whose inline name has up to three bytes.
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

// oneMember reads a member whose values masked loads can read. It returns errLongName for
// an inline name longer than three bytes.
func (rs *runs) oneMember(a *dwarf.Abbrev, off, p int, top *frame) (m dedup.Member, next int, err error) {
	const (
		hasBitOffset = 1 << dwarf.VDataBitOffset
		bitField     = hasBitOffset | 1<<dwarf.VBitSize
	)
	r, b := rs.r, rs.attrs.b
	if a.Inline {
		// Compilers write names of up to three bytes inline.
		var size int
		if m.Name, size = inlineName(binary.LittleEndian.Uint32(b[p:])); size == 0 {
			return m, 0, errLongName
		}
		p += size
	} else if m.Name = rs.attrs.load(p, a, dwarf.SlotName) + a.NameBase; m.Name-1 >= rs.attrs.f.Names.Last && (m.Name != 0 || a.Present&(1<<dwarf.VName) != 0) {
		return m, 0, r.Cursor.BadName(off)
	}
	m.Type = rs.attrs.load(p, a, dwarf.SlotType)
	loc := rs.attrs.load(p, a, dwarf.SlotMemberLoc)
	if loc > maxOffset {
		return m, 0, r.Cursor.DIEError(off, "member at an offset over 536870911 bytes")
	}
	bit := loc * 8
	if a.Present&bitField != 0 {
		if a.Present&hasBitOffset != 0 {
			bit = rs.attrs.load(p, a, dwarf.SlotDataBitOffset)
		}
		if size := rs.attrs.load(p, a, dwarf.SlotBitSize); size > 0xff {
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
	if n := &rs.attrs.f.Names; n.Look() && (n.ByText || n.MayBeAlias(m.Name)) {
		m.Name = n.Settle(&r.Cursor.Reader, m.Name)
	}
	m.Val = bit
	return m, p + int(a.Size), nil
}

// errLongName says that memberRun has met a member with a long inline name, which member
// has to read.
var errLongName = errors.New("long inline name")
