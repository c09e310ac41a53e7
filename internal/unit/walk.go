package unit

import (
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/internal/dwarf"
)

// The walk reads the DIEs of a unit once, in order, and fills the unit's flat tables.
//
// A DIE whose abbreviation is direct costs a table look-up and a few masked loads. Most types are
// proved, not read: the prover (prove.go) has loops of its own. The loop here finds the abbreviation;
// typekinds.go and codekinds.go handle the kinds of DIE. Like pahole, the walk skips the children of
// inlined_subroutine and call_site.

// walk reads all DIEs below the unit DIE, which ends at p.
func (r *Reader) walk(p int) error {
	w := walker{r: r, attrs: r.attrs()}
	r.starts.Resize((len(w.attrs.b) + 63) / 64)
	r.annotations = 0
	if r.proofs.on {
		w.prover = &r.proofs
		w.prover.start(r)
	}
	r.push(inUnit, 0)
	p, err := w.read(p, 0)
	if err != nil {
		return err
	}
	// A unit may end without the last zero bytes: close the open frames.
	for len(r.frames.S) > 0 {
		if err := w.closeFrame(); err != nil {
			return err
		}
	}
	if p > len(w.attrs.b) {
		return r.Cursor.CutOff(len(w.attrs.b))
	}
	if r.annotations > maxChain+len(w.attrs.b) {
		return r.Cursor.UnitError("the chains of annotations are too long, one may lead to itself")
	}
	if w.prover != nil {
		if r.proofs.settled, err = w.settle(); err != nil {
			return err
		}
	}
	return r.Cursor.CheckNames()
}

// provable has a bit for each class of DIEs that a prover knows.
const provable = 1<<dwarf.ClassRef | 1<<dwarf.ClassAggregate | 1<<dwarf.ClassProto | 1<<dwarf.ClassArray | 1<<dwarf.ClassEnum | 1<<dwarf.ClassBase

// read reads DIEs from p on, until only as many frames are open as frames says, or up to the end of
// the unit. It returns where it stopped. One function finds the abbreviation and handles it, because
// a call for each DIE costs as much as the loop itself.
func (w *walker) read(p, frames int) (end int, err error) {
	const notRead = -1
	r, b := w.r, w.attrs.b
	tab := r.Cursor.Abbrevs.Dense()
	last, tried := p, 0 // offsets of the previous DIE, and of the one that the prover could not prove
	for uint(p) < uint(len(b)) {
		if r.Cursor.Reader.Bad {
			return 0, r.Cursor.BadName(last)
		}
		off := p
		last = p
		code := uint64(b[p])
		p++
		if code >= 0x80 {
			if code, p = dwarf.ULEB(b, off); p < 0 {
				return 0, r.Cursor.DIEError(off, "abbreviation code cut off")
			}
		}
		if code == 0 {
			if w.prover != nil {
				w.prover.known.Yield() // functions are long, and a Commit may wait
			}
			if err := w.closeFrame(); err != nil {
				return 0, err
			}
			if len(r.frames.S) == frames {
				if frames > 0 {
					return p, nil
				}
				return p, r.Cursor.CheckEnd(p)
			}
			continue
		}
		var a *dwarf.Abbrev
		if code < uint64(len(tab)) {
			a = &tab[code]
		}
		if a == nil || a.Tag == 0 {
			if a, err = r.Cursor.Lookup(code, off); err != nil {
				return 0, err
			}
		}
		top := &r.frames.S[len(r.frames.S)-1]
		class := a.Class
		if top.role >= inArray && class != dwarf.ClassSubrange && class != dwarf.ClassAnnotation {
			class = dwarf.ClassSkip
		}
		if r.proofs.on && off != tried && provable>>class&1 != 0 {
			var n uint64
			tried, n = w.prover.run(off)
			r.Unit.Facts.DIEs += n
			if tried != off {
				p = tried
				continue
			}
		}
		d := die{a, off, p, a.Direct && p+int(a.Size)+4 <= len(b)}
		p = notRead // not an error
		switch class {
		case dwarf.ClassMember:
			if top.role == inAggregate {
				p, err = w.members(d, top)
			} else if top.role == inVariants || top.role == inVariant {
				p, err = w.marker().variantMember(d)
			}
		case dwarf.ClassRef:
			p, err = w.ref(d)
		case dwarf.ClassAggregate:
			p, err = w.aggregate(d, top)
		case dwarf.ClassParam:
			switch top.role {
			case inProto:
				p, err = w.protoParam(d, top)
			case inFunc:
				p, err = w.funcParam(d, top)
			}
		case dwarf.ClassFunc:
			p, err = w.function(d, top)
		case dwarf.ClassBlock:
			if top.role == inFunc || top.role == inBlock || top.role == inUnit || top.role == inNamespace {
				p, err = w.scope(d, inBlock)
			}
		case dwarf.ClassProto:
			p, err = w.proto(d, top)
		case dwarf.ClassArray:
			p, err = w.array(d, top)
		case dwarf.ClassEnum:
			p, err = w.enum(d, top)
		case dwarf.ClassVariable:
			if top.role == inUnit && len(r.In.Sections.List) > 0 && (a.Present&(1<<dwarf.VLocation) != 0 || !a.Fixed) {
				p, err = w.variable(d)
			} else if top.role == inAggregate && r.In.Options.Marks {
				r.Unit.Unencodable.count(goneStatics, 1) // as of DWARF 5
			}
		case dwarf.ClassSkip:
		default:
			p, err = w.rare(d, top)
		}
		if p < 0 {
			if a.Fixed && !a.Children {
				p = d.p + int(a.Size)
			} else {
				p, err = w.skip(d)
			}
		}
		if err != nil {
			return 0, err
		}
		r.Unit.Facts.DIEs++
	}
	return p, nil
}

