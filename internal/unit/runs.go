package unit

import (
	"slices"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/dwarf"
)

// Types whose children are all of one simple kind are read at once: structs and unions,
// prototypes, arrays of one dimension, enumerations. So are neighbouring references. The
// loop of the walk would open and close a frame for each type, and look at the kind of
// each child.
//
// Each of these functions except memberRunOf and refRun reads the children of node i's
// DIE from offset p on, and finishes the node. It returns the offset after the closing
// zero, and the number of children. If any child is different, even if it is wrong, next
// is 0 and nothing has changed: the walk reads these children.

// refKinds says what a DIE of ClassRef becomes, by the low byte of its tag. The name is
// masked with named.
var refKinds = [256]struct{ info, named uint32 }{
	dwarf.TagPointerType:  {btf.Info(btf.KindPtr, 0, false), 0},
	dwarf.TagConstType:    {btf.Info(btf.KindConst, 0, false), 0},
	dwarf.TagVolatileType: {btf.Info(btf.KindVolatile, 0, false), 0},
	dwarf.TagRestrictType: {btf.Info(btf.KindRestrict, 0, false), 0},
	dwarf.TagTypedef:      {btf.Info(btf.KindTypedef, 0, false), 1<<32 - 1},
}

// memberRunOf reads Plain members. It returns the offset of the first other DIE, and
// their number. If closed is true, the node is finished, and next is after the closing
// zero.
func (rs *runs) memberRunOf(i uint32, p int) (next int, n uint32, closed bool) {
	if rs.attrs.be || rs.r.Unit.Facts.Language == langRust {
		return p, 0, false
	}
	r, b := rs.r, rs.attrs.b
	tab := r.Cursor.Abbrevs.Dense()
	tab = tab[:min(len(tab), 0x80)] // codes of one byte
	x := &r.Unit.Types.Nodes.S[i]
	kind := btf.InfoKind(x.Info)
	first := len(r.Unit.Types.Members.S)
	for uint(p) < uint(len(b)) && uint(b[p]) < uint(len(tab)) {
		a := &tab[b[p]]
		if !a.Plain || p+9+int(a.Size) > len(b) {
			break
		}
		count, end := rs.plainRun(a, p+1, kind == btf.KindUnion)
		if count == 0 {
			break
		}
		p = end
	}
	n = uint32(len(r.Unit.Types.Members.S) - first)
	if p >= len(b) || b[p] != 0 || n > MaxVlen {
		return p, n, false
	}
	x.First = uint32(first)
	x.Info = btf.Info(kind, n, false)
	r.Unit.addOrder(i)
	return p + 1, n, true
}

// refRun reads the reference at p, whose code is at off, and all following ones that are
// direct and have no children. It returns the offset of the first other or invalid DIE,
// and how many references it has read.
func (rs *runs) refRun(a *dwarf.Abbrev, off, p int) (next int, n uint64) {
	r, b := rs.r, rs.attrs.b
	tab := r.Cursor.Abbrevs.Dense()
	tab = tab[:min(len(tab), 0x80)] // codes of one byte
	for {
		k := &refKinds[a.Tag&0xff]
		name, typ := rs.attrs.name(a, p)&k.named, rs.attrs.load(p, a, dwarf.SlotType)
		if r.Cursor.Reader.Bad || typ >= uint32(len(b)) || name|^k.named == 0 {
			r.Cursor.Reader.Bad = false
			return off, n
		}
		x, i := r.addNode(off)
		x.Info, x.Name, x.Third = k.info, name, typ
		r.Unit.addOrder(i)
		n++
		p += int(a.Size)
		if uint(p) >= uint(len(b)) || uint(b[p]) >= uint(len(tab)) {
			return p, n
		}
		a = &tab[b[p]]
		if a.Class != dwarf.ClassRef || !a.Direct || a.Children || p+5+int(a.Size) > len(b) {
			return p, n
		}
		off = p
		p++
	}
}

