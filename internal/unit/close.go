package unit

import (
	"cmp"
	"slices"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
)

// Between DIEs, the walk skips DIEs without meaning, and finishes a type after its last
// child.

// closeFrame ends the innermost open DIE.
func (w *walker) closeFrame() error {
	r := w.r
	k := len(r.frames.S) - 1
	fr := &r.frames.S[k]
	r.frames.S = r.frames.S[:k]
	switch fr.role {
	case inFunc:
		if fr.open {
			r.Unit.Funcs.S[fr.owner].First = uint32(len(r.Unit.Params.S))
			r.Unit.Params.AppendSlice(r.openParams.S[fr.first:])
			r.openParams.S = r.openParams.S[:fr.first]
		}
		w.closeFunc(fr.owner, fr.an)
	case inType, inDeclared:
		r.Unit.addOrder(fr.owner)
	case inArray:
		r.closeArray(fr)
	case inVariants:
		w.marker().closeVariants(fr)
	case inAggregate, inProto, inEnum:
		if fr.role == inProto && fr.kflag {
			r.addMember(fr, dedup.Member{})
		}
		n := &r.Unit.Types.Nodes.S[fr.owner]
		if fr.n > MaxVlen {
			what := [...]string{inAggregate: "members", inProto: "parameters", inEnum: "enumerators"}[fr.role]
			if why := BeyondVlen(int(fr.n), what, r.In.Options.LongVlen); why != "" {
				return r.nodeError(fr.owner, why)
			}
		}
		if fr.open {
			first := uint32(len(r.Unit.Types.Members.S))
			r.Unit.Types.Members.AppendSlice(r.open.S[fr.first:])
			r.open.S = r.open.S[:fr.first]
			fr.first = first
		}
		n.First = fr.first
		switch fr.role {
		case inEnum:
			if err := closeEnum(r, fr); err != nil {
				return err
			}
		case inProto:
			n.Info = btf.Info(btf.KindFuncProto, fr.n, false)
		default:
			n.Info = btf.Info(btf.InfoKind(n.Info), fr.n, fr.kflag)
			if r.Unit.Facts.Language == langRust {
				sortMembers(r.Unit.Types.Members.S[fr.first:][:fr.n], fr.kflag)
			}
			if fr.an != 0 {
				w.attrs.gnuDeclTags(fr.an, fr.owner, -1)
			}
		}
		r.Unit.addOrder(fr.owner)
	}
	return nil
}

// closeArray gives each dimension an ARRAY. The DIE's node is the outermost one. The
// inner ones are extra nodes and come before it, innermost first.
func (r *Reader) closeArray(fr *frame) {
	n := &r.Unit.Types.Nodes.S[fr.owner]
	dims := r.open.S[fr.first:]
	for i := len(dims) - 1; i > 0; i-- {
		e := *n
		e.Aux = dims[i].Val
		k := uint32(len(r.extra.S)) | extraRef
		r.extra.Append(e)
		r.Unit.addOrder(k)
		n.Third = k
	}
	if len(dims) > 0 {
		n.Aux = dims[0].Val
	}
	r.open.S = r.open.S[:fr.first]
	r.Unit.addOrder(fr.owner)
}

// closeEnum sets kind and kind_flag. Only link can tell whether DW_AT_type is signed.
func closeEnum(r *Reader, fr *frame) error {
	n := &r.Unit.Types.Nodes.S[fr.owner]
	switch {
	case !r.In.Options.Enum64:
		n.Info = btf.Info(btf.KindEnum, fr.n, false)
	case n.Third > 4:
		n.Info = btf.Info(btf.KindEnum64, fr.n, false)
		return nil
	default:
		if fr.big {
			return r.nodeError(fr.owner, "enumerator does not fit in 32 bits")
		}
		n.Info = btf.Info(btf.KindEnum, fr.n, fr.neg)
	}
	m := r.Unit.Types.Members.S[fr.first:][:fr.n]
	for i := range m {
		m[i].Val = 0
	}
	return nil
}

// sortMembers sorts members by byte offset and keeps the order of equal ones. Rust's DIEs
// are not in this order.
func sortMembers(m []dedup.Member, kflag bool) {
	off := func(x *dedup.Member) uint32 {
		if kflag {
			return x.Val & 0xffffff >> 3
		}
		return x.Val >> 3
	}
	slices.SortStableFunc(m, func(a, b dedup.Member) int { return cmp.Compare(off(&a), off(&b)) })
}
