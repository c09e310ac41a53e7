package encode

import (
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/internal/dwarf"
)

// The walk reads the DIEs of a unit once, in order, and fills the unit's flat
// tables: a node for each type DIE, members, functions with their parameters,
// candidate variables. It follows no reference; link does that afterwards.
//
// A DIE whose abbreviation is direct costs a table look-up and a few masked
// loads; runs of members, almost half of all DIEs, have a loop of their own. The
// loop here finds the abbreviation; what a DIE means is in typekinds.go and
// codekinds.go. What lies below inlined_subroutine and call_site is jumped over,
// as pahole does.

// role is what the children of a DIE are read as.
type role uint8

const (
	ctxUnit role = iota
	ctxNamespace
	ctxFunc
	ctxBlock
	ctxAggregate
	ctxEnum
	ctxProto
	ctxArray // dimensions and annotations only, like all that follow
	ctxType  // pointer, typedef …: annotations only
	ctxOther // member, parameter, variable: annotations only
)

// frame is an open DIE with children.
type frame struct {
	ctx   role
	tag   dwarf.Tag
	owner uint32 // node, function or variable index
	first uint32 // first member in types.Members, or in open if inOpen
	n     uint32 // members, enumerators, parameters so far; dimensions of an array
	comp  int32  // component index for annotations of the owner's parts
	kflag bool
	open  bool // members are in u.open
	neg   bool // an enumerator is negative
	big   bool // an enumerator needs more than 32 bits
	an    uint32
}

// maxDepth bounds the depth of a DIE tree; compilers stay far below.
const maxDepth = 2048

// maxVlen is how many members and the like a type can have: what fits into the 16
// bits of vlen that all kernels read. What is beyond is refused, not cut.
const maxVlen = 0xffff

// walker reads the DIEs of one unit.
type walker struct {
	f *file
	u *unit
	b []byte // of the unit
}

// die is a DIE of which the code has been read.
type die struct {
	a      *dwarf.Abbrev
	off    int  // where it begins
	p      int  // where its attributes begin
	direct bool // its attributes can be read by masked loads
}

// walk reads all DIEs below the unit DIE, which ends at p.
func (f *file) walk(u *unit, p int) error {
	w := walker{f, u, u.hdr.Data}
	b := w.b
	tab := u.abbrevs.Dense()
	u.starts.Resize((len(b) + 63) / 64)
	u.push(ctxUnit, 0)
	dies := uint64(0)
	last := p
	for p < len(b) {
		if u.reader.Bad {
			return f.dieError(u, last, "a name lies beyond .debug_str")
		}
		off := p
		last = p
		code := uint64(b[p])
		p++
		if code >= 0x80 {
			if code, p = dwarf.ULEB(b, off); p < 0 {
				return f.dieError(u, off, "abbreviation code cut off")
			}
		}
		if code == 0 {
			if err := f.closeFrame(u); err != nil {
				return err
			}
			if len(u.frames.S) == 0 {
				if err := f.onlyZeros(u, p); err != nil {
					return err
				}
				break
			}
			continue
		}
		var a *dwarf.Abbrev
		if code < uint64(len(tab)) {
			a = &tab[code]
		}
		if a == nil || a.Tag == 0 {
			if a = u.abbrevs.Lookup(code); a == nil {
				return f.dieError(u, off, "no abbreviation has its code")
			}
		}
		dies++
		next, err := w.read(die{a, off, p, a.Direct && p+int(a.Size)+4 <= len(b)})
		if err != nil {
			return err
		}
		p = next
	}
	// A unit may end without the last zero bytes: close what is open.
	for len(u.frames.S) > 0 {
		if err := f.closeFrame(u); err != nil {
			return err
		}
	}
	u.dies += dies
	if p > len(b) {
		return f.cutOff(u, len(b))
	}
	return nil
}

