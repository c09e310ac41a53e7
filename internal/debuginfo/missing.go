package debuginfo

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/btflite/btflite/mmapelf"
)

// ErrNoDwarf is the error for an input that was built without debug information, or whose
// debug information was stripped.
var ErrNoDwarf = errors.New("no DWARF debug information (.debug_info)")

// NoDwarf returns the error for a file without .debug_info: ErrNoDwarf, unless there are
// signs that the section got lost.
func (f *File) NoDwarf() error {
	switch {
	case len(f.ELF.Sections) == 0:
		return fmt.Errorf("%s: no section table, so no debug information can be found", f.Path)
	case !slices.ContainsFunc(f.ELF.Sections, func(s mmapelf.Section) bool { return s.Name != "" }):
		return fmt.Errorf("%s: sections have no names, so no debug information can be found", f.Path)
	case strings.HasSuffix(otherDebug(f.ELF), "debug_info"):
		return fmt.Errorf("%s: section .debug_info is empty, or its contents are in another file (SHT_NOBITS)", f.Path)
	case otherDebug(f.ELF) != "":
		return fmt.Errorf("%s: section %s without .debug_info", f.Path, otherDebug(f.ELF))
	case f.ELF.Section(".shstrtab") == nil && f.ELF.Section(".strtab") == nil:
		return fmt.Errorf("%s: no section is called .shstrtab or .strtab, so the section names cannot be right", f.Path)
	}
	return withUnfound(f, fmt.Errorf("%s: %w", f.Path, ErrNoDwarf))
}

// OnlyLines reports whether a file has lines or frames and has never had a .debug_info.
// Assemblers write such files for .loc and .cfi_sections directives. pahole reads such a
// file as one without units.
func (f *File) OnlyLines() bool {
	lines := false
	for i := range f.Dwarf.Sections {
		switch s := &f.Dwarf.Sections[i]; s.Name {
		case ".debug_line", ".debug_frame", ".zdebug_line", ".zdebug_frame":
			lines = lines || s.Size > 0
		}
	}
	return lines && otherDebug(f.ELF) == ""
}

// otherDebug returns the name of a debug section that compilers always write together
// with .debug_info, or "". An empty source has only lines, strings and macros; GCC's
// object with its intermediate code has abbreviations, too.
func otherDebug(e *mmapelf.File) string {
	lto := e.Section(ltoPrefix+".debug_info") != nil
	for i := range e.Sections {
		s := &e.Sections[i]
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