// protoRun reads parameters, with or without an ellipsis at the end.
func (rs *runs) protoRun(i uint32, p int) (next int, n uint64) {
	const ofFunction = 1<<dwarf.VOrigin | 1<<dwarf.VLocation
	r, b := rs.r, rs.attrs.b
	tab := r.Cursor.Abbrevs.Dense()
	members := &r.Unit.Types.Members
	first := len(members.S)
	for uint(p) < uint(len(b)) {
		code := int(b[p])
		p++
		if code == 0 {
			rs.attrs.f.Names.SettleAll(&r.Cursor.Reader, members.S[first:])
			x := &r.Unit.Types.Nodes.S[i]
			x.First = uint32(first)
			x.Info = btf.Info(btf.KindFuncProto, uint32(n), false)
			r.Unit.addOrder(i)
			return p, n
		}
		if code >= 0x80 || code >= len(tab) {
			break
		}
		a := &tab[code]
		if a.Children || n >= MaxVlen {
			break
		}
		if a.Class == dwarf.ClassVariadic && a.Fixed {
			if p += int(a.Size); uint(p) >= uint(len(b)) || b[p] != 0 {
				break
			}
			members.Append(dedup.Member{})
			n++
			continue
		}
		if a.Class != dwarf.ClassParam || !a.Direct || a.Present&ofFunction != 0 || p+int(a.Size)+4 > len(b) {
			break
		}
		m := dedup.Member{Name: rs.attrs.namePlace(a, p), Type: rs.attrs.load(p, a, dwarf.SlotType)}
		if m.Type >= uint32(len(b)) || r.Cursor.Reader.Bad {
			break
		}
		members.Append(m)
		n++
		p += int(a.Size)
	}
	members.S = members.S[:first]
	r.Cursor.Reader.Bad = false
	return 0, 0
}

// arrayRun reads one dimension.
func (rs *runs) arrayRun(i uint32, p int) (next int) {
	r, b := rs.r, rs.attrs.b
	tab := r.Cursor.Abbrevs.Dense()
	if p >= len(b) || b[p] >= 0x80 || int(b[p]) >= len(tab) {
		return 0
	}
	a := &tab[b[p]]
	p++
	end := p + int(a.Size)
	if a.Class != dwarf.ClassSubrange || !a.Direct || a.Children || end+4 > len(b) || b[end] != 0 {
		return 0
	}
	r.Unit.Types.Nodes.S[i].Aux = rs.attrs.directDimension(a, p)
	r.Unit.addOrder(i)
	return end + 1
}

// enumRun reads enumerators.
func (rs *runs) enumRun(i uint32, p int) (next int, n uint64, err error) {
	r, b := rs.r, rs.attrs.b
	tab := r.Cursor.Abbrevs.Dense()
	members := &r.Unit.Types.Members
	first := len(members.S)
	for uint(p) < uint(len(b)) {
		code := int(b[p])
		p++
		if code == 0 {
			m := members.S[first:]
			rs.attrs.f.Names.SettleAll(&r.Cursor.Reader, m)
			if slices.ContainsFunc(m, func(m dedup.Member) bool { return m.Name == 0 }) {
				break
			}
			r.Unit.Types.Nodes.S[i].First = uint32(first)
			if err := rs.closeEnum(&frame{owner: i, first: uint32(first), n: uint32(n)}); err != nil {
				return 0, 0, err
			}
			r.Unit.addOrder(i)
			return p, n, nil
		}
		if code >= 0x80 || code >= len(tab) {
			break
		}
		a := &tab[code]
		if a.Class != dwarf.ClassEnumerator || !a.Direct || a.Children || n >= MaxVlen || p+int(a.Size)+4 > len(b) {
			break
		}
		m := dedup.Member{Name: rs.attrs.namePlace(a, p), Type: rs.attrs.load(p, a, dwarf.SlotConst)}
		if m.Name == 0 {
			break
		}
		members.Append(m)
		n++
		p += int(a.Size)
	}
	members.S = members.S[:first]
	r.Cursor.Reader.Bad = false
	return 0, 0, nil
}
