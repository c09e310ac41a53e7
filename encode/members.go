package encode

import (
	"encoding/binary"
	"errors"
	"math/bits"

	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/dwarf"
)

// memberRun is the hot loop of the encoder: members are almost half of all
// DIEs, come in runs, and nearly all have abbreviations whose values are read
// by masked loads. It reads the member at p, whose code has been read at off,
// and all members of that sort that follow, into the open type top. It returns
// the offset of the first DIE that is none, and how many DIEs came after the
// first one.
func (f *file) memberRun(u *unit, a *dwarf.Abbrev, off, p int, top *frame) (next int, more uint64, err error) {
	const (
		hasBitOffset = 1 << dwarf.VDataBitOffset
		bitField     = hasBitOffset | 1<<dwarf.VBitSize
	)
	b := u.hdr.Data
	tab := u.abbrevs.Dense()
	be := f.bigEndian
	alias := f.names.hasAlias.Load()
	union := top.tag == dwarf.TagUnionType
	members := &u.types.Members
	m := members.S
	start := len(m)
	for {
		d := b[p:]
		inline := dedup.Name(0)
		if a.Inline {
			// Compilers write names of up to three bytes in place.
			switch {
			case d[0] == 0:
			case d[1] == 0:
				inline, d = tokInline|uint32(d[0]), d[1:]
			case d[2] == 0:
				inline, d = tokInline|uint32(d[0])|uint32(d[1])<<8, d[2:]
			case d[3] == 0:
				inline, d = tokInline|uint32(d[0])|uint32(d[1])<<8|uint32(d[2])<<16, d[3:]
			default:
				members.S = m
				k := uint32(len(m) - start)
				top.n += k
				top.comp += int32(k)
				return off, uint64(k), errLongName
			}
			d = d[1:]
		}
		var name, typ, loc uint32
		if be {
			name, typ, loc = loadBE(d, &a.Slots[0]), loadBE(d, &a.Slots[1]), loadBE(d, &a.Slots[2])
		} else {
			name, typ, loc = loadLE(d, &a.Slots[0]), loadLE(d, &a.Slots[1]), loadLE(d, &a.Slots[2])
		}
		bit := loc * 8
		if a.Present&bitField != 0 {
			if a.Present&hasBitOffset != 0 {
				bit = load(d, &a.Slots[4], be)
			}
			if size := load(d, &a.Slots[3], be) & 0xff; size != 0 {
				top.kflag = true
				if bit > 0xffffff {
					return 0, 0, f.dieError(u, off, "bit-field offset over 16777215 bits")
				}
				bit |= size << 24
			} else if bit&7 != 0 {
				return 0, 0, f.dieError(u, off, "member at a bit offset that is not a whole byte")
			}
		}
		if union && bit&0xffffff != 0 {
			return 0, 0, f.dieError(u, off, "union member at an offset that is not 0")
		}
		if a.Inline {
			name = inline
		} else if name-1 >= f.lastName && (name != 0 || a.Present&(1<<dwarf.VName) != 0) {
			return 0, 0, f.dieError(u, off, "a name lies beyond .debug_str")
		}
		if typ >= uint32(len(b)) {
			return 0, 0, f.outOfUnit(u, off)
		}
		if alias && (f.byText || f.names.mayBeAlias(name)) {
			name = f.canonical(u, name)
		}
		if len(m) == cap(m) {
			members.S = m
			members.Grow(len(m) + 1)
			m = members.S
		}
		m = append(m, dedup.Member{Name: name, Type: typ, Val: bit})
		p = len(b) - len(d) + int(a.Size)
		// Stay here while the next DIE is such a member too.
		if p >= len(b) {
			break
		}
		code := int(b[p])
		if code == 0 || code >= 0x80 || code >= len(tab) {
			break
		}
		n := &tab[code]
		if n.Class != dwarf.ClassMember || !n.Direct && !n.Inline || n.Children || p+9+int(n.Size) > len(b) {
			break
		}
		a = n
		off = p
		p++
	}
	members.S = m
	k := uint32(len(m) - start)
	top.n += k
	top.comp += int32(k)
	return p, uint64(k) - 1, nil
}

// errLongName says that memberRun has met a member with a long inline name,
// which is to be read the other way.
var errLongName = errors.New("long inline name")

// loadLE reads a direct value of a little-endian file.
func loadLE(d []byte, s *dwarf.Slot) uint32 {
	return binary.LittleEndian.Uint32(d[s.Off:])&s.Mask + s.Const
}

// loadBE reads a direct value of a big-endian file.
func loadBE(d []byte, s *dwarf.Slot) uint32 {
	return bits.ReverseBytes32(binary.LittleEndian.Uint32(d[s.Off:]))>>s.Shift&s.Mask + s.Const
}

// load reads a direct value.
func load(d []byte, s *dwarf.Slot, be bool) uint32 {
	if be {
		return loadBE(d, s)
	}
	return loadLE(d, s)
}
