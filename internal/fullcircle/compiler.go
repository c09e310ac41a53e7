// Package fullcircle has what "btflite fullcircle" needs to know about C: which compiler made a file, and
// which differences between BTF from DWARF and BTF from the C of it no C could avoid.
package fullcircle

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/dump"
	"github.com/btflite/btflite/btf/view"
	"github.com/btflite/btflite/internal/ccline"
	"github.com/btflite/btflite/internal/declared"
	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/internal/memlimit"
	"github.com/btflite/btflite/internal/message"
	"github.com/btflite/btflite/mmapelf"
)

// Origin says what an ELF file was made by and for.
type Origin struct {
	Machine
	// Producer is the DW_AT_producer of the first compile unit that does not come from an
	// assembler, or "".
	Producer string
	// Several says that both gcc and clang have made units of the file.
	Several bool
}

// Compiler is a C compiler with the options that it needs for a machine.
type Compiler struct {
	Words   []string
	Instead string // the compiler of the file, if this is another release of it
}

var (
	gccVersion   = lazily(`^GNU (?:C\S*|GIMPLE) (\d+)`)
	gccLanguage  = lazily(`^GNU C(\d\w) `)
	clangVersion = lazily(`clang version (\d+)`)
)

// maxProducers is how many units of an ELF file are searched for a compiler: the first
// units may come from an assembler.
const maxProducers = 1000

// OriginOf reads who made an ELF file, which has been encoded without an error.
func OriginOf(file string) (o Origin, err error) {
	f, err := mmapelf.Open(file)
	if err != nil {
		return o, message.FileError(file, "cannot read", err)
	}
	defer f.Close()
	units, byGCC, byClang := 0, false, false
	_ = declared.Producers(&mmapelf.Source{Path: file}, func(made string) bool {
		if !byGCC && !byClang {
			o.Producer = made
		}
		byClang = byClang || clangVersion().MatchString(made)
		byGCC = byGCC || gccVersion().MatchString(made)
		units++
		return units < maxProducers && !(byGCC && byClang)
	})
	o.Several, o.Machine = byGCC && byClang, Machine{f.Machine, f.Class64, f.BigEndian}
	return o, nil
}

// optionsOf returns the options in a producer that concern the machine and the language. It
// takes only options of fixed lists: nothing else in a file may reach a compiler.
func optionsOf(producer string) (options []string) {
	standard := ""
	if m := gccLanguage().FindStringSubmatch(producer); m != nil {
		standard = ccline.Standard("-std=gnu" + strings.ToLower(m[1]))
	}
	for _, w := range strings.Fields(producer) {
		if ccline.ForMachine(w) {
			options = append(options, w)
		} else if s := ccline.Standard(w); s != "" {
			standard = s
		}
	}
	if standard != "" {
		options = append(options, standard)
	}
	return options
}

// findCompiler finds the compiler that a producer names, of that version if it is
// installed, with options.
func findCompiler(producer string, t Machine, options []string) (*Compiler, error) {
	m, ok := machines[t]
	if !ok {
		return nil, fmt.Errorf("no compiler is known for machine %d of ELF: name one by --cc", t.Number)
	}
	flags := slices.Clone(options)
	var names []gccName
	wanted := "" // the release of the file's compiler
	if v := clangVersion().FindStringSubmatch(producer); v != nil {
		flags = append(flags, "--target="+m.triple)
		wanted = "clang-" + v[1]
		names = []gccName{{name: wanted}, {name: "clang"}}
	} else {
		if v := gccVersion().FindStringSubmatch(producer); v != nil {
			wanted = "gcc-" + v[1]
			for _, g := range m.gcc {
				names = append(names, gccName{g.name + "-" + v[1], g.option})
			}
		}
		names = append(names, m.gcc...)
	}
	var tried []string
	for _, n := range names {
		tried = append(tried, n.name)
		path, err := exec.LookPath(n.name)
		if err != nil {
			continue
		}
		c := &Compiler{Words: []string{path}}
		if n.option != "" {
			c.Words = append(c.Words, n.option)
		}
		c.Words = append(c.Words, flags...)
		if wanted != "" && !strings.HasSuffix(n.name, wanted) {
			c.Instead = wanted
		}
		return c, nil
	}
	return nil, fmt.Errorf("no %s: name a compiler by --cc", strings.Join(tried, " or "))
}

