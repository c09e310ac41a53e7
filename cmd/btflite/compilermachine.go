package main

import "github.com/btflite/btflite/internal/elfabi"

// elfMachine identifies a machine by fields of the ELF header.
type elfMachine struct {
	machine            uint16
	class64, bigEndian bool
}

// pointerSize returns the size of a pointer in bytes.
func (t elfMachine) pointerSize() int {
	if t.class64 {
		return 8
	}
	return 4
}

// gccName is a name of GCC, without its version, and the option that it needs.
type gccName struct{ name, option string }

// machineCompilers are the compilers for a machine: clang's name for the machine, and
// Debian's names of GCC.
type machineCompilers struct {
	triple string
	gcc    []gccName
}

// machines are the known machines.
var machines = map[elfMachine]machineCompilers{
	{elfabi.EMX8664, true, false}:  {"x86_64-linux-gnu", []gccName{{"x86_64-linux-gnu-gcc", ""}, {"gcc", "-m64"}}},
	{elfabi.EMX8664, false, false}: {"x86_64-linux-gnux32", []gccName{{"x86_64-linux-gnux32-gcc", ""}, {"x86_64-linux-gnu-gcc", "-mx32"}, {"gcc", "-mx32"}}},
	{elfabi.EM386, false, false}:   {"i686-linux-gnu", []gccName{{"i686-linux-gnu-gcc", ""}, {"x86_64-linux-gnu-gcc", "-m32"}, {"gcc", "-m32"}}},

	{elfabi.EMAArch64, true, false}:  prefixed("aarch64-linux-gnu"),
	{elfabi.EMAArch64, true, true}:   prefixed("aarch64_be-linux-gnu"),
	{elfabi.EMAArch64, false, false}: {"aarch64-linux-gnu_ilp32", []gccName{{"aarch64-linux-gnu-gcc", "-mabi=ilp32"}}},

	{elfabi.EMARM, false, false}: prefixed("arm-linux-gnueabihf"),
	{elfabi.EMARM, false, true}:  prefixed("armeb-linux-gnueabihf"),

	{elfabi.EMS390, true, true}:  prefixed("s390x-linux-gnu"),
	{elfabi.EMS390, false, true}: {"s390-linux-gnu", []gccName{{"s390-linux-gnu-gcc", ""}, {"s390x-linux-gnu-gcc", "-m31"}}},

	{elfabi.EMPPC64, true, false}: prefixed("powerpc64le-linux-gnu"),
	{elfabi.EMPPC64, true, true}:  prefixed("powerpc64-linux-gnu"),
	{elfabi.EMPPC, false, true}:   {"powerpc-linux-gnu", []gccName{{"powerpc-linux-gnu-gcc", ""}, {"powerpc64-linux-gnu-gcc", "-m32"}}},

	{elfabi.EMRISCV, true, false}:  prefixed("riscv64-linux-gnu"),
	{elfabi.EMRISCV, false, false}: {"riscv32-linux-gnu", []gccName{{"riscv32-linux-gnu-gcc", ""}, {"riscv64-linux-gnu-gcc", ""}}}, // -march and -mabi come from the file

	{elfabi.EMLoongArch, true, false}: prefixed("loongarch64-linux-gnu"),

	{elfabi.EMMIPS, true, false}:  prefixed("mips64el-linux-gnuabi64"),
	{elfabi.EMMIPS, true, true}:   prefixed("mips64-linux-gnuabi64"),
	{elfabi.EMMIPS, false, false}: prefixed("mipsel-linux-gnu"),
	{elfabi.EMMIPS, false, true}:  prefixed("mips-linux-gnu"),

	{elfabi.EMSPARCV9, true, true}: prefixed("sparc64-linux-gnu"),
	{elfabi.EMSPARC, false, true}:  {"sparc-linux-gnu", []gccName{{"sparc64-linux-gnu-gcc", "-m32"}}},
	{elfabi.EM68K, false, true}:    prefixed("m68k-linux-gnu"),
	{elfabi.EMPARISC, false, true}: prefixed("hppa-linux-gnu"),
}

// prefixed returns compilers whose names begin with clang's name of the machine.
func prefixed(triple string) machineCompilers {
	return machineCompilers{triple, []gccName{{triple + "-gcc", ""}}}
}

// compilers returns the compilers for t, nil if none is known.
func (t elfMachine) compilers() *machineCompilers {
	if m, ok := machines[t]; ok {
		return &m
	}
	return nil
}
