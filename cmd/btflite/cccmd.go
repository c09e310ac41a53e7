package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/btflite/btflite/internal/ccline"
	"github.com/btflite/btflite/internal/message"
	"github.com/spf13/cobra"
)

// compilerCommand is "btflite cc".
type compilerCommand struct {
	keep string // --keep-dwarf: a folder; "" for none
}

// compilerName is the name of the command.
const compilerName = "cc"

// cannotRun is the error for a compiler that does not start.
const cannotRun = "cannot run it"

func newCompilerCommand(c *cli) *cobra.Command {
	var k compilerCommand
	cmd := &cobra.Command{
		Use: "cc [--keep-dwarf=DIR] COMPILER [ARG...]",
		Long: `Run COMPILER, a C compiler like gcc or clang, with its arguments. An object
that it writes with debug information gets unit records in place of its debug
sections: all that btflite needs to encode it, in about a fifteenth of the
bytes. btflite -J takes a kernel or module that is linked of such objects as it
takes one with DWARF, and writes the same BTF.

Everything else passes through: options, output, exit status. What cannot be
told by a record keeps its DWARF, and is encoded from that.

A link to btflite that has the name of a compiler (gcc, clang,
aarch64-linux-gnu-gcc) stands for btflite cc with the compiler of that name
that is next in PATH.`,
		Example: `  make CC="btflite cc gcc" PAHOLE=btflite olddefconfig all
  btflite cc --keep-dwarf=../debug gcc -g -O2 -c file.c`,
		RunE:        func(_ *cobra.Command, args []string) error { return k.run(c, args) },
		Annotations: map[string]string{inOrderKey: ""},
	}
	s := under(cmd, groupReport)
	s.file(&k.keep, "keep-dwarf", "", "keep compilers' objects, compressed, below `DIR`")
	return cmd
}

func (k *compilerCommand) run(c *cli, words []string) error {
	if len(words) == 0 || words[0] == "" {
		return usagef("cc: which compiler? btflite cc COMPILER ARG...")
	}
	if k.keep == "" {
		k.keep = os.Getenv(keepVariable)
	} else if err := os.Setenv(keepVariable, k.keep); err != nil { // COMPILER may be a link to btflite, which converts the object
		return err
	}
	path, err := exec.LookPath(words[0])
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return message.FileError(words[0], cannotRun, err)
	}
	return k.compile(c, path, words)
}

// compile runs the compiler at path with the command line words, and converts the object
// that it wrote.
func (k *compilerCommand) compile(c *cli, path string, words []string) error {
	if err := countNested(path); err != nil {
		return err
	}
	line := ccline.Parse(ccline.Behind(words))
	objects := line.Objects
	if len(objects) == 0 {
		// There is nothing to do after the compiler, so it takes the place of this process.
		return message.FileError(path, cannotRun, syscall.Exec(path, words, os.Environ()))
	}
	if err := c.runCompiler(path, words); err != nil {
		return err
	}
	// An object takes a few megabytes, which the end of the process frees at once.
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(collectFrom)
	if line.Reduced != "" {
		c.noteReduced(objects[0], line.Reduced)
	}
	for _, o := range objects {
		if err := k.convert(c, o); err != nil {
			c.complain(err.Error())
		}
	}
	return nil
}

const (
	nestedVariable = "BTFLITE_CC_NESTED" // the environment variable that counts nested runs of btflite cc
	maxNested      = 20                  // btflite cc, a compiler cache and a link are nested
)

// countNested ends a loop of programs: a script with the compiler's name that runs
// btflite cc with this name would find itself in PATH.
func countNested(path string) error {
	n, _ := strconv.Atoi(os.Getenv(nestedVariable))
	if n >= maxNested {
		return message.FileError(path, cannotRun, errors.New("it calls btflite cc in a loop: give the path of the compiler"))
	}
	return os.Setenv(nestedVariable, strconv.Itoa(n+1))
}

// collectFrom is the size of the heap in bytes from which garbage is collected.
const collectFrom = 256 << 20

// runCompiler runs the compiler to its end. The error has the compiler's exit status. If
// a signal ended the compiler, the same signal ends this process.
func (c *cli) runCompiler(path string, words []string) error {
	cmd := &exec.Cmd{Path: path, Args: words, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGQUIT) // a terminal sends it to both; the compiler ends
	err := c.guard.run(cmd)
	exit := new(exec.ExitError)
	if !errors.As(err, &exit) {
		return message.FileError(path, cannotRun, err)
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		dieLike(status.Signal())
	}
	return printedFailure{exit.ExitCode()}
}

// dieLike ends the process by the signal s, which has ended a compiler. It uses a shell,
// because for many signals Go's runtime would print its goroutines or do nothing.
func dieLike(s syscall.Signal) {
	switch s {
	case syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL:
		dieBy(s)
	}
	kill := fmt.Sprintf("ulimit -c 0; kill -%d $$", int(s))
	_ = syscall.Exec("/bin/sh", []string{"sh", "-c", kill}, os.Environ())
	os.Exit(128 + int(s)) // as shells report a signal
}

// asCompiler runs the compiler that a link to this program stands for. It returns false
// if the link does not have the name of a compiler.
func (c *cli) asCompiler(args []string) (is bool, err error) {
	if !ccline.IsCompiler(c.calledAs) {
		return false, nil
	}
	if program, path := otherProgram(c.calledAs); program != "" {
		if err := os.Setenv("PATH", path); err != nil {
			return true, err
		}
		keep := os.Getenv(keepVariable)
		return true, (&compilerCommand{keep}).compile(c, program, slices.Concat([]string{program}, args))
	}
	return true, fmt.Errorf("%s is a link to btflite, and PATH has no other program of that name", message.OneLine(c.calledAs))
}

// keepVariable is the environment variable for --keep-dwarf, for links.
const keepVariable = "BTFLITE_KEEP_DWARF"

// exportsNeedDwarf reports whether the build reads the DWARF of objects with exported symbols.
// The compiler runs in the kernel's build folder. Since Linux 6.13 it runs in the folder of an
// external module, and objtree names the kernel's.
func exportsNeedDwarf() bool {
	b, err := os.ReadFile(filepath.Join(os.Getenv(kernelVariable), "include/config/auto.conf"))
	return err == nil && strings.Contains("\n"+string(b), "\nCONFIG_GENDWARFKSYMS=y\n")
}

// Links to this program with names of compilers, in a folder at the front of PATH, as
// compiler caches have them.

// otherProgram returns the program that a link to this one stands for. PATH has the link in a folder,
// and the program of the same name in a later one. If PATH does not have the link, the first program of
// the name counts. otherProgram returns "" if it finds no program. path is the PATH for the program:
// folders with links to this one move to its end, because a compiler cache looks for the compiler in
// PATH again, and would call this program in a loop. They stay in it, because they may have other tools.
func otherProgram(name string) (program, path string) {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	own, err := os.Stat(self)
	if err != nil {
		return "", ""
	}
	dirs := filepath.SplitList(os.Getenv("PATH"))
	isOwn := func(dir string) bool {
		info, err := os.Stat(filepath.Join(dir, name))
		return err == nil && os.SameFile(own, info)
	}
	var others, links []string
	for _, dir := range dirs {
		if isOwn(dir) {
			links = append(links, dir)
		} else {
			others = append(others, dir)
		}
	}
	path = strings.Join(append(others, links...), string(filepath.ListSeparator))
	behind := dirs[slices.IndexFunc(dirs, isOwn)+1:]
	for _, dir := range behind {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 && !os.SameFile(own, info) {
			return file, path
		}
	}
	return "", ""
}
