package elfreloc

import "github.com/btflite/btflite/internal/elfabi"

// The effect of each machine's relocation types. Only those are listed that assemblers
// and partial links leave in debug sections. Numbers and formulas come from the psABI
// documents (S symbol value, A addend, V the field's contents, all modulo the width of
// the field).

// action is the effect of a relocation on its field.
type action uint8

const (
	actUnknown action = iota
	actNone           // nothing: hints to linkers
	actSet            // S + A; for REL, A is the field's contents
	actTLS            // S + A without the address of the section: an offset in its TLS block
	actAdd            // V + S + A
	actSub            // V - S - A
	actSet6           // low 6 bits = S + A, upper 2 bits stay
	actAdd6           // low 6 bits = V + S + A
	actSub6           // low 6 bits = V - S - A
	actSetULEB        // ULEB128 = S + A, length stays
	actAddULEB        // ULEB128 = V + S + A
	actSubULEB        // ULEB128 = V - S - A
)

// rule describes one relocation type.
type rule struct {
	act   action
	width uint8 // bytes of the field, 0 for a ULEB128
}

// rulesOf gives the rules by relocation type, or nil for a machine that is not
// known.
func rulesOf(machine uint16) map[uint32]rule {
	switch machine {
	case elfabi.EMX8664: // System V psABI AMD64, table 4.9
		return map[uint32]rule{
			0: {actNone, 0}, 1: {actSet, 8}, 10: {actSet, 4}, 11: {actSet, 4}, 12: {actSet, 2}, 14: {actSet, 1},
			17: {actTLS, 8}, 21: {actTLS, 4}, // DTPOFF64, DTPOFF32
		}
	case elfabi.EM386: // System V psABI i386, table 4.9, and the GNU types for TLS
		return map[uint32]rule{
			0: {actNone, 0}, 1: {actSet, 4}, 20: {actSet, 2}, 22: {actSet, 1},
			32: {actTLS, 4}, // TLS_LDO_32
		}
	case elfabi.EMARM: // ELF for the Arm Architecture
		return map[uint32]rule{
			0: {actNone, 0}, 2: {actSet, 4}, 5: {actSet, 2}, 8: {actSet, 1},
			106: {actTLS, 4}, // TLS_LDO32
		}
	case elfabi.EMAArch64: // ELF for the Arm 64-bit Architecture
		return map[uint32]rule{
			0: {actNone, 0}, 256: {actNone, 0}, 257: {actSet, 8}, 258: {actSet, 4}, 259: {actSet, 2},
			1029: {actTLS, 8}, // TLS_DTPREL
		}
	case elfabi.EMS390: // s390x ELF ABI supplement, for both classes
		return map[uint32]rule{
			0: {actNone, 0}, 1: {actSet, 1}, 3: {actSet, 2}, 4: {actSet, 4}, 22: {actSet, 8},
			52: {actTLS, 4}, 53: {actTLS, 8}, // TLS_LDO32, TLS_LDO64
		}
	case elfabi.EMPPC: // Power Architecture 32-bit ABI supplement
		return map[uint32]rule{
			0: {actNone, 0}, 1: {actSet, 4}, 3: {actSet, 2}, 24: {actSet, 4}, 25: {actSet, 2},
			78: {actTLS, 4}, // DTPREL32
		}
	case elfabi.EMPPC64: // 64-bit ELF V2 ABI, and V1 with the same numbers
		return map[uint32]rule{
			0: {actNone, 0}, 1: {actSet, 4}, 3: {actSet, 2}, 24: {actSet, 4}, 25: {actSet, 2}, 38: {actSet, 8}, 43: {actSet, 8},
			78: {actTLS, 8}, // DTPREL64
		}
	case elfabi.EMMIPS: // MIPS psABI and the 64-bit ELF object file specification
		return map[uint32]rule{
			0: {actNone, 0}, 1: {actSet, 2}, 2: {actSet, 4}, 18: {actSet, 8},
			39: {actTLS, 4}, 41: {actTLS, 8}, // TLS_DTPREL32, TLS_DTPREL64
		}
	case elfabi.EMSPARC, elfabi.EMSPARC32P, elfabi.EMSPARCV9: // Oracle, Linkers and Libraries Guide, SPARC relocation types; UA types need no alignment
		return map[uint32]rule{
			0: {actNone, 0}, 1: {actSet, 1}, 2: {actSet, 2}, 3: {actSet, 4}, 32: {actSet, 8},
			23: {actSet, 4}, 54: {actSet, 8}, 55: {actSet, 2},
			76: {actTLS, 4}, 77: {actTLS, 8}, // TLS_DTPOFF32, TLS_DTPOFF64
		}
	case elfabi.EMBPF: // Linux, Documentation/bpf/llvm_reloc.rst
		// GNU binutils before 2.41 had numbers of their own. Nothing in a file says which are meant, but nothing
		// has to: in sections of data, no number has two meanings. Where one of the others' is taken, as 2 and 3 are,
		// it stands for a field of an instruction.
		return map[uint32]rule{
			0: {actNone, 0}, 2: {actSet, 8}, 3: {actSet, 4}, // ABS64, ABS32
			1: {actSet, 8}, 10: {actSet, 4}, // in place of these two, Clang before 13
			8: {actSet, 1}, 9: {actSet, 2}, 11: {actSet, 4}, 12: {actSet, 8}, // DATA_8 to DATA_64 of binutils before 2.41
		}
	case elfabi.EM68K: // System V ABI, Motorola 68000 processor supplement, and the GNU type for TLS
		return map[uint32]rule{
			0: {actNone, 0}, 1: {actSet, 4}, 2: {actSet, 2}, 3: {actSet, 1},
			31: {actTLS, 4}, // TLS_LDO32
		}
	case elfabi.EMSH: // GNU binutils, include/elf/sh.h; the addend is in the field, though sections are RELA
		return map[uint32]rule{0: {actNone, 0}, 1: {actAdd, 4}}
	case elfabi.EMAlpha: // Tru64 UNIX object file format
		return map[uint32]rule{0: {actNone, 0}, 1: {actSet, 4}, 2: {actSet, 8}}
	case elfabi.EMPARISC: // ELF supplement for PA-RISC, DIR32 and DIR64
		return map[uint32]rule{0: {actNone, 0}, 1: {actSet, 4}, 80: {actSet, 8}}
	case elfabi.EMHexagon: // Qualcomm Hexagon ABI
		return map[uint32]rule{0: {actNone, 0}, 6: {actSet, 4}, 7: {actSet, 2}, 8: {actSet, 1}}
	case elfabi.EMRISCV: // RISC-V ELF psABI, table of relocation types
		return map[uint32]rule{
			0: {actNone, 0}, 43: {actNone, 0}, 51: {actNone, 0}, // ALIGN, RELAX
			1: {actSet, 4}, 2: {actSet, 8}, 8: {actTLS, 4}, 9: {actTLS, 8},
			33: {actAdd, 1}, 34: {actAdd, 2}, 35: {actAdd, 4}, 36: {actAdd, 8},
			37: {actSub, 1}, 38: {actSub, 2}, 39: {actSub, 4}, 40: {actSub, 8},
			52: {actSub6, 1}, 53: {actSet6, 1}, 54: {actSet, 1}, 55: {actSet, 2}, 56: {actSet, 4},
			60: {actSetULEB, 0}, 61: {actSubULEB, 0},
		}
	case elfabi.EMLoongArch: // ELF for the LoongArch Architecture
		return map[uint32]rule{
			0: {actNone, 0}, 100: {actNone, 0}, 102: {actNone, 0}, // RELAX, ALIGN
			1: {actSet, 4}, 2: {actSet, 8}, 8: {actTLS, 4}, 9: {actTLS, 8},
			47: {actAdd, 1}, 48: {actAdd, 2}, 49: {actAdd, 3}, 50: {actAdd, 4}, 51: {actAdd, 8},
			52: {actSub, 1}, 53: {actSub, 2}, 54: {actSub, 3}, 55: {actSub, 4}, 56: {actSub, 8},
			105: {actAdd6, 1}, 106: {actSub6, 1}, 107: {actAddULEB, 0}, 108: {actSubULEB, 0},
		}
	}
	return nil
}

// NumbersMove reports whether a machine's linker may still change LEB128 numbers that are
// differences of addresses: then they have relocations, and are not right without.
func NumbersMove(machine uint16) bool {
	return machine == elfabi.EMRISCV || machine == elfabi.EMLoongArch
}