// rare reads a DIE of a rare class. It returns where it stopped, or -1 if the caller still has to
// skip the DIE's attributes and children.
func (w *walker) rare(d die, top *frame) (next int, err error) {
	r := w.r
	switch d.a.Class {
	case dwarf.ClassVariadic:
		switch top.role {
		case inProto:
			top.kflag = true // closing the type adds the extra parameter
		case inFunc:
			r.Unit.Funcs.S[top.owner].Flags |= callconv.FuncVariadic
		}
	case dwarf.ClassEnumerator:
		if top.role == inEnum {
			return w.enumerator(d, top)
		}
	case dwarf.ClassSubrange:
		if top.role == inArray {
			return w.subrange(d, top)
		}
		r.Unit.Unencodable.count(goneRanges, 1)
	case dwarf.ClassBase:
		return w.base(d)
	case dwarf.ClassNamespace:
		if top.role == inUnit || top.role == inNamespace {
			return w.scope(d, inNamespace)
		}
	case dwarf.ClassAnnotation:
		return w.annotation(d)
	case dwarf.ClassInheritance:
		if top.role == inAggregate {
			top.comp++
			if r.In.Options.Marks {
				return -1, w.marker().inherited(d, top)
			}
			r.Unit.Unencodable.count(goneBases, 1)
		}
	case dwarf.ClassVariant:
		if r.In.Options.Marks {
			return w.marker().variant(d, top)
		}
		if d.a.Tag == dwarf.TagVariantPart {
			r.Unit.Unencodable.count(goneVariants, 1)
		}
	case dwarf.ClassForReaders, dwarf.ClassUnspecified:
		if r.In.Options.Marks {
			return w.marker().marked(d)
		}
		if d.a.Class == dwarf.ClassForReaders {
			r.Unit.Unencodable.count(goneVoid, 1)
		}
	case dwarf.ClassUnencodable:
		if r.In.Options.Marks && d.a.Tag == dwarf.TagInterfaceType {
			return w.aggregate(d, top)
		}
		if r.In.Options.Marks {
			return w.marker().marked(d)
		}
		n, i := r.addNode(d.off)
		n.Info = btf.Info(btf.KindConst, 0, false)
		r.Unit.addOrder(i)
		r.Unit.Unencodable.add(i, tagName(d.a.Tag))
	case dwarf.ClassImport:
		if top.role == inUnit {
			if err := w.importUnit(d); err != nil {
				return 0, err
			}
		}
	}
	return -1, nil
}
