package unit

import (
	"github.com/btflite/btflite/internal/dwarf"
)

// Variables that become VARs: pahole-behaviour 5. A DIE is a candidate if it is directly
// below the unit and its location is one address in an included section. The other checks
// follow after linking.

// Linkage returns the linkage of a VAR.
func Linkage(external bool) uint32 {
	if external {
		return 1
	}
	return 0
}

// candidate reads a variable DIE below the unit, and keeps it if it is a candidate.
func (w *walker) candidate(d die) (next int, err error) {
	r, c, off := w.r, &w.r.Cursor, d.off
	next, have, err := w.attrs.decode(d)
	if err != nil {
		return 0, err
	}
	if have&(1<<dwarf.VLocation) == 0 || have&(1<<dwarf.VArtificial) != 0 ||
		have&(1<<dwarf.VDeclaration) != 0 && have&(1<<dwarf.VSpec) == 0 {
		return next, nil
	}
	addr, ok := w.attrs.staticAddress(&c.Vals[dwarf.VLocation])
	if !ok {
		return next, nil
	}
	v := Var{Off: uint32(off)}
	if !r.In.Place(&v, addr) {
		return next, nil
	}
	if have&(1<<dwarf.VSpec) != 0 {
		// The specification has name, type and linkage.
		spec, far, ok, err := w.attrs.specification(off)
		if err != nil || !ok {
			return next, err
		}
		if far {
			keep, err := w.attrs.farVariable(off, spec, &v)
			if keep {
				r.Unit.Vars.Append(v)
			}
			return next, err
		}
		var class dwarf.Class
		if class, have, ok = c.DecodeAt(spec); !ok || class != dwarf.ClassVariable {
			return next, nil // a static member as in DWARF 4: no VAR
		}
	}
	v.Name = c.NameOf(have)
	v.External = have&(1<<dwarf.VExternal) != 0
	if v.Extra && have&(1<<dwarf.VType) != 0 && c.Vals[dwarf.VType].Form == dwarf.FormRefSig8 {
		// With the variable, the type unit would be read with this unit, and would get a
		// place in the order of types that it does not have in the main BTF.
		return 0, c.DIEError(off, "extra variable whose type is in a type unit (-fdebug-types-section)")
	}
	if v.Type, err = w.attrs.refOf(off, have, dwarf.VType); err != nil {
		return 0, err
	}
	r.Unit.Vars.Append(v)
	return next, nil
}
