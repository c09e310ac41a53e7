package unit

import (
	"slices"

	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/dwarf"
)

// push opens a frame for a DIE's children. The caller sets its other fields. The frame is
// valid until the next call.
func (r *Reader) push(as role, tag dwarf.Tag) *frame {
	v := r.frames.S
	i := len(v)
	if i == cap(v) {
		v = r.moreFrames()
	}
	v = v[:i+1]
	v[i] = frame{role: as, tag: tag}
	r.frames.S = v
	return &v[i]
}

//go:noinline
func (r *Reader) moreFrames() []frame {
	r.frames.Grow(len(r.frames.S) + 1)
	return r.frames.S
}

// inFunction reports whether one of the open DIEs is a function or a block.
func inFunction(open []frame) bool {
	return slices.ContainsFunc(open, func(f frame) bool { return f.role == inFunc || f.role == inBlock })
}

// declaredInFunction notes that the struct or union of node i is declared in a function.
func (u *Unit) declaredInFunction(i uint32) {
	if u.InFunctions == nil {
		u.InFunctions = make(map[uint32]bool)
	}
	u.InFunctions[i] = true
}

// suspend is called before a DIE with its own children opens inside top. It moves top's
// members to r.open, because the inner DIE's members come next in Types.Members.
func (r *Reader) suspend(top *frame) {
	switch top.role {
	case inAggregate, inEnum, inProto:
		if !top.open {
			first := len(r.open.S)
			r.open.AppendSlice(r.Unit.Types.Members.S[top.first : top.first+top.n])
			r.Unit.Types.Members.S = r.Unit.Types.Members.S[:top.first]
			top.open, top.first = true, uint32(first)
		}
	}
}

// addMember adds a member, enumerator or parameter to the open type top.
func (r *Reader) addMember(top *frame, m dedup.Member) {
	if top.open {
		r.open.Append(m)
	} else {
		r.Unit.Types.Members.Append(m)
	}
	top.n++
}

// walker reads the DIEs of one unit.
type walker struct {
	r      *Reader
	attrs  attrs
	prover *prover // nil: all types become nodes
}

// skip passes over a DIE and its children.
func (w *walker) skip(d die) (next int, err error) {
	a := d.a
	if a.Class == dwarf.ClassSkip && a.Children && d.direct && a.Present != 0 {
		sib := int(w.attrs.load(d.p, a, dwarf.SlotSibling))
		if sib <= d.p || sib > len(w.attrs.b) {
			return 0, w.r.Cursor.DIEError(d.off, "sibling reference does not lead forward")
		}
		return sib, nil
	}
	if next, err = w.behind(d); err != nil || !a.Children {
		return next, err
	}
	return w.skipChildren(d, next)
}

// skipChildren passes over the children of d, which start at p.
func (w *walker) skipChildren(d die, p int) (next int, err error) {
	e := w.r.Cursor.Entries(p)
	if !e.SkipChildren() {
		return 0, w.r.Cursor.CutOff(d.off)
	}
	return e.Pos, nil
}

// behind returns where the attributes of d end.
func (w *walker) behind(d die) (next int, err error) {
	if d.a.Fixed {
		return d.p + int(d.a.Size), nil
	}
	next, _, err = w.attrs.decode(d)
	return next, err
}

// open opens a frame for the children of d.
func (w *walker) open(d die, r role, tag dwarf.Tag) (*frame, error) {
	fr := w.r.push(r, tag)
	if len(w.r.frames.S) > maxDepth {
		return nil, w.r.Cursor.DIEError(d.off, "DIE tree too deep")
	}
	return fr, nil
}

// scope reads a DIE that only contains others.
func (w *walker) scope(d die, r role) (next int, err error) {
	if next, err = w.behind(d); err == nil && d.a.Children {
		_, err = w.open(d, r, d.a.Tag)
	}
	return next, err
}