// read reads a DIE, and maybe some that follow. It returns where it stopped.
func (w *walker) read(d die) (next int, err error) {
	u, a := w.u, d.a
	top := &u.frames.S[len(u.frames.S)-1]
	class := a.Class
	if top.ctx >= ctxArray && class != dwarf.ClassSubrange && class != dwarf.ClassAnnotation {
		return w.skip(d)
	}
	switch class {
	case dwarf.ClassMember:
		if top.ctx == ctxAggregate {
			return w.members(d, top)
		}
	case dwarf.ClassRef:
		return w.ref(d)
	case dwarf.ClassAggregate:
		return w.aggregate(d, top)
	case dwarf.ClassParam:
		switch top.ctx {
		case ctxProto:
			return w.protoParam(d, top)
		case ctxFunc:
			return w.funcParam(d, top)
		}
	case dwarf.ClassVariadic:
		switch top.ctx {
		case ctxProto:
			top.kflag = true // the extra parameter is added when the type is closed
		case ctxFunc:
			u.funcs.S[top.owner].Flags |= callconv.FuncVariadic
		}
	case dwarf.ClassEnumerator:
		if top.ctx == ctxEnum {
			return w.enumerator(d, top)
		}
	case dwarf.ClassFunc:
		return w.function(d, top)
	case dwarf.ClassBlock:
		if top.ctx == ctxFunc || top.ctx == ctxBlock || top.ctx == ctxUnit || top.ctx == ctxNamespace {
			return w.scope(d, ctxBlock)
		}
	case dwarf.ClassProto:
		return w.proto(d, top)
	case dwarf.ClassArray:
		return w.array(d, top)
	case dwarf.ClassSubrange:
		if top.ctx == ctxArray {
			return w.subrange(d, top)
		}
	case dwarf.ClassBase:
		return w.base(d)
	case dwarf.ClassEnum:
		return w.enum(d, top)
	case dwarf.ClassVariable:
		if top.ctx == ctxUnit && w.f.wantVars && (a.Present&(1<<dwarf.VLocation) != 0 || !a.Fixed) {
			return w.variable(d)
		}
	case dwarf.ClassNamespace:
		if top.ctx == ctxUnit || top.ctx == ctxNamespace {
			return w.scope(d, ctxNamespace)
		}
	case dwarf.ClassAnnotation:
		return w.annotation(d)
	case dwarf.ClassInheritance:
		if top.ctx == ctxAggregate {
			top.comp++
		}
	case dwarf.ClassUnencodable:
		n, i := u.addNode(d.off)
		n.Info = btf.Info(btf.KindConst, 0, false)
		u.addOrder(i)
		u.leaveOut(i, tagName(a.Tag))
	case dwarf.ClassImport:
		if top.ctx == ctxUnit {
			if err := w.f.importUnit(u, a, d.off, d.p); err != nil {
				return 0, err
			}
		}
	}
	return w.skip(d)
}

// skip goes over a DIE that has no meaning where it is, with its children.
func (w *walker) skip(d die) (next int, err error) {
	a := d.a
	if a.Class == dwarf.ClassSkip && a.Children && d.direct && a.Present != 0 {
		sib := int(load(w.b[d.p:], &a.Slots[2], w.f.bigEndian))
		if sib <= d.p || sib > len(w.b) {
			return 0, w.f.dieError(w.u, d.off, "sibling reference does not lead forward")
		}
		return sib, nil
	}
	if next, err = w.behind(d); err != nil || !a.Children {
		return next, err
	}
	return w.skipChildren(d, next)
}

// skipChildren goes over the children of d, which begin at p.
func (w *walker) skipChildren(d die, p int) (next int, err error) {
	next, ok := w.f.skipChildren(w.u, p)
	if !ok {
		return 0, w.f.cutOff(w.u, d.off)
	}
	return next, nil
}

// behind is where the attributes of d end.
func (w *walker) behind(d die) (next int, err error) {
	if d.a.Fixed {
		return d.p + int(d.a.Size), nil
	}
	next, _, err = w.decode(d)
	return next, err
}

// decode reads the attributes of d into the values of the unit. It returns where
// they end, and the bits of those that the class captures.
func (w *walker) decode(d die) (next int, have uint32, err error) {
	next, have = w.u.abbrevs.Decode(d.a, w.b, d.p, &w.u.vals)
	if next < 0 {
		return 0, 0, w.f.cutOff(w.u, d.off)
	}
	return next, have, nil
}

// open opens a frame for the children of d.
func (w *walker) open(d die, ctx role, tag dwarf.Tag) (*frame, error) {
	fr := w.u.push(ctx, tag)
	if len(w.u.frames.S) > maxDepth {
		return nil, w.f.dieError(w.u, d.off, "DIE tree too deep")
	}
	return fr, nil
}

// scope reads a DIE that only has others in it.
func (w *walker) scope(d die, ctx role) (next int, err error) {
	if next, err = w.behind(d); err == nil && d.a.Children {
		_, err = w.open(d, ctx, d.a.Tag)
	}
	return next, err
}
