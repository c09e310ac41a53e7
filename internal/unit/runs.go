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
func (w *runs) memberRunOf(i uint32, p int) (next int, n uint32, closed bool) {
	if w.attrs.be || w.r.Unit.Facts.Language == langRust {
		return p, 0, false
	}
	r, b := w.r, w.attrs.b
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
		more, end := w.plainRun(a, p+1, kind == btf.KindUnion)
		if more == 0 {
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

// refRun reads the reference at p, whose code has been read at off, and all
// that follow, as long as they are direct and have no children. It returns the
// offset of the first DIE that is not so, or not valid, and their number.
func (w *runs) refRun(a *dwarf.Abbrev, off, p int) (next int, n uint64) {
	r, b := w.r, w.attrs.b
	tab := r.Cursor.Abbrevs.Dense()
	tab = tab[:min(len(tab), 0x80)] // codes of one byte
	for {
		k := &refKinds[a.Tag&0xff]
		name, third := w.attrs.name(a, p)&k.named, w.attrs.load(p, a, dwarf.SlotType)
		if r.Cursor.Reader.Bad || third >= uint32(len(b)) || name|^k.named == 0 {
			r.Cursor.Reader.Bad = false
			return off, n
		}
		x, i := r.addNode(off)
		x.Info, x.Name, x.Third = k.info, name, third
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

// protoRun reads parameters, with an ellipsis at the end or without.
func (w *runs) protoRun(i uint32, p int) (next int, n uint64) {
	const ofFunction = 1<<dwarf.VOrigin | 1<<dwarf.VLocation
	r, b := w.r, w.attrs.b
	tab := r.Cursor.Abbrevs.Dense()
	members := &r.Unit.Types.Members
	first := len(members.S)
	for uint(p) < uint(len(b)) {
		code := int(b[p])
		p++
		if code == 0 {
			w.attrs.f.Names.SettleAll(&r.Cursor.Reader, members.S[first:])
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
		m := dedup.Member{Name: w.attrs.namePlace(a, p), Type: w.attrs.load(p, a, dwarf.SlotType)}
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
func (w *runs) arrayRun(i uint32, p int) (next int) {
	r, b := w.r, w.attrs.b
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
	r.Unit.Types.Nodes.S[i].Aux = w.attrs.directDimension(a, p)
	r.Unit.addOrder(i)
	return end + 1
}

// enumRun reads enumerators.
func (w *runs) enumRun(i uint32, p int) (next int, n uint64, err error) {
	r, b := w.r, w.attrs.b
	tab := r.Cursor.Abbrevs.Dense()
	members := &r.Unit.Types.Members
	first := len(members.S)
	for uint(p) < uint(len(b)) {
		code := int(b[p])
		p++
		if code == 0 {
			m := members.S[first:]
			w.attrs.f.Names.SettleAll(&r.Cursor.Reader, m)
			if slices.ContainsFunc(m, func(m dedup.Member) bool { return m.Name == 0 }) {
				break
			}
			r.Unit.Types.Nodes.S[i].First = uint32(first)
			if err := w.closeEnum(&frame{owner: i, first: uint32(first), n: uint32(n)}); err != nil {
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
		m := dedup.Member{Name: w.attrs.namePlace(a, p), Type: w.attrs.load(p, a, dwarf.SlotConst)}
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
