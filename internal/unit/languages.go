package unit

import "strings"

// langNames are the names of DW_LANG_ values in the language options (DWARF 5, table
// 7.17).
var langNames = [...]string{
	1: "c89", 2: "c", 3: "ada83", 4: "c++", 5: "cobol74", 6: "cobol85", 7: "fortran77", 8: "fortran90",
	9: "pascal83", 0xa: "modula2", 0xb: "java", 0xc: "c99", 0xd: "ada95", 0xe: "fortran95", 0xf: "pli",
	0x10: "objc", 0x11: "objc++", 0x12: "upc", 0x13: "d", 0x14: "python", 0x15: "opencl", 0x16: "go",
	0x17: "modula3", 0x18: "haskell", 0x19: "c++03", 0x1a: "c++11", 0x1b: "ocaml", 0x1c: "rust", 0x1d: "c11",
	0x1e: "swift", 0x1f: "julia", 0x20: "dylan", 0x21: "c++14", 0x22: "fortran03", 0x23: "fortran08",
	0x24: "renderscript", 0x25: "bliss",
}

// langAssembler is DW_LANG_Mips_Assembler.
const langAssembler = 0x8001

// langRust is DW_LANG_Rust. Members of Rust's types are sorted by offset.
const langRust = 0x1c

// Language returns the name of a DW_LANG_ value, as --lang has it, or "UNKNOWN".
func Language(l uint16) string {
	switch {
	case l == langAssembler:
		return "asm"
	case 0 < l && int(l) < len(langNames):
		return langNames[l]
	}
	return "UNKNOWN"
}

// foreign reports whether a unit is in a language other than C and assembler. If GCC's
// producer says C or assembler, another DW_AT_language is damaged data.
func foreign(l uint16, producer []byte) bool {
	switch l {
	case 0, 1, 2, 0xc, 0x1d, 0x2c, 0x3e, langAssembler: // none, C89, C, C99, C11, C17, C23, MIPS assembler
		return false
	}
	if p, ok := strings.CutPrefix(string(producer), "GNU "); ok && (strings.HasPrefix(p, "AS") || len(p) > 1 && p[0] == 'C' && p[1] != '+') {
		return false
	}
	return l <= 0x40 // DWARF 6 has not assigned larger values
}
