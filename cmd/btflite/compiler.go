package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/btflite/btflite/internal/ccline"
	"github.com/btflite/btflite/internal/declared"
	"github.com/btflite/btflite/internal/message"
	"github.com/btflite/btflite/mmapelf"
)

// compiler is a C compiler with the options that it needs for a machine.
type compiler struct{ words []string }

// Values of e_machine (ELF gABI). They are not taken from debug/elf, because every run of
// the program would pay for the start of that package.
const (
	em386       = 3
	emPPC64     = 21
	emS390      = 22
	emARM       = 40
	emX8664     = 62
	emAArch64   = 183
	emRISCV     = 243
	emLoongArch = 258
)

// crossPrefix is what the names of compilers for a machine begin with in Debian, and
// clang calls it without the last hyphen. A compiler without prefix and its option may
// follow.
func crossPrefix(machine uint16) []string {
	switch machine {
	case emX8664:
		return []string{"x86_64-linux-gnu-", "gcc", "-m64"}
	case em386:
		return []string{"i686-linux-gnu-", "gcc", "-m32"}
	case emAArch64:
		return []string{"aarch64-linux-gnu-"}
	case emARM:
		return []string{"arm-linux-gnueabihf-"}
	case emS390:
		return []string{"s390x-linux-gnu-"}
	case emPPC64:
		return []string{"powerpc64le-linux-gnu-"}
	case emRISCV:
		return []string{"riscv64-linux-gnu-"}
	case emLoongArch:
		return []string{"loongarch64-linux-gnu-"}
	}
	return nil
}

var (
	gccVersion   = pattern{text: `^GNU C\S* (\d+)`}
	clangVersion = pattern{text: `clang version (\d+)`}
)

// pattern is a regular expression that is compiled when it is first used: most runs use
// none.
type pattern struct {
	text string
	once sync.Once
	re   *regexp.Regexp
}

// get is the compiled expression. Any goroutine may call it.
func (p *pattern) get() *regexp.Regexp {
	p.once.Do(func() { p.re = regexp.MustCompile(p.text) })
	return p.re
}

// maxProducers is how many units of an ELF file are asked for their compiler: those
// of an assembler may come first.
const maxProducers = 1000

// producer is what the first compile unit of an ELF file that is no assembler's says of
// its compiler.
func producer(file string) (text string, machine uint16, err error) {
	f, err := mmapelf.Open(file)
	if err != nil {
		return "", 0, message.FileError(file, "cannot read", err)
	}
	defer f.Close()
	units := 0
	_ = declared.Producers(&mmapelf.Source{Path: file}, func(made string) bool { // the encoder has read it without an error
		text = made
		units++
		return units < maxProducers && !gccVersion.get().MatchString(made) && !clangVersion.get().MatchString(made)
	})
	return text, f.Machine, nil
}

// findCompiler finds the compiler that a producer names, of that version if it is
// there.
func findCompiler(producer string, machine uint16) (*compiler, error) {
	prefix := crossPrefix(machine)
	var tried, flags []string
	for _, w := range strings.Fields(producer) {
		if ccline.ForMachine(w) { // nothing else of what a file says goes to a compiler
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
	if v := clangVersion.get().FindStringSubmatch(producer); v != nil && prefix != nil {
		flags = append(flags, "--target="+strings.TrimSuffix(prefix[0], "-"))
		for _, name := range []string{"clang-" + v[1], "clang"} {
			if c := try(name); c != nil {
				return c, nil
			}
		}
	} else if prefix != nil {
		names := []string{prefix[0] + "gcc"}
		if v := gccVersion.get().FindStringSubmatch(producer); v != nil {
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
		return nil, fmt.Errorf("no compiler is known for machine %d of ELF: name one by --cc", machine)
	}
	return nil, fmt.Errorf("no %s: name a compiler by --cc", strings.Join(tried, " or "))
}

// compileTime is how long a compilation may take: the C of a kernel takes a minute.
const compileTime = 10 * time.Minute

// debugOptions make a compiler keep all types, used or not.
var debugOptions = []string{"-g", "-O1", "-w", "-c", "-x", "c", "-ffreestanding", "-fno-builtin", "-fno-eliminate-unused-debug-types", "-DBPF_NO_KFUNC_PROTOTYPES", "-DBPF_NO_PRESERVE_ACCESS_INDEX"}

// compile makes the object out of the C of in. A signal that ends this process ends the
// compiler first.
func (c *compiler) compile(g *guard, in, out string) error {
	ctx, cancel := context.WithTimeout(context.Background(), compileTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.words[0], append(append(append([]string{}, c.words[1:]...), debugOptions...), "-o", out, in)...)
	var messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = &messages, &messages
	err := g.startChild(cmd)
	if err == nil {
		err = cmd.Wait()
		g.setOnDeath(nil)
	}
	if err == nil {
		if _, err = os.Stat(out); err == nil {
			return nil
		}
		err = errors.New("has written no object")
	}
	if ctx.Err() != nil {
		err = errors.New("took too long")
	}
	if what := firstError(messages.String()); what != "" {
		err = fmt.Errorf("%w: %s", err, what)
	}
	return fmt.Errorf("%s: %w", message.OneLine(strings.Join(c.words, " ")), err)
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
