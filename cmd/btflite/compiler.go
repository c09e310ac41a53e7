package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/btflite/btflite/internal/ccline"
	"github.com/btflite/btflite/internal/declared"
	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/internal/memlimit"
	"github.com/btflite/btflite/internal/message"
	"github.com/btflite/btflite/mmapelf"
)

// compiler is a C compiler with the options that it needs for a machine.
type compiler struct {
	words   []string
	instead string // the compiler of the file, if this is another release of it
	several bool   // both gcc and clang have made units of the file
}

var (
	gccVersion   = pattern{text: `^GNU (?:C\S*|GIMPLE) (\d+)`}
	gccLanguage  = pattern{text: `^GNU C(\d\w) `}
	clangVersion = pattern{text: `clang version (\d+)`}
)

// pattern is a regular expression that is compiled on first use, because most runs use
// none.
type pattern struct {
	text string
	once sync.Once
	re   *regexp.Regexp
}

// get returns the compiled expression. Any goroutine may call it.
func (p *pattern) get() *regexp.Regexp {
	p.once.Do(func() { p.re = regexp.MustCompile(p.text) })
	return p.re
}

// maxProducers is how many units of an ELF file are searched for a compiler: the first
// units may come from an assembler.
const maxProducers = 1000

// producer returns the DW_AT_producer of the first compile unit of an ELF file that does
// not come from an assembler. several reports whether both gcc and clang made units of it.
func producer(file string) (text string, several bool, t elfMachine, err error) {
	f, err := mmapelf.Open(file)
	if err != nil {
		return "", false, t, message.FileError(file, "cannot read", err)
	}
	defer f.Close()
	units, byGCC, byClang := 0, false, false
	_ = declared.Producers(&mmapelf.Source{Path: file}, func(made string) bool { // the encoder has read the file without an error
		if !byGCC && !byClang {
			text = made
		}
		byClang = byClang || clangVersion.get().MatchString(made)
		byGCC = byGCC || gccVersion.get().MatchString(made)
		units++
		return units < maxProducers && !(byGCC && byClang)
	})
	return text, byGCC && byClang, elfMachine{f.Machine, f.Class64, f.BigEndian}, nil
}

// optionsOf returns the options in a producer that concern the machine and the language. It
// takes only options of fixed lists: nothing else in a file may reach a compiler.
func optionsOf(producer string) (options []string) {
	standard := ""
	if m := gccLanguage.get().FindStringSubmatch(producer); m != nil {
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
func findCompiler(producer string, t elfMachine, options []string) (*compiler, error) {
	m := t.compilers()
	if m == nil {
		return nil, fmt.Errorf("no compiler is known for machine %d of ELF: name one by --cc", t.machine)
	}
	flags := slices.Clone(options)
	var names []gccName
	wanted := "" // the release of the file's compiler
	if v := clangVersion.get().FindStringSubmatch(producer); v != nil {
		flags = append(flags, "--target="+m.triple)
		wanted = "clang-" + v[1]
		names = []gccName{{name: wanted}, {name: "clang"}}
	} else {
		if v := gccVersion.get().FindStringSubmatch(producer); v != nil {
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
		c := &compiler{words: []string{path}}
		if n.option != "" {
			c.words = append(c.words, n.option)
		}
		c.words = append(c.words, flags...)
		if wanted != "" && !strings.HasSuffix(n.name, wanted) {
			c.instead = wanted
		}
		return c, nil
	}
	return nil, fmt.Errorf("no %s: name a compiler by --cc", strings.Join(tried, " or "))
}

// compileTime is the longest time for a compilation. The C of a kernel takes a minute.
const compileTime = 10 * time.Minute

// debugOptions make a compiler keep all types, used or not. Without optimization, parameters are on
// the stack. In a register, one might be where pahole does not expect it, which drops the function.
var debugOptions = []string{"-g", "-O0", "-w", "-c", "-x", "c", "-ffreestanding", "-fno-builtin", "-fms-extensions", "-fno-eliminate-unused-debug-types", "-DBPF_NO_PRESERVE_ACCESS_INDEX"}

// compile makes the object out of the C of in. A signal that ends this process ends the
// compiler first.
func (c *compiler) compile(g *guard, in, out string) error {
	ctx, cancel := context.WithTimeout(context.Background(), compileTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.words[0], append(append(append([]string{}, c.words[1:]...), debugOptions...), "-o", out, in)...)
	// A compiler that the system ends leaves temporary files behind. There they are removed with the rest.
	cmd.Env = append(os.Environ(), "TMPDIR="+filepath.Dir(out))
	var messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = &messages, &messages
	killed := memlimit.Killed()
	err := g.run(cmd)
	if err == nil {
		if _, err = os.Stat(out); err == nil {
			return nil
		}
		err = errors.New("has written no object")
	}
	if memlimit.Killed() > killed {
		return fmt.Errorf("%s: the memory limit of %s is reached: the system has ended the compiler; give more by the control group",
			message.OneLine(c.words[0]), message.ByteSize(memlimit.Cgroup()))
	}
	if ctx.Err() != nil {
		err = errors.New("took too long")
	}
	if what := firstError(messages.String()); what != "" {
		err = fmt.Errorf("%w: %s", err, what)
	}
	return fmt.Errorf("%s: %w", message.OneLine(strings.Join(c.words, " ")), err)
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
