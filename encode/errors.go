package encode

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/mmapelf"
)

// Error says which input could not be encoded, where, and why.
type Error struct {
	File    string
	Section string
	Unit    string // DW_AT_name, may be empty
	UnitOff uint64 // section offset of the unit header
	Offset  uint64 // section offset of the DIE, 0 if the whole unit is meant
	Name    string // of the type or function, may be empty
	What    string
}

func (e *Error) Error() string {
	s := e.File + ": " + e.Section
	if e.Unit != "" {
		s += ": CU " + quote([]byte(e.Unit))
	}
	s += fmt.Sprintf(" at %#x", e.UnitOff)
	if e.Offset != 0 {
		s += fmt.Sprintf(", DIE %#x", e.Offset)
	}
	if e.Name != "" {
		s += ", " + quote([]byte(e.Name))
	}
	return s + ": " + e.What
}

// inFile makes err begin with the name of the file, as those of package mmapelf
// do.
func (f *file) inFile(err error) error {
	if e := (*mmapelf.FormatError)(nil); errors.As(err, &e) {
		return err
	}
	return fmt.Errorf("%s: %w", f.path, err)
}

// noDwarf is the error for a file without .debug_info: ErrNoDwarf, unless there
// are signs that the file has lost it.
func (f *file) noDwarf() error {
	switch {
	case len(f.elf.Sections) == 0:
		return fmt.Errorf("%s: no section table, so no debug information can be found", f.path)
	case !slices.ContainsFunc(f.elf.Sections, func(s mmapelf.Section) bool { return s.Name != "" }):
		return fmt.Errorf("%s: sections have no names, so no debug information can be found", f.path)
	case strings.HasSuffix(f.otherDebug(), "debug_info"):
		return fmt.Errorf("%s: section .debug_info is empty, or its contents are in another file (SHT_NOBITS)", f.path)
	case f.otherDebug() != "":
		return fmt.Errorf("%s: section %s without .debug_info", f.path, f.otherDebug())
	case f.elf.Section(".shstrtab") == nil && f.elf.Section(".strtab") == nil:
		return fmt.Errorf("%s: no section is called .shstrtab or .strtab, so the section names cannot be right", f.path)
	}
	return fmt.Errorf("%s: %w", f.path, ErrNoDwarf)
}

// onlyLines reports whether a file without .debug_info has never had one and has
// lines or frames: what assemblers write for .loc and .cfi_sections directives
// stands alone. pahole takes such a file for one without units.
func (f *file) onlyLines() bool {
	lines := false
	for i := range f.dwarf.Sections {
		switch s := &f.dwarf.Sections[i]; s.Name {
		case ".debug_line", ".debug_frame", ".zdebug_line", ".zdebug_frame":
			lines = lines || s.Size > 0
		}
	}
	return lines && f.otherDebug() == ""
}

// otherDebug is the name of a debug section that compilers write together with
// .debug_info, or "". An empty source has lines, strings and macros alone; GCC's
// object that holds intermediate code of one has abbreviations, too.
func (f *file) otherDebug() string {
	lto := f.elf.Section(ltoPrefix+".debug_info") != nil
	for i := range f.elf.Sections {
		s := &f.elf.Sections[i]
		name, ok := strings.CutPrefix(strings.Replace(s.Name, ".zdebug_", ".debug_", 1), ".debug_")
		switch name {
		case "frame", "gdb_scripts", "line", "line_str", "str", "macro", "macinfo":
		default:
			if ok && s.Size > 0 && (name != "abbrev" || !lto) {
				return s.Name
			}
		}
	}
	return ""
}

// quote shows a name from a file so that it cannot disturb a terminal.
func quote(b []byte) string {
	for _, c := range b {
		if c < 0x20 || c >= 0x7f || c == '"' || c == '\\' {
			return strconv.QuoteToASCII(string(b))
		}
	}
	return `"` + string(b) + `"`
}

func itoa(n int) string { return strconv.Itoa(n) }

// beyondVlen says why n of what, members or the like, cannot be encoded.
func beyondVlen(n int, what string) string {
	return fmt.Sprintf("%d %s are more than the %d that the vlen of BTF holds; Linux 7.2 and libbpf 1.8 could read more, no release before them", n, what, maxVlen)
}

// unitError is an error about the unit as a whole.
func (f *file) unitError(u *unit, what string) error {
	return &Error{File: f.path, Section: ".debug_info", Unit: string(f.names.Text(u.name)), UnitOff: u.hdr.Off, What: what}
}

// dieError is an error about the DIE at an offset of the unit.
func (f *file) dieError(u *unit, off int, what string) error {
	return &Error{File: f.path, Section: ".debug_info", Unit: string(f.names.Text(u.name)), UnitOff: u.hdr.Off,
		Offset: u.hdr.Off + uint64(off), What: what}
}

func (f *file) cutOff(u *unit, off int) error {
	return f.dieError(u, off, "DIE goes beyond the end of its unit")
}

// onlyZeros checks that nothing follows the last DIE of a unit, at p, but
// padding. A DIE there has been cut from its tree by damage before it.
func (f *file) onlyZeros(u *unit, p int) error {
	for b := u.hdr.Data; p < len(b); p++ {
		if b[p] != 0 {
			return f.dieError(u, p, "DIE behind the end of the unit's tree")
		}
	}
	return nil
}

// noName is the error for a DIE that needs a name and has none that can be read.
func (f *file) noName(u *unit, off int, what string) error {
	if u.reader.Bad {
		what = "a name lies beyond .debug_str"
	}
	return f.dieError(u, off, what)
}

func (f *file) outOfUnit(u *unit, off int) error {
	return f.dieError(u, off, "reference leads out of the unit")
}

// nodeError is an error about a type that has been read.
func (f *file) nodeError(u *unit, node uint32, what string) error {
	n := &u.types.Nodes.S[node]
	return &Error{File: f.path, Section: ".debug_info", Unit: string(f.names.Text(u.name)), UnitOff: u.hdr.Off,
		Name: strings.TrimSuffix(btf.InfoKind(n.Info).String()+" "+string(f.names.Text(n.Name)), " "), What: what}
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

// noReference is the error for an attribute that refers, by its name, but has a
// form of another class (DWARF 5, sections 7.5.4 and 7.5.6).
func (f *file) noReference(u *unit, off int, form dwarf.Form) error {
	return f.dieError(u, off, "reference of form "+itoa(int(form)))
}
