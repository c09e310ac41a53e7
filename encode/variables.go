package encode

import (
	"errors"
	"hash/maphash"
	"slices"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/mmapelf"
)

// Which variables become VARs: pahole-behaviour 5. A DIE is a candidate when
// it stands directly below the unit and its location is one address that lies
// in an included section; all else is decided after linking, in keepVar.

// variable reads a variable DIE below the unit and keeps it if it is a
// candidate.
func (f *file) variable(u *unit, a *dwarf.Abbrev, off, p int) (int, error) {
	next, have := u.abbrevs.Decode(a, u.hdr.Data, p, &u.vals)
	if next < 0 {
		return 0, f.cutOff(u, off)
	}
	if have&(1<<dwarf.VLocation) == 0 || have&(1<<dwarf.VArtificial) != 0 ||
		have&(1<<dwarf.VDeclaration) != 0 && have&(1<<dwarf.VSpec) == 0 {
		return next, nil
	}
	addr, ok := f.staticAddress(u, &u.vals[dwarf.VLocation])
	if !ok {
		return next, nil
	}
	sec := f.sectionOf(addr)
	if sec == nil {
		return next, nil
	}
	v := varRec{Off: uint32(off), Section: sec.index, SecOff: addr - sec.addr, Extra: sec.extra}
	if have&(1<<dwarf.VSpec) != 0 {
		// Name, type and linkage come from the specification.
		spec, far := u.vals[dwarf.VSpec].U, false
		switch u.vals[dwarf.VSpec].Form {
		case dwarf.FormRef1, dwarf.FormRef2, dwarf.FormRef4, dwarf.FormRef8, dwarf.FormRefUdata:
		case dwarf.FormRefAddr:
			if far = spec < u.hdr.Off || spec >= u.hdr.End(); far {
				spec += u.base
			} else {
				spec -= u.hdr.Off
			}
		default:
			if !isAlt(u.vals[dwarf.VSpec].Form) {
				return 0, f.noReference(u, off, u.vals[dwarf.VSpec].Form)
			}
			if spec, far = f.altTarget(&u.vals[dwarf.VSpec]); !far {
				return next, nil
			}
		}
		if far {
			keep, err := f.farSpecification(u, off, spec, &v)
			if keep {
				u.vars.Append(v)
			}
			return next, err
		}
		var class dwarf.Class
		if class, have, ok = f.decodeAt(u, spec); !ok || class != dwarf.ClassVariable {
			return next, nil // a static member as DWARF 4 has it: no VAR
		}
	}
	v.Name = f.nameOf(u, have)
	v.External = have&(1<<dwarf.VExternal) != 0
	if v.Extra && have&(1<<dwarf.VType) != 0 && u.vals[dwarf.VType].Form == dwarf.FormRefSig8 {
		// The type unit would be read with this unit: a place in the order of
		// types that it does not have in the main BTF.
		return 0, f.dieError(u, off, "extra variable whose type is in a type unit (-fdebug-types-section)")
	}
	var err error
	if v.Type, err = f.refOf(u, off, have, dwarf.VType); err != nil {
		return 0, err
	}
	u.vars.Append(v)
	return next, nil
}

// staticAddress is the address that a location expression starts with.
func (f *file) staticAddress(u *unit, v *dwarf.Value) (uint64, bool) {
	const (
		opAddr       = 0x03
		opPlusUconst = 0x23
		opAddrx      = 0xa1
		opGNUAddrIdx = 0xfb
	)
	off, n, ok := v.Block()
	if !ok || n == 0 {
		return 0, false
	}
	e := u.hdr.Data[off : off+n]
	var addr uint64
	p := 1
	switch e[0] {
	case opAddr:
		p += int(u.hdr.AddrSize)
		if len(e) < p {
			return 0, false
		}
		switch u.hdr.AddrSize {
		case 8:
			addr = f.order().Uint64(e[1:])
		case 4:
			addr = uint64(f.order().Uint32(e[1:]))
		default:
			return 0, false
		}
	case opAddrx, opGNUAddrIdx:
		i, q := dwarf.ULEB(e, 1)
		if q < 0 {
			return 0, false
		}
		addr, p = f.addressAt(u, i), q
	default:
		return 0, false
	}
	if p < len(e) && e[p] == opPlusUconst {
		if k, q := dwarf.ULEB(e, p+1); q == len(e) {
			addr += k
		}
	}
	return addr, true
}

// sectionOf is the first PROGBITS or NOBITS section that holds addr, if its
// variables are wanted; nil otherwise.
func (f *file) sectionOf(addr uint64) *varSection {
	for i := range f.varSections {
		s := &f.varSections[i]
		if addr-s.addr < s.size {
			if !s.wanted {
				return nil
			}
			return s
		}
	}
	return nil
}

// varSection is a section in which variables are looked up.
type varSection struct {
	index      uint32
	addr, size uint64
	start      uint64 // value of a symbol at the section's start
	name       string
	wanted     bool
	extra      bool // its variables do not go into the main BTF
	// atZero are the names of the objects at the section's start.
	atZero [][]byte
}

var varPrefixes = []string{"__UNIQUE_ID", "__tpstrtab_", "__exitcall_", "__gendwarfksyms_ptr_", "__func_stack_frame_non_standard_"}

