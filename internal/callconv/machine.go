package callconv

import "github.com/btflite/btflite/internal/elfabi"

// argRegs are the registers in which a machine passes arguments, as
// pahole has them. (For ARM that is wrong: it has four.)
type argRegs struct {
	n       int     // how many
	known   bool    // regs is valid
	oneEach bool    // every argument takes one register, or is in memory
	regs    [8]int8 // DWARF register numbers, in the order of arguments (slots)
}

// argRegsOf returns the registers of an e_machine; of an unknown one, none.
func argRegsOf(machine uint16) argRegs {
	switch machine {
	case elfabi.EMX8664:
		return argRegs{n: 6, known: true, regs: [8]int8{5, 4, 1, 2, 8, 9}}
	case elfabi.EMAArch64, elfabi.EMARM:
		return argRegs{n: 8, known: true, regs: [8]int8{0, 1, 2, 3, 4, 5, 6, 7}}
	case elfabi.EMS390:
		return argRegs{n: 5, known: true, oneEach: true, regs: [8]int8{2, 3, 4, 5, 6}}
	case elfabi.EMSPARC, elfabi.EMSPARCV9:
		return argRegs{n: 6}
	case elfabi.EMARC, elfabi.EMMIPS, elfabi.EMPPC, elfabi.EMPPC64, elfabi.EMRISCV:
		return argRegs{n: 8}
	}
	return argRegs{}
}

// at returns the register of a slot below n.
func (a *argRegs) at(slot int) int8 { return a.regs[slot&7] }

// among reports whether reg belongs to one of count slots from slot on.
func (a *argRegs) among(reg int8, slot, count int) bool {
	for s := slot; a.known && s < slot+count && s < a.n; s++ {
		if a.regs[s&7] == reg {
			return true
		}
	}
	return false
}
