package unit

import (
	"fmt"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/internal/dwarf"
)

// The walk reads the DIEs of a unit once, in order, and fills the unit's flat
// tables.
//
// A DIE whose abbreviation is direct costs a table look-up and a few masked
// loads; runs of members, almost half of all DIEs, have a loop of their own. The
// loop here finds the abbreviation; what a DIE means is in typekinds.go and
// codekinds.go. What lies below inlined_subroutine and call_site is jumped over,
// as pahole does.

// walk reads all DIEs below the unit DIE, which ends at p.
func (in *Input) walk(u *Unit, p int) error {
	w := walker{runs{in.attrs(u)}}
	b := w.b
	tab := u.Abbrevs.Dense()
	u.starts.Resize((len(b) + 63) / 64)
	u.push(inUnit, 0)
	dies := uint64(0)
	last := p
	for p < len(b) {
		if u.Reader.Bad {
			return u.BadName(last)
		}
		off := p
		last = p
		code := uint64(b[p])
		p++
		if code >= 0x80 {
			if code, p = dwarf.ULEB(b, off); p < 0 {
				return u.DIEError(off, "abbreviation code cut off")
			}
		}
		if code == 0 {
			if err := w.closeFrame(); err != nil {
				return err
			}
			if len(u.frames.S) == 0 {
				if err := u.CheckEnd(p); err != nil {
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
			var err error
			if a, err = u.Lookup(code, off); err != nil {
				return err
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
		if err := w.closeFrame(); err != nil {
			return err
		}
	}
	u.DIEs += dies
	if p > len(b) {
		return u.CutOff(len(b))
	}
	return nil
}

// read reads a DIE, and maybe some that follow. It returns where it stopped.
func (w *walker) read(d die) (next int, err error) {
	u, a := w.u, d.a
	top := &u.frames.S[len(u.frames.S)-1]
	class := a.Class
	if top.role >= inArray && class != dwarf.ClassSubrange && class != dwarf.ClassAnnotation {
		return w.skip(d)
	}
	switch class {
	case dwarf.ClassMember:
		if top.role == inAggregate {
			return w.members(d, top)
		}
	case dwarf.ClassRef:
		return w.ref(d)
	case dwarf.ClassAggregate:
		return w.aggregate(d, top)
	case dwarf.ClassParam:
		switch top.role {
		case inProto:
			return w.protoParam(d, top)
		case inFunc:
			return w.funcParam(d, top)
		}
	case dwarf.ClassVariadic:
		switch top.role {
		case inProto:
			top.kflag = true // the extra parameter is added when the type is closed
		case inFunc:
			u.Funcs.S[top.owner].Flags |= callconv.FuncVariadic
		}
	case dwarf.ClassEnumerator:
		if top.role == inEnum {
			return w.enumerator(d, top)
		}
	case dwarf.ClassFunc:
		return w.function(d, top)
	case dwarf.ClassBlock:
		if top.role == inFunc || top.role == inBlock || top.role == inUnit || top.role == inNamespace {
			return w.scope(d, inBlock)
		}
	case dwarf.ClassProto:
		return w.proto(d, top)
	case dwarf.ClassArray:
		return w.array(d, top)
	case dwarf.ClassSubrange:
		if top.role == inArray {
			return w.subrange(d, top)
		}
	case dwarf.ClassBase:
		return w.base(d)
	case dwarf.ClassEnum:
		return w.enum(d, top)
	case dwarf.ClassVariable:
		if top.role == inUnit && len(w.in.Sections) > 0 && (a.Present&(1<<dwarf.VLocation) != 0 || !a.Fixed) {
			return w.variable(d)
		}
	case dwarf.ClassNamespace:
		if top.role == inUnit || top.role == inNamespace {
			return w.scope(d, inNamespace)
		}
	case dwarf.ClassAnnotation:
		return w.annotation(d)
	case dwarf.ClassInheritance:
		if top.role == inAggregate {
			top.comp++
		}
	case dwarf.ClassUnencodable:
		n, i := u.addNode(d.off)
		n.Info = btf.Info(btf.KindConst, 0, false)
		u.addOrder(i)
		u.Unencodable.add(i, tagName(a.Tag))
	case dwarf.ClassImport:
		if top.role == inUnit {
			if err := w.importUnit(d); err != nil {
				return 0, err
			}
		}
	}
	return w.skip(d)
}

// tagName is the name of a tag that errors mention.
func tagName(t dwarf.Tag) string {
	switch t {
	case dwarf.TagAtomicType:
		return "DW_TAG_atomic_type"
	case dwarf.TagReferenceType:
		return "DW_TAG_reference_type"
	case dwarf.TagRvalueReferenceType:
		return "DW_TAG_rvalue_reference_type"
	case dwarf.TagPtrToMemberType:
		return "DW_TAG_ptr_to_member_type"
	case dwarf.TagStringType:
		return "DW_TAG_string_type"
	case dwarf.TagInterfaceType:
		return "DW_TAG_interface_type"
	}
	return fmt.Sprintf("DW_TAG_%#x", uint16(t))
}
