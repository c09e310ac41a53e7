package main

import (
	"bytes"
	"context"
	"debug/dwarf"
	"debug/elf"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/btflite/btflite/internal/message"
)

// compiler is a C compiler with the options that it needs for a machine.
type compiler struct{ words []string }

// crossPrefix is what the names of compilers for a machine begin with in Debian, and
// clangTarget what clang calls it.
var crossPrefix = map[elf.Machine][]string{
	elf.EM_X86_64: {"x86_64-linux-gnu-", "gcc", "-m64"}, elf.EM_386: {"i686-linux-gnu-", "gcc", "-m32"},
	elf.EM_AARCH64: {"aarch64-linux-gnu-"}, elf.EM_ARM: {"arm-linux-gnueabihf-"}, elf.EM_S390: {"s390x-linux-gnu-"},
	elf.EM_PPC64: {"powerpc64le-linux-gnu-"}, elf.EM_RISCV: {"riscv64-linux-gnu-"}, elf.EM_LOONGARCH: {"loongarch64-linux-gnu-"},
}

var (
	gccVersion   = pattern(`^GNU C\S* (\d+)`)
	clangVersion = pattern(`clang version (\d+)`)
	// machineOption is an option of a producer that may change layouts. Nothing else of
	// what a file says goes to a compiler.
	machineOption = pattern(`^-(m(abi|arch|cpu|long-double|align|be|le)[a-z0-9_.+=-]*|m(32|64|x32|31)|f(no-)?short-enums|f(un)?signed-char)$`)
)

// pattern returns a regular expression that is compiled when it is first used: most
// runs use none.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// maxProducers is how many units of an ELF file are asked for their compiler: those
// of an assembler may come first.
const maxProducers = 1000

// producer is what the first compile unit of an ELF file that is no assembler's says of
// its compiler.
func producer(file string) (text string, machine elf.Machine, err error) {
	f, err := elf.Open(file)
	if err != nil {
		return "", 0, message.FileError(file, "cannot read", err)
	}
	defer f.Close()
	d, err := f.DWARF()
	if err != nil {
		return "", f.Machine, nil // the encoder has read it
	}
	units := d.Reader()
	for range maxProducers {
		e, err := units.Next()
		if err != nil || e == nil {
			break
		}
		if text, _ = e.Val(dwarf.AttrProducer).(string); gccVersion().MatchString(text) || clangVersion().MatchString(text) {
			break
		}
		units.SkipChildren()
	}
	return text, f.Machine, nil
}

// findCompiler finds the compiler that a producer names, of that version if it is
// there.
func findCompiler(producer string, machine elf.Machine) (*compiler, error) {
	prefix := crossPrefix[machine]
	var tried, flags []string
	for _, w := range strings.Fields(producer) {
		if machineOption().MatchString(w) {
			flags = append(flags, w)
		}
	}
	try := func(name string, more ...string) *compiler {
		tried = append(tried, name)
		if path, err := exec.LookPath(name); err == nil {
			return &compiler{append(append([]string{path}, more...), flags...)}
		}
		return nil
	}
	if v := clangVersion().FindStringSubmatch(producer); v != nil && prefix != nil {
		flags = append(flags, "--target="+strings.TrimSuffix(prefix[0], "-"))
		for _, name := range []string{"clang-" + v[1], "clang"} {
			if c := try(name); c != nil {
				return c, nil
			}
		}
	} else if prefix != nil {
		names := []string{prefix[0] + "gcc"}
		if v := gccVersion().FindStringSubmatch(producer); v != nil {
			names = []string{prefix[0] + "gcc-" + v[1], prefix[0] + "gcc"}
		}
		for _, name := range names {
			if c := try(name); c != nil {
				return c, nil
			}
		}
		if len(prefix) > 1 {
			if c := try(prefix[1], prefix[2]); c != nil {
				return c, nil
			}
		}
	}
	if tried == nil {
		return nil, fmt.Errorf("no compiler is known for %s: name one by --cc", machine)
	}
	return nil, fmt.Errorf("no %s: name a compiler by --cc", strings.Join(tried, " or "))
}

// compileTime is how long a compilation may take: the C of a kernel takes a minute.
const compileTime = 10 * time.Minute

// debugOptions make a compiler keep all types, used or not.
var debugOptions = []string{"-g", "-O1", "-w", "-c", "-x", "c", "-ffreestanding", "-fno-builtin", "-fno-eliminate-unused-debug-types", "-DBPF_NO_KFUNC_PROTOTYPES", "-DBPF_NO_PRESERVE_ACCESS_INDEX"}

// compile makes the object out of the C of in.
func (c *compiler) compile(in, out string) error {
	ctx, cancel := context.WithTimeout(context.Background(), compileTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.words[0], append(append(append([]string{}, c.words[1:]...), debugOptions...), "-o", out, in)...)
	var messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = &messages, &messages
	err := cmd.Run()
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		err = errors.New("took too long")
	}
	return fmt.Errorf("%s: %w: %s", message.OneLine(strings.Join(c.words, " ")), err, firstError(messages.String()))
}

// firstError is the first line of a compiler's messages that says what is wrong.
func firstError(messages string) string {
	for line := range strings.Lines(messages) {
		if _, what, ok := strings.Cut(line, "error: "); ok {
			return message.OneLine(strings.TrimSpace(what))
		}
	}
	first, _, _ := strings.Cut(messages, "\n")
	return message.OneLine(first)
}
