package encode

import (
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/dwarf"
)

// What happens between DIEs of the walk: skipping what has no meaning, and
// settling a type when its last child has been read.

// maxOffset is the greatest offset in bytes that a member can have in BTF, which
// counts bits.
const maxOffset = 1<<29 - 1

// skipChildren goes over the children of a DIE, to behind their closing zero.
func (f *file) skipChildren(u *unit, p int) (int, bool) {
	b := u.hdr.Data
	for depth := 1; depth > 0; {
		if p >= len(b) {
			return p, p == len(b)
		}
		code := uint64(b[p])
		if code < 0x80 {
			p++
		} else if code, p = dwarf.ULEB(b, p); p < 0 {
			return 0, false
		}
		if code == 0 {
			depth--
			continue
		}
		a := u.abbrevs.Lookup(code)
		if a == nil {
			return 0, false
		}
		if a.Fixed {
			p += int(a.Size)
		} else if p, _ = u.abbrevs.Decode(a, b, p, &u.vals); p < 0 {
			return 0, false
		}
		if a.Children {
			depth++
		}
	}
	return p, p <= len(b)
}

// suspend is called before a DIE with children of its own opens inside top:
// top's members so far move to u.open, because those of the inner DIE come in
// between.
func (f *file) suspend(u *unit, top *frame) {
	switch top.ctx {
	case ctxAggregate, ctxEnum, ctxProto:
		if !top.open {
			first := len(u.open.S)
			u.open.AppendSlice(u.types.Members.S[top.first : top.first+top.n])
			u.types.Members.S = u.types.Members.S[:top.first]
			top.open, top.first = true, uint32(first)
		}
	}
}

// addMember adds a member, enumerator or parameter to the open type top.
func (f *file) addMember(u *unit, top *frame, m dedup.Member) {
	if top.open {
		u.open.Append(m)
	} else {
		u.types.Members.Append(m)
	}
	top.n++
}

// closeFrame ends the innermost open DIE.
func (f *file) closeFrame(u *unit) error {
	k := len(u.frames.S) - 1
	fr := &u.frames.S[k]
	u.frames.S = u.frames.S[:k]
	switch fr.ctx {
	case ctxFunc:
		f.closeFunc(u, fr.owner, fr.an)
	case ctxType:
		u.addOrder(fr.owner)
	case ctxArray:
		f.closeArray(u, fr)
	case ctxAggregate, ctxProto, ctxEnum:
		if fr.ctx == ctxProto && fr.kflag {
			f.addMember(u, fr, dedup.Member{})
		}
		n := &u.types.Nodes.S[fr.owner]
		if fr.n > maxVlen {
			return f.nodeError(u, fr.owner, beyondVlen(int(fr.n), [...]string{ctxAggregate: "members", ctxProto: "parameters", ctxEnum: "enumerators"}[fr.ctx]))
		}
		if fr.open {
			first := uint32(len(u.types.Members.S))
			u.types.Members.AppendSlice(u.open.S[fr.first:])
			u.open.S = u.open.S[:fr.first]
			fr.first = first
		}
		n.First = fr.first
		switch fr.ctx {
		case ctxEnum:
			if err := f.closeEnum(u, fr); err != nil {
				return err
			}
		case ctxProto:
			n.Info = btf.Info(btf.KindFuncProto, fr.n, false)
		default:
			n.Info = btf.Info(btf.InfoKind(n.Info), fr.n, fr.kflag)
			if n.Third > maxOffset && fr.n > 1 && fr.tag != dwarf.TagUnionType {
				return f.nodeError(u, fr.owner, "offsets of members in "+itoa(int(n.Third))+" bytes may need more than the 32 bits of BTF")
			}
			if u.language == langRust {
				sortMembers(u.types.Members.S[fr.first:][:fr.n], fr.kflag)
			}
			if fr.an != 0 {
				f.gnuDeclTags(u, fr.an, fr.owner, -1)
			}
		}
		u.addOrder(fr.owner)
	}
	return nil
}

// closeArray gives each dimension an ARRAY: the DIE's node is the outermost
// one, the inner ones become extras and come before it, innermost first.
func (f *file) closeArray(u *unit, fr *frame) {
	n := &u.types.Nodes.S[fr.owner]
	dims := u.open.S[fr.first:]
	for i := len(dims) - 1; i > 0; i-- {
		e := *n
		e.Aux = dims[i].Val
		k := uint32(len(u.extra.S)) | extraRef
		u.extra.Append(e)
		u.addOrder(k)
		n.Third = k
	}
	if len(dims) > 0 {
		n.Aux = dims[0].Val
	}
	u.open.S = u.open.S[:fr.first]
	u.addOrder(fr.owner)
}

// closeEnum settles kind and kind_flag; whether DW_AT_type is signed is known
// after linking only (see link).
func (f *file) closeEnum(u *unit, fr *frame) error {
	n := &u.types.Nodes.S[fr.owner]
	switch {
	case f.opt.Features&Enum64 == 0:
		n.Info = btf.Info(btf.KindEnum, fr.n, false)
	case n.Third > 4:
		n.Info = btf.Info(btf.KindEnum64, fr.n, false)
		return nil
	default:
		if fr.big {
			return f.nodeError(u, fr.owner, "enumerator does not fit in 32 bits")
		}
		n.Info = btf.Info(btf.KindEnum, fr.n, fr.neg)
	}
	m := u.types.Members.S[fr.first:][:fr.n]
	for i := range m {
		m[i].Val = 0
	}
	return nil
}

// sortMembers orders members by byte offset, stable: Rust reorders fields.
func sortMembers(m []dedup.Member, kflag bool) {
	off := func(x *dedup.Member) uint32 {
		if kflag {
			return x.Val & 0xffffff >> 3
		}
		return x.Val >> 3
	}
	for i := 1; i < len(m); i++ {
		for j := i; j > 0 && off(&m[j-1]) > off(&m[j]); j-- {
			m[j-1], m[j] = m[j], m[j-1]
		}
	}
}
