package main

import (
	"strconv"

	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/mmapelf"
)

// whyPlaces describes where parameters are, with the names of a machine's registers.
type whyPlaces struct{ machine uint16 }

func (w *whyPlaces) open(file string) error {
	e, err := mmapelf.Open(file)
	if err != nil {
		return err
	}
	w.machine = e.Machine
	return e.Close()
}

func (w *whyPlaces) text(p encode.Place) string {
	at := ""
	switch p.Kind {
	case encode.PlaceNone:
		return "nowhere: optimized away"
	case encode.PlaceConstant:
		return "nowhere: always the same value"
	case encode.PlaceRegister:
		at = "in register " + w.register(p.Register)
	case encode.PlaceStack:
		at = "on the stack"
	case encode.PlaceFixed:
		at = "at a fixed address"
	case encode.PlaceCompute:
		at = "computed"
	default:
		return "in an unknown place"
	}
	if p.Moves {
		return "at first " + at
	}
	return at
}

// amd64Registers are the registers of x86-64 by their numbers in DWARF.
var amd64Registers = [...]string{"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"}

// amd64Vectors is the number of the first of 16 vector registers.
const amd64Vectors = 17

// register returns the name of a register, or its number in DWARF.
func (w *whyPlaces) register(n uint16) string {
	number := strconv.Itoa(int(n))
	switch {
	case w.machine == elfabi.EMX8664 && int(n) < len(amd64Registers):
		return amd64Registers[n]
	case w.machine == elfabi.EMX8664 && n >= amd64Vectors && n < amd64Vectors+16:
		return "xmm" + strconv.Itoa(int(n)-amd64Vectors)
	case w.machine == elfabi.EMAArch64 && n < 31:
		return "x" + number
	case w.machine == elfabi.EMS390 && n < 16, w.machine == elfabi.EMARM && n < 16:
		return "r" + number
	}
	return number
}
