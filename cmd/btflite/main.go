// Command btflite turns the DWARF of an ELF file into BTF, with the options and the bytes
// of pahole -J.
//
// This package parses the command line, prints messages, and replaces files. Package job,
// which the library uses too, has the options of an encoding, refuses combinations, and
// does the work: package encode and the packages below it make the BTF, and package
// finish sorts, verifies and distils it. Commands that print types use the library,
// package btflite, to encode an input without BTF.
//
// The parts of this package:
//
//	main.go, errors.go  one run: error line, exit status, panics
//	cli.go       its streams and settings
//	commands.go  the table of commands, and which one a command line means
//	argp.go      pahole's command line, translated for pflag
//	habits.go    command lines of pfunct and bpftool, translated into ours
//	advice.go, suggest.go  hints for command lines that are nearly right
//	options.go   how a command declares its options
//	encodecmd.go, modulescmd.go, dedupcmd.go, ...  one command each, with its options
//	encoding.go  the options of the commands that encode
//	compat.go    options that only stand for pahole's
//	help.go, completion.go  texts about commands, options and variables
//	features.go  --btf_features and its relatives
//	language.go  --lang, --lang_exclude
//	startup_linux.go  closed streams, and limits below which a run cannot work
//	streams.go   standard streams that nobody reads any more
//	ccmarks.go   which messages btflite cc has printed
//	memory.go, memorywatch.go  the memory limit, and when a run releases memory
//	inputs.go    files and the standard input; what a file is that is not for us
//	readtypes.go  the inputs of commands that print types
//	codefile.go  the symbols of an input
//	finish.go    calls of the packages below, and messages about their results
//	outputs.go, replace.go, target.go, signals.go  outputs are complete or absent
//	screen.go    long text on a terminal: colours and the pager
//	report.go, progress.go  what a run reports
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/btflite/btflite/encode"
)

func main() {
	c := newCLI(standardOutput(), os.Stderr, os.LookupEnv)
	c.heap.growFirst()
	c.calledAs = filepath.Base(os.Args[0])
	if err := checkLimits(); err != nil {
		c.complain(err.Error())
		os.Exit(exitFailure)
	}
	os.Exit(c.run(os.Args[1:]))
}

// run executes the command line args (without the program name) and returns the exit
// status. Every failure is one line on stderr. A usage error also says where to look.
func (c *cli) run(args []string) (status int) {
	// A mapped file that shrinks becomes a panic instead of a crash.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	c.guard = newGuard()
	c.stdout, c.stderr = c.guard.stream(c.stdout), c.guard.stream(c.stderr)
	defer c.guard.stop()
	defer func() {
		v := recover()
		if err := asExhausted(c, v); err != nil {
			status = c.report(err)
		} else if v != nil {
			var line string
			line, status = describePanic(v, args)
			c.complain(line)
			if c.answers() {
				status = exitTrouble
			}
		}
	}()
	return c.report(c.dispatch(args))
}

// report prints err, if any, and returns its exit status.
func (c *cli) report(err error) int {
	var printed printedFailure
	err = toldOnce(c, err)
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &printed):
		return printed.status
	}
	status := c.explain(err)
	if c.answers() && status != exitUsage {
		return exitTrouble
	}
	return status
}

// answers reports whether status 1 of the command is an answer, and not a failure.
func (c *cli) answers() bool {
	_, ok := c.running.Annotations[troubleKey]
	return ok
}

// explain prints err and returns its usual exit status.
func (c *cli) explain(err error) int {
	var usage *usageError
	var verbatim verbatimError
	var some failures
	var crash *encode.Crash
	switch {
	case errors.As(err, &verbatim):
		fmt.Fprintln(c.stderr, string(verbatim))
		return exitUsage
	case errors.As(err, &usage):
		c.complain(c.taken.lacking(err))
		if usage.list {
			fmt.Fprint(c.stderr, "\n"+usageText(c.running))
		}
		fmt.Fprintf(c.stderr, "Try '%s --help' for more information.\n", c.running.CommandPath())
		return exitUsage
	case errors.As(err, &crash):
		c.complain(err.Error() + pleaseReport)
		return exitInternal
	}
	c.complain(err.Error())
	if errors.As(err, &some) && some.internal {
		return exitInternal
	}
	return exitFailure
}
