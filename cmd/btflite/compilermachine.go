package main

// elfMachine is what an ELF header says of the machine that a file is for.
type elfMachine struct {
	machine            uint16
	class64, bigEndian bool
}

// pointerSize is the size of a pointer in bytes.
func (t elfMachine) pointerSize() int {
	if t.class64 {
		return 8
	}
	return 4
}

// gccName is what a GCC may be called, without its version, and the option that it needs.
type gccName struct{ name, option string }

// machineCompilers are the compilers for a machine: what clang calls it, and the names that
// Debian gives to GCC.
type machineCompilers struct {
	triple string
	gcc    []gccName
}

// Values of e_machine (ELF gABI). They are not taken from debug/elf, because every run of
// the program would pay for the start of that package.
const (
	emSPARC     = 2
	em386       = 3
	em68K       = 4
	emMIPS      = 8
	emPARISC    = 15
	emPPC       = 20
	emPPC64     = 21
	emS390      = 22
	emARM       = 40
	emSPARCV9   = 43
	emX8664     = 62
	emAArch64   = 183
	emRISCV     = 243
	emLoongArch = 258
)

// machines are the machines that are known.
var machines = map[elfMachine]machineCompilers{
	{emX8664, true, false}:  {"x86_64-linux-gnu", []gccName{{"x86_64-linux-gnu-gcc", ""}, {"gcc", "-m64"}}},
	{emX8664, false, false}: {"x86_64-linux-gnux32", []gccName{{"x86_64-linux-gnux32-gcc", ""}, {"x86_64-linux-gnu-gcc", "-mx32"}, {"gcc", "-mx32"}}},
	{em386, false, false}:   {"i686-linux-gnu", []gccName{{"i686-linux-gnu-gcc", ""}, {"x86_64-linux-gnu-gcc", "-m32"}, {"gcc", "-m32"}}},

	{emAArch64, true, false}:  prefixed("aarch64-linux-gnu"),
	{emAArch64, true, true}:   prefixed("aarch64_be-linux-gnu"),
	{emAArch64, false, false}: {"aarch64-linux-gnu_ilp32", []gccName{{"aarch64-linux-gnu-gcc", "-mabi=ilp32"}}},

	{emARM, false, false}: prefixed("arm-linux-gnueabihf"),
	{emARM, false, true}:  prefixed("armeb-linux-gnueabihf"),

	{emS390, true, true}:  prefixed("s390x-linux-gnu"),
	{emS390, false, true}: {"s390-linux-gnu", []gccName{{"s390-linux-gnu-gcc", ""}, {"s390x-linux-gnu-gcc", "-m31"}}},

	{emPPC64, true, false}: prefixed("powerpc64le-linux-gnu"),
	{emPPC64, true, true}:  prefixed("powerpc64-linux-gnu"),
	{emPPC, false, true}:   {"powerpc-linux-gnu", []gccName{{"powerpc-linux-gnu-gcc", ""}, {"powerpc64-linux-gnu-gcc", "-m32"}}},

	{emRISCV, true, false}:  prefixed("riscv64-linux-gnu"),
	{emRISCV, false, false}: {"riscv32-linux-gnu", []gccName{{"riscv32-linux-gnu-gcc", ""}, {"riscv64-linux-gnu-gcc", ""}}}, // -march and -mabi come from the file

	{emLoongArch, true, false}: prefixed("loongarch64-linux-gnu"),

	{emMIPS, true, false}:  prefixed("mips64el-linux-gnuabi64"),
	{emMIPS, true, true}:   prefixed("mips64-linux-gnuabi64"),
	{emMIPS, false, false}: prefixed("mipsel-linux-gnu"),
	{emMIPS, false, true}:  prefixed("mips-linux-gnu"),

	{emSPARCV9, true, true}: prefixed("sparc64-linux-gnu"),
	{emSPARC, false, true}:  {"sparc-linux-gnu", []gccName{{"sparc64-linux-gnu-gcc", "-m32"}}},
	{em68K, false, true}:    prefixed("m68k-linux-gnu"),
	{emPARISC, false, true}: prefixed("hppa-linux-gnu"),
}

// prefixed are compilers whose names begin with what clang calls the machine.
func prefixed(triple string) machineCompilers {
	return machineCompilers{triple, []gccName{{triple + "-gcc", ""}}}
}

// compilers are the compilers for t, nil if none is known.
func (t elfMachine) compilers() *machineCompilers {
	if m, ok := machines[t]; ok {
		return &m
	}
	return nil
}