// Compiler returns a compiler for the C of b, the BTF of the file: the named one, or without a name the one that
// the producer tells. A named one gets only the language options of the producer, before its own: it may be for
// another machine.
func (o *Origin) Compiler(named []string, b *btf.Blob) (*Compiler, error) {
	made := cmp.Or(o.Producer, guessProducer(b))
	options := withLanguage(optionsOf(made), b)
	if named == nil {
		return findCompiler(made, o.Machine, options)
	}
	behind := ccline.Behind(named) // the program that starts the compiler may stand before it
	words := slices.Clone(named[:len(named)-len(behind)])
	for _, w := range options {
		if ccline.Standard(w) != "" || strings.HasPrefix(w, "-f") {
			words = append(words, w)
		}
	}
	return &Compiler{Words: append(words, behind...)}, nil
}

// withLanguage adds options that are missing in the producer, such as clang's, and follow
// from the types: a standard of C that allows their names, and the sign of char.
func withLanguage(options []string, b *btf.Blob) []string {
	if !slices.ContainsFunc(options, func(w string) bool { return ccline.Standard(w) != "" }) {
		if d := dump.Dialect(b); d != "" {
			options = append(options, "-std="+d)
		}
	}
	if slices.Contains(options, "-fsigned-char") || slices.Contains(options, "-funsigned-char") {
		return options
	}
	v := view.New(b)
	chars := v.Named("char", btf.KindInt)
	if len(chars) == 0 {
		return options
	}
	if encoding, _, _ := v.Type(chars[0]).IntEncoding(); encoding&1 != 0 {
		return append(options, "-fsigned-char")
	}
	return append(options, "-funsigned-char")
}

// guessProducer guesses the compiler of a file that does not name it, by the names of
// integer types in b.
func guessProducer(b *btf.Blob) string {
	for t := range view.New(b).All() {
		if t.Kind() == btf.KindInt && (string(t.Name()) == "long" || string(t.Name()) == "unsigned long" || string(t.Name()) == arraySize) {
			return "clang version 0"
		}
	}
	return ""
}

// compileTime is the longest time for a compilation. The C of a kernel takes a minute.
const compileTime = 10 * time.Minute

// debugOptions make a compiler keep all types, used or not. Without optimization, parameters are on
// the stack. In a register, one might be where pahole does not expect it, which drops the function.
var debugOptions = []string{"-g", "-O0", "-w", "-c", "-x", "c", "-ffreestanding", "-fno-builtin", "-fms-extensions", "-fno-eliminate-unused-debug-types", "-DBPF_NO_PRESERVE_ACCESS_INDEX"}

// Compile makes the object out of the C of in. It runs the compiler by run.
func (c *Compiler) Compile(run func(*exec.Cmd) error, in, out string) error {
	ctx, cancel := context.WithTimeout(context.Background(), compileTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.Words[0], append(append(append([]string{}, c.Words[1:]...), debugOptions...), "-o", out, in)...)
	// A compiler that the system ends leaves temporary files behind. There they are removed with the rest.
	cmd.Env = append(os.Environ(), "TMPDIR="+filepath.Dir(out))
	var messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = &messages, &messages
	killed := memlimit.Killed()
	err := run(cmd)
	if err == nil {
		if _, err = os.Stat(out); err == nil {
			return nil
		}
		err = errors.New("has written no object")
	}
	if memlimit.Killed() > killed {
		return fmt.Errorf("%s: the memory limit of %s is reached: the system has ended the compiler; give more by the control group",
			message.OneLine(c.Words[0]), message.ByteSize(memlimit.Cgroup()))
	}
	missing := new(exec.Error)
	switch {
	case ctx.Err() != nil:
		err = errors.New("took too long")
	case errors.As(err, &missing):
		err = fmt.Errorf("cannot run it: %w", missing.Err)
	}
	if what := firstError(messages.String()); what != "" {
		err = fmt.Errorf("%w: %s", err, what)
	}
	return fmt.Errorf("%s: %w", message.OneLine(strings.Join(c.Words, " ")), err)
}

// firstError returns the first line of a compiler's messages that describes an error.
func firstError(messages string) string {
	for line := range strings.Lines(messages) {
		if _, what, ok := strings.Cut(line, "error: "); ok {
			return message.OneLine(strings.TrimSpace(what))
		}
	}
	first, _, _ := strings.Cut(messages, "\n")
	return message.OneLine(first)
}

// Machine identifies a machine by fields of the ELF header.
type Machine struct {
	Number             uint16 // EM_
	Class64, BigEndian bool
}

// PointerSize returns the size of a pointer in bytes.
func (t Machine) PointerSize() int {
	if t.Class64 {
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
var machines = map[Machine]machineCompilers{
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