// errVoidVar ends the variables of a unit, but not the run: without force,
// pahole leaves out those behind a variable of type void.
var errVoidVar = errors.New("variable has void type")

// keepVar makes the checks of pahole-behaviour 5.3, but for the first one. It
// gives the variable's size in bytes, and whether it is to be kept.
func (f *file) keepVar(u *unit, v *varRec) (size uint64, keep bool, err error) {
	name := f.names.Text(v.Name)
	if len(name) == 0 {
		return 0, false, nil
	}
	for _, p := range varPrefixes {
		if len(name) >= len(p) && string(name[:len(p)]) == p {
			return 0, false, nil
		}
	}
	if v.SecOff == 0 {
		if ok, err := f.objectNamed(v.Section, name); !ok {
			return 0, false, err
		}
	}
	force := f.opt.Features&EncodeForce != 0
	if !validName(name) {
		if force {
			f.warn("PAHOLE: Warning: Found invalid variable name when encoding btf, ignored (sym: '" + string(appendName(nil, name)) + "').")
			return 0, false, nil
		}
		off := int(v.Off)
		if f.merge != nil {
			off -= int(u.hdr.Off) // it counts from the start of the section
		}
		return 0, false, f.dieError(u, off, "variable name "+quote(name)+" is not valid in BTF (--btf_encode_force leaves such variables out)")
	}
	if v.Type == 0 {
		f.warn("error: found variable '" + string(name) + "' in CU '" + string(f.names.Text(u.name)) + "' that has void type")
		if force {
			return 0, false, nil
		}
		return 0, false, errVoidVar
	}
	size = u.varSize(v.Type, f.addrSize)
	if size == 0 || size > 1<<32-1 || v.SecOff > 1<<32-1 {
		if size == 0 {
			f.warn("Ignoring zero-sized variable '" + string(appendName(nil, name)) + "'...")
		}
		return 0, false, nil
	}
	return size, true, nil
}

// withoutSymbols is a copy of the sections for another file, whose own symbols
// count.
func withoutSymbols(sections []varSection) []varSection {
	sections = slices.Clone(sections)
	for i := range sections {
		sections[i].atZero = nil
	}
	return sections
}

// objectNamed reports whether the section has an object of that name. It is
// asked for variables at the start of the section only; there the object is too,
// but for static ones of functions, which have other names as symbols.
func (f *file) objectNamed(section uint32, name []byte) (bool, error) {
	for i := range f.varSections {
		if s := &f.varSections[i]; s.index == section {
			for _, n := range s.atZero {
				if string(n) == string(name) {
					return true, nil
				}
			}
		}
	}
	if err := f.readObjects(); err != nil {
		return false, err
	}
	_, ok := f.objects[objectKey{section, maphash.Bytes(f.objectSeed, name)}]
	return ok, nil
}

// objectKey stands for an object: its section and a hash of its name.
type objectKey struct {
	section uint32
	hash    uint64
}

// readObjects fills f.objects, once.
func (f *file) readObjects() error {
	if f.objects != nil {
		return nil
	}
	f.objects, f.objectSeed = map[objectKey]struct{}{}, maphash.MakeSeed()
	e, symtab, strtab, err := f.symtab()
	if err != nil {
		return err
	}
	left := symbolWork + symbolRepeat*len(strtab)
	err = e.Symbols(symtab, func(_ int, s *mmapelf.Symbol) bool {
		if s.Info&0xf == sttObject {
			if name, ok := e.StringAt(strtab, s.Name); ok {
				left -= len(name)
				f.objects[objectKey{s.Shndx, maphash.Bytes(f.objectSeed, name)}] = struct{}{}
			}
		}
		return left >= 0
	})
	if err == nil && left < 0 {
		err = f.symbolNamesOverlap()
	}
	e.ReleaseRange(symtab.Offset, symtab.Size)
	e.Release(strtab)
	return err
}

func validName(b []byte) bool {
	if len(b) > 128 {
		return false
	}
	for i, c := range b {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_', c == '.':
		case c >= '0' && c <= '9' && i > 0:
		default:
			return false
		}
	}
	return true
}

// varSize is the size of a variable's type: pahole-behaviour 5.3.
func (u *unit) varSize(r dedup.Ref, addrSize int) uint64 {
	mul := uint64(1)
	for range 4096 {
		if r == 0 || r&dedup.Extern != 0 {
			return 0
		}
		n := &u.types.Nodes.S[r-1]
		switch btf.InfoKind(n.Info) {
		case btf.KindPtr:
			return mul * uint64(addrSize)
		case btf.KindInt, btf.KindFloat, btf.KindEnum, btf.KindEnum64:
			return mul * uint64(callconv.DwarfSize(n))
		case btf.KindStruct, btf.KindUnion:
			if n.Third == 1 && btf.InfoVlen(n.Info) == 0 {
				return 0
			}
			return mul * uint64(n.Third)
		case btf.KindArray:
			if mul *= uint64(n.Aux); mul > 1<<40 {
				return 1 << 40
			}
			r = n.Third
		case btf.KindFwd, btf.KindFuncProto:
			return 0
		default:
			r = n.Third
		}
	}
	return 0
}
