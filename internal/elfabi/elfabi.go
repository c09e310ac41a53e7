// Package elfabi has the numbers of the ELF specification (gABI) that several packages need. The
// names are the specification's. debug/elf has them too, but every run of the program would pay
// for the start of that package.
package elfabi

import "encoding/binary"

// Magic begins an ELF file.
const Magic = "\x7fELF"

// Order returns a byte order.
func Order(bigEndian bool) binary.ByteOrder {
	if bigEndian {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// Types of files (e_type).
const (
	ETRel  = 1
	ETExec = 2
	ETDyn  = 3
)

// Machines (e_machine).
const (
	EMSPARC     = 2
	EM386       = 3
	EM68K       = 4
	EMMIPS      = 8
	EMPARISC    = 15
	EMSPARC32P  = 18
	EMPPC       = 20
	EMPPC64     = 21
	EMS390      = 22
	EMARM       = 40
	EMSH        = 42
	EMSPARCV9   = 43
	EMARC       = 45
	EMX8664     = 62
	EMHexagon   = 164
	EMAArch64   = 183
	EMRISCV     = 243
	EMBPF       = 247
	EMLoongArch = 258
	EMAlpha     = 0x9026
)

// Types of sections (sh_type).
const (
	SHTNull        = 0
	SHTProgbits    = 1
	SHTSymtab      = 2
	SHTStrtab      = 3
	SHTRela        = 4
	SHTNote        = 7
	SHTNobits      = 8
	SHTRel         = 9
	SHTGroup       = 17
	SHTSymtabShndx = 18
	SHTCrel        = 0x40000014 // LLVM's compact relocations
)

// Flags of sections (sh_flags).
const (
	SHFAlloc      = 0x2
	SHFExecInstr  = 0x4
	SHFMerge      = 0x10
	SHFInfoLink   = 0x40
	SHFGroup      = 0x200
	SHFCompressed = 0x800
	SHFExclude    = 0x80000000
)

// Indexes of sections that do not name one (st_shndx, e_shstrndx).
const (
	SHNUndef     = 0
	SHNLoReserve = 0xff00
	SHNAbs       = 0xfff1
	SHNXindex    = 0xffff
)

// Types of symbols (the low half of st_info).
const (
	STTObject  = 1
	STTFunc    = 2
	STTSection = 3
	STTFile    = 4
)
