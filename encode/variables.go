package encode

import (
	"errors"
	"hash/maphash"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/internal/debuginfo"
	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/internal/unit"
	"github.com/btflite/btflite/mmapelf"
)

// Some variables become VARs: pahole-behaviour 5. Package unit finds the candidates; the
// functions here decide after linking.

// listSections lists the sections that may contain variables, and which of them are
// wanted. As in pahole, only the section table of the first file counts. The symbols are
// each file's own.
func (f *input) listSections() {
	f.starts = map[uint32]*sectionStart{}
	if !f.first {
		lead := f.run.inputs[f.run.lead]
		f.sections, f.Sections = lead.sections, lead.Sections
		for i, s := range lead.starts {
			f.starts[i] = &sectionStart{name: s.name, value: s.value}
		}
		return
	}
	global := f.opt.Features&GlobalVar != 0
	percpu := f.opt.Features&Var != 0
	addrs := f.File.Addresses()
	for i := range f.File.ELF.Sections {
		s := &f.File.ELF.Sections[i]
		if i == 0 || !hasVariables(s) {
			continue
		}
		if s.Flags&elfabi.SHFAlloc == 0 && (s.Name == ".BTF" || s.Name == ".BTF.base") {
			continue // an earlier run has added it, at address 0
		}
		v := unit.VarSection{Index: uint32(i), Addr: addrs[i], Size: s.Size, Name: s.Name}
		start := s.Addr
		if f.File.Relocatable() {
			start = 0
		}
		list := []unit.VarSection{v}
		if s.Flags&elfabi.SHFAlloc == 0 && f.File.Survey.Records {
			list = f.replaced.withDwarf(v) // DWARF may be so large that it seems to hold variables, records are not
		}
		for _, v := range list {
			v.Extra = !global && (!percpu || v.Name != percpuName)
			v.Wanted = !v.Extra || f.opt.ExtraVars && v.Name != ""
			f.sections = append(f.sections, v)
			if v.Wanted {
				f.starts[v.Index] = &sectionStart{name: v.Name, value: start}
			}
		}
	}
	if len(f.starts) > 0 {
		f.Sections = unit.NewVarSections(f.sections)
	}
}

// hasVariables reports whether pahole looks for variables in a section of this type.
func hasVariables(s *mmapelf.Section) bool {
	return (s.Type == elfabi.SHTProgbits || s.Type == elfabi.SHTNobits) && s.Size != 0
}

// percpuName is the section of the kernel's per-CPU variables.
const percpuName = ".data..percpu"

// varPrefixes begin the names of variables that pahole leaves out: pahole-behaviour 5.3.
var varPrefixes = []string{"__UNIQUE_ID", "__tpstrtab_", "__exitcall_", "__gendwarfksyms_ptr_", "__func_stack_frame_non_standard_"}

// errVoidVar ends the variables of a unit, but not the run. Without force, pahole leaves
// out all variables after one of type void.
var errVoidVar = errors.New("variable has void type")

// keepVar makes the checks of pahole-behaviour 5.3 except the first. It returns the
// variable's size in bytes, and whether the variable is kept.
func (f *input) keepVar(u *workspace, v *unit.Var) (size uint64, keep bool, err error) {
	name := f.File.Names.Text(v.Name)
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
			off -= int(u.reader.Cursor.Hdr.Off) // the offset counts from the start of the section
		}
		return 0, false, u.reader.Cursor.DIEError(off, "variable name "+debuginfo.Quote(name)+" is not valid in BTF (--btf_encode_force leaves such variables out)")
	}
	if v.Type == 0 {
		f.warn("error: found variable '" + string(name) + "' in CU '" + string(f.File.Names.Text(u.reader.Cursor.Name)) + "' that has void type")
		if force {
			return 0, false, nil
		}
		return 0, false, errVoidVar
	}
	size = varSize(new(u.sizes(f.run.set, f.File.AddrSize)), v.Type)
	if size == 0 || size > 1<<32-1 || v.SecOff > 1<<32-1 {
		if size == 0 {
			f.warn("Ignoring zero-sized variable '" + string(appendName(nil, name)) + "'...")
		}
		return 0, false, nil
	}
	return size, true, nil
}

// objectNamed reports whether the symbol table has an object of this name in the section.
// It is used only for variables at the start of a section. An object of theirs is there
// too, except for static variables of functions, whose symbols have other names.
func (f *input) objectNamed(section uint32, name []byte) (bool, error) {
	if at := f.starts[section]; at != nil {
		for _, n := range at.names {
			if string(n) == string(name) {
				return true, nil
			}
		}
	}
	if err := f.readObjects(); err != nil {
		return false, err
	}
	_, ok := f.objects[objectKey{section, maphash.Bytes(f.seed, name)}]
	return ok, nil
}

// readObjects fills f.objects, once.
func (f *input) readObjects() error {
	if f.objects != nil {
		return nil
	}
	f.objects, f.seed = map[objectKey]struct{}{}, maphash.MakeSeed()
	e, symtab, strtab, err := f.File.Symbols()
	if err != nil {
		return err
	}
	left := symbolWork + symbolRepeat*len(strtab)
	err = e.Symbols(symtab, func(_ int, s *mmapelf.Symbol) bool {
		if s.Info&0xf == elfabi.STTObject {
			if name, ok := e.StringAt(strtab, s.Name); ok {
				left -= len(name)
				f.objects[objectKey{s.Shndx, maphash.Bytes(f.seed, name)}] = struct{}{}
			}
		}
		return left >= 0
	})
	if err == nil && left < 0 {
		err = f.symbolsOverlap()
	}
	e.ReleaseRange(symtab.Offset, symtab.Size)
	e.Release(strtab)
	return err
}

// validName reports whether pahole takes b for the name of a variable.
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

// varSize returns the size of a variable's type in bytes: pahole-behaviour 5.3.
func varSize(t *callconv.Types, r dedup.Ref) uint64 {
	mul := uint64(1)
	for range 4096 {
		n, ok := t.Node(r)
		if !ok {
			return 0
		}
		switch btf.InfoKind(n.Info) {
		case btf.KindPtr:
			return mul * uint64(t.AddrSize)
		case btf.KindInt, btf.KindFloat, btf.KindEnum, btf.KindEnum64:
			return mul * uint64(callconv.DwarfSize(&n))
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
