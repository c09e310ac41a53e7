package unit

import (
	"slices"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/dwarf"
)

// Types whose children are all of one simple kind are read here at once:
// structs and unions, prototypes, arrays of one dimension, enumerations; and so
// are references that stand side by side. The walk's loop would open and close a
// frame for each and decide again for each child what it may be.
//
// Each of these functions but memberRunOf and refRun reads the children of the
// DIE of node i from offset p on, settles the node and returns the offset behind
// the closing zero and the number of children. If there is anything else among
// them, even if it is wrong, next is 0 and nothing has changed: the walk reads
// them its own way.

// memberRunOf reads Plain members. It returns the offset of the first DIE that
// is none, and their number; the node is settled if closed is true, and then
// next is behind the closing zero.
func (r *runs) memberRunOf(i uint32, p int) (next int, n uint32, closed bool) {
	if r.be || r.u.Language == langRust {
		return p, 0, false
	}
	u, b := r.u, r.b
	tab := u.Abbrevs.Dense()
	tab = tab[:min(len(tab), 0x80)] // codes of one byte
	x := &u.Types.Nodes.S[i]
	kind := btf.InfoKind(x.Info)
	first := len(u.Types.Members.S)
	for uint(p) < uint(len(b)) && uint(b[p]) < uint(len(tab)) {
		a := &tab[b[p]]
		if !a.Plain || p+9+int(a.Size) > len(b) {
			break
		}
		more, end := r.plainRun(a, p+1, kind == btf.KindUnion)
		if more == 0 {
			break
		}
		p = end
	}
	n = uint32(len(u.Types.Members.S) - first)
	if p >= len(b) || b[p] != 0 || n > MaxVlen {
		return p, n, false
	}
	x.First = uint32(first)
	x.Info = btf.Info(kind, n, false)
	u.addOrder(i)
	return p + 1, n, true
}

// refRun reads the reference at p, whose code has been read at off, and all
// that follow, as long as they are direct and have no children. It returns the
// offset of the first DIE that is not so, or not valid, and their number.
func (r *runs) refRun(a *dwarf.Abbrev, off, p int) (next int, n uint64) {
	u, b := r.u, r.b
	tab := u.Abbrevs.Dense()
	tab = tab[:min(len(tab), 0x80)] // codes of one byte
	for {
		k := &refKinds[a.Tag&0xff]
		name, third := r.name(a, p)&k.named, r.load(p, a, dwarf.SlotType)
		if u.Reader.Bad || third >= uint32(len(b)) || name|^k.named == 0 {
			u.Reader.Bad = false
			return off, n
		}
		x, i := u.addNode(off)
		x.Info, x.Name, x.Third = k.info, name, third
		u.addOrder(i)
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

// protoRun reads parameters, with an ellipsis at the end or without.
func (r *runs) protoRun(i uint32, p int) (next int, n uint64) {
	const ofFunction = 1<<dwarf.VOrigin | 1<<dwarf.VLocation
	u, b := r.u, r.b
	tab := u.Abbrevs.Dense()
	members := &u.Types.Members
	first := len(members.S)
	for uint(p) < uint(len(b)) {
		code := int(b[p])
		p++
		if code == 0 {
			r.f.Names.SettleAll(&u.Reader, members.S[first:])
			x := &u.Types.Nodes.S[i]
			x.First = uint32(first)
			x.Info = btf.Info(btf.KindFuncProto, uint32(n), false)
			u.addOrder(i)
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
		m := dedup.Member{Name: r.namePlace(a, p), Type: r.load(p, a, dwarf.SlotType)}
		if m.Type >= uint32(len(b)) || u.Reader.Bad {
			break
		}
		members.Append(m)
		n++
		p += int(a.Size)
	}
	members.S = members.S[:first]
	u.Reader.Bad = false
	return 0, 0
}

// arrayRun reads one dimension.
func (r *runs) arrayRun(i uint32, p int) (next int) {
	u, b := r.u, r.b
	tab := u.Abbrevs.Dense()
	if p >= len(b) || b[p] >= 0x80 || int(b[p]) >= len(tab) {
		return 0
	}
	a := &tab[b[p]]
	p++
	end := p + int(a.Size)
	if a.Class != dwarf.ClassSubrange || !a.Direct || a.Children || end+4 > len(b) || b[end] != 0 {
		return 0
	}
	u.Types.Nodes.S[i].Aux = r.directDimension(a, p)
	u.addOrder(i)
	return end + 1
}

// enumRun reads enumerators.
func (r *runs) enumRun(i uint32, p int) (next int, n uint64, err error) {
	u, b := r.u, r.b
	tab := u.Abbrevs.Dense()
	members := &u.Types.Members
	first := len(members.S)
	for uint(p) < uint(len(b)) {
		code := int(b[p])
		p++
		if code == 0 {
			m := members.S[first:]
			r.f.Names.SettleAll(&u.Reader, m)
			if slices.ContainsFunc(m, func(m dedup.Member) bool { return m.Name == 0 }) {
				break
			}
			u.Types.Nodes.S[i].First = uint32(first)
			if err := r.closeEnum(&frame{owner: i, first: uint32(first), n: uint32(n)}); err != nil {
				return 0, 0, err
			}
			u.addOrder(i)
			return p, n, nil
		}
		if code >= 0x80 || code >= len(tab) {
			break
		}
		a := &tab[code]
		if a.Class != dwarf.ClassEnumerator || !a.Direct || a.Children || n >= MaxVlen || p+int(a.Size)+4 > len(b) {
			break
		}
		m := dedup.Member{Name: r.namePlace(a, p), Type: r.load(p, a, dwarf.SlotConst)}
		if m.Name == 0 {
			break
		}
		members.Append(m)
		n++
		p += int(a.Size)
	}
	members.S = members.S[:first]
	u.Reader.Bad = false
	return 0, 0, nil
}
