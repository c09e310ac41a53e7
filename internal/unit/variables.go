package unit

import (
	"github.com/btflite/btflite/internal/debuginfo"
	"github.com/btflite/btflite/internal/dwarf"
)

// Which variables become VARs: pahole-behaviour 5. A DIE is a candidate when
// it stands directly below the unit and its location is one address that lies
// in an included section; all else is decided after linking.

// candidate reads a variable DIE below the unit and keeps it if it is a
// candidate.
func (w *walker) candidate(d die) (next int, err error) {
	u, off := w.u, d.off
	next, have, err := w.decode(d)
	if err != nil {
		return 0, err
	}
	if have&(1<<dwarf.VLocation) == 0 || have&(1<<dwarf.VArtificial) != 0 ||
		have&(1<<dwarf.VDeclaration) != 0 && have&(1<<dwarf.VSpec) == 0 {
		return next, nil
	}
	addr, ok := w.staticAddress(&u.Vals[dwarf.VLocation])
	if !ok {
		return next, nil
	}
	v := Var{Off: uint32(off)}
	if !w.in.Place(&v, addr) {
		return next, nil
	}
	if have&(1<<dwarf.VSpec) != 0 {
		// Name, type and linkage come from the specification.
		spec, far := u.Vals[dwarf.VSpec].U, false
		switch u.Vals[dwarf.VSpec].Form {
		case dwarf.FormRef1, dwarf.FormRef2, dwarf.FormRef4, dwarf.FormRef8, dwarf.FormRefUdata:
		case dwarf.FormRefAddr:
			if far = spec < u.Hdr.Off || spec >= u.Hdr.End(); far {
				spec += u.Base
			} else {
				spec -= u.Hdr.Off
			}
		default:
			if !debuginfo.IsAlt(u.Vals[dwarf.VSpec].Form) {
				return 0, u.NoReference(off, u.Vals[dwarf.VSpec].Form)
			}
			if spec, far = w.f.InAlt(&u.Vals[dwarf.VSpec]); !far {
				return next, nil
			}
		}
		if far {
			keep, err := w.farSpecification(off, spec, &v)
			if keep {
				u.Vars.Append(v)
			}
			return next, err
		}
		var class dwarf.Class
		if class, have, ok = u.DecodeAt(spec); !ok || class != dwarf.ClassVariable {
			return next, nil // a static member as DWARF 4 has it: no VAR
		}
	}
	v.Name = u.NameOf(have)
	v.External = have&(1<<dwarf.VExternal) != 0
	if v.Extra && have&(1<<dwarf.VType) != 0 && u.Vals[dwarf.VType].Form == dwarf.FormRefSig8 {
		// The type unit would be read with this unit: a place in the order of
		// types that it does not have in the main BTF.
		return 0, u.DIEError(off, "extra variable whose type is in a type unit (-fdebug-types-section)")
	}
	if v.Type, err = w.refOf(off, have, dwarf.VType); err != nil {
		return 0, err
	}
	u.Vars.Append(v)
	return next, nil
}

// farSpecification fills v with name, type and linkage from the variable DIE
// at a place in another unit.
func (r *attrs) farSpecification(at int, place uint64, v *Var) (bool, error) {
	u, in, m := r.u, r.in, r.in.Merged
	if m == nil {
		return false, u.alone(at)
	}
	k, ok := m.At(place)
	if !ok {
		return false, nil
	}
	if u.far == nil {
		u.far = new(Unit)
		u.far.Init(in.Limit)
	}
	w := u.far
	w.Reset()
	if err := in.OpenPlace(w, k); err != nil {
		return false, err
	}
	if _, skip, err := in.Start(w); err != nil || skip {
		return false, err
	}
	class, have, ok := w.DecodeAt(place - m.Places[k].Off)
	if !ok || class != dwarf.ClassVariable {
		return false, nil
	}
	v.Name = w.NameOf(have)
	v.External = have&(1<<dwarf.VExternal) != 0
	there := in.attrs(w)
	typ, err := there.refOf(int(place-m.Places[k].Off), have, dwarf.VType)
	if err != nil || typ == 0 {
		return err == nil, err
	}
	to := m.Places[k].Off + uint64(typ)
	if typ&extraRef != 0 {
		to = w.cross.S[typ&^(extraRef|crossRef)]
	}
	v.Type, err = r.far(at, to)
	return true, err
}
